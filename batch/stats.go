package batch

import (
	"encoding/binary"
	"math/bits"
)

// Stats count what a job did. Their JSON is in manifests.
type Stats struct {
	// Rows is the number of rows that were read.
	Rows int64 `json:"rows"`
	// Selected is the number of rows that were written; see Emit.
	Selected int64 `json:"rows_written"`
	Counters
	// WeightNulls is the number of rows whose weight is null, WeightNotNumbers that
	// of those whose weight is NaN, infinite or text that is no number. They count as
	// 0 in Counts.Weights.
	WeightNulls      int64 `json:"weight_nulls,omitempty"`
	WeightNotNumbers int64 `json:"weight_not_numbers,omitempty"`
	// Authorities is the number of distinct authorities, and WithoutRobots how
	// many of these the rules know nothing of. Above a million they are
	// estimates, good to about one percent.
	Authorities   int64 `json:"authorities"`
	WithoutRobots int64 `json:"authorities_without_robots"`
	// Agents has the verdicts for each agent. Where they are combined, the first element
	// has the combined verdicts, and the others follow.
	Agents []Counts `json:"agents"`
}

// Counts are one agent's verdicts.
type Counts struct {
	RowCounts
	// Weights are the sums of the rows' weights, absent where they are 0; see
	// Batch.Weights.
	Weights Weights `json:"weights,omitzero"`
}

// statsOf returns the statistics of a batch and its verdicts, without authorities.
func statsOf(b *Batch, v *Verdicts) Stats {
	s := Stats{Rows: int64(v.Rows), Selected: int64(v.SelectedRows), Counters: v.Counters, Agents: make([]Counts, len(v.Agents))}
	for i := range v.Agents {
		a := &v.Agents[i]
		allowed := countBits(a.Allowed)
		s.Agents[i].RowCounts = RowCounts{Allowed: int64(allowed), Unknown: int64(a.Nulls), Denied: int64(v.Rows - a.Nulls - allowed)}
	}
	s.countUses(v)
	if v.Members > 0 {
		s.countMembers(v)
	}
	for i, n := range v.DeniedLater {
		s.Agents[i].DeniedLater = n
	}
	if b.Weights.Ints != nil || b.Weights.Floats != nil {
		s.weigh(&b.Weights, v)
	}
	return s
}

// countMembers appends to s.Agents, which has the counts of the combined verdicts, those of the
// agents whose verdicts were combined, from the lists of denied agents.
func (s *Stats) countMembers(v *Verdicts) {
	rows := make([]int64, len(v.Denied)) // the number of rows with each list
	for _, list := range v.DeniedOf {
		if list >= 0 {
			rows[list]++
		}
	}
	denied := make([]int64, v.Members)
	for i, list := range v.Denied {
		for _, agent := range list {
			denied[agent] += rows[i]
		}
	}
	unknown := s.Agents[0].Unknown
	for _, n := range denied {
		s.Agents = append(s.Agents, Counts{RowCounts: RowCounts{Allowed: s.Rows - unknown - n, Denied: n, Unknown: unknown}})
	}
}

// add adds the statistics of a batch, except those of authorities, which other batches may have, too:
// they are 0 in b.
func (s *Stats) add(b *Stats) {
	addFields(s, b) // not those of Counters, a struct
	s.Counters.Add(&b.Counters)
	if s.Agents == nil {
		s.Agents = make([]Counts, len(b.Agents))
	}
	for i, counts := range b.Agents {
		s.Agents[i].RowCounts.Add(&counts.RowCounts)
		s.Agents[i].Weights.Add(&counts.Weights)
	}
}

// countBits returns the number of bits of a bitmap that are set.
func countBits(bitmap []byte) int {
	n := 0
	for ; len(bitmap) >= 8; bitmap = bitmap[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(bitmap))
	}
	for _, b := range bitmap {
		n += bits.OnesCount8(b)
	}
	return n
}
