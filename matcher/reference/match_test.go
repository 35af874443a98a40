package reference

import (
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

func TestNormalisePath(t *testing.T) {
	for _, tt := range []struct{ path, plain, query string }{
		{"/", "/", "/"},
		{"/a%62%63", "/abc", "/abc"},
		{"/%2d%2E%5f%7E%30", "/-._~0", "/-._~0"},
		{"/%2f%3b%c3%a9%25", "/%2F%3B%C3%A9%25", "/%2F%3B%C3%A9%25"},
		{"/é \x7f\x01", "/%C3%A9%20%7F%01", "/%C3%A9%20%7F%01"},
		{"/\"<>[\\]^`{|}", "/%22%3C%3E%5B%5C%5D%5E%60%7B%7C%7D", "/%22%3C%3E%5B%5C%5D%5E%60%7B%7C%7D"},
		{"/!$&'()*+,;=:@", "/!$&'()*+,;=:@", "/!$&'()*+,;=:@"},
		{"/%", "/%25", "/%25"},
		{"/%4", "/%254", "/%254"},
		{"/%zz%%41", "/%25zz%25A", "/%25zz%25A"},
		{"/%2541", "/%2541", "/%2541"},
		{"/%2a%24%3a%40", "/*$:@", "/*$:@"},
		{"/%2F%3F?%2f%3f", "/%2F%3F?%2F%3F", "/%2F%3F?/?"},
		{"/a?b?%2F%26", "/a?b?%2F%26", "/a?b?/%26"},
	} {
		plain, query := NormalisePath(tt.path)
		must.Be(t, plain == tt.plain && query == tt.query, "%q: got %q and %q, want %q and %q", tt.path, plain, query, tt.plain, tt.query)
	}
}

func TestPatternLength(t *testing.T) {
	for _, tt := range []struct {
		pattern     string
		rfc, google int
	}{
		{"", 0, 0},
		{"/fish*", 6, 6},
		{"/a**b$", 6, 6},
		{"/%2A%24%3A", 4, 10},
		{"/é", 7, 7},
		{"/ ", 4, 2},
		{"/%", 4, 2},
		{"/%2F?%2F", 6, 8},
		{"/%2f", 4, 4},
	} {
		must.Equal(t, NewPattern(tt.pattern, RFC9309).Length(), tt.rfc, tt.pattern, "rfc9309")
		must.Equal(t, NewPattern(tt.pattern, Google).Length(), tt.google, tt.pattern, "google")
	}
}

func TestPatternMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, path string
		rfc, google   bool
	}{
		{"", "/", false, false},
		{"/", "/", true, true},
		{"/a", "/ab", true, true},
		{"/a", "/A", false, false},
		{"/ab", "/a", false, false},
		{"a", "/a", false, false},
		{"*", "/", true, true},
		{"*a", "/xa", true, true},
		{"/*", "/", true, true},
		{"/a*c", "/abbc", true, true},
		{"/a*c", "/abb", false, false},
		{"/*a*b*c", "/xaxbxcx", true, true},
		{"/*a*b*c", "/xaxcxb", false, false},
		{"/a**", "/a", true, true},
		{"/a$", "/a", true, true},
		{"/a$", "/ab", false, false},
		{"/a*$", "/ab", true, true},
		{"/*aab$", "/aaab", true, true},
		{"$", "/", false, false},
		{"*$", "/", true, true},
		{"/a$b", "/a$bc", true, true},
		{"/a$$", "/a$", true, true},
		{"/a$$", "/a$$", false, false},
		{"/%2A", "/x", false, false},
		{"/%2A", "/*", true, false},
		{"/%2A", "/%2a", true, false},
		{"/%2A", "/%2A", true, true},
		{"/%24", "/$x", true, false},
		{"/ü", "/%C3%BC", true, true},
		{"/ü", "/%c3%bc", true, false},
		{"/ü", "/ü", true, false},
		{"/%62", "/b", true, false},
		{"/%2fx", "/%2Fx", true, true},
		{"/%2Fx", "//x", false, false},
		{"/?u=/", "/?u=%2F", true, false},
		{"/?u=%2F", "/?u=/", true, false},
		{"/*/x", "/?u=%2Fx", false, false},
		{"/*%2Fx", "/?u=%2Fx", true, true},
		{"/*%2Fx", "/?u=/x", false, false},
	} {
		must.Equal(t, NewPattern(tt.pattern, RFC9309).Match(NewPath(tt.path, RFC9309)), tt.rfc, tt.pattern, "on", tt.path, "rfc9309")
		must.Equal(t, NewPattern(tt.pattern, Google).Match(NewPath(tt.path, Google)), tt.google, tt.pattern, "on", tt.path, "google")
	}
}

// TestMatchIsNotExponential: a pattern of many wildcards takes its length times the path's,
// no more.
func TestMatchIsNotExponential(t *testing.T) {
	pattern := NewPattern("/"+strings.Repeat("*a", 500)+"b", RFC9309)
	must.Be(t, !pattern.Match(NewPath("/"+strings.Repeat("a", 2000), RFC9309)), "matches a path without its last byte")
}

