// Package batchtest makes columns of URLs and tables of rules for tests.
package batchtest

import (
	"slices"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/bench/ruletable"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

// Column makes a column of values, of which nil ones are null. Without any it has
// no validity bitmap.
func Column(values ...[]byte) batch.Column {
	c := batch.Column{Offsets32: []int32{0}}
	if slices.ContainsFunc(values, func(value []byte) bool { return value == nil }) {
		c.Validity = make([]byte, (len(values)+7)/8)
	}
	for i, value := range values {
		if value != nil && c.Validity != nil {
			c.Validity[i>>3] |= 1 << (i & 7)
		}
		c.Data = append(c.Data, value...)
		c.Offsets32 = append(c.Offsets32, int32(len(c.Data)))
	}
	return c
}

// URLs makes a column without nulls.
func URLs(urls ...string) batch.Column {
	values := make([][]byte, len(urls))
	for i, url := range urls {
		values[i] = append([]byte{}, url...)
	}
	return Column(values...)
}

// Table compiles bodies of robots.txt, by authority, for chains of agents.
func Table(t testing.TB, bodies map[string]string, chains ...string) *ruletable.Table {
	t.Helper()
	parsed := make([]matcher.Chain, len(chains))
	for i, s := range chains {
		var err error
		if parsed[i], err = matcher.ParseChain(s); err != nil {
			t.Fatal(err)
		}
	}
	var table ruletable.Table
	for authority, body := range bodies {
		file := robotstxt.Parse([]byte(body), robotstxt.Options{})
		table.Add([]byte(authority), matcher.Origin{Access: access.Rules, Tries: matcher.Compile(file, parsed)})
	}
	return &table
}

// Letters are the verdicts of a row, a letter an agent: a (allowed), d (denied) or
// - (null).
func Letters(v *batch.Verdicts, row int) string {
	letters := make([]byte, len(v.Agents))
	for agent := range v.Agents {
		switch allowed, known := v.Agents[agent].Verdict(row); {
		case !known:
			letters[agent] = '-'
		case allowed:
			letters[agent] = 'a'
		default:
			letters[agent] = 'd'
		}
	}
	return string(letters)
}

// Bodies are the rules of the authorities that rows of Frontier are of.
var Bodies = map[string]string{
	"http://a.example":             "User-agent: *\nDisallow: /private\nAllow: /private/open\nDisallow: /*.gif$\n\nUser-agent: FooBot\nDisallow: /\n",
	"https://a.example":            "User-agent: FooBot\nDisallow: /x\n",
	"http://b.example:8080":        "",
	"http://xn--bcher-kva.example": "User-agent: *\nDisallow: /geheim\n",
}

// Frontier has rows of all kinds: URLs, other schemes, and texts that are no URL.
var Frontier = []string{
	"http://a.example/",
	"http://a.example/private/x",
	"http://a.example/private/open#top",
	"HTTP://A.Example:80/pic.gif",
	"http://a.example/pic.gif?x",
	"http://a.example",
	"http://a.example?private",
	"https://a.example/x",
	"https://a.example/robots.txt",
	"http://a.example/robots.txt",
	"http://user@a.example/private/%6Fpen",
	"http://b.example:8080/any",
	"http://b.example/any",
	"http://Bücher.example/geheim",
	"mailto:x",
	"gopher://a.example/",
	"http://a.example/a\rb",
	"",
	" http://a.example/private \t",
}
