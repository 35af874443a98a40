package tableio

import (
	"errors"
	"iter"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/matcher"
)

// mostBytes is the most bytes of text in a record, not counting its last row.
const mostBytes = 8 << 20

// Writer collects rows into records. The values of a row are appended one after the
// other, in the order of the columns; End ends it. After an error, which Err returns,
// nothing is handed out.
type Writer struct {
	builder *array.RecordBuilder
	emit    func(arrow.Record) error
	most    int // rows of a record
	column  int
	rows    int
	bytes   int
	valid   []byte
	err     error
}

// newWriter returns a Writer of records of a schema, each with at most that many rows
// and about 8 MiB of text. It calls emit with each record; emit must release it.
func newWriter(schema *arrow.Schema, rows int, emit func(arrow.Record) error) *Writer {
	return &Writer{builder: array.NewRecordBuilder(memory.NewGoAllocator(), schema), emit: emit, most: max(1, rows)}
}

// WrittenRecords yields the records that write makes with a Writer, and its error, if any.
func WrittenRecords(schema *arrow.Schema, rows int, write func(*Writer) error) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) {
		enough := errors.New("nobody wants more")
		w := newWriter(schema, rows, func(r arrow.Record) error {
			if !yield(r, nil) {
				return enough
			}
			return nil
		})
		defer w.builder.Release()
		err := write(w)
		if err == nil {
			err = w.flush()
		}
		if err != nil && !errors.Is(err, enough) {
			yield(nil, err)
		}
	}
}

// field returns the builder of the next value.
func (w *Writer) field() array.Builder {
	w.column++
	return w.builder.Field(w.column - 1)
}

// Text appends a string, with bytes that are not UTF-8 as %XX.
func (w *Writer) Text(s []byte) {
	w.valid = matcher.AppendValid(w.valid[:0], s)
	w.bytes += len(w.valid)
	w.field().(*array.StringBuilder).BinaryBuilder.Append(w.valid)
}

// OptionalText appends a string, null for an empty one.
func (w *Writer) OptionalText(s []byte) {
	if len(s) == 0 {
		w.field().AppendNull()
		return
	}
	w.Text(s)
}

// Number appends a number of 32 bits.
func (w *Writer) Number(n int) { w.field().(*array.Int32Builder).Append(int32(n)) }

// Optional appends a number, null for 0.
func (w *Writer) Optional(n int) {
	if n == 0 {
		w.field().AppendNull()
		return
	}
	w.Number(n)
}

// Time appends seconds since 1970, null for 0.
func (w *Writer) Time(seconds int64) {
	if seconds == 0 {
		w.field().AppendNull()
		return
	}
	w.field().(*array.TimestampBuilder).Append(arrow.Timestamp(time.Unix(seconds, 0).UnixMilli()))
}

// Flag appends a boolean.
func (w *Writer) Flag(set bool) { w.field().(*array.BooleanBuilder).Append(set) }

// Long appends a number of 64 bits.
func (w *Writer) Long(n int64) { w.field().(*array.Int64Builder).Append(n) }

// Known appends a number of 32 bits, null if it is not known.
func (w *Writer) Known(n int, known bool) {
	if !known {
		w.Null()
		return
	}
	w.Number(n)
}

// OptionalFloat appends a number, null if it is not known.
func (w *Writer) OptionalFloat(x float64, known bool) {
	if !known {
		w.Null()
		return
	}
	w.field().(*array.Float64Builder).Append(x)
}

// Null appends null, whatever the column.
func (w *Writer) Null() { w.field().AppendNull() }

// End ends a row.
func (w *Writer) End() {
	w.column = 0
	if w.rows++; w.rows >= w.most || w.bytes >= mostBytes {
		w.err = w.flush()
	}
}

// Fail records err, unless there is an error already.
func (w *Writer) Fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// Err returns the first error, from Fail or from emit.
func (w *Writer) Err() error { return w.err }

// flush hands out the rows, if there are any.
func (w *Writer) flush() error {
	if w.rows == 0 || w.err != nil {
		return w.err
	}
	w.rows, w.bytes = 0, 0
	return w.emit(w.builder.NewRecord())
}
