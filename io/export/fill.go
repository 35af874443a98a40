package export

import (
	"bytes"
	"slices"

	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

// Kinds of rows.
const (
	allow      = "allow"
	disallow   = "disallow"
	crawlDelay = "crawl-delay"
)

// outcomes are the values of the column access.
var outcomes = map[access.Outcome]string{access.Rules: "rules", access.AllowAll: "unavailable", access.DisallowAll: "unreachable"}

// begin appends what all rows of an authority begin with.
func (a *authority) begin(w *writer) {
	w.text(a.Key)
	w.optionalText(a.registered)
	w.text(a.SURT)
}

func fillAccess(w *writer, a *authority, _ *body) {
	a.begin(w)
	w.text([]byte(outcomes[a.Access]))
	w.optional(a.Status)
	w.time(a.Fetched)
	w.flag(a.Stale)
	w.flag(a.Limited)
	w.optionalText([]byte(a.kind.String()))
	w.optionalText(a.digest)
	w.end()
}

func fillAgents(w *writer, a *authority, b *body) {
	for i, g := range b.all() {
		for _, agent := range g.Agents {
			a.begin(w)
			w.number(i + 1)
			w.text(agent.Value)
			w.optionalText(tokenOf(agent, b.profile))
			w.optional(agent.Line)
			w.text(a.digest)
			w.end()
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
	return bytes.ToLower(token)
}

func fillRules(w *writer, a *authority, b *body) {
	for i, g := range b.all() {
		for _, rule := range g.Rules {
			kind := disallow
			if rule.Allow {
				kind = allow
			}
			a.begin(w)
			w.number(i + 1)
			w.text([]byte(kind))
			w.text(rule.Pattern)
			w.text([]byte(matcher.NormalPattern(rule.Pattern, b.profile)))
			w.number(rule.Line)
			w.text(a.digest)
			w.end()
		}
	}
}

func fillSitemaps(w *writer, a *authority, b *body) {
	if b == nil {
		return
	}
	for _, sitemap := range b.sitemaps {
		a.begin(w)
		w.text(sitemap.Value)
		w.optional(sitemap.Line)
		w.text(a.digest)
		w.end()
	}
}

// fillRecords adds crawl-delays, which belong to groups, and records of other keys, in
// the order of their lines.
func fillRecords(w *writer, a *authority, b *body) {
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
		w.optional(r.group)
		w.text(bytes.ToLower(r.Key))
		w.text(r.Value)
		w.optional(r.Line)
		w.text(a.digest)
		w.end()
	}
}

// all returns the groups; a body that is not there has none.
func (b *body) all() []robotstxt.Group {
	if b == nil {
		return nil
	}
	return b.groups
}
