package report

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"robotsbatch/io/report/page"
	"robotsbatch/io/report/stats"
)

// The parts of a bar of sites, in the order of how much is closed.
var blockedParts = []page.Series{
	{Name: "everything denied", Kind: page.Most},
	{Name: "something denied", Kind: page.Some},
	{Name: "nothing denied", Kind: page.Least},
	{Name: "undecided or unreachable", Kind: page.Unknown},
}

const madeBy = "This page asks nothing of any server."

// blockedPage words the counts of a survey as a page. name is what the sites are from.
func blockedPage(counts []stats.Count, site stats.Site, name, version string, now time.Time) *page.Page {
	p := statsPage("Who blocks whom", ", as RFC 9309 defines robots.txt.", name, version, now)
	if len(counts) == 0 {
		return p
	}
	latest := counts
	if counts[0].Month != "" {
		last := counts[len(counts)-1].Month
		latest = slices.DeleteFunc(slices.Clone(counts), func(c stats.Count) bool { return c.Month != last })
		for _, history := range stats.History(counts) {
			p.Sections = append(p.Sections, historySection(&history, site))
		}
	}
	p.Finding = blockedFinding(latest, site)
	if counts[0].Month != "" {
		p.Finding = slices.Insert(p.Finding, 1, historyFinding(stats.History(counts)[0])...)
	}
	for of := range byRank(latest, func(c *stats.Count) int { return c.Rank }) {
		p.Sections = append(p.Sections, blockedSection(of, site))
	}
	return p
}

// statsPage returns a page without sections, which finds nothing. source says what was
// counted.
func statsPage(title, source, name, version string, now time.Time) *page.Page {
	counted := "Counted of " + Printable(name) + " on " + now.UTC().Format("2 January 2006, 15:04 UTC") + " by robotsbatch " + Printable(version)
	return &page.Page{Title: title, Foot: []string{counted + source, madeBy}, Finding: []string{"Nothing was surveyed: there is no site."}}
}

// byRank yields the counts of each rank, which follow one another.
func byRank[C any](counts []C, rank func(*C) int) iter.Seq[[]C] {
	return func(yield func([]C) bool) {
		for low, high := 0, 0; low < len(counts); low = high {
			for high < len(counts) && rank(&counts[high]) == rank(&counts[low]) {
				high++
			}
			if !yield(counts[low:high]) {
				return
			}
		}
	}
}

// sitesOf is a number of sites in words.
func sitesOf(n int64, site stats.Site) string {
	one, many := "site", "sites"
	if site == stats.ByAuthority {
		one, many = "authority", "authorities"
	}
	return Count(n, one, many)
}

// blockedFinding says who is closed out most, and how many sites that is of.
func blockedFinding(counts []stats.Count, site stats.Site) []string {
	first := &counts[0]
	text := fmt.Sprintf("%s of %s deny everything to %s", percent(first.Full, first.Reached()), sitesOf(first.Reached(), site), Printable(first.Agent))
	if first.Full > 0 {
		text += fmt.Sprintf(", %s of them by its name", percent(first.FullNamed, first.Full))
	}
	finding := []string{text + "."}
	for i := range counts {
		if c := &counts[i]; c.Agent == "*" && c.Rank == first.Rank && i > 0 {
			finding = append(finding, fmt.Sprintf("%s deny everything to everyone, by the group for *.", percent(c.Full, c.Reached())))
		}
	}
	if first.Unreachable > 0 {
		finding = append(finding, fmt.Sprintf("The robots.txt of %s could not be fetched: these are in no share.", sitesOf(first.Unreachable, site)))
	}
	return finding
}

// historyFinding says how the share of the agent that is closed out most has changed.
func historyFinding(h stats.RankHistory) []string {
	counts := h.Counts[0]
	first := slices.IndexFunc(counts, func(c stats.Count) bool { return c.Reached() > 0 })
	last := len(counts) - 1
	if first < 0 || first == last {
		return nil
	}
	return []string{fmt.Sprintf("In %s it was %s.", h.Months[first], percent(counts[first].Full, counts[first].Reached()))}
}

// mostLines is how many agents have a line of their own over time.
const mostLines = 6

