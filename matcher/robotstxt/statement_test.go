package robotstxt_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/usage"
)

// statements writes the groups of a directive with their agents, and the path and value of
// each statement.
func statements(f *robotstxt.File, d usage.Directive) string {
	var b strings.Builder
	for _, g := range f.StatementGroups(d) {
		for _, a := range g.Agents {
			fmt.Fprintf(&b, "%s ", a.Value)
		}
		for _, s := range g.Statements {
			fmt.Fprintf(&b, "%d<%s|%s>", s.Line, s.Path, s.Value)
		}
		b.WriteString("; ")
	}
	return b.String()
}

func TestContentUsageLine(t *testing.T) {
	const group = "User-agent: *\n"
	for _, tt := range []struct{ name, body, want string }{
		{"key in any case", group + "content-USAGE: a=y", "* 2<|a=y>; "},
		{"blanks around the colon", group + " Content-Usage \t:\t a=y ", "* 2<|a=y>; "},
		{"up to a comment", group + "Content-Usage: a=y # why", "* 2<|a=y>; "},
		{"up to CR", group + "Content-Usage: a=y\rx: y", "* 2<|a=y>; "},
		{"path", group + "Content-Usage: /a/ a=y", "* 2</a/|a=y>; "},
		{"path and tab", group + "Content-Usage: /a/\ta=y", "* 2</a/|a=y>; "},
		{"path alone", group + "Content-Usage: /a/", "* 2</a/|>; "},
		{"not a path", group + "Content-Usage: *.pdf a=y", "* 2<|*.pdf a=y>; "},
		{"empty", group + "Content-Usage:", "* 2<|>; "},
		{"no colon", group + "Content-Usage a=y", ""},
		{"more than the key", group + "Content-Usages: a=y", ""},
		{"in no group", "Content-Usage: a=y\nUser-agent: *", "* ; "},
		{"behind rules", group + "Allow: /\nContent-Usage: a=y\nDisallow: /b", "* 3<|a=y>; "},
		{"a list of agents ends", "User-agent: a\nContent-Usage: a=y\nUser-agent: b\nDisallow: /", "a 2<|a=y>; b ; "},
		{
			"several lines end a list", "User-agent: a\nUser-agent: b\nContent-Usage: a=y\nContent-Usage: a=n\nUser-agent: c\nContent-Usage: b=n\nUser-agent: d\nAllow: /\nContent-Usage: c=n",
			"a b 3<|a=y>4<|a=n>; c 6<|b=n>; d 9<|c=n>; ",
		},
	} {
		for _, profile := range []robotstxt.Profile{robotstxt.RFC9309, robotstxt.Google} {
			f := robotstxt.Parse([]byte(tt.body), robotstxt.Options{Profile: profile})
			must.Equal(t, statements(f, usage.ContentUsage), tt.want, tt.name, "profile", profile)
		}
	}
}

func TestContentSignalDoesNotEndAgents(t *testing.T) {
	f := robotstxt.Parse([]byte("User-agent: a\nContent-signal: /x search=no\nUser-agent: b\nDisallow: /"), robotstxt.Options{})
	must.Equal(t, statements(f, usage.ContentSignal), "a b 2</x|search=no>; ")
}

// TestStatementsChangeNoGroup checks that groups, rules and crawl-delays are the same with
// statements as with comments in their place.
func TestStatementsChangeNoGroup(t *testing.T) {
	const body = "License: /l\nContent-Usage: a=n\nUser-agent: a\nContent-Usage: /b a=n\nUser-agent: b\nContent-Signal: search=no\nCrawl-delay: 1\n" +
		"User-agent: c\nLicense: https://x/\nDisallow: /\nContent-Usage: a=y\nAllow: /x\nUser-agent: d\n"
	without := body
	for _, key := range []string{"License", "Content-Usage", "Content-Signal"} {
		without = strings.ReplaceAll(without, key, "#")
	}
	for _, profile := range []robotstxt.Profile{robotstxt.RFC9309, robotstxt.Google} {
		o := robotstxt.Options{Profile: profile}
		got, want := robotstxt.Parse([]byte(body), o), robotstxt.Parse([]byte(without), o)
		must.DeepEqual(t, got.Groups, want.Groups, "profile", profile)
	}
}

// TestAppendStatements checks that what is left of a body has the same statements for the
// same agents.
func TestAppendStatements(t *testing.T) {
	lines := []string{
		"User-agent: a", "useragent b/2", "User-agent: * x", "Disallow: /x", "Allow", "Sitemap: x", "", "# User-agent: c", "license : /l",
		"Content-Usage: /a\ttrain-ai=n # x", "content-signal: search=no", "User-agent:", "\x00",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		var body []byte
		for range random.IntN(12) {
			body = append(append(body, lines[random.IntN(len(lines))]...), []string{"\n", "\r", "\r\n"}[random.IntN(3)]...)
		}
		for _, profile := range []robotstxt.Profile{robotstxt.RFC9309, robotstxt.Google} {
			o := robotstxt.Options{Profile: profile}
			f := robotstxt.Parse(body, o)
			left := f.AppendStatements(nil)
			if len(f.Statements) == 0 {
				must.Need(t, left == nil, "%q: got %q", body, left)
				continue
			}
			again := robotstxt.Parse(left, o)
			for d := range usage.Directives {
				if got, want := dumpStatements(again, d), dumpStatements(f, d); got != want {
					t.Fatalf("%q as %q:\n got %s\nwant %s", body, left, got, want)
				}
			}
		}
	}
}

// dumpStatements writes all that groups and statements of a directive have.
func dumpStatements(f *robotstxt.File, d usage.Directive) string {
	var b strings.Builder
	for _, g := range f.StatementGroups(d) {
		for _, a := range g.Agents {
			fmt.Fprintf(&b, "%d %q ", a.Line, a.Value)
		}
		for _, s := range g.Statements {
			fmt.Fprintf(&b, "[%d %q %q %q %d]", s.Line, s.Path, s.Value, s.Text, s.Group)
		}
	}
	for _, s := range f.Statements {
		fmt.Fprintf(&b, "[%d %q %d]", s.Line, s.Text, s.Group)
	}
	return b.String()
}
