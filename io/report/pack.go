package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"robotsbatch/io/rules/rulepack"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

// Pack prints the description of a rule pack.
func Pack(w io.Writer, name string, info *rulepack.Info) {
	limit := "none"
	if info.Limit > 0 {
		limit = Number(int64(info.Limit)) + " bytes of a robots.txt"
	}
	asOf := "unknown"
	if info.AsOf != 0 {
		asOf = time.Unix(info.AsOf, 0).UTC().Format(time.RFC3339)
	}
	fmt.Fprintln(w, name)
	for _, line := range [][2]string{
		{"format", fmt.Sprint(info.Version)},
		{"made by", Printable(info.Maker)},
		{"profile", info.Profile.String()},
		{"limit", limit},
		{"as of", asOf},
		{"hosts", Number(info.Authorities)},
		{"rules", Number(info.Rules)},
		{"allow all", Number(info.AllowAll)},
		{"disallow all", Number(info.DisallowAll)},
		{"cut", Number(info.Limited)},
		{"HTML", Number(info.HTML)},
		{"binary", Number(info.Binary)},
		{"bodies", fmt.Sprintf("%s distinct, of %s bytes", Number(info.Bodies), Number(info.SourceBytes))},
		{"uncompiled", Number(info.Uncompiled)},
		{"size", Number(info.Size) + " bytes"},
	} {
		fmt.Fprintf(w, "  %-12s  %s\n", line[0], line[1])
	}
	if info.Partitions > 1 {
		fmt.Fprintf(w, "  %-12s  %d of %d\n", "partition", info.Partition, info.Partitions)
	}
	if info.History {
		fmt.Fprintf(w, "  %-12s  %s\n", "history", Count(info.Intervals, "interval", "intervals"))
	}
	for _, s := range info.Sections {
		fmt.Fprintf(w, "    %-10s  %15s\n", s.Name, Number(s.Length))
	}
}

var accessNames = map[access.Outcome]string{
	access.Unknown: "unknown: the pack does not have this host", access.Rules: "rules",
	access.AllowAll: "allow all", access.NoFile: "allow all", access.Refused: "allow all", access.DisallowAll: "disallow all",
	access.AllowAfterOutage: "allow all: unreachable for 30 days", access.Cut: "not kept: the history was cut",
}

// Authority prints all that a rule pack knows about an authority.
func Authority(w io.Writer, p *rulepack.Pack, authority []byte) error {
	a, _, err := p.Authority(authority)
	var origin matcher.Origin
	if err = cmp.Or(err, p.Lookup(authority, &origin)); err != nil {
		return err
	}
	what := accessNames[a.Access]
	if origin.NotYet {
		what = "unknown: the pack has no capture of this host from its time or before"
	}
	fmt.Fprintf(w, "%s\n  access       %s\n", authority, what)
	if a.Status != 0 {
		fmt.Fprintf(w, "  status       %d\n", a.Status)
	}
	if a.Fetched != 0 {
		fmt.Fprintf(w, "  fetched      %s\n", time.Unix(a.Fetched, 0).UTC().Format(time.RFC3339))
	}
	if err := printHistory(w, p, authority); err != nil {
		return err
	}
	if a.Access != access.Rules {
		return nil
	}
	body, err := p.Body(a.Body)
	if err != nil {
		return err
	}
	odd := ""
	if a.Limited {
		odd += ", cut"
	}
	if a.Stale {
		odd += ", stale"
	}
	switch body.Kind {
	case robotstxt.HTMLKind:
		odd += ", HTML"
	case robotstxt.BinaryKind:
		odd += ", binary"
	}
	fmt.Fprintf(w, "  body         %d%s\n", body.Number, odd)
	for _, sitemap := range body.Records.Sitemaps {
		fmt.Fprintf(w, "  sitemap      %s\n", Printable(sitemap))
	}
	for _, delay := range body.Records.CrawlDelays {
		fmt.Fprintf(w, "  crawl-delay  %s for %s\n", Printable(delay.Value), Printable(strings.Join(delay.Agents, ", ")))
	}
	if body.Compiled != nil {
		printGroups(w, body.Compiled)
		return nil
	}
	f := robotstxt.Parse(body.Source, robotstxt.Options{Profile: p.Info().Profile, Limit: len(body.Source)})
	everyone := matcher.Compile(f, []matcher.Chain{{matcher.Everyone}})[0] // the rules of no others are shown
	fmt.Fprintf(w, "  uncompiled   its groups overlap too much to be compiled for all agents at once\n")
	fmt.Fprintf(w, "  agents       %s\n%s", matcher.Everyone, ruleLines(&everyone))
	return nil
}

// printHistory prints the spans of an authority, a line each: since when what was known. It prints
// nothing for a pack without a history.
func printHistory(w io.Writer, p *rulepack.Pack, authority []byte) error {
	if !p.Info().History {
		return nil
	}
	spans, err := p.AppendSpans(nil, authority)
	if err != nil {
		return err
	}
	for _, s := range spans {
		from, what := "always", accessNames[s.Access]
		if s.From != 0 {
			from = time.Unix(s.From, 0).UTC().Format(time.RFC3339)
		}
		if s.Access == access.Rules {
			number, err := p.BodyNumber(s.Body)
			if err != nil {
				return err
			}
			what = fmt.Sprintf("rules of body %d", number)
		}
		if s.Stale {
			what += ", stale"
		}
		if s.Status != 0 {
			what += fmt.Sprintf(", status %d", s.Status)
		}
		if s.Seen > s.From {
			what += ", last seen " + time.Unix(s.Seen, 0).UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(w, "  from         %-20s  %s\n", from, what)
	}
	return nil
}

// printGroups prints the agents of a body with their rules in the order of lines. Agents with the same rules
// are printed together.
func printGroups(w io.Writer, body *matcher.Body) {
	var order []string                  // distinct rules, as text
	agents := make(map[string][]string) // by their rules
	for names, trie := range body.Groups() {
		rules := ruleLines(&trie)
		if agents[rules] == nil {
			order = append(order, rules)
		}
		agents[rules] = append(agents[rules], names...)
	}
	for _, rules := range order {
		fmt.Fprintf(w, "  agents       %s\n%s", Printable(strings.Join(agents[rules], ", ")), rules)
	}
}

// ruleLines returns the rules of a trie as text, a line each.
func ruleLines(t *matcher.Trie) string {
	var b strings.Builder
	for _, r := range t.Written() {
		fmt.Fprintf(&b, "    %6d  %s\n", r.Line, Printable(string(r.Text)))
	}
	return b.String()
}
