package robotstxt_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"unsafe"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher/reference"
	"robotsbatch/matcher/robotstxt"
)

func FuzzParse(f *testing.F) {
	bodies := must.Get(filepath.Glob("testdata/*.robots.txt"))(f)
	for _, name := range bodies {
		body := must.Get(os.ReadFile(name))(f)
		f.Add(body, false)
	}
	f.Add([]byte("\xEF\xBBuser-agent a\r\nDisallow: /x\r#\x00"), true)
	f.Fuzz(func(t *testing.T, body []byte, cut bool) {
		for _, profile := range profiles {
			o := robotstxt.Options{Profile: profile.profile, Cut: cut}
			file := parse(body, o)
			if again := parse(body, o); !reflect.DeepEqual(file, again) {
				t.Fatalf("%s: parsed twice:\n%s\n%s", profile.name, dump(file), dump(again))
			}
			var used robotstxt.Parser
			used.Parse([]byte("User-agent: a\nUser-agent: b\nAllow: /\nCrawl-delay: 1\nSitemap: /s\nfoo\n\nUser-agent: *\nDisallow: /\n"), robotstxt.Options{})
			if again := parseBy(&used, body, o); dump(again) != dump(file) {
				t.Fatalf("%s: parsed after another:\n%s\n%s", profile.name, dump(file), dump(again))
			}
			checkLines(t, file)
			if !cut {
				checkReference(t, file, body)
			}
			if file.Profile == robotstxt.Google || !hasUTF16Mark(body) {
				checkInside(t, file.File, body)
				checkLineEnds(t, file.File, body, o)
			}
		}
	})
}

// checkLines checks that everything is in line order, that no line is used twice and that
// each group has an agent.
func checkLines(t *testing.T, f *parsed) {
	t.Helper()
	last := 0
	after := func(line int) {
		if line <= last || line > f.Lines {
			t.Fatalf("line %d comes after line %d of %d:\n%s", line, last, f.Lines, dump(f))
		}
		last = line
	}
	for _, g := range f.Groups {
		if len(g.Agents) == 0 {
			t.Fatalf("a group without agent:\n%s", dump(f))
		}
		for _, a := range g.Agents {
			after(a.Line)
		}
		for _, r := range g.Rules {
			after(r.Line)
		}
	}
	last = 0
	for _, g := range f.Groups {
		for _, r := range g.CrawlDelays {
			after(r.Line)
		}
	}
	last = 0
	for _, r := range f.Sitemaps {
		after(r.Line)
	}
	last = 0
	for _, w := range f.warnings {
		if w.Line < last || w.Line > f.Lines {
			t.Fatalf("a warning of line %d after line %d of %d:\n%s", w.Line, last, f.Lines, dump(f))
		}
		last = w.Line
	}
}

// checkInside checks that slices alias the body and are trimmed.
func checkInside(t *testing.T, f *robotstxt.File, body []byte) {
	t.Helper()
	start := uintptr(unsafe.Pointer(unsafe.SliceData(body)))
	inside := func(b []byte) {
		p := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
		must.Need(t, p >= start && p+uintptr(len(b)) <= start+uintptr(len(body)), "%q is no part of the body", b)
		must.Need(t, len(bytes.Trim(b, " \t\v\f")) == len(b) && !bytes.ContainsAny(b, "#\r\n\x00"), "%q is not trimmed", b)
	}
	for _, g := range f.Groups {
		for _, a := range g.Agents {
			inside(a.Value)
			token, word := a.Names(f.Profile)
			inside(token)
			if !bytes.HasPrefix(a.Value, token) || !bytes.HasPrefix(a.Value, word) {
				t.Fatalf("%q names %q and %q", a.Value, token, word)
			}
		}
		for _, r := range g.Rules {
			inside(r.Pattern)
			inside(r.Text)
			if !bytes.HasSuffix(r.Text, r.Pattern) {
				t.Fatalf("%q does not end with %q", r.Text, r.Pattern)
			}
		}
		for _, r := range g.CrawlDelays {
			inside(r.Value)
		}
	}
	for _, r := range f.Sitemaps {
		inside(r.Value)
	}
}

// checkLineEnds checks that changing each line end to CRLF gives the same records.
func checkLineEnds(t *testing.T, f *robotstxt.File, body []byte, o robotstxt.Options) {
	t.Helper()
	body = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	body = bytes.ReplaceAll(body, []byte("\r"), []byte("\n"))
	body = bytes.ReplaceAll(body, []byte("\n"), []byte("\r\n"))
	if len(body) > robotstxt.DefaultLimit {
		return
	}
	must.Equal(t, dumpRecords(robotstxt.Parse(body, o)), dumpRecords(f), "from", body)
}

func hasUTF16Mark(body []byte) bool {
	return bytes.HasPrefix(body, []byte("\xFF\xFE")) || bytes.HasPrefix(body, []byte("\xFE\xFF"))
}

// TestReference parses all bodies of up to four of these words, after each of the prefixes.
func TestReference(t *testing.T) {
	words := []string{"user-agent", "Disalow", "allow", ":", " ", "\v", "/", "#", "\x00", "\r", "\n", "\xEF", "\xBB"}
	const most = 4
	var body []byte
	var try func(n int)
	try = func(n int) {
		for _, profile := range profiles {
			checkReference(t, parse(body, robotstxt.Options{Profile: profile.profile}), body)
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
func checkReference(t *testing.T, f *parsed, body []byte) {
	t.Helper()
	profile := reference.RFC9309
	if f.Profile == robotstxt.Google {
		profile = reference.Google
	}
	if want := reference.Parse(body, profile, 0); !sameAsReference(f.File, &want) {
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
