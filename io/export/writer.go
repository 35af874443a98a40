package export

import (
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/matcher"
)

// mostBytes is how many bytes of text a record has at most, but for its last row.
const mostBytes = 8 << 20

// writer collects rows into records. The values of a row are appended one after the
// other; end ends it. After an error nothing is collected.
type writer struct {
	builder *array.RecordBuilder
	emit    func(arrow.Record) error
	most    int // rows of a record
	column  int
	rows    int
	bytes   int
	valid   []byte
	err     error
}

func newWriter(schema *arrow.Schema, o Options, emit func(arrow.Record) error) *writer {
	return &writer{builder: array.NewRecordBuilder(memory.NewGoAllocator(), schema), emit: emit, most: max(1, o.Rows)}
}

func (w *writer) release() { w.builder.Release() }

// field returns the builder of the next value.
func (w *writer) field() array.Builder {
	w.column++
	return w.builder.Field(w.column - 1)
}

// text appends a string, with bytes that are not UTF-8 as %XX.
func (w *writer) text(s []byte) {
	w.valid = matcher.AppendValid(w.valid[:0], s)
	w.bytes += len(w.valid)
	w.field().(*array.StringBuilder).BinaryBuilder.Append(w.valid)
}

// optionalText appends a string, null for an empty one.
func (w *writer) optionalText(s []byte) {
	if len(s) == 0 {
		w.field().AppendNull()
		return
	}
	w.text(s)
}

func (w *writer) number(n int) { w.field().(*array.Int32Builder).Append(int32(n)) }

// optional appends a number, null for 0.
func (w *writer) optional(n int) {
	if n == 0 {
		w.field().AppendNull()
		return
	}
	w.number(n)
}

// time appends seconds since 1970, null for 0.
func (w *writer) time(seconds int64) {
	if seconds == 0 {
		w.field().AppendNull()
		return
	}
	w.field().(*array.TimestampBuilder).Append(arrow.Timestamp(time.Unix(seconds, 0).UnixMilli()))
}

func (w *writer) flag(set bool) { w.field().(*array.BooleanBuilder).Append(set) }

// end ends a row.
func (w *writer) end() {
	w.column = 0
	if w.rows++; w.rows >= w.most || w.bytes >= mostBytes {
		w.err = w.flush()
	}
}

// flush hands out the rows, if there are any.
func (w *writer) flush() error {
	if w.rows == 0 || w.err != nil {
		return w.err
	}
	w.rows, w.bytes = 0, 0
	return w.emit(w.builder.NewRecord())
}

// known appends a number, null where it is not known.
func (w *writer) known(n int, known bool) {
	if !known {
		w.field().AppendNull()
		return
	}
	w.number(n)
}

// optionalFloat appends a number, null where it is not known.
func (w *writer) optionalFloat(x float64, known bool) {
	if !known {
		w.field().AppendNull()
		return
	}
	w.field().(*array.Float64Builder).Append(x)
}
