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
func (a *authority) begin(w *tableio.Writer) { w.Put(a.Key, a.registered, a.SURT) }

// row adds a row of an authority.
func (a *authority) row(w *tableio.Writer, values ...any) {
	a.begin(w)
	w.Put(values...)
	w.End()
}

// class returns the class of an authority.
func (a *authority) class() Class { return classOf(a.Access, a.Stale, a.kind) }

func fillAccess(w *tableio.Writer, a *authority, _ *body) error {
	a.row(w, a.class().String(), outcomes[a.Access], a.Status, a.Fetched, a.Stale, a.Limited, a.kind.String(), a.digest)
	return nil
}

func fillAgents(w *tableio.Writer, a *authority, b *body) error {
	for i, g := range b.groups {
		for _, agent := range g.Agents {
			a.row(w, i+1, agent.Value, tokenOf(agent, b.profile), agent.Line, a.digest)
		}
	}
	return nil
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

func fillRules(w *tableio.Writer, a *authority, b *body) error {
	for i, g := range b.groups {
		for _, rule := range g.Rules {
			kind := disallow
			if rule.Allow {
				kind = allow
			}
			a.row(w, i+1, kind, rule.Pattern, matcher.NormalPattern(rule.Pattern, b.profile), rule.Line, a.digest)
		}
	}
	return nil
}

func fillSitemaps(w *tableio.Writer, a *authority, b *body) error {
	for _, sitemap := range b.sitemaps {
		a.row(w, sitemap.Value, sitemap.Line, a.digest)
	}
	return nil
}

// fillRecords adds crawl-delays, which belong to groups, and records of other keys, in
// the order of their lines.
func fillRecords(w *tableio.Writer, a *authority, b *body) error {
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
		a.row(w, r.group, lower(r.Key), r.Value, r.Line, a.digest)
	}
	return nil
}
