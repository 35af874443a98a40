package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"robotsbatch/io/report/page"
	"robotsbatch/io/report/stats"
	"robotsbatch/matcher/usage"
)

// asksNothing says in the foot of a page that nobody learns of its being read.
const asksNothing = "This page asks nothing of any server."

// StatsOrigin says where counts are from: the name of what was counted, the version of the program
// that counted, and when.
type StatsOrigin struct {
	Name, Version string
	Made          time.Time
}

// statsWords are the texts and bars of a page about counts, which differ between what sites deny and
// what they state about uses.
type statsWords struct {
	title, source string // the page's title, and the end of the sentence on what was counted
	finding       func(t *stats.Table, latest []stats.Count) []string
	// headline says what the sites do that [stats.Count.Headline] counts, and history adds to it.
	headline, history string
	// caption says what a table and its bars show, and text adds to it.
	caption, text string
	parts         []page.Series // of a bar
	// bar returns the bar of a count without a name; one without values if the count has no bar.
	bar func(c *stats.Count) page.Bar
}

// statsPage returns counts of sites as a page.
func statsPage(t *stats.Table, o *StatsOrigin) *page.Page {
	words := &deniedWords
	if t.Uses {
		words = &statedWords
	}
	counted := "Counted of " + Printable(o.Name) + " on " + o.Made.UTC().Format("2 January 2006, 15:04 UTC") + " by robotsbatch " + Printable(o.Version)
	p := &page.Page{Title: words.title, Foot: []string{counted + words.source, asksNothing}}
	if len(t.Counts) == 0 {
		p.Finding = []string{"Nothing was surveyed: there is no site."}
		return p
	}
	if t.IsHistory() {
		for _, history := range t.Histories() {
			p.Sections = append(p.Sections, words.historySection(&history, t))
		}
	}
	for latest := range t.ByRank() {
		if p.Finding == nil { // the first rank is that of all sites
			p.Finding = words.finding(t, latest)
			if n := latest[0].Sites() - latest[0].Reached(); n > 0 && t.Base != stats.BaseAll {
				p.Finding = append(p.Finding, fmt.Sprintf("%s gave no answer: %s in no share.", sitesOf(n, t.Site), verb(n, "it is", "these are")))
			}
		}
		p.Sections = append(p.Sections, words.section(latest, t))
	}
	return p
}

// sitesOf returns a number of sites in words.
func sitesOf(n int64, site stats.Site) string {
	one, many := "site", "sites"
	if site == stats.ByAuthority {
		one, many = "authority", "authorities"
	}
	return Count(n, one, many)
}

// baseOf says how many sites shares are of, such as "8 sites that were reached".
func baseOf(c *stats.Count, t *stats.Table) string {
	return sitesOf(c.Base, t.Site) + " " + t.Base.Sites()
}

// whomOf names the agents of a count within a sentence.
func whomOf(c *stats.Count) string {
	if c.AnyOf > 0 {
		return "at least one of " + strings.TrimPrefix(Printable(c.Agent), "any of ") + " agents"
	}
	return Printable(c.Agent)
}

// deniedFinding returns sentences on how many sites deny everything to which agents. counts has at
// least one count, in the order of [stats.SiteCounter.Table]. There are sentences about the first
// count, about the agent that most sites deny everything, and about everyone.
func deniedFinding(t *stats.Table, counts []stats.Count) []string {
	first := &counts[0]
	finding := []string{fmt.Sprintf("%s of %s deny everything to %s%s.", percent(first.Full, first.Base), baseOf(first, t), whomOf(first), namedShare(first))}
	if t.IsHistory() {
		finding = append(finding, historyFinding(t)...)
	}
	mostDenied := slices.IndexFunc(counts, func(c stats.Count) bool { return c.AnyOf == 0 }) // by the order of counts
	for i := range counts {
		c := &counts[i]
		if i == mostDenied && i > 0 { // the first count has its sentence already
			finding = append(finding, fmt.Sprintf("%s deny everything to %s%s.", percent(c.Full, c.Base), Printable(c.Agent), namedShare(c)))
		}
		if i == mostDenied {
			finding = append(finding, fmt.Sprintf("%s deny it the front page.", percent(c.Root, c.Base)))
		} else if c.Agent == "*" {
			finding = append(finding, fmt.Sprintf("%s deny everything to everyone, by the group for *.", percent(c.Full, c.Base)))
		}
	}
	return finding
}

// namedShare says which share of the sites that deny everything names the agent.
func namedShare(c *stats.Count) string {
	if c.Full == 0 {
		return ""
	}
	return fmt.Sprintf(", %s of them by name", percent(c.FullNamed, c.Full))
}

