package lines

import (
	"slices"
	"strings"

	"robotsbatch/batch"
)

// Words writes the allowed columns that stand side by side, four at a time: of many
// agents each row has hundreds of them.
type Words struct {
	// Low and High say which columns they are: from Low on, and before High.
	Low, High int
	agents    []int
	texts     [][16][]byte // of each four columns: how a row has them, by its verdicts
}

// NewWords returns the Words of columns, nil where no four allowed ones stand side by
// side. write appends the value of a column and what comes before it in its row.
func NewWords(columns []Column, write func(dst []byte, column int, value string) []byte) *Words {
	w := &Words{}
	for i, c := range columns {
		if c.kind != verdictColumn || c.verdict.Kind != batch.Allowed {
			continue
		}
		if len(w.agents) > 0 && i != w.High {
			break
		}
		if len(w.agents) == 0 {
			w.Low = i
		}
		w.High = i + 1
		w.agents = append(w.agents, c.verdict.Agent)
	}
	if len(w.agents) < 4 {
		return nil
	}
	words := [...]string{"false", "true"}
	for low := w.Low; low < w.High; low += 4 {
		var texts [16][]byte
		for verdicts := range texts {
			for i := low; i < min(low+4, w.High); i++ {
				texts[verdicts] = write(texts[verdicts], i, words[verdicts>>(i-low)&1])
			}
		}
		w.texts = append(w.texts, texts)
	}
	return w
}

// RowWords are the Words of a batch.
type RowWords struct {
	*Words
	allowed [][]byte // by column
	null    []byte   // has a bit for each row in which some verdict is null
	eight   int      // the rows, of eight each, that verdicts is of; -1 for none yet
	// verdicts has for each eight columns a byte a row, with a bit a column.
	verdicts []uint64
}

// Of returns the Words of a batch; nil of nil.
func (w *Words) Of(v *batch.Verdicts) *RowWords {
	if w == nil {
		return nil
	}
	r := &RowWords{Words: w, null: make([]byte, (v.Rows+7)/8), eight: -1, verdicts: make([]uint64, (len(w.agents)+7)/8)}
	for _, agent := range w.agents {
		a := &v.Agents[agent]
		r.allowed = append(r.allowed, a.Allowed)
		if a.Nulls == 0 {
			continue
		}
		for i, valid := range a.Valid {
			r.null[i] |= ^valid
		}
	}
	return r
}

// Begins reports whether the columns from one on can be appended for a row: they are the
// Words', and none of their verdicts is null.
func (r *RowWords) Begins(column, row int) bool {
	return r != nil && column == r.Low && r.null[row>>3]>>(row&7)&1 == 0
}

// Append appends the columns of a row at which Begins is true. Rows come in order, so it brings
// together each row's verdicts for eight rows at once. Then it appends four columns at a time.
func (r *RowWords) Append(dst []byte, row int) []byte {
	if eight := row >> 3; eight != r.eight {
		r.eight = eight
		for i := range r.verdicts {
			columns := uint64(0) // a byte a column, with a bit a row
			for j, allowed := range r.allowed[8*i : min(8*i+8, len(r.allowed))] {
				columns |= uint64(allowed[eight]) << (8 * j)
			}
			r.verdicts[i] = transpose(columns)
		}
	}
	for i := range r.texts {
		four := r.verdicts[i>>1] >> (8*(row&7) + 4*(i&1)) & 15
		dst = append(dst, r.texts[i][four]...)
	}
	return dst
}

// transpose makes bit j of byte i of x bit i of byte j.
func transpose(x uint64) uint64 {
	t := (x ^ x>>7) & 0x00AA00AA00AA00AA
	x ^= t ^ t<<7
	t = (x ^ x>>14) & 0x0000CCCC0000CCCC
	x ^= t ^ t<<14
	t = (x ^ x>>28) & 0x00000000F0F0F0F0
	return x ^ t ^ t<<28
}

// IsPlain reports whether a column's text, as Text writes it, has no byte but those of
// true, false, plain texts, and the names of agents with blanks between them; special are
// the bytes that no name must have.
func (c *Column) IsPlain(special string) bool {
	if c.kind != verdictColumn {
		return false
	}
	kind := c.verdict.Kind
	if kind.Agents {
		return !slices.ContainsFunc(c.verdict.Names, func(name string) bool { return strings.ContainsAny(name, special) })
	}
	return kind.Type == batch.BoolType || kind.Plain
}
