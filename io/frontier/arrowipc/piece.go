package arrowipc

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tables"
)

// sharedRecord is a record batch that its pieces share: the first piece to be decoded
// decodes it, the last one frees it.
type sharedRecord struct {
	decoder *decoder
	located *tables.Location
	meta    *batchMeta
	body    []byte
	total   int64 // bytes decoded
	bytes   int64 // bytes as read and decoded

	// pieces counts the pieces that are not decoded yet.
	pieces atomic.Int64
	once   sync.Once
	record arrow.Record
	urls   batch.Column
	err    error

	passed *passedRecord // nil when all columns are decoded
	held   int64         // bytes kept by pieces that were written; only the writer uses it
}

func newSharedRecord(s *Source, meta *batchMeta, body []byte, total int64) *sharedRecord {
	r := &sharedRecord{
		decoder: s.decoder, located: s.urls, meta: meta, body: body, total: total,
		bytes: decodedBytes(meta, body, total),
	}
	if r.located.IsSplit() {
		r.bytes += total // for the URLs that are joined
	}
	s.decoder.retain()
	size := int64(s.options.BatchRows)
	r.pieces.Store(max(1, (meta.rows+size-1)/size))
	return r
}

// decodedBytes returns the size of a body as read and decoded together. They share
// their bytes where nothing is compressed or widened.
func decodedBytes(meta *batchMeta, body []byte, total int64) int64 {
	if meta.codec == codecNone && meta.narrow == nil {
		return int64(len(body))
	}
	return int64(len(body)) + total
}

// decode decodes the record batch and finds its URLs.
func (r *sharedRecord) decode() {
	r.record, r.err = r.decoder.record(r.meta, r.body, r.total)
	r.body = nil
	if r.err == nil && !r.located.IsSplit() {
		r.urls, _, r.err = r.located.URLs(r.record, r.decoder.limit)
	}
}

// done is called once for every piece, after it has its slice.
func (r *sharedRecord) done() {
	if r.pieces.Add(-1) > 0 {
		return
	}
	if r.record != nil {
		r.record.Release()
	}
	r.record, r.urls = nil, batch.Column{}
	r.decoder.release()
}

// piece is a run of rows of a record batch.
type piece struct {
	record    *sharedRecord
	input     string
	index     int
	firstRow  int64
	low, high int
	size      int64 // the first piece has the record's

	number      int // index among the record's pieces
	first, last bool
	urls        *array.Data // decoded, kept until they are encoded
	kept        int64       // bytes encoded for it that wait for the last piece
}

// Name implements batch.Piece.
func (p *piece) Name() string {
	if p.low == p.high {
		return fmt.Sprintf("%s: batch %d (no rows)", p.input, p.index)
	}
	return fmt.Sprintf("%s: batch %d (rows %d to %d)", p.input, p.index, p.firstRow, p.firstRow+int64(p.high-p.low)-1)
}

// Size implements batch.Piece.
func (p *piece) Size() int64 { return p.size }

// Kept implements batch.Sharing. It returns how many bytes more stay in memory behind this
// piece: the first piece adds the record, each adds what was encoded for it, and the last
// one, after which the record is written, takes all of them off again.
func (p *piece) Kept() int64 {
	r := p.record
	if p.last {
		return -r.held
	}
	kept := p.kept
	if p.first {
		kept += r.bytes
	}
	r.held += kept
	return kept
}

// Decode implements batch.Piece.
func (p *piece) Decode() (*batch.Batch, error) {
	r := p.record
	defer r.done()
	r.once.Do(r.decode)
	if r.err != nil {
		return nil, r.err
	}
	rows := r.record.NewSlice(int64(p.low), int64(p.high))
	b := &batch.Batch{Input: p.input, Index: p.index, FirstRow: p.firstRow, Table: rows, Release: rows.Release}
	if err := r.located.TakeExtra(b, rows); err != nil {
		rows.Release()
		return nil, err
	}
	if r.located.IsSplit() {
		urls, table, err := r.located.URLs(rows, r.decoder.limit)
		if err != nil {
			rows.Release()
			return nil, err
		}
		b.URLs, b.Table = urls, table
	} else {
		b.URLs = r.urls.Slice(p.low, p.high)
	}
	if r.passed != nil {
		b.Table = p
		p.urls = r.located.Text(rows)
	}
	return b, nil
}
