package stats

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"robotsbatch/matcher/usage"
)

// UseCount counts sites by what they state of a use to an agent. Each site is in one of
// Values, Mixed, None and Unreachable.
type UseCount struct {
	// Month, Rank and Agent are as in Count.
	Month string
	Rank  int
	Agent string
	Use   usage.Use
	Sites int64
	// Values counts the sites that state one value, by that.
	Values [usage.NumValues]int64
	// Mixed state several: for some paths, or on some hosts, another than for others.
	Mixed int64
	// None state nothing.
	None int64
	// Unreachable are as in Count.
	Unreachable int64
}

// Reached is how many sites shares are of: all but those that were unreachable.
func (c *UseCount) Reached() int64 { return c.Sites - c.Unreachable }

// Stated is how many sites state anything.
func (c *UseCount) Stated() int64 { return c.Reached() - c.None }

// Headline is how many sites disallow the use; of one whose values are grades, how many
// state any.
func (c *UseCount) Headline() int64 {
	if c.Use.Graded() {
		return c.Stated()
	}
	return c.Values[usage.Disallowed]
}

// isSilent is set of a site that was reached, whatever it states. The bits of usage.Values
// begin above it.
const isSilent State = 1

// isOut is set of a site of which an authority was unreachable.
const isOut State = 1 << 7

// useStateOf returns what is known of a site that states these values of a use, and has this
// value in the column access of a survey.
func useStateOf(said usage.Values, access string) State {
	if access == "unreachable" {
		return isOut
	}
	return State(said) | isSilent
}

// add counts a site.
func (c *UseCount) add(s State) {
	c.Sites++
	said := usage.Values(s &^ (isSilent | isOut))
	switch value := said.Single(); {
	case s&isSilent == 0:
		c.Unreachable++
	case said == 0:
		c.None++
	case value == usage.Unknown:
		c.Mixed++
	default:
		c.Values[value]++
	}
}

// countUse counts a site in a table, given by month and rank.
func (t *SiteCounter) countUse(table, subject int, s State) {
	for len(t.uses[table]) <= subject {
		t.uses[table] = append(t.uses[table], UseCount{})
	}
	t.uses[table][subject].add(s)
}

// Uses returns the counts by Options.Uses of all sites, then those by rank, the smallest
// first; in each month of a history anew. Within each, agents come in the order in which they
// were added, and uses in that of the options.
func (t *SiteCounter) Uses() []UseCount {
	t.Flush()
	var all []UseCount
	for table, counts := range t.uses {
		for subject, c := range counts {
			c.Agent, c.Use = t.agents[subject/len(t.options.Uses)], t.options.Uses[subject%len(t.options.Uses)]
			c.Month, c.Rank = t.tableOf(table)
			all = append(all, c)
		}
	}
	return all
}

// column is a column of the table of uses.
type column struct {
	name string
	of   func(c *UseCount) int64
	// share adds a column with the share of the sites that were reached.
	share bool
}

// useColumns are those of counts, in their order.
var useColumns = []column{
	{"sites", func(c *UseCount) int64 { return c.Sites }, false},
	valueColumn(usage.Allowed), valueColumn(usage.Disallowed), valueColumn(usage.Immediate), valueColumn(usage.Reference), valueColumn(usage.Full),
	{usage.Mixed, func(c *UseCount) int64 { return c.Mixed }, true},
	{"none", func(c *UseCount) int64 { return c.None }, false},
	{"unreachable", func(c *UseCount) int64 { return c.Unreachable }, false},
}

func valueColumn(v usage.Value) column {
	return column{v.String(), func(c *UseCount) int64 { return c.Values[v] }, true}
}

