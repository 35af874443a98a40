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
// it gives no more records to emit.
type Writer struct {
	builder  *array.RecordBuilder
	optional []bool // for each column: it may be null
	emit     func(arrow.Record) error
	most     int    // most rows of a record
	column   int    // index of the row's next column
	rows     int    // number of rows in the builder
	bytes    int    // of their texts
	valid    []byte // scratch of putText
	err      error  // the first error of emit
}

// WrittenRecords yields the records of a schema that write makes with a Writer, and its error, if any.
// A record has at most rows rows and about 8 MiB of text. The caller releases it.
func WrittenRecords(schema *arrow.Schema, rows int, write func(*Writer) error) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) {
		enough := errors.New("the caller wants no more records")
		w := &Writer{builder: array.NewRecordBuilder(memory.NewGoAllocator(), schema), most: max(1, rows)}
		defer w.builder.Release()
		w.emit = func(r arrow.Record) error {
			if !yield(r, nil) {
				return enough
			}
			return nil
		}
		for _, field := range schema.Fields() {
			w.optional = append(w.optional, field.Nullable)
		}
		err := write(w)
		if err == nil {
			err = w.flush()
		}
		if err != nil && !errors.Is(err, enough) {
			yield(nil, err)
		}
	}
}

// Put appends the values of the next columns:
//
//	[]byte, string  a text, with bytes that are not UTF-8 as %XX
//	int, int32      a number of 32 bits
//	int64           a number of 64 bits, or a time in seconds since 1970
//	float64, bool
//
// Nil is null. Where the column may be null, so are an empty text, an int of 0 and the time 0.
func (w *Writer) Put(values ...any) {
	for _, v := range values {
		w.put(v)
	}
}

// put appends the value of the row's next column.
func (w *Writer) put(value any) {
	field := w.builder.Field(w.column)
	null := value == nil || w.optional[w.column] && isMissing(field, value)
	w.column++
	if null {
		field.AppendNull()
		return
	}
	switch v := value.(type) {
	case []byte:
		w.putText(field, v)
	case string:
		w.putText(field, []byte(v))
	case int:
		field.(*array.Int32Builder).Append(int32(v))
	case int32:
		field.(*array.Int32Builder).Append(v)
	case int64:
		if times, ok := field.(*array.TimestampBuilder); ok {
			times.Append(arrow.Timestamp(time.Unix(v, 0).UnixMilli()))
		} else {
			field.(*array.Int64Builder).Append(v)
		}
	case float64:
		field.(*array.Float64Builder).Append(v)
	case bool:
		field.(*array.BooleanBuilder).Append(v)
	default:
		panic("no column has values of this type")
	}
}

// isMissing reports whether a value stands for null in a column that may be null, as Put says.
func isMissing(field array.Builder, value any) bool {
	switch v := value.(type) {
	case []byte:
		return len(v) == 0
	case string:
		return v == ""
	case int:
		return v == 0
	case int64:
		return v == 0 && field.Type().ID() == arrow.TIMESTAMP
	}
	return false
}

// IfKnown returns a value for Put: v if known, and else nil, which is null.
func IfKnown[T any](v T, known bool) any {
	if known {
		return v
	}
	return nil
}

// putText appends a text, with bytes that are not UTF-8 as %XX.
func (w *Writer) putText(field array.Builder, s []byte) {
	w.valid = matcher.AppendValid(w.valid[:0], s)
	w.bytes += len(w.valid)
	field.(*array.StringBuilder).BinaryBuilder.Append(w.valid)
}

// End ends a row.
func (w *Writer) End() {
	w.column = 0
	if w.rows++; w.rows >= w.most || w.bytes >= mostBytes {
		w.err = w.flush()
	}
}

// Err returns the first error of emit.
func (w *Writer) Err() error { return w.err }

// flush gives the rows to emit as a record, if there are any. After an error it returns that.
func (w *Writer) flush() error {
	if w.rows == 0 || w.err != nil {
		return w.err
	}
	w.rows, w.bytes = 0, 0
	return w.emit(w.builder.NewRecord())
}
