package batch_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"robotsbatch/batch"
)

// shape is a job whose steps wait instead of computing, so that more cores can be had than there
// are. What is simulated are the bytes; the pool, the account of memory and the order are real.
type shape struct {
	name  string
	steps *steps
	group int   // rows that are written at once
	whole int64 // bytes a row of a group that is read at once, and given back when all is encoded
	part  int64 // bytes a row that a piece takes when it is inflated, after the piece before
	files []int
	open  time.Duration // an output, and to close it
}

// steps are how long 1,000 rows take. Inflating is decompression of a group's pieces one after the
// other.
type steps struct{ read, inflate, decode, decide, encode, write time.Duration }

const us = time.Microsecond

// These are processor times of jobs with -workers 1 over 4 million URLs of 69 bytes, 100 for each
// of 40,000 hosts, with two more columns (84 bytes a row in all), as a profile shows them: Parquet
// with Snappy in row groups of a million rows, Arrow uncompressed and with zstd in batches of a
// million, a list to csv and, with zstd, to Parquet, and csv to csv.
var (
	parquet = &steps{10 * us, 0, 90 * us, 150 * us, 5 * us, 20 * us}
	arrow   = &steps{15 * us, 0, 2 * us, 138 * us, 3 * us, 55 * us}
	zstd    = &steps{10 * us, 142 * us, 2 * us, 138 * us, 3 * us, 17 * us}
	lists   = &steps{62 * us, 0, 75 * us, 122 * us, 110 * us, 82 * us}
	encoded = &steps{62 * us, 0, 75 * us, 122 * us, 870 * us, 15 * us}
	csv     = &steps{78 * us, 0, 118 * us, 110 * us, 150 * us, 142 * us}
)

// leastBusy are the busy shares of 2, 16 and 64 workers that are reached where neither reading nor
// writing an output is what the job waits for.
var leastBusy = [3]float64{0.9, 0.9, 0.8}

const million = 1 << 20

var shapes = []shape{
	{name: "Parquet, row groups of 60,000", steps: parquet, group: 60_000, files: []int{16 * million}},
	{name: "Parquet, row groups of 250,000", steps: parquet, group: 250_000, files: []int{16 * million}},
	{name: "Parquet, row groups of 1 M", steps: parquet, group: million, files: []int{16 * million}},
	{name: "Parquet, one row group", steps: parquet, group: 16 * million, files: []int{16 * million}},
	{name: "Arrow, batches of 65,536", steps: arrow, group: 65536, whole: 72, files: []int{16 * million}},
	{name: "Arrow, batches of 1 M", steps: arrow, group: million, whole: 72, files: []int{32 * million}},
	{name: "Arrow, zstd, batches of 65,536", steps: zstd, group: 65536, whole: 92, files: []int{32 * million}},
	{name: "Arrow, zstd, batches of 1 M", steps: zstd, group: million, whole: 32, part: 72, files: []int{128 * million}},
	{name: "1,000 files of 50,000", steps: parquet, group: 50_000, files: slices.Repeat([]int{50_000}, 1000), open: 300 * us},
	// The large file's bytes are written in order, also when the others are done.
	{name: "a file of 16 M, 300 of 50,000", steps: parquet, group: 60_000, files: append([]int{16 * million}, slices.Repeat([]int{50_000}, 300)...), open: 300 * us},
	{name: "list", steps: lists, group: 1, files: []int{16 * million}},
	{name: "list to Parquet", steps: encoded, group: 1, files: []int{16 * million}},
	{name: "csv", steps: csv, group: 1, files: []int{16 * million}},
}

// virtual is an output of a shape: a source and a sink.
type virtual struct {
	*shape
	rows, piece, next int
	whole             *virtualWhole // the current group, if it is whole
	pending           int           // rows that were not written yet
	// workers, reader and writer are how long they had something to do: the job's workers, and
	// the output's own reader and writer.
	workers        *atomic.Int64
	reader, writer atomic.Int64
}

func wait(sum *atomic.Int64, perThousand time.Duration, rows int) {
	d := perThousand * time.Duration(rows) / 1000
	sum.Add(int64(d))
	time.Sleep(d)
}

const virtualRow = 68 // bytes

type virtualPiece struct {
	*virtual
	first, rows int
	whole       *virtualWhole // nil if the piece needs no other one
	size, freed int64
}

// virtualWhole is a group that is read and inflated at once.
type virtualWhole struct {
	rows     int
	encoding atomic.Int64 // pieces that are not encoded
	held     int64

	mu    sync.Mutex
	next  int // the piece that is inflated next
	again map[int]func()
}

var virtualOffsets = make([]int32, 1<<20)

func (v *virtual) Next(context.Context) (batch.Piece, error) {
	if v.next == v.rows {
		return nil, io.EOF
	}
	in := v.next % v.group
	n := min(v.piece, v.rows-v.next)
	if v.group > 1 {
		n = min(n, v.group-in)
	}
	p := &virtualPiece{virtual: v, first: v.next, rows: n, size: int64(n) * (2*virtualRow + 16)}
	if v.shape.whole > 0 {
		p.size = 0
		if in == 0 {
			v.whole = &virtualWhole{rows: min(v.group, v.rows-v.next), again: make(map[int]func())}
			v.whole.encoding.Store(int64((v.whole.rows + v.piece - 1) / v.piece))
			p.size = v.shape.whole * int64(v.whole.rows)
		}
		p.whole = v.whole
	}
	wait(&v.reader, v.steps.read, n)
	v.next += n
	return p, nil
}

