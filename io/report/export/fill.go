package export

import (
	"slices"

	"robotsbatch/io/frontier/tableio"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// Kinds of rows.
const (
	allow      = "allow"
	disallow   = "disallow"
	crawlDelay = "crawl-delay"
)

// outcomes are the values of the column access. An outage is one, however long it lasts.
var outcomes = map[access.Outcome]string{
	access.Rules: "rules", access.AllowAll: "unavailable", access.NoFile: "unavailable", access.Refused: "unavailable",
	access.DisallowAll: "unreachable", access.AllowAfterOutage: "unreachable", access.Cut: "history_cut",
}

// begin appends what all rows of an authority begin with.
func (a *authority) begin(w *tableio.Writer) {
	w.Text(a.Key)
	w.OptionalText(a.registered)
	w.Text(a.SURT)
}

// class returns the class of an authority.
func (a *authority) class() Class { return classOf(a.Access, a.Stale, a.kind) }

func fillAccess(w *tableio.Writer, a *authority, _ *body) {
	a.begin(w)
	w.Text([]byte(a.class().String()))
	w.Text([]byte(outcomes[a.Access]))
	w.Optional(a.Status)
	w.Time(a.Fetched)
	w.Flag(a.Stale)
	w.Flag(a.Limited)
	w.OptionalText([]byte(a.kind.String()))
	w.OptionalText(a.digest)
	w.End()
}

func fillAgents(w *tableio.Writer, a *authority, b *body) {
	for i, g := range b.all() {
		for _, agent := range g.Agents {
			a.begin(w)
			w.Number(i + 1)
			w.Text(agent.Value)
			w.OptionalText(tokenOf(agent, b.profile))
			w.Optional(agent.Line)
			w.Text(a.digest)
			w.End()
		}
	}
}

// tokenOf returns the name of the crawler that a line is for, in lower case, "*" for
// everyone and nothing for nobody.
func tokenOf(agent robotstxt.Agent, p matcher.Profile) []byte {
	if agent.Everyone() {
		return []byte(matcher.Everyone)
	}
	token, word := agent.Names(p)
	if len(word) > 0 {
		token = word
	}
	return lower(token)
}

// lower returns a text with ASCII letters in lower case, as verdicts compare names; all
// other bytes stay, also those that are not UTF-8.
func lower(text []byte) []byte {
	low := make([]byte, len(text))
	for i, c := range text {
		low[i] = urls.ToLower(c)
	}
	return low
}

func fillRules(w *tableio.Writer, a *authority, b *body) {
	for i, g := range b.all() {
		for _, rule := range g.Rules {
			kind := disallow
			if rule.Allow {
				kind = allow
			}
			a.begin(w)
			w.Number(i + 1)
			w.Text([]byte(kind))
			w.Text(rule.Pattern)
			w.Text([]byte(matcher.NormalPattern(rule.Pattern, b.profile)))
			w.Number(rule.Line)
			w.Text(a.digest)
			w.End()
		}
	}
}

func fillSitemaps(w *tableio.Writer, a *authority, b *body) {
	if b == nil {
		return
	}
	for _, sitemap := range b.sitemaps {
		a.begin(w)
		w.Text(sitemap.Value)
		w.Optional(sitemap.Line)
		w.Text(a.digest)
		w.End()
	}
}

// fillRecords adds crawl-delays, which belong to groups, and records of other keys, in
// the order of their lines.
func fillRecords(w *tableio.Writer, a *authority, b *body) {
	if b == nil {
		return
	}
	type record struct {
		robotstxt.Other
		group int
	}
	var records []record
	for _, other := range b.others {
		records = append(records, record{other, 0})
	}
	for i, g := range b.groups {
		for _, delay := range g.CrawlDelays {
			records = append(records, record{robotstxt.Other{Key: []byte(crawlDelay), Record: delay}, i + 1})
		}
	}
	slices.SortStableFunc(records, func(x, y record) int { return x.Line - y.Line })
	for _, r := range records {
		a.begin(w)
		w.Optional(r.group)
		w.Text(lower(r.Key))
		w.Text(r.Value)
		w.Optional(r.Line)
		w.Text(a.digest)
		w.End()
	}
}

// all returns the groups; a body that is not there has none.
func (b *body) all() []robotstxt.Group {
	if b == nil {
		return nil
	}
	return b.groups
}