func TestIsRobotsTxt(t *testing.T) {
	for path, want := range map[string]bool{
		"/robots.txt": true, "/%72obots%2Etxt": true,
		"/robots.txt?": false, "/robots.txt/": false, "/Robots.txt": false, "//robots.txt": false, "/a/robots.txt": false, "/": false,
	} {
		must.Equal(t, IsRobotsTxt(path), want, path)
	}
}

func TestConcerns(t *testing.T) {
	for _, tt := range []struct {
		value, name string
		rfc, google bool
	}{
		{"*", "*", true, true},
		{"* foo", "*", true, true},
		{"*\vfoo", "*", true, true},
		{"*foo", "*", false, false},
		{"foo", "*", false, false},
		{"*/2", "*", false, false},
		{"*", "FooBot", false, false},
		{"foobot", "FooBot", true, true},
		{"FooBot/2.1", "FooBot", true, true},
		{"FooBot 7", "FooBot", true, true},
		{"FooBot*", "FooBot", true, true},
		{"FooBot7", "FooBot", true, true},
		{"Foo", "FooBot", false, false},
		{"FooBots", "FooBot", false, false},
		{"*bot*", "bot", false, false},
		{"", "FooBot", false, false},
		{"", "", false, false},
		{"MJ12bot/v1.4", "MJ12bot", true, false},
		{"MJ12bot", "mj", true, true},
		{"008 x", "008", true, false},
		{"008x", "008", false, false},
	} {
		must.Equal(t, concerns(tt.value, tt.name, RFC9309), tt.rfc, tt.value, "for", tt.name, "rfc9309")
		must.Equal(t, concerns(tt.value, tt.name, Google), tt.google, tt.value, "for", tt.name, "google")
	}
}

func TestDecide(t *testing.T) {
	rule := func(allowed bool, text string, line int, agent string) Decision {
		reason := "disallow_rule"
		if allowed {
			reason = "allow_rule"
		}
		return Decision{allowed, reason, text, line, agent}
	}
	robotsTxt := Decision{Allowed: true, Reason: "robots_txt"}
	noRule := Decision{Allowed: true, Reason: "no_rule_matched"}
	noGroup := Decision{Allowed: true, Reason: "no_group"}
	const two = "User-agent: *\nDisallow: /\nUser-agent: A\nUser-agent: B\nUser-agent: a/2\nAllow: /x\nDisallow: /x\nAllow: /x\n" +
		"User-agent: b\nDisallow: /x*\n"
	for _, tt := range []struct {
		body, chain, path string
		rfc, google       Decision
	}{
		{"", "A", "/", noGroup, noGroup},
		{two, "", "/", rule(false, "Disallow: /", 2, "*"), rule(false, "Disallow: /", 2, "*")},
		{two, "*", "/", rule(false, "Disallow: /", 2, "*"), rule(false, "Disallow: /", 2, "*")},
		{two, "C", "/", rule(false, "Disallow: /", 2, "*"), rule(false, "Disallow: /", 2, "*")},
		{two, "A", "/", noRule, noRule},
		{two, "A", "/x", rule(true, "Allow: /x", 6, "A"), rule(true, "Allow: /x", 6, "A")},
		{two, "B", "/x", rule(false, "Disallow: /x*", 10, "b"), rule(false, "Disallow: /x*", 10, "b")},
		{two, "C B A", "/x", rule(false, "Disallow: /x*", 10, "b"), rule(false, "Disallow: /x*", 10, "b")},
		{two, "C", "/robots.txt", robotsTxt, rule(false, "Disallow: /", 2, "*")},
		{"User-agent: A\nUser-agent: *", "A", "/", noRule, noRule},
		{"User-agent: A\nDisallow:", "A", "/", noRule, noRule},
		{"User-agent: A\nDisallow: /", "B", "/", noGroup, noGroup},
		{"User-agent: * x\nUser-agent: *\nDisallow: *", "A", "/", rule(false, "Disallow: *", 3, "* x"), rule(false, "Disallow: *", 3, "* x")},
		{"User-agent: A\xFF\nDisallow: /\xFFü", "A", "/%FFü", rule(false, "Disallow: /%FFü", 2, "A%FF"), noRule},
		{"User-agent: *\nAllow: /p/index.html\nDisallow: /p", "*", "/p/", rule(false, "Disallow: /p", 3, "*"), rule(true, "Allow: /p/index.html", 2, "*")},
		{"User-agent: *\nDisallow: /p/index.html\nDisallow: /q", "*", "/p/", noRule, noRule},
		{
			"User-agent: *\nAllow: /p/Index.html\nAllow: /p/index.html?/q\nDisallow: /p", "*", "/p/",
			rule(false, "Disallow: /p", 4, "*"), rule(false, "Disallow: /p", 4, "*"),
		},
	} {
		for p, want := range []Decision{tt.rfc, tt.google} {
			f := Parse([]byte(tt.body), Profile(p), 0)
			must.Equal(t, Decide(f, strings.Fields(tt.chain), tt.path, Profile(p)), want, tt.chain, "for", tt.path, "on", tt.body, "profile", p)
		}
	}
}
