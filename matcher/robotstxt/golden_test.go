package robotstxt_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher/robotstxt"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden parses testdata/*.robots.txt under both profiles. Files whose name starts with
// "cut" are parsed with Options.Cut.
func TestGolden(t *testing.T) {
	bodies, err := filepath.Glob("testdata/*.robots.txt")
	must.Need(t, err == nil && len(bodies) != 0, "no bodies: %v", err)
	seen := make(map[string]bool)
	for _, name := range bodies {
		body := must.Get(os.ReadFile(name))(t)
		var got strings.Builder
		for _, profile := range profiles {
			o := robotstxt.Options{Profile: profile.profile, Cut: strings.HasPrefix(filepath.Base(name), "cut")}
			f := parse(body, o)
			fmt.Fprintf(&got, "profile %s\n%s\n", profile.name, dump(f))
			for _, w := range f.warnings {
				seen[profile.name+" "+w.Kind.String()] = true
			}
		}
		compareGolden(t, strings.TrimSuffix(name, ".robots.txt")+".golden", got.String())
	}
	for kind := robotstxt.UTF16Body; kind <= robotstxt.PatternWithoutSlash; kind++ {
		for _, profile := range profiles {
			googleOnly := kind == robotstxt.LineCut || kind == robotstxt.KeyPrefix
			want := profile.profile == robotstxt.Google || !googleOnly
			must.Equal(t, seen[profile.name+" "+kind.String()], want, "warning", kind, "under", profile.name, "in some golden file", !want)
		}
	}
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		must.Do(t, os.WriteFile(name, []byte(got), 0o644))
		return
	}
	want := must.Get(os.ReadFile(name))(t)
	must.Be(t, got == string(want), "%s: got\n%s\nwant\n%s\n(go test -update rewrites it)", name, got, want)
}

// parsed is a parsed body with the warnings that the parser gave.
type parsed struct {
	*robotstxt.File
	warnings []robotstxt.Warning
}

func parse(body []byte, o robotstxt.Options) *parsed { return parseBy(new(robotstxt.Parser), body, o) }

func parseBy(p *robotstxt.Parser, body []byte, o robotstxt.Options) *parsed {
	var f parsed
	o.Warn = func(w robotstxt.Warning) { f.warnings = append(f.warnings, w) }
	f.File = p.Parse(body, o)
	return &f
}

// dump formats a parsed body as text, one record a line. Text from the body is quoted.
func dump(f *parsed) string { return dumpRecords(f.File) + dumpWarnings(f.warnings) }

func dumpRecords(f *robotstxt.File) string {
	var b strings.Builder
	for _, g := range f.Groups {
		b.WriteString("group\n")
		for _, a := range g.Agents {
			fmt.Fprintf(&b, "  %d: agent %s%s\n", a.Line, quote(a.Value), names(a, f.Profile))
		}
		for _, r := range g.Rules {
			kind := "disallow"
			if r.Allow {
				kind = "allow"
			}
			fmt.Fprintf(&b, "  %d: %s %s from %s\n", r.Line, kind, quote(r.Pattern), quote(r.Text))
		}
		for _, r := range g.CrawlDelays {
			fmt.Fprintf(&b, "  %d: crawl-delay %s\n", r.Line, quote(r.Value))
		}
	}
	for _, r := range f.Sitemaps {
		fmt.Fprintf(&b, "%d: sitemap %s\n", r.Line, quote(r.Value))
	}
	fmt.Fprintf(&b, "lines %d, limited %v\n", f.Lines, f.Limited)
	return b.String()
}

func dumpWarnings(warnings []robotstxt.Warning) string {
	var b strings.Builder
	for _, w := range warnings {
		fmt.Fprintf(&b, "%d: warning %s\n", w.Line, w.Kind)
	}
	return b.String()
}

// names formats the names of a user-agent line.
func names(a robotstxt.Agent, p robotstxt.Profile) string {
	token, word := a.Names(p)
	switch {
	case a.Everyone():
		return " (everyone)"
	case len(token)+len(word) == 0:
		return " (nobody)"
	case len(word) == 0 || string(token) == string(word):
		return fmt.Sprintf(" (%s)", token)
	}
	return fmt.Sprintf(" (%q or %q)", token, word)
}

// quote quotes a value and cuts it if it is long.
func quote(b []byte) string {
	const shown = 60
	if len(b) > shown {
		return fmt.Sprintf("%q and %d bytes", b[:shown], len(b)-shown)
	}
	return fmt.Sprintf("%q", b)
}

// BenchmarkParse measures bodies of ordinary size and shape, and hostile ones. The speeds
// must be of the same order.
func BenchmarkParse(b *testing.B) {
	bodies := []struct {
		name string
		body []byte
	}{
		{"usual", usualBody(80)},
		{"usual_crlf", bytes.ReplaceAll(usualBody(80), []byte("\n"), []byte("\r\n"))},
		{"usual_cr", bytes.ReplaceAll(usualBody(80), []byte("\n"), []byte("\r"))},
		{"large", usualBody(9000)},
		{"agents", bytes.Repeat([]byte("user-agent:\n"), 40_000)},
		{"one_line", bytes.Repeat([]byte("disallow "), 50_000)},
		{"line_ends", bytes.Repeat([]byte("\r"), 500_000)},
	}
	for _, profile := range profiles {
		for _, c := range bodies {
			b.Run(fmt.Sprintf("profile=%s/body=%s", profile.name, c.name), func(b *testing.B) {
				o := robotstxt.Options{Profile: profile.profile}
				if f := robotstxt.Parse(c.body, o); f.Lines == 0 || f.Limited {
					b.Fatalf("%d lines, limited: %v", f.Lines, f.Limited)
				}
				b.SetBytes(int64(len(c.body)))
				b.ReportAllocs()
				for b.Loop() {
					robotstxt.Parse(c.body, o)
				}
			})
		}
	}
}

// usualBody returns a body of n rules that resembles those of sites: groups of some
// dozen rules, blank lines, comments, few other records.
func usualBody(rules int) []byte {
	words := strings.Fields("search admin cart wp-content login api tag print node user files comment reply cgi-bin includes themes")
	random := rand.New(rand.NewPCG(1, 2))
	word := func() string { return words[random.IntN(len(words))] }
	var b bytes.Buffer
	for i := range rules {
		if i%20 == 0 {
			fmt.Fprintf(&b, "\n# Rules for the crawlers of the %s department\nUser-agent: %sbot\nUser-agent: *\nCrawl-delay: 10\n", word(), word())
		}
		switch random.IntN(8) {
		case 0:
			fmt.Fprintf(&b, "Allow: /%s/*.%s$\n", word(), word())
		case 1:
			fmt.Fprintf(&b, "Disallow: /*?%s=*&%s=\n", word(), word())
		default:
			fmt.Fprintf(&b, "Disallow: /%s/%s/%s-%d/\n", word(), word(), word(), random.IntN(1000))
		}
	}
	b.WriteString("\nSitemap: https://www.example.com/sitemap.xml\n")
	return b.Bytes()
}

var profiles = []struct {
	name    string
	profile robotstxt.Profile
}{
	{"rfc9309", robotstxt.RFC9309},
	{"google", robotstxt.Google},
}
