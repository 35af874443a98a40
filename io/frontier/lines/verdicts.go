package lines

import (
	"strconv"
	"time"

	"robotsbatch/batch"
)

// verdicts returns how the values of a verdict column are appended.
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
		if of := values.At(row); of >= 0 {
			return write(dst, of)
		}
		return append(dst, f.null...)
	}, nil
}

// allowed returns how an agent's verdicts are appended: true, false or null.
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

// timeLayout is how Arrow's timestamps are written as text, too.
const timeLayout = "2006-01-02 15:04:05Z07:00"

// valueAppender returns a function that appends a value of v to dst, given the value's index in
// v, which is not that of its row.
func (f form) valueAppender(v *batch.Values) func(dst []byte, of int32) []byte {
	switch v.Kind.Type {
	case batch.BoolType:
		return func(dst []byte, of int32) []byte { return strconv.AppendBool(dst, of > 0) }
	case batch.Int32Type, batch.Int64Type:
		return func(dst []byte, of int32) []byte { return strconv.AppendInt(dst, v.Ints[of], 10) }
	case batch.TextType:
		return func(dst []byte, of int32) []byte { return f.appendString(dst, v.Texts[of]) }
	case batch.FloatType:
		return cacheLast(func(dst []byte, of int32) []byte { return f.appendFloat(dst, v.Floats[of], 64) })
	case batch.TimeType:
		return cacheLast(func(dst []byte, of int32) []byte {
			return f.appendString(dst, time.Unix(v.Ints[of], 0).UTC().Format(timeLayout))
		})
	default:
		if v.Kind.Agents {
			return f.agents(v.Lists)
		}
		return cacheLast(func(dst []byte, of int32) []byte { return f.words(dst, &v.Lists[of]) })
	}
}

// cacheLast returns a function that does what write does, but calls it only once for a run of
// rows with the same value.
func cacheLast(write func(dst []byte, of int32) []byte) func(dst []byte, of int32) []byte {
	last, text := int32(-1), []byte(nil) // no value yet
	return func(dst []byte, of int32) []byte {
		if of != last {
			last, text = of, write(text[:0], of)
		}
		return append(dst, text...)
	}
}

// agents returns how a list of agents is appended, given its index in lists. It keeps the text
// of each, because many rows share them.
func (f form) agents(lists []batch.List) func(dst []byte, of int32) []byte {
	texts := make([][]byte, len(lists))
	return func(dst []byte, of int32) []byte {
		if texts[of] == nil {
			texts[of] = f.words(nil, &lists[of])
		}
		return append(dst, texts[of]...)
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
