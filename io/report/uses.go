package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"robotsbatch/batch"
	"robotsbatch/io/report/page"
	"robotsbatch/io/report/stats"
	"robotsbatch/matcher/usage"
)

// usesPage words what sites state of uses as a page. name is what the sites are from.
func usesPage(counts []stats.UseCount, site stats.Site, name, version string, now time.Time) *page.Page {
	p := statsPage("What sites state of uses", ", of Content-Usage (a draft) and Content-Signal lines in robots.txt.", name, version, now)
	if len(counts) == 0 {
		return p
	}
	latest := counts
	if counts[0].Month != "" {
		last := counts[len(counts)-1].Month
		latest = slices.DeleteFunc(slices.Clone(counts), func(c stats.UseCount) bool { return c.Month != last })
		for _, history := range stats.UseHistories(counts) {
			p.Sections = append(p.Sections, useHistorySection(&history, site))
		}
	}
	p.Finding = usesFinding(latest, site)
	for of := range byRank(latest, func(c *stats.UseCount) int { return c.Rank }) {
		p.Sections = append(p.Sections, usesSection(of, site))
	}
	return p
}

// usesFinding says what is stated of each use to the first agent.
func usesFinding(counts []stats.UseCount, site stats.Site) []string {
	var finding []string
	for i := range counts {
		c := &counts[i]
		if c.Rank != counts[0].Rank || c.Agent != counts[0].Agent {
			break
		}
		what := percent(c.Stated(), c.Reached()) + " state " + c.Use.String()
		if i == 0 {
			what = fmt.Sprintf("%s of %s state %s", percent(c.Stated(), c.Reached()), sitesOf(c.Reached(), site), c.Use)
		}
		if !c.Use.Graded() {
			what += fmt.Sprintf(", and %s disallow it", percent(c.Values[usage.Disallowed], c.Reached()))
		}
		finding = append(finding, what+".")
	}
	if first := &counts[0]; first.Unreachable > 0 {
		finding = append(finding, fmt.Sprintf("The robots.txt of %s could not be fetched: these are in no share.", sitesOf(first.Unreachable, site)))
	}
	return finding
}

// useHistorySection is what sites of a rank state over time.
func useHistorySection(h *stats.UseHistory, site stats.Site) page.Section {
	const title = "Share of sites that disallow a use, at the end of each month"
	lines := &page.Lines{Title: title, X: h.Months, YText: func(y float64) string { return percentOf(y, 1) }}
	table := &page.Table{Caption: title, Columns: []page.Column{{Name: "Month"}, {Name: "Sites", Number: true}}}
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
	text := "A site counts from its first capture on, with what its last capture before the end of the month says. Sites that were unreachable then are left out. " +
		"For signal:use it is the share of sites that state it."
	if more := len(h.Lines) - len(shown); more > 0 {
		text += fmt.Sprintf(" %s more are in the counts as csv.", Number(int64(more)))
	}
	return page.Section{Title: rankTitle(h.Rank, site) + " over time", Text: text, Parts: []page.Part{lines, &page.Details{Name: "The numbers of each month", Part: table}}}
}

// statedParts are the parts of a bar of a use, in the order of how much is disallowed.
var statedParts = []page.Series{
	{Name: "disallowed", Kind: page.Most},
	{Name: "disallowed in part", Kind: page.Some},
	{Name: "allowed", Kind: page.Least},
	{Name: "nothing stated, or unreachable", Kind: page.Unknown},
}

// valueColumns are those of the values in the table of uses.
var valueColumns = []struct {
	name   string
	always bool
	of     func(*stats.UseCount) int64
}{
	{"Allowed", true, func(c *stats.UseCount) int64 { return c.Values[usage.Allowed] }},
	{"Disallowed", true, func(c *stats.UseCount) int64 { return c.Values[usage.Disallowed] }},
	{"Immediate", false, func(c *stats.UseCount) int64 { return c.Values[usage.Immediate] }},
	{"Reference", false, func(c *stats.UseCount) int64 { return c.Values[usage.Reference] }},
	{"Full", false, func(c *stats.UseCount) int64 { return c.Values[usage.Full] }},
	{"Mixed", true, func(c *stats.UseCount) int64 { return c.Mixed }},
	{"Nothing", true, func(c *stats.UseCount) int64 { return c.None }},
	{"Unreachable", false, func(c *stats.UseCount) int64 { return c.Unreachable }},
}

