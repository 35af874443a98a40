package report

import (
	"fmt"
	"time"

	"robotsbatch/io/report/page"
	"robotsbatch/io/stats"
)

var blockedParts = []page.Series{
	{Name: "all denied", Kind: page.Denied}, {Name: "some denied", Kind: page.Plain}, {Name: "none denied", Kind: page.Allowed}, {Name: "undecided", Kind: page.Unknown},
}

// Stats words the counts of a survey as a page: what WriteText prints of them, with a bar
// for each of the agents that most sites deny. sites is what is counted, such as
// "authorities", and survey its name.
func Stats(counts []stats.Count, sites, survey, version string, now time.Time) *page.Page {
	p := &page.Page{
		Title: "Who blocks whom",
		Lead: []string{
			now.UTC().Format("2 January 2006, 15:04 UTC") + ", robotsbatch " + Printable(version),
			"Survey: " + Printable(survey),
		},
		Foot: "Made by robotsbatch, which evaluates robots.txt (RFC 9309) offline. This page asks nothing of any server.",
	}
	most, agents := int64(0), 0
	for low := 0; low < len(counts); {
		high := low
		for high < len(counts) && counts[high].Rank == counts[low].Rank {
			most = max(most, counts[high].Sites)
			high++
		}
		agents = max(agents, high-low)
		p.Sections = append(p.Sections, blockedSection(counts[low:high], sites))
		low = high
	}
	p.Facts = []page.Fact{{Value: Number(most), Name: sites}, {Value: Number(int64(agents)), Name: "agents"}}
	if len(counts) > 0 {
		first := &counts[0]
		p.Facts = append(p.Facts, page.Fact{Value: percent(first.Full, first.Sites), Name: "deny all to " + Printable(first.Agent)})
	}
	return p
}

// blockedSection is the section of a rank.
func blockedSection(counts []stats.Count, sites string) page.Section {
	title := "All " + sites
	if rank := counts[0].Rank; rank != stats.All {
		title = fmt.Sprintf("Top %s %s", Number(int64(rank)), sites)
	}
	bars := &page.Bars{Parts: blockedParts}
	table := &page.Table{Caption: title + " by how much they deny each agent", Columns: []page.Column{
		{Name: "Agent"},
		{Name: "Sites", Number: true},
		{Name: "All denied", Number: true},
		{Name: "by name", Number: true},
		{Name: "by *", Number: true},
		{Name: "Some denied", Number: true},
		{Name: "by name", Number: true},
		{Name: "by *", Number: true},
		{Name: "None denied", Number: true},
		{Name: "Undecided", Number: true},
	}}
	for i := range counts {
		c := &counts[i]
		if i < listed {
			bars.Bars = append(bars.Bars, page.Bar{
				Name: Printable(c.Agent), Values: []float64{float64(c.Full), float64(c.Partial), float64(c.None), float64(c.Undecided)},
				Text: fmt.Sprintf("%s all denied, %s some denied", percent(c.Full, c.Sites), percent(c.Partial, c.Sites)),
			})
		}
		table.Rows = append(table.Rows, []page.Cell{
			textCell(c.Agent), numberCell(c.Sites),
			shareCell(c.Full, c.Sites), numberCell(c.FullNamed), numberCell(c.FullEveryone),
			shareCell(c.Partial, c.Sites), numberCell(c.PartialNamed), numberCell(c.PartialEveryone),
			numberCell(c.None), numberCell(c.Undecided),
		})
	}
	text := "By name: a group names the agent. By *: the group for everyone decides. What denies everything because its robots.txt could not be fetched is in neither."
	if len(counts) > listed {
		text += fmt.Sprintf(" The bars are of the first %d of %d agents.", listed, len(counts))
	}
	return page.Section{Title: title, Text: text, Parts: []page.Part{bars, table}}
}
