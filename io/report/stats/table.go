package stats

import (
	"iter"
	"slices"

	"robotsbatch/matcher/usage"
)

// Table is what a SiteCounter counted.
type Table struct {
	Site Site
	// Uses: what sites state of uses was counted, and not what they deny.
	Uses   bool
	Counts []Count
}

// IsHistory reports whether the counts are those of months.
func (t *Table) IsHistory() bool { return len(t.Counts) > 0 && t.Counts[0].Month != "" }

// ByRank yields the counts of each rank in the last month, or of each rank without months.
func (t *Table) ByRank() iter.Seq[[]Count] {
	return func(yield func([]Count) bool) {
		all := t.Counts
		for low, high := 0, 0; low < len(all); low = high {
			for high < len(all) && all[high].Rank == all[low].Rank && all[high].Month == all[low].Month {
				high++
			}
			if all[low].Month == all[len(all)-1].Month && !yield(all[low:high]) {
				return
			}
		}
	}
}

// History has the counts of a rank over time.
type History struct {
	Rank   int
	Months []string
	Lines  []HistoryLine
}

// HistoryLine is an agent, or an agent and a use, over time.
type HistoryLine struct {
	// Name is the agent; where uses are counted the use, with the agent if there are several.
	Name string
	// Counts has an element for each month; one without sites where nothing was known yet.
	Counts []Count
}

// Histories arranges the counts of months by rank, line and month.
func (t *Table) Histories() []History {
	var all []History
	var months []string
	for i := range t.Counts {
		if month := t.Counts[i].Month; len(months) == 0 || months[len(months)-1] != month {
			months = append(months, month)
		}
	}
	several := slices.ContainsFunc(t.Counts, func(c Count) bool { return c.Agent != t.Counts[0].Agent })
	for i := range t.Counts {
		c := &t.Counts[i]
		r := slices.IndexFunc(all, func(h History) bool { return h.Rank == c.Rank })
		if r < 0 {
			r = len(all)
			all = append(all, History{Rank: c.Rank, Months: months})
		}
		name := c.Agent
		if t.Uses {
			if name = c.Use.String(); several {
				name += " " + c.Agent
			}
		}
		lines := &all[r].Lines
		l := slices.IndexFunc(*lines, func(l HistoryLine) bool { return l.Name == name })
		if l < 0 {
			l = len(*lines)
			*lines = append(*lines, HistoryLine{Name: name, Counts: make([]Count, len(months))})
		}
		(*lines)[l].Counts[slices.Index(months, c.Month)] = *c
	}
	slices.SortStableFunc(all, func(a, b History) int { return a.Rank - b.Rank })
	return all
}

// figure is a number of sites.
type figure struct {
	name string
	of   func(c *Count) int64
	// share: the share of the sites that were reached is written too.
	share bool
}

// deniedFigures are those of what sites deny, and byWhomFigures say of it by whose rules.
var (
	deniedFigures = []figure{
		{"sites", func(c *Count) int64 { return c.Sites }, false},
		{"full", func(c *Count) int64 { return c.Full }, true},
		{"partial", func(c *Count) int64 { return c.Partial }, true},
		{"none", func(c *Count) int64 { return c.None }, false},
		{"undecided", func(c *Count) int64 { return c.Undecided }, false},
		{"unreachable", func(c *Count) int64 { return c.Unreachable }, false},
	}
	byWhomFigures = []figure{
		{"full_named", func(c *Count) int64 { return c.FullNamed }, false},
		{"full_everyone", func(c *Count) int64 { return c.FullEveryone }, false},
		{"partial_named", func(c *Count) int64 { return c.PartialNamed }, false},
		{"partial_everyone", func(c *Count) int64 { return c.PartialEveryone }, false},
	}
)

// useFigures are those of what sites state of a use.
var useFigures = []figure{
	{"sites", func(c *Count) int64 { return c.Sites }, false},
	valueFigure(usage.Allowed), valueFigure(usage.Disallowed), valueFigure(usage.Immediate), valueFigure(usage.Reference), valueFigure(usage.Full),
	{usage.Mixed, func(c *Count) int64 { return c.Mixed }, true},
	{"none", func(c *Count) int64 { return c.None }, false},
	{"unreachable", func(c *Count) int64 { return c.Unreachable }, false},
}

func valueFigure(v usage.Value) figure {
	return figure{v.String(), func(c *Count) int64 { return c.Values[v] }, true}
}