// historyFinding returns sentences to follow that on the share of sites that deny everything to the
// first agent: what it was in the first month with sites and, of the sites with a capture in each
// month, then and now. Ranks of a list have none.
func historyFinding(t *stats.Table) (finding []string) {
	for _, h := range t.Histories() {
		counts := h.Lines[0].Counts
		first := slices.IndexFunc(counts, func(c stats.Count) bool { return c.Base > 0 })
		last := &counts[len(counts)-1]
		if first < 0 || first == len(counts)-1 { // there is no earlier share
			continue
		}
		before := percent(counts[first].Full, counts[first].Base)
		switch h.Rank {
		case stats.All:
			finding = append(finding, fmt.Sprintf("In %s it was %s of %s.", h.Months[first], before, sitesOf(counts[first].Base, t.Site)))
		case stats.Panel:
			finding = append(finding, fmt.Sprintf("Of the %s with a capture in each month it was %s in %s and is %s now.", sitesOf(last.Sites(), t.Site), before, h.Months[first], percent(last.Full, last.Base)))
		}
	}
	return finding
}

// statedFinding returns a sentence for each use, on how many sites state something about it to the first
// agent. counts has at least one count, those of an agent together.
func statedFinding(t *stats.Table, counts []stats.Count) []string {
	var finding []string
	for i := range counts {
		c := &counts[i]
		if c.Agent != counts[0].Agent {
			break
		}
		what := percent(c.Stated(), c.Base) + " state " + c.Use.String()
		if i == 0 {
			what = fmt.Sprintf("%s of %s state %s", percent(c.Stated(), c.Base), baseOf(c, t), c.Use)
		}
		if !c.Use.Graded() {
			what += fmt.Sprintf(", and %s disallow it", percent(c.Values[usage.Disallowed], c.Base))
		}
		finding = append(finding, what+".")
	}
	return finding
}

// mostLines is the most lines of a chart over time.
const mostLines = 6

// historySection returns the section with the shares of sites over time, for a rank: lines, and the
// numbers as a table.
func (w *statsWords) historySection(h *stats.History, t *stats.Table) page.Section {
	share := "Share of sites " + t.Base.Sites() + " that " + w.headline
	lines := &page.Lines{Title: share + ", at the end of each month", X: h.Months, YText: func(y float64) string { return percentOf(y, 1) }}
	table := &page.Table{Caption: share, Columns: columnsOf("Month", "Sites", "Base")}
	shown := h.Lines[:min(len(h.Lines), mostLines)]
	for _, l := range shown {
		line := page.SeriesLine{Name: Printable(l.Name)}
		for month := range h.Months {
			line.Y = append(line.Y, shareOf(l.Counts[month].Headline(), l.Counts[month].Base))
		}
		lines.Lines = append(lines.Lines, line)
		table.Columns = append(table.Columns, page.Column{Name: line.Name})
	}
	all := shown[0].Counts // all lines have the same sites and base
	for month, name := range h.Months {
		row := []page.Cell{textCell(name), numberCell(all[month].Sites()), numberCell(all[month].Base)}
		for _, l := range shown {
			row = append(row, shareCell(l.Counts[month].Headline(), l.Counts[month].Base))
		}
		table.Rows = append(table.Rows, row)
	}
	last := len(all) - 1
	// n is the base of the first and of the last month.
	text := fmt.Sprintf("Captures from %s to %s; n is %s in %s and %s in %s. ", t.First.Format("2 January 2006"), t.Last.Format("2 January 2006"),
		Number(all[0].Base), h.Months[0], Number(all[last].Base), h.Months[last])
	if h.Rank == stats.Panel {
		text += "These are the sites with a capture in each month of which there are captures, so that each month counts the same sites. "
	} else {
		text += "A site counts from its first capture on. "
	}
	text += "A month has what the last capture before its end says." + w.history
	if more := len(h.Lines) - len(shown); more > 0 {
		text += fmt.Sprintf(" %s more are in the counts as csv.", Number(int64(more)))
	}
	return page.Section{Title: rankTitle(h.Rank, t.Site) + " over time", Text: text, Parts: []page.Part{lines, &page.Details{Name: "The numbers of each month", Part: table}}}
}

// rankTitle names the sites of a rank, such as "Top 1,000 sites".
func rankTitle(rank int, site stats.Site) string {
	switch rank {
	case stats.All:
		return "All " + site.String()
	case stats.Panel:
		return "Panel: " + site.String() + " with a capture in each month"
	}
	return fmt.Sprintf("Top %s %s", Number(int64(rank)), site)
}

