package robotstxt_test

import (
	"testing"

	"robotsbatch/matcher/reference"
	"robotsbatch/matcher/robotstxt"
)

// TestReference parses all bodies of up to four of these words, after each of the prefixes.
func TestReference(t *testing.T) {
	words := []string{"user-agent", "Disalow", "allow", ":", " ", "\v", "/", "#", "\x00", "\r", "\n", "\xEF", "\xBB"}
	const most = 4
	var body []byte
	var try func(n int)
	try = func(n int) {
		for _, profile := range profiles {
			checkReference(t, robotstxt.Parse(body, robotstxt.Options{Profile: profile.profile}), body)
		}
		if n == most {
			return
		}
		for _, word := range words {
			length := len(body)
			body = append(body, word...)
			try(n + 1)
			body = body[:length]
		}
	}
	for _, start := range []string{"", "user-agent: a\n", "user-agent: a\nallow"} {
		body = append(body[:0], start...)
		try(0)
	}
}

// checkReference checks that f has the groups and rules that the reference finds in the
// body.
func checkReference(t *testing.T, f *robotstxt.File, body []byte) {
	t.Helper()
	profile := reference.RFC9309
	if f.Profile == robotstxt.Google {
		profile = reference.Google
	}
	if want := reference.Parse(body, profile, 0); !sameAsReference(f, &want) {
		t.Fatalf("%q:\n%s\nthe reference finds\n%+v", body, dump(f), want)
	}
}

func sameAsReference(f *robotstxt.File, want *reference.File) bool {
	if f.Limited != want.Limited || len(f.Groups) != len(want.Groups) {
		return false
	}
	for i, g := range f.Groups {
		w := &want.Groups[i]
		if len(g.Agents) != len(w.Agents) || len(g.Rules) != len(w.Rules) {
			return false
		}
		for j, a := range g.Agents {
			if string(a.Value) != w.Agents[j].Value || a.Line != w.Agents[j].Line {
				return false
			}
		}
		for j, r := range g.Rules {
			if r.Allow != w.Rules[j].Allow || string(r.Pattern) != w.Rules[j].Pattern ||
				string(r.Text) != w.Rules[j].Text || r.Line != w.Rules[j].Line {
				return false
			}
		}
	}
	return true
}