// usesSection is the section of a rank.
func usesSection(counts []stats.UseCount, site stats.Site) page.Section {
	title := rankTitle(counts[0].Rank, site)
	bars := &page.Bars{Parts: statedParts}
	table := &page.Table{
		Caption: title + " by what they state of each use", Rows: make([][]page.Cell, len(counts)),
		Columns: []page.Column{{Name: "Use"}, {Name: "Agent"}, {Name: "Stated", Number: true}},
	}
	for i := range counts {
		c := &counts[i]
		table.Rows[i] = []page.Cell{textCell(c.Use.String()), textCell(c.Agent), shareCell(c.Stated(), c.Reached())}
		if c.Use.Graded() || len(bars.Bars) == listed {
			continue
		}
		bars.Bars = append(bars.Bars, page.Bar{
			Name:   Printable(c.Use.String() + " " + c.Agent),
			Values: []float64{float64(c.Values[usage.Disallowed]), float64(c.Mixed), float64(c.Values[usage.Allowed]), float64(c.None + c.Unreachable)},
			Text:   fmt.Sprintf("%s disallowed, %s allowed", percent(c.Values[usage.Disallowed], c.Reached()), percent(c.Values[usage.Allowed], c.Reached())),
		})
	}
	for _, column := range valueColumns {
		if !column.always && !slices.ContainsFunc(counts, func(c stats.UseCount) bool { return column.of(&c) > 0 }) {
			continue
		}
		table.Columns = append(table.Columns, page.Column{Name: column.name, Number: true})
		for i := range counts {
			table.Rows[i] = append(table.Rows[i], numberCell(column.of(&counts[i])))
		}
	}
	text := fmt.Sprintf("Shares count the %s with a robots.txt that could be fetched, or without one. Mixed: one value for some paths or hosts, another for others.",
		sitesOf(counts[0].Reached(), site))
	return page.Section{Title: title, Text: text, Parts: []page.Part{bars, table}}
}

// saidText says how many rows have which value.
func saidText(c *batch.UseCounts) string {
	if isGraded(c) {
		return fmt.Sprintf("%s immediate, %s reference, %s full", Number(c.Immediate), Number(c.Reference), Number(c.Full))
	}
	return fmt.Sprintf("%s allowed, %s disallowed", Number(c.Allowed), Number(c.Disallowed))
}

// isGraded reports whether the values of a use are grades.
func isGraded(c *batch.UseCounts) bool {
	u, err := usage.ParseUse(c.Use)
	return err == nil && u.Graded()
}

// usesFinding says how much of what the first agent may fetch is disallowed.
func (s *Summary) usesFinding() []string {
	a := &s.Agents[0]
	var said []string
	for _, u := range a.Uses {
		if u.Disallowed > 0 {
			said = append(said, fmt.Sprintf("%s for %s", percent(u.Disallowed, a.Allowed), Printable(u.Use)))
		}
	}
	if len(said) == 0 {
		return nil
	}
	return []string{"Disallowed of what is open to " + s.whom(a.Agent) + ": " + strings.Join(said, ", ") + "."}
}

// usedParts are the parts of a bar of a use, of rows.
var usedParts = []page.Series{
	{Name: "disallowed", Kind: page.Most},
	{Name: "allowed", Kind: page.Least},
	{Name: "nothing said", Kind: page.AllowedUnruled},
	{Name: "not to be fetched", Kind: page.Unknown},
}

// uses is empty without -use.
func (h htmlPage) uses() page.Section {
	bars := &page.Bars{Parts: usedParts}
	table := &page.Table{Caption: "URLs by what may be done with them", Columns: []page.Column{
		{Name: "Use"},
		{Name: "Agent"},
		{Name: "Share disallowed", Number: true},
		{Bar: true},
		{Name: "Disallowed", Number: true},
		{Name: "Allowed", Number: true},
		{Name: "Nothing said", Number: true},
		{Name: "Not to be fetched", Number: true},
	}}
	grades := &page.Table{Caption: "URLs by how much may be used", Columns: []page.Column{
		{Name: "Use"},
		{Name: "Agent"},
		{Name: "Immediate", Number: true},
		{Name: "Reference", Number: true},
		{Name: "Full", Number: true},
		{Name: "Nothing said", Number: true},
		{Name: "Not to be fetched", Number: true},
	}}
	for i := range h.Agents {
		a := &h.Agents[i]
		for j := range a.Uses {
			u := &a.Uses[j]
			nothing, closed := a.Allowed-u.Said(), a.Denied+a.Unknown
			if isGraded(u) {
				grades.Rows = append(grades.Rows, []page.Cell{
					textCell(u.Use), textCell(a.Agent), numberCell(u.Immediate), numberCell(u.Reference), numberCell(u.Full), numberCell(nothing), numberCell(closed),
				})
				continue
			}
			table.Rows = append(table.Rows, []page.Cell{
				textCell(u.Use), textCell(a.Agent), shareCell(u.Disallowed, a.Allowed), barCell(u.Disallowed, a.Allowed), numberCell(u.Disallowed), numberCell(u.Allowed),
				numberCell(nothing), numberCell(closed),
			})
			if len(bars.Bars) == listed {
				continue
			}
			bars.Bars = append(bars.Bars, page.Bar{
				Name: Printable(u.Use + " " + a.Agent), Values: []float64{float64(u.Disallowed), float64(u.Allowed), float64(nothing), float64(closed)},
				Text: fmt.Sprintf("%s disallowed, %s allowed, %s nothing said", Number(u.Disallowed), Number(u.Allowed), Number(nothing)),
			})
		}
	}
	section := page.Section{}
	if len(table.Rows) > 0 {
		section.Parts = []page.Part{bars, table}
	}
	if len(grades.Rows) > 0 {
		section.Parts = append(section.Parts, grades)
	}
	if section.Parts != nil {
		section.Title, section.Text = "Uses", "What sites say in Content-Usage (a draft) and Content-Signal lines of the URLs that may be fetched. Shares are of these."
	}
	return section
}