// section returns the section of a rank, which counts has: bars, and a table with a row for each count, which
// is of an agent or of an agent and a use.
func (w *statsWords) section(counts []stats.Count, t *stats.Table) page.Section {
	title := rankTitle(counts[0].Rank, t.Site)
	bars := &page.Bars{Parts: w.parts}
	table := &page.Table{Caption: fmt.Sprintf("%s%s: shares of %s", title, w.caption, baseOf(&counts[0], t)), Rows: make([][]page.Cell, len(counts))}
	// add adds a column, with the cell of each count.
	add := func(column page.Column, cell func(c *stats.Count) page.Cell) {
		table.Columns = append(table.Columns, column)
		for i := range counts {
			table.Rows[i] = append(table.Rows[i], cell(&counts[i]))
		}
	}
	if t.Uses {
		add(page.Column{Name: "Use"}, func(c *stats.Count) page.Cell { return textCell(c.Use.String()) })
	}
	add(page.Column{Name: "Agent"}, func(c *stats.Count) page.Cell { return textCell(c.Agent) })
	for i, f := range t.Shown(counts) {
		column := page.Column{Name: f.Title, Phone: f.Phone}
		if !f.Share {
			add(column, func(c *stats.Count) page.Cell { return numberCell(f.Of(c)) })
			continue
		}
		add(column, func(c *stats.Count) page.Cell { return shareCell(f.Of(c), c.Base) })
		if i == 0 { // the main figure
			add(page.Column{Name: barColumn}, func(c *stats.Count) page.Cell { return barCell(f.Of(c), c.Base) })
		}
	}
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
	text := fmt.Sprintf("%s: %s. Shares are of the %s. %s", sitesOf(counts[0].Sites(), t.Site), counts[0].Reach(Number), baseOf(&counts[0], t), w.text)
	if known := counts[0].Known(Number); known != "" {
		text = known + ". " + text
	}
	if len(bars.Bars) == listed && len(counts) > listed {
		text += fmt.Sprintf(" The bars are of the first %d of %d rows.", listed, len(counts))
	}
	return page.Section{Title: title, Text: text, Parts: []page.Part{bars, table}}
}

// deniedWords are those for what sites deny.
var deniedWords = statsWords{
	title: "Who blocks whom", source: ", as RFC 9309 defines robots.txt.", finding: deniedFinding,
	headline: "deny everything",
	caption:  " by how much they deny each agent",
	text:     "By name: a group names the agent. By *: the group for everyone decides.",
	// In the order of how much is closed.
	parts: []page.Series{
		{Name: "everything denied", Kind: page.Most},
		{Name: "something denied", Kind: page.Some},
		{Name: "nothing denied", Kind: page.Least},
		{Name: "undecided, or in no share", Kind: page.Unknown},
	},
	bar: func(c *stats.Count) page.Bar {
		return page.Bar{
			Values: []float64{float64(c.Full), float64(c.Partial), float64(c.None), float64(c.Sites() - c.Full - c.Partial - c.None)},
			Text:   fmt.Sprintf("%s everything denied, %s something denied", percent(c.Full, c.Base), percent(c.Partial, c.Base)),
		}
	},
}

// statedWords are those for what sites state about uses.
var statedWords = statsWords{
	title: "What sites state of uses", source: ", of Content-Usage (a draft) and Content-Signal lines in robots.txt.", finding: statedFinding,
	headline: "disallow a use",
	history:  " For signal:use it is the share of sites that state it.",
	caption:  " by what they state of each use",
	text:     "Mixed: one value for some paths or hosts, another for others.",
	// In the order of how much is disallowed.
	parts: []page.Series{
		{Name: "disallowed", Kind: page.Most},
		{Name: "disallowed in part", Kind: page.Some},
		{Name: "allowed", Kind: page.Least},
		{Name: "nothing stated, or in no share", Kind: page.Unknown},
	},
	bar: func(c *stats.Count) page.Bar {
		if c.Use.Graded() {
			return page.Bar{}
		}
		return page.Bar{
			Values: []float64{float64(c.Values[usage.Disallowed]), float64(c.Mixed), float64(c.Values[usage.Allowed]), float64(c.Sites() - c.Values[usage.Disallowed] - c.Mixed - c.Values[usage.Allowed])},
			Text:   fmt.Sprintf("%s disallowed, %s allowed", percent(c.Values[usage.Disallowed], c.Base), percent(c.Values[usage.Allowed], c.Base)),
		}
	},
}

// StatsFormat is a form that counts of sites can have.
type StatsFormat struct {
	name  string
	Write func(w io.Writer, t *stats.Table, o *StatsOrigin) error
}

// String returns the form's name.
func (f *StatsFormat) String() string { return f.name }

// StatsFormats are all forms, the default first.
var StatsFormats = []*StatsFormat{
	{"text", func(w io.Writer, t *stats.Table, _ *StatsOrigin) error { return t.WriteText(w) }},
	{"csv", func(w io.Writer, t *stats.Table, _ *StatsOrigin) error { return t.WriteCSV(w) }},
	{"json", func(w io.Writer, t *stats.Table, _ *StatsOrigin) error { return t.WriteJSON(w) }},
	{"html", func(w io.Writer, t *stats.Table, o *StatsOrigin) error { return statsPage(t, o).Write(w) }},
}
