package robotstxt_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/usage"
)

// summary formats the user-agent lines, rules and warnings on one line, with their line
// numbers:
//
//	1@Foo 2-/x 3+/y | 4@* 5- ; 3!missing_colon
func summary(f *parsed) string {
	var parts []string
	for i, g := range f.Groups {
		if i > 0 {
			parts = append(parts, "|")
		}
		for _, a := range g.Agents {
			parts = append(parts, fmt.Sprintf("%d@%s", a.Line, a.Value))
		}
		for _, r := range g.Rules {
			sign := "-"
			if r.Allow {
				sign = "+"
			}
			parts = append(parts, fmt.Sprintf("%d%s%s", r.Line, sign, r.Pattern))
		}
	}
	if len(f.warnings) > 0 {
		parts = append(parts, ";")
	}
	for _, w := range f.warnings {
		parts = append(parts, fmt.Sprintf("%d!%s", w.Line, w.Kind))
	}
	return strings.Join(parts, " ")
}

func TestOthers(t *testing.T) {
	const body = "Host: a.example\nUser-agent: *\nNoindex: /x # c\nAllow: /\nContent-Signal : ai-train=no\nContent\n: x\nSitemap: s\nCrawl-delay: 1\nlicense:\n"
	f := parse([]byte(body), robotstxt.Options{})
	must.Be(t, len(f.Others) == 0, "%d without being asked for", len(f.Others))
	var got []string
	for _, o := range parse([]byte(body), robotstxt.Options{Others: true}).Others {
		got = append(got, fmt.Sprintf("%d %s=%s", o.Line, o.Key, o.Value))
	}
	want := []string{"1 Host=a.example", "3 Noindex=/x", "5 Content-Signal=ai-train=no", "10 license="}
	must.EqualSlices(t, got, want)
}

