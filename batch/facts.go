package batch

import (
	"math/bits"

	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// factsRuns are the runs of rows of one authority, in their order, with what is
// known of its robots.txt. A run goes up to the next one's first row; rows
// without a verdict among them are of no authority.
type factsRuns struct {
	first []int
	facts []matcher.Facts
	known []bool // false: there is no robots.txt
}

func (r *factsRuns) reset() {
	r.first, r.facts, r.known = r.first[:0], r.facts[:0], r.known[:0]
}

// begin starts a run.
func (r *factsRuns) begin(row int, o *matcher.Origin) {
	r.first = append(r.first, row)
	r.facts = append(r.facts, o.Facts)
	r.known = append(r.known, o.Access != access.Unknown)
}

// end is the row after run i.
func (r *factsRuns) end(i, rows int) int {
	if i+1 < len(r.first) {
		return r.first[i+1]
	}
	return rows
}

// finishFacts gives v the facts of its rows, if they are asked for, and counts
// rows.
func (e *Evaluator) finishFacts(v *Verdicts) {
	r := &e.facts
	if e.options.Facts {
		v.Facts = append(v.Facts, r.facts...)
		v.FactsOf = filled(v.FactsOf, v.Rows, -1)
	}
	valid := v.Agents[0].Valid
	for i := range r.first {
		low, high := r.first[i], r.end(i, v.Rows)
		if !r.known[i] {
			continue
		}
		facts := &r.facts[i]
		if age, ok := facts.Age(e.options.AsOf); ok && age > e.options.MaxAge {
			e.counts.Outdated += int64(countBitsIn(valid, low, high))
		}
		if !e.options.Facts {
			continue
		}
		if facts.Records != nil && facts.Records.MoreSitemaps {
			e.counts.MoreSitemaps += int64(countBitsIn(valid, low, high))
		}
		for row := low; row < high; row++ {
			if valid[row>>3]>>(row&7)&1 != 0 {
				v.FactsOf[row] = int32(i)
			}
		}
	}
}

// countBitsIn counts the ones in the bits low to high-1.
func countBitsIn(bitmap []byte, low, high int) int {
	n := 0
	for low < high {
		width := min(8-low&7, high-low)
		n += bits.OnesCount8(bitmap[low>>3] >> (low & 7) & (1<<width - 1))
		low += width
	}
	return n
}
