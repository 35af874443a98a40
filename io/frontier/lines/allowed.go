package lines

import (
	"slices"

	"robotsbatch/batch"
)

// AllowedRun writes neighbouring columns of the kind [batch.Allowed], of which a job for many agents
// has hundreds. It has the text of each four columns ready for all 16 combinations of verdicts.
type AllowedRun struct {
	// First is the index of the run's first column, and End the one after that of its last.
	First, End int
	agents     []int        // by column, from First on: the index of the agent
	texts      [][16][]byte // by four columns, then by their verdicts: bit i is set if column i has true
}

// NewAllowedRun returns the first run of columns of the kind [batch.Allowed]; nil if it has fewer
// than four. write appends the value of the column with an index, and before it what separates it
// from the column before, such as a comma.
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
		for verdicts := range texts { // a bit for each of the four columns
			for i := first; i < min(first+4, a.End); i++ {
				texts[verdicts] = write(texts[verdicts], i, values[verdicts>>(i-first)&1])
			}
		}
		a.texts = append(a.texts, texts)
	}
	return a
}

// AllowedRows are the verdicts of a batch for an AllowedRun. It is for one goroutine.
type AllowedRows struct {
	*AllowedRun
	allowed [][]byte // by column: a bit for each row
	null    []byte   // a bit for each row, set if a verdict of the run is null there
	// verdicts are those of the rows from 8*eight on. Each element has eight columns: byte i is row
	// 8*eight+i, and bit j of it is column j. eight is -1 before the first row.
	verdicts []uint64
	eight    int
}

// Rows returns the verdicts of a batch for the run. It returns nil for a nil run.
func (a *AllowedRun) Rows(v *batch.Verdicts) *AllowedRows {
	if a == nil {
		return nil
	}
	r := &AllowedRows{AllowedRun: a, null: make([]byte, (v.Rows+7)/8), eight: -1, verdicts: make([]uint64, (len(a.agents)+7)/8)}
	for _, index := range a.agents {
		agent := &v.Agents[index]
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

// Begins reports whether Append can append all columns of the run: the run begins at that column,
// and no verdict of it is null in that row. It is false for a nil run.
func (r *AllowedRows) Begins(column, row int) bool {
	return r != nil && column == r.First && r.null[row>>3]>>(row&7)&1 == 0
}

// Append appends the run's columns in a row for which Begins is true. Rows should come in order,
// because it transposes the verdicts of eight rows at a time.
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
		four := r.verdicts[i>>1] >> (8*(row&7) + 4*(i&1)) & 15 // the half of the row's byte that has these four columns
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