func TestParse(t *testing.T) {
	for _, test := range []struct {
		row, body, want string
		// google is the expectation under that profile, if it differs.
		google string
	}{
		{"line ends: LF", "User-agent: a\nDisallow: /\n\nAllow: /x", "1@a 2-/ 4+/x", ""},
		{"line ends: CR", "User-agent: a\rDisallow: /\r\rAllow: /x", "1@a 2-/ 4+/x", ""},
		{"line ends: CRLF is one", "User-agent: a\r\nDisallow: /\r\n\r\nAllow: /x\r\n", "1@a 2-/ 4+/x", ""},
		{"line ends: LF CR are two", "User-agent: a\n\rDisallow: /", "1@a 3-/", ""},
		{"line ends: CR CR LF are two", "User-agent: a\r\r\nDisallow: /", "1@a 3-/", ""},
		{"line ends: mixed", "User-agent: a\rAllow: /b\nAllow: /c\r\nAllow: /d", "1@a 2+/b 3+/c 4+/d", ""},
		{"line ends: not U+2028, not U+0085", "User-agent: a\u2028Disallow: /\u0085\nAllow: /", "1@a\u2028Disallow: /\u0085 2+/", ""},

		{"byte order mark", "\xEF\xBB\xBFUser-agent: a\nAllow: /", "1@a 2+/", ""},
		{"byte order mark: two bytes of it", "\xEF\xBBUser-agent: a\nAllow: /", "1@a 2+/", ""},
		{"byte order mark: one byte of it", "\xEFUser-agent: a\nAllow: /", "1@a 2+/", ""},
		{"byte order mark: only once", "\xEF\xBB\xBF\xEF\xBB\xBFUser-agent: a\nAllow: /", "; 1!unknown_key 2!rule_before_group", ""},
		{"byte order mark: only its beginning", "\xBB\xBFUser-agent: a\nAllow: /", "; 1!unknown_key 2!rule_before_group", ""},
		{"byte order mark: only at the start", "\n\xEF\xBB\xBFUser-agent: a\nAllow: /", "; 2!unknown_key 3!rule_before_group", ""},

		{"comment", "User-agent: a # b\nDisallow: /x# y\nAllow: #/z\n# Allow: /c\n#\n", "1@a 2-/x 3+", ""},
		{"comment: before the colon", "User-agent: a\nDisallow # : /x", "1@a ; 2!not_a_record", ""},

		{"NUL", "User-agent: a\nDisallow: /x\x00y\nAllow: /z", "1@a 2-/x 3+/z ; 0!binary_body 2!nul_in_line", ""},
		{"NUL: before the key", "User-agent: a\n\x00Disallow: /x\nAllow: /z", "1@a 3+/z ; 0!binary_body 2!nul_in_line", ""},
		{"NUL: hides a comment and more", "User-agent: a\nAllow: /z\x00#\x00\nAllow: /y", "1@a 2+/z 3+/y ; 0!binary_body 2!nul_in_line", ""},
		{"NUL: in a comment", "User-agent: a\nAllow: /z#\x00", "1@a 2+/z ; 0!binary_body 2!nul_in_line", ""},

		{"trimming", " \t\v\fUser-agent\f\v\t : \f\v\t a b \v\f\nDisallow:/x \t", "1@a b 2-/x", ""},
		{"trimming: not U+00A0", "User-agent: a\u00a0\n\u00a0Allow: /", "1@a\u00a0 ; 2!unknown_key", ""},

		{"key: case", "USER-AGENT: a\nDISALLOW: /x\naLLoW: /y", "1@a 2-/x 3+/y", ""},
		{"key: only ASCII case", "user-agent: a\nDi\u017fallow: /x", "1@a ; 2!unknown_key", ""},
		{
			"key: misspellings", "useragent: a\nuser agent: b\ndissallow: /1\ndissalow: /2\ndisalow: /3\ndiasllow: /4\ndisallaw: /5\nsite-map: s",
			"1@a 2@b 3-/1 4-/2 5-/3 6-/4 7-/5 ; " + numbered("misspelled_key", 1, 8), "",
		},
		{"key: others", "host: x\nClean-param: y\nrequest-rate: 1/5\nnoindex: /z\nsitemap: s", "", ""},
		{"key: empty", "User-agent: a\n: /x\n \t: Allow: /y\n:", "1@a ; 2!empty_key 3!empty_key 4!empty_key", ""},
		{
			"key: whole or its beginning", "User-agents: a\nDisallowed: /x\nDisallow /y: /z\nallow*: /w",
			"; " + numbered("unknown_key", 1, 4), "1@a 2-/x 3-/z 4+/w ; " + numbered("key_prefix", 1, 4),
		},
		{
			"key: the beginning of others", "user-agent: a\ncrawl-delays: 1\nhosts: b\nnoindexed: /c\nsitemaps: d\nsitemapper 1\ncrawl: 1",
			"1@a ; 2!unknown_key 3!unknown_key 4!unknown_key 5!unknown_key 6!not_a_record 7!unknown_key",
			"1@a ; 2!key_prefix 3!key_prefix 4!key_prefix 5!key_prefix 6!missing_colon 6!key_prefix 7!unknown_key",
		},
		{"key: shorter", "use: a\nd: /\nuser-agen: b\n-: c\n~: d", "; " + numbered("unknown_key", 1, 5), ""},

		{"no colon", "User-agent a\nDisallow \t /x\nallow\t/y", "1@a 2-/x 3+/y ; 1!missing_colon 2!missing_colon 3!missing_colon", ""},
		{"no colon: misspelled", "useragent a\ndisalow /x", "1@a 2-/x ; 1!missing_colon 1!misspelled_key 2!missing_colon 2!misspelled_key", ""},
		{"no colon: three words", "User-agent: a\nAllow /x /y\nuser agent b", "1@a ; 2!not_a_record 3!not_a_record", ""},
		{"no colon: one word", "User-agent: a\nAllow\nAllow/x", "1@a ; 2!not_a_record 3!not_a_record", ""},
		{"no colon: unknown key", "User-agent: a\nplease go", "1@a ; 2!not_a_record", ""},
		{"no colon: FF is no separator", "User-agent: a\nAllow\f/x\nAllow\f /x", "1@a 3+/x ; 2!not_a_record 3!missing_colon", ""},
		{"no colon: in the comment", "User-agent a # b: c", "1@a ; 1!missing_colon", ""},
		{"no colon: but one in the value", "User-agent: a\nDisallow /x:y", "1@a ; 2!unknown_key", "1@a 2-y ; 2!key_prefix 2!pattern_without_slash"},
		{"more colons", "User-agent: a: b\nDisallow:: /x", "1@a: b 2-: /x ; 2!pattern_without_slash", ""},

		{"HTML", "<!DOCTYPE html>\n<p>User-agent: a\nUser-agent: *\nDisallow: /</p>", "3@* 4-/</p> ; 0!html_body 1!not_a_record 2!unknown_key", ""},
		{"HTML: after white space", "\n \t\r\n<html>", "; 0!html_body 3!not_a_record", ""},
		{"binary", "\x1F\x8B\x08\x01\nUser-agent: a\nAllow: /", "2@a 3+/ ; 0!binary_body 1!not_a_record", ""},

		{"binary: not ESC and DEL", "# \x1B$B \x7F\xFF\nUser-agent: a\nAllow: /", "2@a 3+/", ""},
		{"binary: not far behind", "#" + strings.Repeat("x", 600) + "\x01\nUser-agent: a\nAllow: /", "2@a 3+/", ""},

		{"groups: consecutive lines", "User-agent: a\nUser-agent: b\nAllow: /\nUser-agent: c\nDisallow: /", "1@a 2@b 3+/ | 4@c 5-/", ""},
		{
			"groups: what does not close the list", "User-agent: a\nSitemap: s\nCrawl-delay: 1\nwhat: x\n\n# c\nHost: h\nUser-agent: b\nAllow: /",
			"1@a 8@b 9+/ ; 4!unknown_key", "",
		},
		{"groups: an empty rule closes it", "User-agent: a\nDisallow:\nUser-agent: b\nAllow:\nUser-agent: c", "1@a 2- | 3@b 4+ | 5@c", ""},
		{"groups: a useless rule closes it", "User-agent: a\nDisallow: x\nUser-agent: b\nAllow: /", "1@a 2-x | 3@b 4+/ ; 2!pattern_without_slash", ""},
		{"groups: empty user-agent", "User-agent:\nDisallow: /x\nUser-agent: a\nUser-agent:\nAllow: /", "1@ 2-/x | 3@a 4@ 5+/", ""},
		{"groups: not merged", "User-agent: a\nAllow: /x\nUser-agent: a\nAllow: /y", "1@a 2+/x | 3@a 4+/y", ""},
		{
			"groups: rules before the first", "Disallow: /\nAllow:\nCrawl-delay: 1\nUser-agent: a\nAllow: /x",
			"4@a 5+/x ; 1!rule_before_group 2!rule_before_group 3!rule_before_group", "",
		},
		{"rules: pattern without slash", "User-agent: a\nDisallow: x\nAllow: $\nAllow: *x\nAllow: %2Fx", "1@a 2-x 3+$ 4+*x 5+%2Fx ; 2!pattern_without_slash 3!pattern_without_slash 5!pattern_without_slash", ""},
		{"nothing", "", "", ""},
	} {
		for _, profile := range profiles {
			want := test.want
			if profile.profile == robotstxt.Google && test.google != "" {
				want = test.google
			}
			f := parse([]byte(test.body), robotstxt.Options{Profile: profile.profile})
			must.Equal(t, summary(f), want, test.row, profile.name)
			must.Be(t, f.Profile == profile.profile && !f.Limited, "%s, %s: profile %d, limited %v", test.row, profile.name, f.Profile, f.Limited)
		}
	}
}

