package arrowipc

import (
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/tables/arrow/ipc"
)

// sharedRecord is a record batch that its pieces share.
type sharedRecord struct {
	source   *Source
	part     *ipc.Part
	bytes    int64         // of memory, as read and decoded, joined URLs included
	urls     *batch.Column // of all pieces, which have slices of it; nil if each decodes its own
	encoding atomic.Int64  // number of pieces that are not encoded yet
	held     int64         // bytes that written pieces still hold; only the writer uses it

	// If the record batch passes through:
	verdicts *tableio.Assembly
	chunk    *ipc.Chunk // what is written, once all pieces are encoded; nil if no row is
}

// newSharedRecord returns the record batch of a part. If it passes through, it counts as a user of the source's
// input until it is written.
func newSharedRecord(s *Source, part *ipc.Part) *sharedRecord {
	size, decoded := part.Size()
	r := &sharedRecord{source: s, part: part, bytes: size}
	if s.urls.IsJoined() {
		r.bytes += decoded // joined URLs have about the bytes of their columns
	}
	if s.urls.IsColumn() { // then they are found once, when all rows are decoded, instead of in each piece
		part.Whole = func(rows arrow.Record) error {
			urls, _, err := s.urls.URLs(rows, s.reader.Memory())
			r.urls = &urls
			return err
		}
	}
	r.encoding.Store(int64(part.Pieces()))
	if s.passing {
		r.verdicts = tableio.NewAssembly(part.Pieces())
		s.users.Add(1)
	}
	return r
}

// piece is a run of rows of a record batch.
type piece struct {
	record   *sharedRecord
	input    string
	index    int   // among the input's pieces
	firstRow int64 // its number in the input
	rows     int   // number of rows
	size     int64 // in bytes; that of the first piece includes the record's

	number      int         // index among the record's pieces
	first, last bool        // it is the first or the last of these
	urls        *array.Data // the decoded URL column, for the sink if it passes through; may be nil
	kept        int64       // bytes that were encoded for it and wait for the last piece
	freed       int64       // bytes of the record that Freed gave back
	taken       int64       // bytes that decoding took from the piece's grant
}

// Name implements batch.Piece.
func (p *piece) Name() string {
	if p.rows == 0 {
		return fmt.Sprintf("%s: batch %d (no rows)", p.input, p.index)
	}
	return fmt.Sprintf("%s: batch %d (rows %d to %d)", p.input, p.index, p.firstRow, p.firstRow+int64(p.rows)-1)
}

// Size implements batch.Piece.
func (p *piece) Size() int64 { return p.size }

// Kept is what [batch.Kept] asks for: it returns the number of bytes that remain in memory after this piece was
// written. The first piece leaves the record's, and each leaves what was encoded for it. With the last one the
// record is written, so that it gives all of these back: a negative number.
func (p *piece) Kept() int64 {
	r := p.record
	if p.last {
		return -r.held
	}
	kept := p.kept - p.freed
	if p.first {
		kept += r.bytes
	}
	r.held += kept
	return kept
}

// Continued implements batch.Continued.
func (p *piece) Continued() bool { return !p.last }

// Freed implements batch.Freeing: it returns the number of bytes that are not needed once the piece is encoded. These are
// the bytes that decoding it took. The last piece of the record to be encoded adds the record's bytes, except those that
// are still to be copied.
func (p *piece) Freed() int64 {
	r := p.record
	if r.encoding.Add(-1) == 0 {
		p.freed, r.urls = r.bytes-r.part.CopiedSize(), nil
	}
	return p.freed + p.taken
}

// Ready implements batch.Waiting.
func (p *piece) Ready(g *batch.Grant, again func()) bool {
	return p.record.part.Ready(p.number, g, again)
}

// Decode implements batch.Piece. If the record batch passes through, the batch's table is p itself, for a
// sink with [SinkOptions.From].
func (p *piece) Decode() (_ *batch.Batch, err error) {
	r, s := p.record, p.record.source
	rows, taken, err := r.part.Decode(p.number)
	if p.taken = taken; err != nil {
		return nil, tableio.Worded(err)
	}
	b := &batch.Batch{Input: p.input, Index: p.index, FirstRow: p.firstRow, Table: rows, Release: rows.Release}
	if r.urls != nil { // they were found for all pieces: see newSharedRecord
		b.URLs = r.urls.Slice(r.part.Piece(p.number))
	} else {
		b.URLs, b.Table, err = s.urls.URLs(rows, s.reader.Memory())
	}
	if err == nil {
		err = s.urls.TakeExtra(b, rows)
	}
	if err != nil {
		rows.Release()
		return nil, err
	}
	if s.passing {
		b.Table, p.urls = p, s.urls.Text(rows)
	}
	return b, nil
}