// historySection is the share of sites that deny everything over time, of a rank.
func historySection(h *stats.RankHistory, site stats.Site) page.Section {
	lines := &page.Lines{Title: "Share of sites that deny everything, at the end of each month", X: h.Months, YText: func(y float64) string { return percentOf(y, 1) }}
	table := &page.Table{Caption: "Share of sites that deny everything", Columns: []page.Column{{Name: "Month"}, {Name: "Sites", Number: true}}}
	shown := min(len(h.Agents), mostLines)
	for i, agent := range h.Agents[:shown] {
		line := page.SeriesLine{Name: Printable(agent)}
		for month := range h.Months {
			c := &h.Counts[i][month]
			line.Y = append(line.Y, shareOf(c.Full, c.Reached()))
		}
		lines.Lines = append(lines.Lines, line)
		table.Columns = append(table.Columns, page.Column{Name: Printable(agent), Number: true})
	}
	for month, name := range h.Months {
		row := []page.Cell{{Text: name}, numberCell(h.Counts[0][month].Reached())}
		for i := range shown {
			c := &h.Counts[i][month]
			row = append(row, page.Cell{Text: percent(c.Full, c.Reached()), Number: shareOf(c.Full, c.Reached())})
		}
		table.Rows = append(table.Rows, row)
	}
	text := "A site counts from its first capture on, with what its last capture before the end of the month says. Sites that were unreachable then are left out."
	if more := len(h.Agents) - shown; more > 0 {
		text += fmt.Sprintf(" Shown are the %d agents that most sites deny everything at the end; %s more are in the counts as csv.", shown, Number(int64(more)))
	}
	return page.Section{Title: rankTitle(h.Rank, site) + " over time", Text: text, Parts: []page.Part{lines, &page.Details{Name: "The numbers of each month", Part: table}}}
}

// rankTitle names the sites of a rank, such as "All sites" and "Top 1,000 sites".
func rankTitle(rank int, site stats.Site) string {
	if rank == stats.All {
		return "All " + site.String()
	}
	return fmt.Sprintf("Top %s %s", Number(int64(rank)), site)
}

// blockedColumns are those of the table of agents. Those that are not always there are left
// out where all agents have 0.
var blockedColumns = []struct {
	page.Column
	always bool
	cell   func(*stats.Count) page.Cell
}{
	{page.Column{Name: "Agent"}, true, func(c *stats.Count) page.Cell { return textCell(c.Agent) }},
	{page.Column{Name: "Everything denied", Number: true}, true, func(c *stats.Count) page.Cell { return shareCell(c.Full, c.Reached()) }},
	{page.Column{Bar: true}, true, func(c *stats.Count) page.Cell { return barCell(c.Full, c.Reached()) }},
	{page.Column{Name: "by name", Phone: "Everything, by name", Number: true}, true, func(c *stats.Count) page.Cell { return numberCell(c.FullNamed) }},
	{page.Column{Name: "by *", Phone: "Everything, by *", Number: true}, true, func(c *stats.Count) page.Cell { return numberCell(c.FullEveryone) }},
	{page.Column{Name: "Something denied", Number: true}, true, func(c *stats.Count) page.Cell { return shareCell(c.Partial, c.Reached()) }},
	{page.Column{Name: "by name", Phone: "Something, by name", Number: true}, true, func(c *stats.Count) page.Cell { return numberCell(c.PartialNamed) }},
	{page.Column{Name: "by *", Phone: "Something, by *", Number: true}, true, func(c *stats.Count) page.Cell { return numberCell(c.PartialEveryone) }},
	{page.Column{Name: "Nothing denied", Number: true}, true, func(c *stats.Count) page.Cell { return numberCell(c.None) }},
	{page.Column{Name: "Undecided", Number: true}, false, func(c *stats.Count) page.Cell { return numberCell(c.Undecided) }},
	{page.Column{Name: "Unreachable", Number: true}, false, func(c *stats.Count) page.Cell { return numberCell(c.Unreachable) }},
}

// blockedSection is the section of a rank.
func blockedSection(counts []stats.Count, site stats.Site) page.Section {
	title := rankTitle(counts[0].Rank, site)
	bars := &page.Bars{Parts: blockedParts}
	table := &page.Table{Caption: title + " by how much they deny each agent", Rows: make([][]page.Cell, len(counts))}
	for i := range counts[:min(len(counts), listed)] {
		c := &counts[i]
		bars.Bars = append(bars.Bars, page.Bar{
			Name: Printable(c.Agent), Values: []float64{float64(c.Full), float64(c.Partial), float64(c.None), float64(c.Undecided + c.Unreachable)},
			Text: fmt.Sprintf("%s everything denied, %s something denied", percent(c.Full, c.Reached()), percent(c.Partial, c.Reached())),
		})
	}
	for _, column := range blockedColumns {
		if !column.always && !slices.ContainsFunc(counts, func(c stats.Count) bool { return column.cell(&c).Number > 0 }) {
			continue
		}
		table.Columns = append(table.Columns, column.Column)
		for i := range counts {
			table.Rows[i] = append(table.Rows[i], column.cell(&counts[i]))
		}
	}
	text := fmt.Sprintf("Shares count the %s with a robots.txt that could be fetched, or without one. By name: a group names the agent. By *: the group for everyone decides.",
		sitesOf(counts[0].Reached(), site))
	if len(counts) > listed {
		text += fmt.Sprintf(" The bars are of the first %d of %d agents.", listed, len(counts))
	}
	return page.Section{Title: title, Text: text, Parts: []page.Part{bars, table}}
}
