package lines

import (
	"math"
	"strconv"
	"sync/atomic"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/batch"
)

// form is how values are written: as text or as JSON.
type form struct {
	null string
	json bool
	// most is the most bytes of the text that rows are appended to. A list or an object stops when it
	// has more: the batch is refused then, so what is missing is never seen.
	most int64
	// replaced, if not nil, is set when AppendString replaces a byte.
	replaced *atomic.Bool
}

var (
	textForm = form{null: ""}
	jsonForm = form{null: "null", json: true}
)

// appendString appends a string, which the text form leaves as it is.
func (f form) appendString(dst []byte, s string) []byte {
	if f.json {
		return AppendString(dst, s, f.replaced)
	}
	return append(dst, s...)
}

// urls returns a function that appends the URL of a row.
func (f form) urls(c *batch.Column) Appender {
	return func(dst []byte, row int) []byte {
		switch {
		case c.Null(row):
			return append(dst, f.null...)
		case f.json:
			return AppendString(dst, c.Value(row), f.replaced)
		}
		return append(dst, c.Value(row)...)
	}
}

// values returns a function that appends the value of a row of an array. It does not use Arrow's
// MarshalJSON, which panics if a list has a NaN.
func (f form) values(a arrow.Array) Appender {
	switch a := a.(type) {
	case *array.Null:
		return func(dst []byte, _ int) []byte { return append(dst, f.null...) }
	case *array.Dictionary:
		value := f.values(a.Dictionary())
		return f.nullable(a, func(dst []byte, row int) []byte { return value(dst, a.GetValueIndex(row)) })
	case *array.RunEndEncoded:
		value := f.values(a.Values())
		return func(dst []byte, row int) []byte { return value(dst, a.GetPhysicalIndex(row)) }
	case array.ExtensionArray:
		return f.values(a.Storage())
	case array.Union:
		return f.union(a)
	case array.ListLike:
		return f.nullable(a, f.list(a))
	case *array.Struct:
		return f.nullable(a, f.object(a))
	}
	return f.nullable(a, f.scalars(a))
}

// nullable returns a function that appends null for the nulls of an array, and calls value for other
// rows. It does not call NullN, whose first call writes to memory that batches share, such as that
// of a dictionary.
func (f form) nullable(a arrow.Array, value Appender) Appender {
	if a.NullBitmapBytes() == nil {
		return value
	}
	return func(dst []byte, row int) []byte {
		if a.IsNull(row) {
			return append(dst, f.null...)
		}
		return value(dst, row)
	}
}

// scalars returns a function that appends the value of a row of an array whose values have no values
// within. Values of types that JSON does not have, such as dates, are strings as Arrow prints them.
func (f form) scalars(a arrow.Array) Appender {
	switch a := a.(type) {
	case *array.String:
		return func(dst []byte, row int) []byte { return f.appendString(dst, a.Value(row)) }
	case *array.LargeString:
		return func(dst []byte, row int) []byte { return f.appendString(dst, a.Value(row)) }
	case *array.Boolean:
		return func(dst []byte, row int) []byte { return strconv.AppendBool(dst, a.Value(row)) }
	case *array.Int8:
		return integers(a.Int8Values())
	case *array.Int16:
		return integers(a.Int16Values())
	case *array.Int32:
		return integers(a.Int32Values())
	case *array.Int64:
		return integers(a.Int64Values())
	case *array.Uint8:
		return naturals(a.Uint8Values())
	case *array.Uint16:
		return naturals(a.Uint16Values())
	case *array.Uint32:
		return naturals(a.Uint32Values())
	case *array.Uint64:
		return naturals(a.Uint64Values())
	case *array.Float16:
		return func(dst []byte, row int) []byte { return f.appendFloat(dst, float64(a.Value(row).Float32()), 32) }
	case *array.Float32:
		return func(dst []byte, row int) []byte { return f.appendFloat(dst, float64(a.Value(row)), 32) }
	case *array.Float64:
		return func(dst []byte, row int) []byte { return f.appendFloat(dst, a.Value(row), 64) }
	}
	return func(dst []byte, row int) []byte { return f.appendString(dst, a.ValueStr(row)) }
}

