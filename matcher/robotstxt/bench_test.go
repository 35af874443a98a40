package robotstxt_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"robotsbatch/matcher/robotstxt"
)

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
