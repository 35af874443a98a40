package delimited

import (
	"bytes"
	"cmp"
	"slices"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/store/blob"
)

// NewSink returns a sink that writes to w. It returns an error if a verdict column has the
// name of one of the input's.
func NewSink(w blob.Writer, o lines.SinkOptions) (batch.Sink, error) {
	s := &sink{separator: cmp.Or(o.Separator, ',')}
	special := []byte{s.separator, '"', '\r', '\n'}
	for _, c := range special {
		s.special[c] = true
	}
	var err error
	if s.columns, err = lines.Columns(o.Layout, o.Schema); err != nil {
		return nil, err
	}
	// Texts of several neighbouring verdicts, which appendRow appends at once. They need no quotes.
	s.allowed = lines.NewAllowedRun(s.columns, func(dst []byte, column int, value string) []byte {
		if column > 0 {
			dst = append(dst, s.separator)
		}
		return append(dst, value...)
	})
	s.plain = make([]bool, len(s.columns))
	for i := range s.columns {
		s.plain[i] = s.columns[i].IsPlain(string(special))
	}
	if s.Output, err = lines.NewOutput(w, s.header(), o); err != nil {
		return nil, err
	}
	return s, nil
}

type sink struct {
	*lines.Output
	columns   []lines.Column
	plain     []bool            // by column: no field has a special byte
	allowed   *lines.AllowedRun // nil for none
	separator byte
	special   [256]bool // bytes for which a field is quoted
}

// Encode implements batch.Sink.
func (s *sink) Encode(b *batch.Batch, v *batch.Verdicts) (batch.Chunk, error) {
	fields, err := lines.Text(b, v, s.columns)
	if err != nil {
		return nil, err
	}
	allowed := s.allowed.Rows(v)
	return s.Output.Encode(b.Grant, v, func(dst []byte, row int) []byte { return s.appendRow(dst, fields, allowed, s.plain, row) })
}

// header returns the line of the columns' names.
func (s *sink) header() []byte {
	names := make([]lines.Appender, len(s.columns))
	for i, column := range s.columns {
		names[i] = func(dst []byte, _ int) []byte { return append(dst, column.Name...) }
	}
	return s.appendRow(nil, names, nil, make([]bool, len(names)), 0) // any name may need quotes
}

// appendRow appends a row with its line end. fields append the values, by column. A value with a
// special byte gets quotes; where plain is true it has none. allowed, which may be nil, appends the
// values of a run of columns at once.
func (s *sink) appendRow(dst []byte, fields []lines.Appender, allowed *lines.AllowedRows, plain []bool, row int) []byte {
	rowStart := len(dst)
	for i := 0; i < len(fields); i++ {
		if allowed.Begins(i, row) {
			dst = allowed.Append(dst, row)
			i = allowed.End - 1 // the run's last column
			continue
		}
		if i > 0 {
			dst = append(dst, s.separator)
		}
		start := len(dst)
		dst = fields[i](dst, row)
		if plain[i] {
			continue
		}
		for _, c := range dst[start:] {
			if s.special[c] {
				dst = quote(dst, start)
				break
			}
		}
	}
	if len(dst) == rowStart {
		dst = append(dst, `""`...) // an empty line would be no row
	}
	return append(dst, '\n')
}

// quote puts quotes around dst[start:] and doubles those within. It moves the bytes in place, from
// the last on, so that none is overwritten before it was moved.
func quote(dst []byte, start int) []byte {
	from := len(dst) // dst[start:from] is still to be moved
	more := 2 + bytes.Count(dst[start:], []byte{'"'})
	dst = slices.Grow(dst, more)[:from+more]
	to := len(dst) - 1 // dst[to:] is done
	dst[to] = '"'
	for from > start {
		from--
		c := dst[from]
		to--
		dst[to] = c
		if c == '"' {
			to--
			dst[to] = '"'
		}
	}
	dst[start] = '"'
	return dst
}
