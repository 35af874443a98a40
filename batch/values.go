package batch

import (
	"fmt"
	"math"
	"slices"

	"robotsbatch/matcher"
)

// Values are a column of a batch: the value of row r is number Of[r] of a dictionary, or
// null if that is negative. Many rows share a value, for they are of one host, or one
// rule decides them.
type Values struct {
	Kind *ColumnKind
	// Agent is an index into Verdicts.Agents.
	Agent int
	// Of has one element a row. BoolType has no dictionary: it has 0 for false here and
	// 1 for true. A null is Null or Unreadable.
	Of []int32

	// Ints has the dictionary of integers and times, Floats, Texts and Lists those of
	// their types.
	Ints   []int64
	Floats []float64
	Texts  []string
	Lists  []List

	reasons []matcher.Reason // of the rows, in place of Of; nil in other columns
}

// Null is the number of a null, and Unreadable that of a null in a column about a use where
// something is said of the use that cannot be read.
const Null, Unreadable int32 = -1, -2

// List is a list of texts: all of Words or, if ByNumber is set, those whose indices are in
// Numbers.
type List struct {
	Words    []string
	Numbers  []int32
	ByNumber bool
}

// Len returns the number of texts that the list has.
func (l *List) Len() int {
	if l.ByNumber {
		return len(l.Numbers)
	}
	return len(l.Words)
}

// At returns text i of the list.
func (l *List) At(i int) string {
	if l.ByNumber {
		i = int(l.Numbers[i])
	}
	return l.Words[i]
}

// At returns the number of a row's value in the dictionary, negative for null.
func (c *Values) At(row int) int32 {
	if c.reasons != nil {
		return int32(c.reasons[row]) - 1
	}
	return c.Of[row]
}

// AppendNumbers appends the numbers of rows low to high-1 as At has them.
func (c *Values) AppendNumbers(dst []int32, low, high int) []int32 {
	if c.reasons == nil {
		return append(dst, c.Of[low:high]...)
	}
	for _, reason := range c.reasons[low:high] {
		dst = append(dst, int32(reason)-1)
	}
	return dst
}

// reset makes all of a number of rows null, and empties the dictionary.
func (c *Values) reset(rows int) {
	clear(c.Texts[:cap(c.Texts)]) // texts and words keep bodies of rules in memory
	clear(c.Lists[:cap(c.Lists)])
	c.Of = filled(c.Of, rows, Null)
	c.Ints, c.Floats, c.Texts, c.Lists = c.Ints[:0], c.Floats[:0], c.Texts[:0], c.Lists[:0]
}

// Add adds a value to the dictionary, unless it equals the last one there, and returns its number
// for Of, which the caller sets: Null for none, and 0 or 1 for a boolean.
func (c *Values) Add(v Value) int32 {
	if !v.Known {
		return Null
	}
	switch c.Kind.Type {
	case BoolType:
		return int32(v.Int)
	case FloatType:
		return appendNew(&c.Floats, v.Float, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
	case TextType:
		return appendNew(&c.Texts, v.Text, func(a, b string) bool { return a == b })
	case ListType:
		return appendNew(&c.Lists, List{Words: v.List}, sameList)
	default:
		return appendNew(&c.Ints, v.Int, func(a, b int64) bool { return a == b })
	}
}

// appendNew appends a value unless it equals the last one, and returns its index.
func appendNew[T any](values *[]T, value T, equal func(a, b T) bool) int32 {
	if n := len(*values); n == 0 || !equal((*values)[n-1], value) {
		*values = append(*values, value)
	}
	return int32(len(*values) - 1)
}

// sameList reports whether two lists of words are the same memory. Comparing words would take time
// for each row.
func sameList(a, b List) bool {
	return len(a.Words) == len(b.Words) && (len(a.Words) == 0 || &a.Words[0] == &b.Words[0])
}

// textBytes returns the size of the texts in the dictionary in bytes.
func (c *Values) textBytes() int {
	size := 0
	for _, text := range c.Texts {
		size += len(text)
	}
	for i := range c.Lists {
		for _, word := range c.Lists[i].Words {
			size += len(word)
		}
	}
	return size
}

// Values returns the values of a column for all rows. They share v's memory and are valid until
// its next Reset. It is an error if v was made without the column.
func (v *Verdicts) Values(c *VerdictColumn) (Values, error) {
	if c.Kind.view != nil {
		if values, ok := c.Kind.view(v, c); ok {
			return values, nil
		}
	} else if i := slices.IndexFunc(v.Columns, func(set Values) bool { return set.Kind == c.Kind && set.Agent == c.Agent }); i >= 0 {
		return v.Columns[i], nil
	}
	return Values{}, fmt.Errorf("column %q: the verdicts were made without it", c.Name)
}

// viewAllowed returns an agent's verdicts, which are always there: the bits as numbers, as Values.Of
// has booleans.
func viewAllowed(v *Verdicts, c *VerdictColumn) (Values, bool) {
	values, a := Values{Kind: c.Kind, Of: make([]int32, v.Rows)}, &v.Agents[c.Agent]
	for row := range values.Of {
		switch allowed, known := a.Verdict(row); {
		case !known:
			values.Of[row] = Null
		case allowed:
			values.Of[row] = 1 // the others stay 0: false
		}
	}
	return values, true
}

// viewDenied returns the lists of denied agents; ok is false if verdicts were not combined.
func viewDenied(v *Verdicts, c *VerdictColumn) (Values, bool) {
	values := Values{Kind: c.Kind, Of: v.DeniedOf, Lists: make([]List, len(v.Denied))}
	for i, agents := range v.Denied {
		values.Lists[i] = List{Words: c.Names, Numbers: agents, ByNumber: true}
	}
	return values, len(v.DeniedOf) >= v.Rows
}

// reasonTexts has the text of reason r at r-1. NoReason is 0, so it has none and is null.
var reasonTexts = func() []string {
	texts := make([]string, math.MaxUint8)
	for i := range texts {
		texts[i] = matcher.Reason(i + 1).String()
	}
	return texts
}()

// viewReasons returns the reasons of an agent's verdicts; ok is false if none were asked for.
func viewReasons(v *Verdicts, c *VerdictColumn) (Values, bool) {
	reasons := v.Agents[c.Agent].Reasons
	if len(reasons) < v.Rows {
		return Values{}, false
	}
	return Values{Kind: c.Kind, reasons: reasons, Texts: reasonTexts}, true
}

// viewRules returns a view of the rules that decide for an agent: the values that add appends
// for each explanation. Its ok is false if no explanations were asked for.
func viewRules(add func(e *Explanation, to *Values)) func(v *Verdicts, c *VerdictColumn) (Values, bool) {
	return func(v *Verdicts, c *VerdictColumn) (Values, bool) {
		a := &v.Agents[c.Agent]
		values := Values{Kind: c.Kind, Of: a.Rules}
		for i := range a.Explanations {
			add(&a.Explanations[i], &values)
		}
		return values, len(a.Rules) >= v.Rows
	}
}
