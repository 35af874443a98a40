package arrowipc

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/store/panics"
)

// sharedRecord is a record batch that its pieces share. The first pieces inflate its buffers
// side by side, and the last piece that is decoded frees it.
type sharedRecord struct {
	decoder *decoder
	located *tableio.Location
	meta    *batchMeta
	body    []byte
	total   int64 // bytes decoded
	bytes   int64 // bytes as read and decoded

	// pieces counts the pieces that are not decoded yet, and encoding those that are not
	// encoded yet.
	pieces, encoding atomic.Int64

	// decoded is closed when record, urls and err are set.
	decoded chan struct{}
	record  arrow.Record
	urls    batch.Column
	err     error

	mu        sync.Mutex
	begun     bool
	inflation *inflation // nil if nothing is to be inflated
	steps     int        // buffers to inflate, at least one
	next      int        // the first of them that nobody inflates yet
	left      int        // how many are not inflated
	failed    int        // the first one that cannot be, if err is set
	waiting   []func()   // to call when the record batch is decoded

	texts  *texts        // instead of all these; nil where buffers are inflated as a whole
	passed *passedRecord // nil when all columns are decoded
	held   int64         // bytes kept by pieces that were written; only the writer uses it
}

func newSharedRecord(s *Source, meta *batchMeta, body []byte, total int64) *sharedRecord {
	r := &sharedRecord{
		decoder: s.decoder, located: s.urls, meta: meta, body: body, total: total,
		bytes: decodedBytes(meta, body, total), decoded: make(chan struct{}),
	}
	if r.located.IsJoined() {
		r.bytes += total // for the URLs that are joined
	}
	if r.texts = newTexts(r, s.options.BatchRows); r.texts != nil {
		r.bytes = int64(len(body)) + r.texts.small
	}
	size := int64(s.options.BatchRows)
	pieces := max(1, (meta.rows+size-1)/size)
	r.pieces.Store(pieces)
	r.encoding.Store(pieces)
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

// inflate inflates the buffers that nobody else does, and decodes the record batch when all are
// inflated. It reports whether that is done; if not, again will be called then.
func (r *sharedRecord) inflate(again func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.begun {
		r.begin()
	}
	for r.next < r.steps {
		step := r.next
		r.next++
		r.mu.Unlock()
		err := r.step(step)
		r.mu.Lock()
		if err != nil && (r.err == nil || step < r.failed) {
			r.err, r.failed = err, step
		}
		if r.left--; r.left == 0 {
			r.mu.Unlock()
			r.decode()
			r.mu.Lock()
			close(r.decoded)
			for _, again := range r.waiting {
				again()
			}
		}
	}
	select {
	case <-r.decoded:
		return true
	default:
		r.waiting = append(r.waiting, again)
		return false
	}
}

// begin decides what is to be inflated.
func (r *sharedRecord) begin() {
	r.begun, r.steps = true, 1
	if r.meta.packed() {
		if r.inflation, r.err = newInflation(r.meta, r.body, r.total); r.err == nil {
			r.steps = max(1, len(r.meta.buffers))
		}
	}
	r.left = r.steps
}

// step inflates a buffer.
func (r *sharedRecord) step(i int) (err error) {
	defer panics.Recover(&err, panics.As("damaged"))
	if r.inflation == nil || i >= len(r.meta.buffers) {
		return nil
	}
	return r.inflation.buffer(i)
}

// decode decodes the record batch and finds its URLs.
func (r *sharedRecord) decode() {
	defer panics.Recover(&r.err, panics.As(panics.Bug))
	meta, body := r.meta, r.body
	if r.inflation != nil {
		meta, body = r.inflation.plain, r.inflation.out
	}
	if r.err == nil {
		r.record, r.err = r.decoder.plainRecord(meta, body)
	}
	r.body, r.inflation = nil, nil
	if r.err == nil && r.located.IsColumn() {
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
	r.record, r.urls, r.decoder, r.body, r.texts = nil, batch.Column{}, nil, nil, nil
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
	freed       int64       // of the record's bytes
	taken       int64       // bytes of its part, see texts
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
	kept := p.kept - p.freed
	if p.first {
		kept += r.bytes
	}
	r.held += kept
	return kept
}

// Continued implements batch.Continued.
func (p *piece) Continued() bool { return !p.last }

// Freed implements batch.Freeing: the piece that is encoded last gives the record batch back,
// but not bytes that wait to be copied.
func (p *piece) Freed() int64 {
	r := p.record
	if r.encoding.Add(-1) == 0 {
		p.freed = r.bytes
		if r.passed != nil {
			p.freed -= int64(len(r.passed.frame.bytes))
		}
	}
	return p.freed + p.taken
}

// Ready implements batch.Waiting.
func (p *piece) Ready(g *batch.Grant, again func()) bool {
	if t := p.record.texts; t != nil {
		return t.ready(p.number, g, again)
	}
	return p.record.inflate(again)
}

// rows returns the piece's rows, and waits for them if it must.
func (p *piece) rows() (arrow.Record, error) {
	r := p.record
	if r.texts != nil {
		part := r.texts.take(p.number)
		p.taken = part.taken
		return part.rows, part.err
	}
	if !r.inflate(func() {}) {
		<-r.decoded
	}
	if r.err != nil {
		return nil, r.err
	}
	return r.record.NewSlice(int64(p.low), int64(p.high)), nil
}

// Decode implements batch.Piece.
func (p *piece) Decode() (*batch.Batch, error) {
	r := p.record
	defer r.done()
	rows, err := p.rows()
	if err != nil {
		return nil, err
	}
	b := &batch.Batch{Input: p.input, Index: p.index, FirstRow: p.firstRow, Table: rows, Release: rows.Release}
	if err := r.located.TakeExtra(b, rows); err != nil {
		rows.Release()
		return nil, err
	}
	if !r.located.IsColumn() || r.texts != nil {
		if b.URLs, b.Table, err = r.located.URLs(rows, r.decoder.limit); err != nil {
			rows.Release()
			return nil, err
		}
	} else {
		b.URLs = r.urls.Slice(p.low, p.high)
	}
	if r.passed != nil {
		b.Table = p
		p.urls = r.located.Text(rows)
	}
	return b, nil
}