// WriteUsesJSON writes an array with an object for each count.
func WriteUsesJSON(w io.Writer, counts []UseCount) error {
	rows := make([]json.RawMessage, len(counts))
	for i := range counts {
		c := &counts[i]
		// The keys come in the order of the columns of csv.
		object := []byte{'{'}
		add := func(name string, value any) {
			if len(object) > 1 {
				object = append(object, ',')
			}
			text, _ := json.Marshal(value)
			object = append(append(strconv.AppendQuote(object, name), ':'), text...)
		}
		if c.Month != "" {
			add("month", c.Month)
		}
		add("rank", rankName(c.Rank))
		add("agent", c.Agent)
		add("use", c.Use.String())
		for _, column := range useColumns {
			add(column.name, column.of(c))
		}
		for _, column := range useColumns {
			if column.share {
				add(column.name+"_share", share(column.of(c), c.Reached()))
			}
		}
		rows[i] = append(object, '}')
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(rows)
}

// WriteUsesCSV writes a header and a line for each count; in a history it begins with the
// month.
func WriteUsesCSV(w io.Writer, counts []UseCount) error {
	header := []string{"month", "rank", "agent", "use"}
	for _, column := range useColumns {
		header = append(header, column.name)
	}
	for _, column := range useColumns {
		if column.share {
			header = append(header, column.name+"_share")
		}
	}
	without := 1
	if len(counts) > 0 && counts[0].Month != "" {
		without = 0
	}
	lines := [][]string{header[without:]}
	for i := range counts {
		c := &counts[i]
		line := []string{c.Month, rankName(c.Rank), c.Agent, c.Use.String()}
		for _, column := range useColumns {
			line = append(line, strconv.FormatInt(column.of(c), 10))
		}
		for _, column := range useColumns {
			if column.share {
				line = append(line, strconv.FormatFloat(share(column.of(c), c.Reached()), 'g', -1, 64))
			}
		}
		lines = append(lines, line[without:])
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// WriteUsesText writes a table for each rank, or in a history one of months and uses.
func WriteUsesText(w io.Writer, counts []UseCount, site Site) error {
	var b strings.Builder
	if len(counts) > 0 && counts[0].Month != "" {
		writeUseMonths(&b, counts, site)
	} else {
		writeUseRanks(&b, counts, site)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeUseRanks(b *strings.Builder, counts []UseCount, site Site) {
	agent, use := len("agent"), len("use")
	for i := range counts {
		agent, use = max(agent, len(counts[i].Agent)), max(use, len(counts[i].Use.String()))
	}
	shown := slices.DeleteFunc(slices.Clone(useColumns), func(column column) bool {
		graded := column.share && usage.IsGrade(column.name)
		return graded && !slices.ContainsFunc(counts, func(c UseCount) bool { return column.of(&c) > 0 })
	})
	last := -1
	for i := range counts {
		c := &counts[i]
		if c.Rank != last {
			if last >= 0 {
				b.WriteByte('\n')
			}
			last = c.Rank
			fmt.Fprintf(b, "%s %s\n%-*s  %-*s", rankName(c.Rank), site, agent, "agent", use, "use")
			for _, column := range shown {
				fmt.Fprintf(b, "  %*s", columnWidth(column), column.name)
			}
			b.WriteByte('\n')
		}
		fmt.Fprintf(b, "%-*s  %-*s", agent, c.Agent, use, c.Use)
		for _, column := range shown {
			text := strconv.FormatInt(column.of(c), 10)
			if column.share {
				text += fmt.Sprintf(" %7.2f%%", 100*share(column.of(c), c.Reached()))
			}
			fmt.Fprintf(b, "  %*s", columnWidth(column), text)
		}
		b.WriteByte('\n')
	}
}

// columnWidth is how wide a column of text is.
func columnWidth(c column) int {
	if c.share {
		return 17
	}
	return max(9, len(c.name))
}

// writeUseMonths writes the share of Headline, with a line for each month.
func writeUseMonths(b *strings.Builder, counts []UseCount, site Site) {
	for _, rank := range UseHistories(counts) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		shown := min(len(rank.Lines), mostInText)
		fmt.Fprintf(b, "%s %s: share that disallows\n%-7s  %9s  %11s", rankName(rank.Rank), site, "month", "sites", "unreachable")
		for _, line := range rank.Lines[:shown] {
			fmt.Fprintf(b, "  %*s", max(8, len(line.Name)), line.Name)
		}
		b.WriteByte('\n')
		for month, name := range rank.Months {
			for i, line := range rank.Lines[:shown] {
				c := &line.Counts[month]
				if i == 0 {
					fmt.Fprintf(b, "%-7s  %9d  %11d", name, c.Sites, c.Unreachable)
				}
				fmt.Fprintf(b, "  %*s", max(8, len(line.Name)), fmt.Sprintf("%.2f%%", 100*share(c.Headline(), c.Reached())))
			}
			b.WriteByte('\n')
		}
		if more := len(rank.Lines) - shown; more > 0 {
			fmt.Fprintf(b, "and %d columns more: csv has all\n", more)
		}
	}
}

// UseHistory has the counts of a rank over time.
type UseHistory struct {
	Rank   int
	Months []string
	Lines  []UseLine
}

// UseLine is an agent and a use over time.
type UseLine struct {
	// Name is the use, with the agent where there are several.
	Name string
	// Counts has an element for each month; one without sites where nothing was known yet.
	Counts []UseCount
}

// UseHistories arranges what Uses returns of months by rank, agent and use.
func UseHistories(counts []UseCount) []UseHistory {
	var all []UseHistory
	var months []string
	several := false
	for i := range counts {
		if m := counts[i].Month; !slices.Contains(months, m) {
			months = append(months, m)
		}
		several = several || counts[i].Agent != counts[0].Agent
	}
	for i := range counts {
		c := &counts[i]
		r := slices.IndexFunc(all, func(h UseHistory) bool { return h.Rank == c.Rank })
		if r < 0 {
			r = len(all)
			all = append(all, UseHistory{Rank: c.Rank, Months: months})
		}
		name := c.Use.String()
		if several {
			name += " " + c.Agent
		}
		lines := &all[r].Lines
		l := slices.IndexFunc(*lines, func(l UseLine) bool { return l.Name == name })
		if l < 0 {
			l = len(*lines)
			*lines = append(*lines, UseLine{Name: name, Counts: make([]UseCount, len(months))})
			for month := range months {
				(*lines)[l].Counts[month].Use = c.Use
			}
		}
		(*lines)[l].Counts[slices.Index(months, c.Month)] = *c
	}
	slices.SortStableFunc(all, func(a, b UseHistory) int { return a.Rank - b.Rank })
	return all
}
