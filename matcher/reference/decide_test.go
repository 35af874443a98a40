package reference

import (
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

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
		{
			"User-agent: *\nAllow: /p/index.html\nDisallow: /p", "*", "/p/",
			rule(false, "Disallow: /p", 3, "*"), rule(true, "Allow: /p/index.html", 2, "*"),
		},
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
