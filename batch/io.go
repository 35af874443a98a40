package batch

import "context"

// Source hands out the pieces of one or more inputs, in order.
type Source interface {
	// Next returns the next piece, or io.EOF after the last. It is called from
	// one goroutine and does the reading, but leaves what costs time to
	// Piece.Decode. Its errors name the input and the batch.
	Next(ctx context.Context) (Piece, error)
	// Close gives back what the source holds. Pieces stay usable.
	Close() error
}

// Piece is a batch that was read but not decoded.
type Piece interface {
	// Name says which rows these are for errors, such as
	// "urls.arrow: batch 3 (rows 196608 to 262143)".
	Name() string
	// Size estimates the bytes of memory that the piece holds until its batch
	// is released, decoded form included. The job admits pieces by it.
	Size() int64
	// Decode returns the piece's batch. It is called once, on a worker. Bad
	// rows are no error.
	Decode() (*Batch, error)
}

// sharing is implemented by pieces that are parts of one thing, which is in
// memory from the first to the last of them, and by chunks that a sink collects.
type sharing interface {
	// Kept returns the number of bytes of the piece's Size, or of what the sink took, that
	// remain taken after the batch was written. The last piece or chunk returns a negative
	// number: it gives back what the others kept.
	Kept() int64
}

// Freeing is implemented by pieces that give back memory once their batch is encoded, before
// it is written.
type Freeing interface {
	// Freed returns the bytes of the piece's Size that are given back then. Those of Batch.Undeclared
	// are given back as well.
	Freed() int64
}

// Waiting is implemented by pieces that share work which must be done before any of them is
// decoded.
type Waiting interface {
	// Ready is called on a worker. It does the parts of that work that no other worker has begun,
	// with memory of the piece's grant, and reports whether the piece can be decoded. If not, other
	// workers are still at their parts: the last of them calls again, and then the job calls Ready
	// once more. So no worker waits for another.
	Ready(g *Grant, again func()) bool
}

// Continued is implemented by pieces of something that a sink writes as a whole.
type Continued interface {
	// Continued reports whether the next piece belongs to the same.
	Continued() bool
}

// Evaluator turns batches into verdicts; package evaluate has the one that asks
// rules. It is used by one goroutine at a time.
type Evaluator interface {
	// Evaluate sets v to the verdicts for the rows of b, in v's memory: it begins
	// with v.Reset. Its error names the row.
	Evaluate(b *Batch, v *Verdicts) error
}

// Sink writes batches with their verdicts.
type Sink interface {
	// Encode turns a batch into what Write needs. It is called on workers,
	// concurrently. It keeps neither b nor v; rows for which v.Selected is
	// false are left out. What it needs of memory, the chunk included, it takes
	// from b.Grant; the job gives it back when the chunk was written.
	Encode(b *Batch, v *Verdicts) (Chunk, error)
	// Write writes a chunk. It is called from one goroutine, in the order of
	// the batches. What takes time, workers do ([Batch.Start]).
	Write(c Chunk) error
	// Close completes the output. If it returns nil, the whole output is there.
	Close() error
	// Abort gives up the output: what was there before remains. It may follow
	// a failed Close, and does nothing after a successful one.
	Abort()
}

// Discard is a Sink that writes nothing, for jobs that only count.
var Discard Sink = discard{}

type discard struct{}

func (discard) Encode(*Batch, *Verdicts) (Chunk, error) { return Bytes(nil), nil }
func (discard) Write(Chunk) error                       { return nil }
func (discard) Close() error                            { return nil }
func (discard) Abort()                                  {}

// Chunk is an encoded batch.
type Chunk interface {
	// Size returns the memory that the chunk holds in bytes.
	Size() int64
}

// Bytes is a Chunk that is written as it is.
type Bytes []byte

// Size returns len(b).
func (b Bytes) Size() int64 { return int64(len(b)) }
