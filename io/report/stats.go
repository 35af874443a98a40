package report

import (
	"fmt"
	"slices"
	"time"

	"robotsbatch/io/report/page"
	"robotsbatch/io/report/stats"
	"robotsbatch/matcher/usage"
)

const madeBy = "This page asks nothing of any server."

// StatsOrigin says of counts what was counted, by which version of the program, and when.
type StatsOrigin struct {
	Name, Version string
	Made          time.Time
}

// statsWords are how a page words what was counted of sites.
type statsWords struct {
	title, source string
	finding       func(t *stats.Table, latest []stats.Count) []string
	// headline is what a site does that [stats.Count.Headline] counts, and history says more
	// of that.
	headline, history string
	// caption says what a table and its bars have, and text more of that.
	caption, text string
	parts         []page.Series
	columns       []statsColumn
	// bar returns an agent's bar without its name; none of it for what has no bar.
	bar func(c *stats.Count) page.Bar
}

// statsColumn is a column of a table. One that is not always there is left out where all
// counts have 0.
type statsColumn struct {
	page.Column
	always bool
	cell   func(c *stats.Count) page.Cell
}

// statsPage words counts of sites as a page.
func statsPage(t *stats.Table, o *StatsOrigin) *page.Page {
	words := &deniedWords
	if t.Uses {
		words = &statedWords
	}
	counted := "Counted of " + Printable(o.Name) + " on " + o.Made.UTC().Format("2 January 2006, 15:04 UTC") + " by robotsbatch " + Printable(o.Version)
	p := &page.Page{Title: words.title, Foot: []string{counted + words.source, madeBy}, Finding: []string{"Nothing was surveyed: there is no site."}}
	if len(t.Counts) == 0 {
		return p
	}
	if t.IsHistory() {
		for _, history := range t.Histories() {
			p.Sections = append(p.Sections, words.historySection(&history, t.Site))
		}
	}
	p.Finding = nil
	for latest := range t.ByRank() {
		if p.Finding == nil {
			p.Finding = words.finding(t, latest)
			if first := &latest[0]; first.Unreachable > 0 {
				p.Finding = append(p.Finding, fmt.Sprintf("The robots.txt of %s could not be fetched: these are in no share.", sitesOf(first.Unreachable, t.Site)))
			}
		}
		p.Sections = append(p.Sections, words.section(latest, t.Site))
	}
	return p
}

// sitesOf is a number of sites in words.
func sitesOf(n int64, site stats.Site) string {
	one, many := "site", "sites"
	if site == stats.ByAuthority {
		one, many = "authority", "authorities"
	}
	return Count(n, one, many)
}

// deniedFinding says which agent is denied everything by the most sites, and by how many.
// counts, which has at least one agent, begins with that one.
func deniedFinding(t *stats.Table, counts []stats.Count) []string {
	first := &counts[0]
	text := fmt.Sprintf("%s of %s deny everything to %s", percent(first.Full, first.Reached()), sitesOf(first.Reached(), t.Site), Printable(first.Agent))
	if first.Full > 0 {
		text += fmt.Sprintf(", %s of them by its name", percent(first.FullNamed, first.Full)) // not by the group for *
	}
	finding := []string{text + "."}
	if t.IsHistory() {
		finding = append(finding, historyFinding(t.Histories()[0])...)
	}
	for i := range counts {
		if c := &counts[i]; c.Agent == "*" && i > 0 {
			finding = append(finding, fmt.Sprintf("%s deny everything to everyone, by the group for *.", percent(c.Full, c.Reached())))
		}
	}
	return finding
}

// historyFinding says how the share of the agent that is closed out most has changed.
func historyFinding(h stats.History) []string {
	counts := h.Lines[0].Counts
	first := slices.IndexFunc(counts, func(c stats.Count) bool { return c.Reached() > 0 })
	last := len(counts) - 1
	if first < 0 || first == last {
		return nil
	}
	return []string{fmt.Sprintf("In %s it was %s.", h.Months[first], percent(counts[first].Full, counts[first].Reached()))}
}

