package jsonl

import (
	"bytes"
	"fmt"
	"sync/atomic"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/store/blob"
)

// NewSink returns a sink that writes to w. It returns an error if two columns have the same
// name.
//
// With batch.KeepAll, objects of this package's source are written as they were read, with the
// verdicts at their ends.
func NewSink(w blob.Writer, o lines.SinkOptions) (batch.Sink, error) {
	s := &sink{verdicts: len(o.Layout.Verdicts), keepAll: o.Layout.Keep == batch.KeepAll}
	var err error
	if s.columns, err = lines.Columns(o.Layout, o.Schema); err != nil {
		return nil, err
	}
	if err = s.setKeys(); err != nil {
		return nil, err
	}
	s.allowed = lines.NewAllowedRun(s.columns, func(dst []byte, column int, value string) []byte {
		return append(append(dst, s.keys[column]...), value...)
	})
	if s.Output, err = lines.NewOutput(w, nil, o); err != nil {
		return nil, err
	}
	return s, nil
}

type sink struct {
	*lines.Output
	columns []lines.Column
	keys    [][]byte          // by column: what comes before the value, such as ,"name":
	allowed *lines.AllowedRun // nil for none
	// verdicts is the number of verdict columns, which are the last ones.
	verdicts int
	keepAll  bool
	replaced atomic.Bool // see lines.AppendString
}

// Notes returns a note if a byte was replaced.
func (s *sink) Notes() []string {
	if !s.replaced.Load() {
		return nil
	}
	return []string{"bytes that are not UTF-8 are written as U+FFFD, because JSON cannot hold them"}
}

// setKeys sets the text before the value of each column: a brace or comma, the name and a colon.
func (s *sink) setKeys() error {
	seen := make(map[string]bool, len(s.columns))
	before := byte('{')
	for _, column := range s.columns {
		key := lines.AppendString([]byte{before}, column.Name, &s.replaced)
		name := string(key[1:])
		if seen[name] {
			return option.Errorf("the input has two columns %s, which one object cannot have: leave them out with %s, or choose another format", name, option.Columns.With("url"))
		}
		seen[name], before = true, ','
		s.keys = append(s.keys, append(key, ':'))
	}
	return nil
}

// Encode implements batch.Sink.
func (s *sink) Encode(b *batch.Batch, v *batch.Verdicts) (batch.Chunk, error) {
	t, through := b.Table.(passed)
	through = through && s.keepAll
	columns := s.columns
	if through {
		columns = columns[len(columns)-s.verdicts:]
	}
	values, err := lines.JSON(b, v, columns, &s.replaced)
	if err != nil {
		return nil, err
	}
	if through {
		return s.passThrough(b.Grant, t.lines(), values, v)
	}
	allowed := s.allowed.Rows(v)
	return s.Output.Encode(b.Grant, v, func(dst []byte, row int) []byte { return s.appendValues(dst, 0, values, allowed, row) })
}

// appendValues appends a row's members from the column with the index first on, and the end of the
// object. values are those of these columns. allowed, which may be nil, appends a run of columns at
// once.
func (s *sink) appendValues(dst []byte, first int, values []lines.Appender, allowed *lines.AllowedRows, row int) []byte {
	for i := 0; i < len(values); i++ {
		if allowed.Begins(first+i, row) {
			dst = allowed.Append(dst, row)
			i = allowed.End - 1 - first // the run's last column
			continue
		}
		dst = values[i](append(dst, s.keys[first+i]...), row)
	}
	return append(dst, "}\n"...)
}

// passThrough encodes rows as they were read, with the verdicts at the end of each object.
func (s *sink) passThrough(grant *batch.Grant, r *originalLines, verdicts []lines.Appender, v *batch.Verdicts) (batch.Chunk, error) {
	switch {
	case r.clash != nil:
		return nil, r.clash
	case len(r.rows) != v.Rows:
		return nil, fmt.Errorf("%d lines for %d rows", len(r.rows), v.Rows)
	}
	first, allowed := len(s.keys)-len(verdicts), s.allowed.Rows(v)
	return s.Output.Encode(grant, v, func(dst []byte, row int) []byte {
		dst, empty := r.appendOpen(dst, row, &s.replaced)
		if !empty || len(verdicts) == 0 {
			return s.appendValues(dst, first, verdicts, allowed, row)
		}
		// A run of allowed that starts here is not used, because its text begins with a comma.
		dst = verdicts[0](append(dst, s.keys[first][1:]...), row) // without the comma
		return s.appendValues(dst, first+1, verdicts[1:], allowed, row)
	})
}

// appendOpen appends row i as an object without its closing brace: as it was read, or made of a line
// without an object. empty reports whether the object has no members yet.
func (r *originalLines) appendOpen(dst []byte, i int, replaced *atomic.Bool) (_ []byte, empty bool) {
	row := &r.rows[i]
	text := r.text[row.start:row.end]
	if row.object < 0 {
		return lines.AppendString(append(dst, `{"line":`...), text, replaced), false
	}
	dst, empty = append(dst, '{'), true
	if r.cdxj {
		surt, rest, _ := bytes.Cut(text, []byte{' '})
		timestamp, _, _ := bytes.Cut(rest, []byte{' '})
		for bit, value := range [][]byte{surt, timestamp} {
			if row.owned>>bit&1 != 0 {
				continue
			}
			if !empty {
				dst = append(dst, ',')
			}
			dst = append(dst, indexKeys[bit]...)
			dst, empty = lines.AppendString(dst, value, replaced), false
		}
	}
	if row.empty {
		return dst, empty
	}
	if !empty {
		dst = append(dst, ',')
	}
	return append(dst, r.text[row.object+1:row.end-1]...), false
}

// indexKeys are the keys of the fields before a crawl index's object.
var indexKeys = [...]string{`"` + surtColumn + `":`, `"` + timestampColumn + `":`}
