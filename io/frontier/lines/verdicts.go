package lines

import (
	"strconv"
	"time"

	"robotsbatch/batch"
)

// verdicts returns a function that appends the value of a row of a verdict column.
func (f form) verdicts(v *batch.Verdicts, c *batch.VerdictColumn) (Appender, error) {
	if c.Kind == batch.Allowed {
		return f.allowed(&v.Agents[c.Agent]), nil
	}
	values, err := v.Values(c)
	if err != nil {
		return nil, err
	}
	write := f.valueAppender(&values)
	return func(dst []byte, row int) []byte {
		if index := values.At(row); index >= 0 {
			return write(dst, index)
		}
		return append(dst, f.null...)
	}, nil
}

// allowed returns a function that appends an agent's verdict on a row: true, false or null.
func (f form) allowed(agent *batch.AgentVerdicts) Appender {
	return func(dst []byte, row int) []byte {
		at, bit := row>>3, byte(1)<<(row&7)
		switch {
		case agent.Valid[at]&bit == 0:
			return append(dst, f.null...)
		case agent.Allowed[at]&bit == 0:
			return append(dst, "false"...)
		}
		return append(dst, "true"...)
	}
}

// timeLayout is the layout in which Arrow prints timestamps as well.
const timeLayout = "2006-01-02 15:04:05Z07:00"

// valueAppender returns a function that appends a value of v, given its index there. Rows share
// values: Values.At returns the index for a row.
func (f form) valueAppender(v *batch.Values) func(dst []byte, index int32) []byte {
	switch v.Kind.Type {
	case batch.BoolType:
		return func(dst []byte, index int32) []byte { return strconv.AppendBool(dst, index > 0) }
	case batch.Int32Type, batch.Int64Type:
		return func(dst []byte, index int32) []byte { return strconv.AppendInt(dst, v.Ints[index], 10) }
	case batch.TextType:
		return func(dst []byte, index int32) []byte { return f.appendString(dst, v.Texts[index]) }
	case batch.FloatType:
		return cacheLast(func(dst []byte, index int32) []byte { return f.appendFloat(dst, v.Floats[index], 64) })
	case batch.TimeType:
		return cacheLast(func(dst []byte, index int32) []byte {
			return f.appendString(dst, time.Unix(v.Ints[index], 0).UTC().Format(timeLayout))
		})
	default:
		if v.Kind.Agents {
			return f.agents(v.Lists)
		}
		return cacheLast(func(dst []byte, index int32) []byte { return f.words(dst, &v.Lists[index]) })
	}
}

// cacheLast returns a function that appends what write appends, and calls write only if index is
// another than in the last call.
func cacheLast(write func(dst []byte, index int32) []byte) func(dst []byte, index int32) []byte {
	last, text := int32(-1), []byte(nil) // no call yet
	return func(dst []byte, index int32) []byte {
		if index != last {
			last, text = index, write(text[:0], index)
		}
		return append(dst, text...)
	}
}

// agents returns a function that appends a list of agents, given its index in lists. It keeps the
// text of each, because many rows share them.
func (f form) agents(lists []batch.List) func(dst []byte, index int32) []byte {
	texts := make([][]byte, len(lists))
	return func(dst []byte, index int32) []byte {
		if texts[index] == nil {
			texts[index] = f.words(nil, &lists[index])
		}
		return append(dst, texts[index]...)
	}
}

// words appends a list of words as a JSON array, or as text with blanks between them.
func (f form) words(dst []byte, l *batch.List) []byte {
	if f.json {
		dst = append(dst, '[')
	}
	for i := range l.Len() {
		switch {
		case f.json && i > 0:
			dst = append(dst, ',')
		case i > 0:
			dst = append(dst, ' ')
		}
		dst = f.appendString(dst, l.At(i))
	}
	if f.json {
		dst = append(dst, ']')
	}
	return dst
}
