package lines

import (
	"slices"

	"robotsbatch/batch"
)

// AllowedRun is a run of allowed columns, which are written four at a time: of many agents each row
// has hundreds of them.
type AllowedRun struct {
	// First is the run's first column, and End the one after its last.
	First, End int
	agents     []int
	texts      [][16][]byte // of each four columns: their text in a row, by the bits of its verdicts
}

// NewAllowedRun returns the first run of allowed columns; nil if it has fewer than four. write
// appends the value of a column, with the text before it in its row.
func NewAllowedRun(columns []Column, write func(dst []byte, column int, value string) []byte) *AllowedRun {
	isAllowed := func(c Column) bool { return c.kind == verdictColumn && c.verdict.Kind == batch.Allowed }
	a := &AllowedRun{First: max(0, slices.IndexFunc(columns, isAllowed))}
	for _, c := range columns[a.First:] {
		if !isAllowed(c) {
			break
		}
		a.agents = append(a.agents, c.verdict.Agent)
	}
	if a.End = a.First + len(a.agents); len(a.agents) < 4 {
		return nil
	}
	values := [...]string{"false", "true"}
	for first := a.First; first < a.End; first += 4 {
		var texts [16][]byte
		for verdicts := range texts {
			for i := first; i < min(first+4, a.End); i++ {
				texts[verdicts] = write(texts[verdicts], i, values[verdicts>>(i-first)&1])
			}
		}
		a.texts = append(a.texts, texts)
	}
	return a
}

// AllowedRows are the verdicts of a batch in an AllowedRun. It is for one goroutine.
type AllowedRows struct {
	*AllowedRun
	allowed [][]byte // by column
	null    []byte   // has a bit for each row in which some verdict is null
	eight   int      // the rows, of eight each, that verdicts is of; -1 for none yet
	// verdicts has for each eight columns a byte a row, with a bit a column.
	verdicts []uint64
}

// Of returns the verdicts of a batch for the run. It returns nil for a nil run.
func (a *AllowedRun) Of(v *batch.Verdicts) *AllowedRows {
	if a == nil {
		return nil
	}
	r := &AllowedRows{AllowedRun: a, null: make([]byte, (v.Rows+7)/8), eight: -1, verdicts: make([]uint64, (len(a.agents)+7)/8)}
	for _, number := range a.agents {
		agent := &v.Agents[number]
		r.allowed = append(r.allowed, agent.Allowed)
		if agent.Nulls == 0 {
			continue
		}
		for i, valid := range agent.Valid {
			r.null[i] |= ^valid
		}
	}
	return r
}

// Begins reports whether the run begins at a column, and has no null in a row: Append then appends
// all of it.
func (r *AllowedRows) Begins(column, row int) bool {
	return r != nil && column == r.First && r.null[row>>3]>>(row&7)&1 == 0
}

// Append appends the run's columns of a row for which Begins is true. It transposes the
// verdicts of eight rows at a time, so rows should come in order, and appends four columns at
// a time.
func (r *AllowedRows) Append(dst []byte, row int) []byte {
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
		four := r.verdicts[i>>1] >> (8*(row&7) + 4*(i&1)) & 15 // half of the row's byte: the bits of these columns
		dst = append(dst, r.texts[i][four]...)
	}
	return dst
}

// transpose returns x as a matrix of 8 by 8 bits with rows and columns swapped: bit j of byte
// i becomes bit i of byte j.
func transpose(x uint64) uint64 {
	t := (x ^ x>>7) & 0x00AA00AA00AA00AA
	x ^= t ^ t<<7
	t = (x ^ x>>14) & 0x0000CCCC0000CCCC
	x ^= t ^ t<<14
	t = (x ^ x>>28) & 0x00000000F0F0F0F0
	return x ^ t ^ t<<28
}
