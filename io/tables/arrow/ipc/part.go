package ipc

import (
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/panics"
	"robotsbatch/io/tables/arrow/layout"
)

// Part is a record batch, in pieces of [ReaderOptions].Rows rows. Workers decode pieces at the same
// time: those that come first inflate (decompress) its buffers together, and one of them decodes all
// rows. A part of which only texts are decoded may be decoded piece by piece instead: see [texts].
// The part is freed when its last piece is decoded.
type Part struct {
	// Whole, unless nil, is called once with the decoded columns of all pieces, before the first
	// Decode returns. It is not called for a part that is decoded piece by piece. Set it before Ready.
	Whole func(arrow.Record) error

	checkedRecord
	size int64        // bytes as read and decoded together
	rows int          // of a piece
	left atomic.Int64 // pieces that Decode has not returned

	// decoded is closed when record and err are set.
	decoded chan struct{}
	record  arrow.Record
	err     error

	mu        sync.Mutex        // guards the fields up to waiting, and err until decoded is closed
	inflation *layout.Inflation // nil if nothing is to be inflated
	steps     int               // calls of inflateBuffer that are needed, at least 1; 0 before beginInflation
	next      int               // index of the first buffer that nobody has begun
	missing   int               // number of steps that have not ended
	failed    int               // index of the first buffer that cannot be inflated, if err is set
	waiting   []func()          // to call when the record batch is decoded

	texts  *texts        // nil unless decoded piece by piece; then the fields from decoded to waiting are not used
	copied *copiedRecord // nil if no column is copied
}

// newPart returns the part of a record batch, in pieces of this number of rows. copied is nil if no column is copied.
func newPart(r checkedRecord, rows int, copied *copiedRecord) *Part {
	p := &Part{checkedRecord: r, size: r.memory(), rows: rows, copied: copied, decoded: make(chan struct{})}
	if p.texts = newTexts(r, rows); p.texts != nil {
		p.size = int64(len(r.body)) + p.texts.small
	}
	p.left.Store(int64(p.Pieces()))
	return p
}

// Rows returns the number of rows.
func (p *Part) Rows() int { return int(p.meta.Rows) }

// Pieces returns the number of pieces, at least one.
func (p *Part) Pieces() int { return max(1, (p.Rows()+p.rows-1)/p.rows) }

// Piece returns the rows of a piece, low to high-1.
func (p *Part) Piece(i int) (low, high int) { return i * p.rows, min((i+1)*p.rows, p.Rows()) }

// Size returns the number of bytes of memory that the part takes as read and decoded together, and the number of bytes of
// its decoded values.
func (p *Part) Size() (size, decoded int64) { return p.size, p.total }

// CopiedSize returns the number of bytes that are to be copied and are in memory. The others are still in the file.
func (p *Part) CopiedSize() int64 {
	if p.copied == nil {
		return 0
	}
	return int64(len(p.copied.frame.Bytes))
}

// Ready does the work that must come before Decode of a piece, in memory of the piece's grant g, so that Decode does not
// wait. It returns false if other goroutines are still doing a part of that work: when that is done, again is called,
// which must not wait, nor call p.
func (p *Part) Ready(piece int, g *budget.Grant, again func()) bool {
	if p.texts != nil {
		return p.texts.prepare(piece, g, again)
	}
	return p.inflateAndDecode(again)
}

// Decode returns the decoded columns of a piece, which the caller releases, and the number of bytes that Ready took
// from the piece's grant. It must be called once for each piece. Without Ready, it does the work of Ready, and waits for
// other goroutines that are doing a part of it.
func (p *Part) Decode(piece int) (rows arrow.Record, taken int64, err error) {
	defer p.done()
	if p.texts != nil {
		t := p.texts.take(piece)
		return t.rows, t.taken, t.err
	}
	if !p.inflateAndDecode(func() {}) {
		<-p.decoded
	}
	if p.err != nil {
		return nil, 0, p.err
	}
	low, high := p.Piece(piece)
	return p.record.NewSlice(int64(low), int64(high)), 0, nil
}

// inflateAndDecode inflates the buffers that no other goroutine has begun. The goroutine that is the last to end then
// decodes the record batch. inflateAndDecode reports whether the record batch is decoded, or has failed; if not, again will
// be called when it is.
func (p *Part) inflateAndDecode(again func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.steps == 0 {
		p.beginInflation()
	}
	for p.next < p.steps {
		step := p.next
		p.next++
		p.mu.Unlock() // others inflate other buffers meanwhile
		err := p.inflateBuffer(step)
		p.mu.Lock()
		if err != nil && (p.err == nil || step < p.failed) { // always the first buffer's, whoever ends first
			p.err, p.failed = err, step
		}
		if p.missing--; p.missing == 0 {
			p.mu.Unlock()
			p.decode()
			p.mu.Lock()
			close(p.decoded)
			for _, again := range p.waiting {
				again()
			}
		}
	}
	select {
	case <-p.decoded:
		return true
	default:
		p.waiting = append(p.waiting, again)
		return false
	}
}

// beginInflation sets the number of buffers to inflate, and makes room for them. The caller holds p.mu.
func (p *Part) beginInflation() {
	p.steps = 1
	if p.meta.NeedsInflation() {
		p.inflation, p.steps = layout.NewInflation(p.meta, p.body, p.total), max(1, len(p.meta.Buffers))
	}
	p.missing = p.steps
}

// inflateBuffer inflates buffer i. It does nothing if nothing is to be inflated, or if there are no buffers.
func (p *Part) inflateBuffer(i int) (err error) {
	defer panics.Recover(&err, panics.As("damaged"))
	if p.inflation == nil || i >= len(p.meta.Buffers) {
		return nil
	}
	return p.inflation.Buffer(i)
}

// decode decodes the record batch, whose buffers are inflated, and sets record or err.
func (p *Part) decode() {
	defer panics.Recover(&p.err, panics.As(panics.Bug))
	meta, body := p.meta, p.body
	if p.inflation != nil {
		meta, body = p.inflation.Plain, p.inflation.Out
	}
	if p.err == nil {
		p.record, p.err = p.decoder.plainRecord(meta, body)
	}
	if p.err == nil && p.Whole != nil {
		p.err = p.Whole(p.record)
	}
	p.body, p.inflation = nil, nil
}

// done must be called once for each piece, and frees the record batch after the last.
func (p *Part) done() {
	if p.left.Add(-1) > 0 {
		return
	}
	if p.record != nil {
		p.record.Release()
	}
	p.record, p.decoder, p.body, p.texts = nil, nil, nil, nil
}