func (v *virtual) Close() error { return nil }
func (v *virtual) Abort()       {}
func (p *virtualPiece) Freed() int64 {
	switch {
	case p.whole == nil:
		return p.size
	case p.whole.encoding.Add(-1) == 0:
		p.freed = p.shape.whole * int64(p.whole.rows)
	}
	return p.freed + p.shape.part*int64(p.rows)
}

func (p *virtualPiece) Kept() int64 {
	switch {
	case p.whole == nil:
		return 0
	case p.ends():
		return -p.whole.held
	}
	p.whole.held += p.size - p.freed
	return p.size - p.freed
}

func (p *virtualPiece) Ready(g *batch.Grant, again func()) bool {
	w := p.whole
	if w == nil || p.steps.inflate == 0 {
		return true
	}
	k := (p.first % p.group) / p.piece
	w.mu.Lock()
	if w.next < k {
		w.again[k] = again
		w.mu.Unlock()
		return false
	}
	w.mu.Unlock()
	if g.Take(p.shape.part*int64(p.rows)) != nil {
		return true
	}
	wait(p.workers, p.steps.inflate, p.rows)
	w.mu.Lock()
	w.next++
	next := w.again[k+1]
	w.mu.Unlock()
	if next != nil {
		next()
	}
	return true
}

func (p *virtualPiece) Name() string { return p.name }
func (p *virtualPiece) Size() int64  { return p.size }
func (p *virtualPiece) ends() bool {
	return (p.first+p.rows)%p.group == 0 || p.first+p.rows == p.virtual.rows
}

func (p *virtualPiece) Decode() (*batch.Batch, error) {
	wait(p.workers, p.steps.decode, p.rows)
	return &batch.Batch{URLs: batch.Column{Offsets32: virtualOffsets[:p.rows+1]}, Table: p}, nil
}

func (v *virtual) Encode(b *batch.Batch, _ *batch.Verdicts) (batch.Chunk, error) {
	p := b.Table.(*virtualPiece)
	wait(v.workers, v.steps.encode, p.rows)
	return virtualChunk{p}, nil
}

// virtualChunk is an encoded piece. It has none of the piece's methods but this.
type virtualChunk struct{ piece *virtualPiece }

func (c virtualChunk) Size() int64 { return c.piece.size }

func (v *virtual) Write(c batch.Chunk) error {
	p := c.(virtualChunk).piece
	switch first := p.first%p.group == 0; {
	case p.group > 1 && p.whole == nil && first: // pages are copied before all verdicts are there
		wait(&v.writer, v.steps.write, min(p.group, p.virtual.rows-p.first))
	case p.group > 1 && p.whole == nil:
	default:
		if v.pending += p.rows; p.ends() {
			wait(&v.writer, v.steps.write, v.pending)
			v.pending = 0
		}
	}
	return nil
}

// virtualEvaluator decides all rows alike.
type virtualEvaluator struct {
	*shape
	workers *atomic.Int64
}

func (e virtualEvaluator) Evaluate(b *batch.Batch, v *batch.Verdicts) error {
	v.Reset(b.URLs.Len(), batch.Want{Agents: 1})
	wait(e.workers, e.steps.decide, b.URLs.Len())
	return nil
}

// runVirtual runs a job of a shape with the program's defaults for a number of workers, and returns
// the busy shares of its workers, and of the busiest reader or writer of an output.
func runVirtual(t *testing.T, s *shape, workers int) (share, bound float64) {
	t.Helper()
	const share16 = 16 // see PieceMemory of the command line
	memory := max(512<<20, 64<<20*int64(workers)) * 3 / 4
	piece := 65536
	if workers > 2 && s.whole == 0 {
		piece = min(piece, int(memory)/share16/workers/virtualRow)
	}
	busy := new(atomic.Int64)
	pool := batch.NewPool(func() batch.Evaluator { return virtualEvaluator{s, busy} }, batch.Options{Workers: workers, Memory: memory})
	// It is not closed: pond would do that in a goroutine that all pools share. Its goroutines end
	// when they have nothing to do.
	begin := time.Now()
	slots, turn := make(chan struct{}, workers+1), make(chan struct{})
	close(turn)
	outputs := make([]*virtual, len(s.files))
	for i, rows := range s.files {
		slots <- struct{}{}
		lane, before, mine := pool.Lane(t.Context()), turn, make(chan struct{})
		turn = mine
		v := &virtual{shape: s, rows: rows, piece: piece, workers: busy}
		outputs[i] = v
		go func() {
			defer close(mine)
			time.Sleep(s.open)
			if _, err := lane.Run(v, v, nil); err != nil {
				t.Error(err)
			}
			lane.Close()
			<-slots
			<-before
		}()
	}
	<-turn
	wall := float64(time.Since(begin))
	for _, v := range outputs {
		bound = max(bound, float64(v.reader.Load())/wall, float64(v.writer.Load())/wall)
	}
	return float64(busy.Load()) / wall / float64(workers), bound
}

// tolerance is by how much the order in which goroutines happen to run changes a share.
const tolerance = 0.05

// Workers are busy, or what is read and written in order bounds the job, also with more cores
// than there are.
func TestVirtualCores(t *testing.T) {
	for i := range shapes {
		s := &shapes[i]
		line := fmt.Sprintf("%-32s", s.name)
		for n, workers := range []int{2, 16, 64} {
			synctest.Test(t, func(t *testing.T) {
				share, bound := runVirtual(t, s, workers)
				line += fmt.Sprintf("  %2d: %.2f (in order %.2f)", workers, share, bound)
				if share < leastBusy[n]-tolerance && bound < 0.9 {
					t.Errorf("%s: %d workers are busy %.2f of the time, want %.2f, and what is in order %.2f", s.name, workers, share, leastBusy[n], bound)
				}
			})
		}
		t.Log(line)
	}
}
