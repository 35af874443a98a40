package stats

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"robotsbatch/io/report/export"
	"robotsbatch/matcher/usage"
)

// Table is what a SiteCounter counted.
type Table struct {
	Site Site
	// Base is what shares are of.
	Base Base
	// Uses says that sites were counted by what they state about uses, and not by what they deny.
	Uses   bool
	Counts []Count
	// First and Last are the times of the first and the last capture; zero without months.
	First, Last time.Time
}

// IsHistory reports whether the counts are those of months.
func (t *Table) IsHistory() bool { return len(t.Counts) > 0 && t.Counts[0].Month != "" }

// ByRank yields the counts of each rank, in the order of t.Counts; of a history, those of the last month.
func (t *Table) ByRank() iter.Seq[[]Count] {
	return func(yield func([]Count) bool) {
		all := t.Counts // those of a month and rank together
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

// Histories returns the counts of a history by rank, then line, then month, each in the order of
// t.Counts.
func (t *Table) Histories() []History {
	var all []History
	var months []string
	for i := range t.Counts {
		if month := t.Counts[i].Month; !slices.Contains(months, month) {
			months = append(months, month)
		}
	}
	severalAgents := slices.ContainsFunc(t.Counts, func(c Count) bool { return c.Agent != t.Counts[0].Agent })
	for i := range t.Counts {
		c := &t.Counts[i]
		at := slices.IndexFunc(all, func(h History) bool { return h.Rank == c.Rank })
		if at < 0 {
			at = len(all)
			all = append(all, History{Rank: c.Rank, Months: months})
		}
		history := &all[at]
		name := c.Agent
		if t.Uses {
			if name = c.Use.String(); severalAgents {
				name += " " + c.Agent
			}
		}
		line := slices.IndexFunc(history.Lines, func(l HistoryLine) bool { return l.Name == name })
		if line < 0 {
			line = len(history.Lines)
			history.Lines = append(history.Lines, HistoryLine{Name: name, Counts: make([]Count, len(months))})
		}
		history.Lines[line].Counts[slices.Index(months, c.Month)] = *c
	}
	return all
}

// Figure is a number of sites that each count has, such as how many deny everything.
type Figure struct {
	// Name is the figure's name in csv and JSON, and Label its name in text; empty for Name.
	Name, Label string
	// Title is the figure's name on a page, and Phone that on a narrow one; empty for Title.
	Title, Phone string
	// Of returns the number in a count.
	Of func(c *Count) int64
	// Share says that the share of the base is written as well.
	Share bool
	// Rare says that texts and pages leave the figure out if it is 0 in all counts.
	Rare bool
}

// deniedFigures are the figures about what sites deny, among the base's sites that were reached.
var deniedFigures = []Figure{
	{Name: "full", Title: "Everything denied", Of: func(c *Count) int64 { return c.Full }, Share: true},
	{Name: "full_named", Label: "by name", Title: "by name", Phone: "Everything, by name", Of: func(c *Count) int64 { return c.FullNamed }},
	{Name: "full_everyone", Label: "by *", Title: "by *", Phone: "Everything, by *", Of: func(c *Count) int64 { return c.FullEveryone }},
	{Name: "root", Title: "Front page denied", Of: func(c *Count) int64 { return c.Root }, Share: true},
	{Name: "partial", Title: "Something denied", Of: func(c *Count) int64 { return c.Partial }, Share: true},
	{Name: "partial_named", Label: "by name", Title: "by name", Phone: "Something, by name", Of: func(c *Count) int64 { return c.PartialNamed }},
	{Name: "partial_everyone", Label: "by *", Title: "by *", Phone: "Something, by *", Of: func(c *Count) int64 { return c.PartialEveryone }},
	{Name: "none", Title: "Nothing denied", Of: func(c *Count) int64 { return c.None }},
	{Name: "undecided", Title: "Undecided", Of: func(c *Count) int64 { return c.Undecided }, Rare: true},
}

// useFigures are the figures about what sites state about a use.
var useFigures = []Figure{
	{Name: "stated", Title: "Stated", Of: (*Count).Stated, Share: true},
	valueFigure(usage.Allowed, "Allowed"), valueFigure(usage.Disallowed, "Disallowed"),
	valueFigure(usage.Immediate, "Immediate"), valueFigure(usage.Reference, "Reference"), valueFigure(usage.Full, "Full"),
	{Name: usage.Mixed, Title: "Mixed", Of: func(c *Count) int64 { return c.Mixed }, Share: true},
	valueFigure(usage.Unreadable, "Unreadable"),
	{Name: "none", Title: "Nothing", Of: func(c *Count) int64 { return c.None }},
}

func valueFigure(v usage.Value, title string) Figure {
	return Figure{Name: v.String(), Title: title, Of: func(c *Count) int64 { return c.Values[v] }, Share: true, Rare: v != usage.Allowed && v != usage.Disallowed}
}

// classFigures are the figures about the classes of all sites.
var classFigures = func() []Figure {
	figures := []Figure{{Name: "sites", Of: (*Count).Sites}, {Name: "reached", Of: (*Count).Reached}}
	for class := range export.Classes {
		figures = append(figures, Figure{Name: class.String(), Of: func(c *Count) int64 { return c.Classes[class] }})
	}
	return figures
}()

// figures returns the figures of what is counted.
func (t *Table) figures() []Figure {
	if t.Uses {
		return useFigures
	}
	return deniedFigures
}

// Shown returns the figures to show: all but rare ones that are 0 in all counts.
func (t *Table) Shown(counts []Count) []Figure {
	return slices.DeleteFunc(slices.Clone(t.figures()), func(f Figure) bool {
		return f.Rare && !slices.ContainsFunc(counts, func(c Count) bool { return f.Of(&c) > 0 })
	})
}

// Reach says how many sites are in each class, such as "9 reached (7 with_rules, …), 1 old_copy, …".
// number formats a number.
func (c *Count) Reach(number func(int64) string) string {
	text := number(c.Reached()) + " reached ("
	for class, n := range c.Classes {
		switch at := export.Class(class); {
		case at == export.OldCopy: // the first that was not reached
			text += "), "
		case class > 0:
			text += ", "
		}
		text += number(n) + " " + export.Class(class).String()
	}
	return text
}

// Known says how many of a list's sites up to the count's rank are among the counted sites; empty for
// counts that are not by rank. number formats a number.
func (c *Count) Known(number func(int64) string) string {
	if c.Rank <= 0 {
		return ""
	}
	text := fmt.Sprintf("%s of the first %s known", number(c.Sites()), number(int64(c.Rank)))
	if c.Listed < int64(c.Rank) {
		text += fmt.Sprintf(" (the list has %s)", number(c.Listed))
	}
	return text
}