// numbered returns a warning for each line of a range.
func numbered(kind string, from, to int) string {
	var parts []string
	for ; from <= to; from++ {
		parts = append(parts, fmt.Sprintf("%d!%s", from, kind))
	}
	return strings.Join(parts, " ")
}

func TestRuleText(t *testing.T) {
	body := "User-agent: *\n\t DisAllow \t:  /a b \t# why\nallow\t /c\t\nDisallow:  # all\nAllow:/d\x00e\n"
	f := parse([]byte(body), robotstxt.Options{})
	var got []string
	for _, r := range f.Groups[0].Rules {
		got = append(got, string(r.Text))
	}
	want := []string{"DisAllow \t:  /a b", "allow\t /c", "Disallow:", "Allow:/d"}
	must.EqualSlices(t, got, want)
}

func TestOtherRecords(t *testing.T) {
	body := "Sitemap: https://a/1\nCrawl-delay: 9\nUser-agent: x\nCrawl-delay: 1\nDisallow: /\nCrawl-delay:\n" +
		"sitemap:\nUser-agent: y\nUser-agent: z\nsite-map: /2 # two\ncrawl-delay: 2.5 s\n"
	f := parse([]byte(body), robotstxt.Options{})
	want := `group
  3: agent "x" (x)
  5: disallow "/" from "Disallow: /"
  4: crawl-delay "1"
  6: crawl-delay ""
group
  8: agent "y" (y)
  9: agent "z" (z)
  11: crawl-delay "2.5 s"
1: sitemap "https://a/1"
7: sitemap ""
10: sitemap "/2"
lines 11, limited false
`
	must.Equal(t, dumpRecords(f.File), want)
}

// TestGroupsDoNotOverlap: appending to a group's slices must not overwrite the next group's
// part of the array.
func TestGroupsDoNotOverlap(t *testing.T) {
	f := parse([]byte("User-agent: a\nAllow: /a\nUser-agent: b\nAllow: /b\n"), robotstxt.Options{})
	first := f.Groups[0]
	_ = append(first.Rules, robotstxt.Rule{})
	_ = append(first.Agents, robotstxt.Agent{})
	must.Equal(t, summary(f), "1@a 2+/a | 3@b 4+/b")
}