// statedFinding says what is stated of each use to the first agent.
func statedFinding(t *stats.Table, counts []stats.Count) []string {
	var finding []string
	for i := range counts {
		c := &counts[i]
		if c.Agent != counts[0].Agent {
			break
		}
		what := percent(c.Stated(), c.Reached()) + " state " + c.Use.String()
		if i == 0 {
			what = fmt.Sprintf("%s of %s state %s", percent(c.Stated(), c.Reached()), sitesOf(c.Reached(), t.Site), c.Use)
		}
		if !c.Use.Graded() {
			what += fmt.Sprintf(", and %s disallow it", percent(c.Values[usage.Disallowed], c.Reached()))
		}
		finding = append(finding, what+".")
	}
	return finding
}

// mostLines is how many agents, or agents and uses, have a line of their own over time.
const mostLines = 6

// historySection is the share of sites of a rank that do what the headline says, over time.
func (w *statsWords) historySection(h *stats.History, site stats.Site) page.Section {
	share := "Share of sites that " + w.headline
	lines := &page.Lines{Title: share + ", at the end of each month", X: h.Months, YText: func(y float64) string { return percentOf(y, 1) }}
	table := &page.Table{Caption: share, Columns: []page.Column{{Name: "Month"}, {Name: "Sites", Number: true}}}
	shown := h.Lines[:min(len(h.Lines), mostLines)]
	for _, l := range shown {
		line := page.SeriesLine{Name: Printable(l.Name)}
		for month := range h.Months {
			line.Y = append(line.Y, shareOf(l.Counts[month].Headline(), l.Counts[month].Reached()))
		}
		lines.Lines = append(lines.Lines, line)
		table.Columns = append(table.Columns, page.Column{Name: line.Name, Number: true})
	}
	for month, name := range h.Months {
		row := []page.Cell{{Text: name}, numberCell(shown[0].Counts[month].Reached())}
		for _, l := range shown {
			row = append(row, shareCell(l.Counts[month].Headline(), l.Counts[month].Reached()))
		}
		table.Rows = append(table.Rows, row)
	}
	text := "A site counts from its first capture on, with what its last capture before the end of the month says. Sites that were unreachable then are left out." + w.history
	if more := len(h.Lines) - len(shown); more > 0 {
		text += fmt.Sprintf(" %s more are in the counts as csv.", Number(int64(more)))
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

// section is the section of a rank.
func (w *statsWords) section(counts []stats.Count, site stats.Site) page.Section {
	title := rankTitle(counts[0].Rank, site)
	bars := &page.Bars{Parts: w.parts}
	table := &page.Table{Caption: title + w.caption, Rows: make([][]page.Cell, len(counts))}
	for i := range counts {
		c := &counts[i]
		bar := w.bar(c)
		if bar.Values == nil || len(bars.Bars) == listed {
			continue
		}
		bar.Name = Printable(c.Agent)
		if c.Use != (usage.Use{}) {
			bar.Name = Printable(c.Use.String() + " " + c.Agent)
		}
		bars.Bars = append(bars.Bars, bar)
	}
	for _, column := range w.columns {
		if !column.always && !slices.ContainsFunc(counts, func(c stats.Count) bool { return column.cell(&c).Number > 0 }) {
			continue
		}
		table.Columns = append(table.Columns, column.Column)
		for i := range counts {
			table.Rows[i] = append(table.Rows[i], column.cell(&counts[i]))
		}
	}
	text := fmt.Sprintf("Shares count the %s with a robots.txt that could be fetched, or without one. %s", sitesOf(counts[0].Reached(), site), w.text)
	if len(bars.Bars) == listed && len(counts) > listed {
		text += fmt.Sprintf(" The bars are of the first %d of %d rows.", listed, len(counts))
	}
	return page.Section{Title: title, Text: text, Parts: []page.Part{bars, table}}
}
