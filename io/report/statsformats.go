package report

import (
	"fmt"
	"io"

	"robotsbatch/io/report/page"
	"robotsbatch/io/report/stats"
	"robotsbatch/matcher/usage"
)

// deniedWords are those of how much sites deny.
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

// statedWords are those of what sites state of uses.
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
	Name  string
	Write func(w io.Writer, t *stats.Table, o *StatsOrigin) error
}

// StatsFormats are all forms, the default first.
var StatsFormats = []StatsFormat{
	{"text", func(w io.Writer, t *stats.Table, _ *StatsOrigin) error { return t.WriteText(w) }},
	{"csv", func(w io.Writer, t *stats.Table, _ *StatsOrigin) error { return t.WriteCSV(w) }},
	{"json", func(w io.Writer, t *stats.Table, _ *StatsOrigin) error { return t.WriteJSON(w) }},
	{"html", func(w io.Writer, t *stats.Table, o *StatsOrigin) error { return statsPage(t, o).Write(w) }},
}