func integers[T int8 | int16 | int32 | int64](values []T) Appender {
	return func(dst []byte, row int) []byte { return strconv.AppendInt(dst, int64(values[row]), 10) }
}

func naturals[T uint8 | uint16 | uint32 | uint64](values []T) Appender {
	return func(dst []byte, row int) []byte { return strconv.AppendUint(dst, uint64(values[row]), 10) }
}

// appendFloat appends a float of 32 or 64 bits as short as possible.
func (f form) appendFloat(dst []byte, value float64, bits int) []byte {
	if f.json && (math.IsNaN(value) || math.IsInf(value, 0)) {
		return append(dst, f.null...)
	}
	return strconv.AppendFloat(dst, value, 'g', -1, bits)
}

// union returns a function that appends the value of a row of a union, as the row's own type is
// written. A union has no nulls of its own.
func (f form) union(a array.Union) Appender {
	children := make([]Appender, a.NumFields())
	for i := range children {
		children[i] = f.values(a.Field(i))
	}
	dense, isDense := a.(*array.DenseUnion)
	return func(dst []byte, row int) []byte {
		child := children[a.ChildID(row)]
		if isDense {
			row = int(dense.ValueOffset(row))
		}
		return child(dst, row)
	}
}

// innerForm returns the form of the values within a list or struct, which is JSON.
func (f form) innerForm() form {
	json := jsonForm
	json.most, json.replaced = f.most, f.replaced
	return json
}

// list returns a function that appends the list of a row as a JSON array. A map, which is a list of
// structs, becomes an array of objects with key and value.
func (f form) list(a array.ListLike) Appender {
	element := f.innerForm().values(a.ListValues())
	return func(dst []byte, row int) []byte {
		dst = append(dst, '[')
		start, end := a.ValueOffsets(row)
		for i := start; i < end && int64(len(dst)) <= f.most; i++ {
			if i > start {
				dst = append(dst, ',')
			}
			dst = element(dst, int(i))
		}
		return append(dst, ']')
	}
}

// object returns a function that appends the struct of a row as a JSON object.
func (f form) object(a *array.Struct) Appender {
	parts := f.innerForm()
	fields := a.DataType().(*arrow.StructType).Fields()
	keys := make([][]byte, len(fields))
	values := make([]Appender, len(fields))
	for i, field := range fields {
		keys[i] = append(AppendString(nil, field.Name, f.replaced), ':')
		values[i] = parts.values(a.Field(i))
	}
	return func(dst []byte, row int) []byte {
		dst = append(dst, '{')
		for i, key := range keys {
			if int64(len(dst)) > f.most {
				break
			}
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, key...)
			dst = values[i](dst, row)
		}
		return append(dst, '}')
	}
}

// plain has the ASCII characters that stand for themselves in a JSON string
// (RFC 8259 §7).
var plain = func() (table [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

// AppendString appends s to dst as a JSON string with its quotes. Each byte that is not UTF-8
// becomes U+FFFD, because JSON cannot hold it; then *replaced is set, unless replaced is nil.
func AppendString[S string | []byte](dst []byte, s S, replaced *atomic.Bool) []byte {
	dst = append(dst, '"')
	start := 0 // s[start:i] is still to be copied, as it is
	for i := 0; i < len(s); {
		c := s[i]
		if plain[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
			if r == utf8.RuneError && size == 1 {
				dst = append(dst, s[start:i]...)
				dst = utf8.AppendRune(dst, utf8.RuneError)
				start = i + 1
				if replaced != nil {
					replaced.Store(true)
				}
			}
			i += size
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, c)
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// escapes has what stands after the backslash for characters with a short escape; 0 for others.
var escapes = [utf8.RuneSelf]byte{'"': '"', '\\': '\\', '\n': 'n', '\r': 'r', '\t': 't'}

// appendEscape appends the escape of a quote, a backslash or a control character.
func appendEscape(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	if letter := escapes[c]; letter != 0 {
		return append(dst, '\\', letter)
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