func TestManyWarnings(t *testing.T) {
	const many = 100_000
	f := parse(bytes.Repeat([]byte("x\n"), many), robotstxt.Options{})
	must.Equal(t, len(f.warnings), many)
	for i, w := range f.warnings {
		must.Need(t, w == (robotstxt.Warning{Kind: robotstxt.NotARecord, Line: i + 1}), "warning %d: %d %s", i, w.Line, w.Kind)
	}
}

func TestWarningKindString(t *testing.T) {
	seen := make(map[string]bool)
	for kind := robotstxt.UTF16Body; kind <= robotstxt.PatternWithoutSlash; kind++ {
		name := kind.String()
		must.Be(t, name != "" && !strings.ContainsAny(name, "?- ") && !seen[name], "kind %d is called %q", kind, name)
		seen[name] = true
	}
	for _, kind := range []robotstxt.WarningKind{0, robotstxt.PatternWithoutSlash + 1, 255} {
		must.Equal(t, kind.String(), "warning(?)", "kind", kind, "called")
	}
}

// TestAllocations: the number of allocations must not grow with the number of lines.
func TestAllocations(t *testing.T) {
	for _, test := range []struct {
		row  string
		body []byte
		most float64
	}{
		{"rules", usualBody(9000), 60},
		{"user-agent lines", bytes.Repeat([]byte("user-agent:\n"), 40_000), 60},
		{"groups", bytes.Repeat([]byte("user-agent:\nallow:\n"), 20_000), 80},
		{"line ends", bytes.Repeat([]byte("\r"), 500_000), 1},
		{"NULs", bytes.Repeat([]byte("\x00"), 500_000), 10},
		{"warnings", bytes.Repeat([]byte("x\n"), 200_000), 20},
	} {
		got := testing.AllocsPerRun(3, func() { robotstxt.Parse(test.body, robotstxt.Options{}) })
		must.Be(t, got <= test.most, "%s: %v allocations, want at most %v", test.row, got, test.most)
	}
}

func TestAgent(t *testing.T) {
	for _, test := range []struct {
		value    string
		everyone bool
		token    string
		word     string // under RFC9309
	}{
		{"*", true, "", ""},
		{"* Googlebot", true, "", ""},
		{"*\tx", true, "", ""},
		{"*\v", true, "", ""},
		{"*\fx", true, "", ""},
		{"*\u00a0x", false, "", ""},
		{"*/x", false, "", ""},
		{"*bot*", false, "", ""},
		{"**", false, "", ""},
		{"", false, "", ""},
		{" *", false, "", ""},
		{"FooBot", false, "FooBot", "FooBot"},
		{"FooBot/2.1", false, "FooBot", "FooBot"},
		{"FooBot 7", false, "FooBot", "FooBot"},
		{"FooBot*", false, "FooBot", "FooBot*"},
		{"Foo_Bot-x\ty", false, "Foo_Bot-x", "Foo_Bot-x"},
		{"MJ12bot", false, "MJ", "MJ12bot"},
		{"MJ12bot/v1.4 (x)", false, "MJ", "MJ12bot"},
		{"360Spider", false, "", "360Spider"},
		{"img2dataset", false, "img", "img2dataset"},
		{"008 x", false, "", "008"},
		{"/x", false, "", ""},
		{"a\xffb", false, "a", "a\xffb"},
		{"Foo,Bar", false, "Foo", "Foo,Bar"},
		{";x", false, "", ";x"},
	} {
		a := robotstxt.Agent{Value: []byte(test.value)}
		must.Equal(t, a.Everyone(), test.everyone, test.value, "everyone")
		token, word := a.Names(robotstxt.RFC9309)
		must.Be(t, string(token) == test.token && string(word) == test.word, "%q names %q and %q, want %q and %q", test.value, token, word, test.token, test.word)
		crawler := test.word // unless that is no name
		if strings.ContainsAny(crawler, "*,;") {
			crawler = test.token
		}
		must.Equal(t, string(a.Crawler(robotstxt.RFC9309)), crawler, test.value)
		must.Equal(t, string(a.Crawler(robotstxt.Google)), test.token, test.value, "under google")
		token, word = a.Names(robotstxt.Google)
		must.Be(t, string(token) == test.token && word == nil, "%q names %q and %q under google, want %q", test.value, token, word, test.token)
	}
}

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
				got, want := dumpStatements(again, d), dumpStatements(f, d)
				must.Need(t, got == want, "%q as %q:\n got %s\nwant %s", body, left, got, want)
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
