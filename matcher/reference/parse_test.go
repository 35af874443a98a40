package reference

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"robotsbatch/io/store/must"
)

// show formats a file as the tables below expect it: a group is its agents in brackets and
// its rules as a sign (+ allow, - disallow), pattern and line.
func show(f File) string {
	var words []string
	for _, g := range f.Groups {
		var agents []string
		for _, a := range g.Agents {
			agents = append(agents, fmt.Sprintf("%s:%d", a.Value, a.Line))
		}
		words = append(words, "["+strings.Join(agents, " ")+"]")
		for _, r := range g.Rules {
			sign := "-"
			if r.Allow {
				sign = "+"
			}
			words = append(words, fmt.Sprintf("%s%s:%d", sign, r.Pattern, r.Line))
		}
	}
	return strings.Join(words, " ")
}

func TestParse(t *testing.T) {
	for _, tt := range []struct{ name, body, rfc, google string }{
		{"empty", "", "", ""},
		{"one group", "User-agent: a\nDisallow: /x\nAllow: /y\n", "[a:1] -/x:2 +/y:3", "="},
		{"two agents", "User-agent: a\nUser-agent: b\nDisallow: /x", "[a:1 b:2] -/x:3", "="},
		{"two groups", "User-agent: a\nDisallow:\nUser-agent: b", "[a:1] -:2 [b:3]", "="},
		{"rule before any group", "Disallow: /x\nUser-agent: a\nAllow: /y", "[a:2] +/y:3", "="},
		{"other records do not close the list", "User-agent: a\nSitemap: /s\n\nUser-agent: b\nAllow: /", "[a:1 b:4] +/:5", "="},
		{"line ends", "User-agent: a\r\nDisallow: /x\rDisallow: /y\n\nDisallow: /z", "[a:1] -/x:2 -/y:3 -/z:5", "="},
		{"LF CR is two", "User-agent: a\n\rDisallow: /x", "[a:1] -/x:3", "="},
		{"mark", "\xEF\xBB\xBFUser-agent: a", "[a:1]", "="},
		{"part of a mark", "\xEF\xBBUser-agent: a", "[a:1]", "="},
		{"not a mark", "\xBB\xBFUser-agent: a", "", "="},
		{"comment", "User-agent: a#b\n#Disallow: /x\nDisallow: /y #z", "[a:1] -/y:3", "="},
		{"NUL", "User-agent: a\x00b\nDisallow: /x\x00y # z", "[a:1] -/x:2", "="},
		{"blanks", " \v\fUser-agent \t:\t a \v\nDisallow\f:\v/x y\f", "[a:1] -/x y:2", "="},
		{"no colon", "User-agent a\nDisallow\t \t/x\nDisallow /y z\nDisallow", "[a:1] -/x:2", "="},
		{"first colon", "User-agent: a\nDisallow: /x:y", "[a:1] -/x:y:2", "="},
		{"no key", "User-agent: a\n: /x", "[a:1]", "="},
		{"misspelt", "UserAgent: a\nuser agent: b\nDIASLLOW: /x", "[a:1 b:2] -/x:3", "="},
		{"beginning of a key", "User-agents: a\nAllowed: /x\nDisallow /y: /z", "", "[a:1] +/x:2 -/z:3"},
		{"UTF-16 LE", utf16Body("User-agent: a\nAllow: /ü😀", false), "[a:1] +/ü😀:2", ""},
		{"UTF-16 BE", utf16Body("User-agent: a\nAllow: /ü😀", true), "[a:1] +/ü😀:2", ""},
		{"half a UTF-16 character", utf16Body("User-agent: a\nAllow: /x", false) + "y", "[a:1] +/x\uFFFD:2", ""},
	} {
		must.Equal(t, show(Parse([]byte(tt.body), RFC9309, 0)), tt.rfc, tt.name, "rfc9309")
		if tt.google == "=" {
			tt.google = tt.rfc
		}
		must.Equal(t, show(Parse([]byte(tt.body), Google, 0)), tt.google, tt.name, "google")
	}
}

// utf16Body encodes text with a byte order mark.
func utf16Body(text string, bigEndian bool) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune("\uFEFF" + text)) {
		pair := []byte{byte(unit), byte(unit >> 8)}
		if bigEndian {
			pair[0], pair[1] = pair[1], pair[0]
		}
		b.Write(pair)
	}
	return b.String()
}

func TestParseText(t *testing.T) {
	body := "User-agent: a\n\t Disallow : /x y \t# why\nallow\t/z\nDisallow:"
	var got []string
	for _, r := range Parse([]byte(body), RFC9309, 0).Groups[0].Rules {
		got = append(got, r.Text)
	}
	want := []string{"Disallow : /x y", "allow\t/z", "Disallow:"}
	must.Be(t, fmt.Sprintf("%q", got) == fmt.Sprintf("%q", want), "got %q, want %q", got, want)
}

func TestParseLimit(t *testing.T) {
	const start, rule = "User-agent: a\n", "Disallow: /x"
	// upTo returns a body in which text that is appended starts at byte n.
	upTo := func(n int) string { return start + strings.Repeat("\n", n-len(start)) }
	atLimit := upTo(minLimit-len(rule)) + rule
	for _, tt := range []struct {
		name, body   string
		limit, rules int
		limited      bool
	}{
		{"ends at the limit", atLimit, 0, 1, false},
		{"line end is the next byte", atLimit + "\n", 0, 1, true},
		{"a CR is a line end", atLimit + "\rx", 0, 1, true},
		{"line is cut", atLimit + "y", 0, 0, true},
		{"a comment is cut", upTo(minLimit-len(rule)-1) + rule + "#y", 0, 0, true},
		{"beyond", atLimit + "\n" + rule, 0, 1, true},
		{"limit raised", atLimit + "\n" + rule, minLimit + 1 + len(rule), 2, false},
		{"limit is not lowered", atLimit, 10, 1, false},
	} {
		f := Parse([]byte(tt.body), RFC9309, tt.limit)
		got := len(f.Groups[0].Rules)
		must.Be(t, got == tt.rules && f.Limited == tt.limited, "%s: got %d rules, limited %v; want %d, %v", tt.name, got, f.Limited, tt.rules, tt.limited)
	}
	f := Parse([]byte(atLimit+"\n"+rule), Google, 0)
	must.Be(t, len(f.Groups[0].Rules) == 2 && !f.Limited, "google: got %d rules, limited %v; want 2, false", len(f.Groups[0].Rules), f.Limited)
}

func TestParseLongLine(t *testing.T) {
	long := "Disallow: /" + strings.Repeat("x", googleLine)
	body := []byte("\xEF\xBB\xBFUser-agent: a\n" + long + "\nAllow: /y")
	got := Parse(body, RFC9309, 0).Groups[0].Rules
	must.Be(t, got[0].Text == long && len(got) == 2, "rfc9309: %d bytes of the line, want %d", len(got[0].Text), len(long))
	got = Parse(body, Google, 0).Groups[0].Rules
	must.Be(t, got[0].Text == long[:googleLine] && len(got) == 2, "google: %d bytes of the line, want %d", len(got[0].Text), googleLine)
}

func TestSplitURL(t *testing.T) {
	for _, tt := range []struct{ url, authority, path, reason string }{
		{"http://example.com/a?b", "http://example.com", "/a?b", ""},
		{" \t\r\n\v\fHTTP://Example.COM \n", "http://example.com", "/", ""},
		{"https://h", "https://h", "/", ""},
		{"ftp://h:21/", "ftp://h", "/", ""},
		{"http://h:80", "http://h", "/", ""},
		{"https://h:80", "https://h:80", "/", ""},
		{"http://h:", "http://h", "/", ""},
		{"http://h:0000000000000000000000080", "http://h", "/", ""},
		{"http://h:008080/", "http://h:8080", "/", ""},
		{"http://h:0", "", "", "invalid_url"},
		{"http://h:65536", "", "", "invalid_url"},
		{"http://h:+80", "", "", "invalid_url"},
		{"http://h:80:80", "", "", "invalid_url"},
		{"http://h:%38%30", "", "", "invalid_url"},
		{"http://u:p@v@h:81/@", "http://h:81", "/@", ""},
		{"http://u@", "", "", "invalid_url"},
		{"http://h?q", "http://h", "/?q", ""},
		{"http://h;p", "http://h", "/;p", ""},
		{"http://h#f", "http://h", "/", ""},
		{"http://h/a?#f?", "http://h", "/a?", ""},
		{"http://h//a/./../b", "http://h", "//a/./../b", ""},
		{"http://h/%41 b", "http://h", "/%41 b", ""},
		{"http://h.", "http://h", "/", ""},
		{"http://h..", "", "", "invalid_url"},
		{"http://.h", "", "", "invalid_url"},
		{"http://a..h", "", "", "invalid_url"},
		{"http://.", "", "", "invalid_url"},
		{"http:///a", "", "", "invalid_url"},
		{"http://%45x%2Ecom", "http://ex.com", "/", ""},
		{"http://a%2Fb", "", "", "invalid_url"},
		{"http://a%", "", "", "invalid_url"},
		{"http://a%25", "", "", "invalid_url"},
		{"http://a b", "", "", "invalid_url"},
		{"http://foo_bar.r3---sn.com", "http://foo_bar.r3---sn.com", "/", ""},
		{"http://XN--a", "http://xn--a", "/", ""},
		{"http://Bücher.Example_X", "http://xn--bcher-kva.example_x", "/", ""},
		{"http://b%C3%BCcher", "http://xn--bcher-kva", "/", ""},
		{"http://a\u3002b\uFF0Ec\uFF61", "http://a.b.c", "/", ""},
		{"http://\u3002", "", "", "invalid_url"},
		{"http://ü\xFF", "", "", "invalid_url"},
		{"http://a.\u00AD", "", "", "invalid_url"},
		{"http://a.\u2100", "", "", "invalid_url"},
		{"http://" + strings.Repeat("a", 2000), "http://" + strings.Repeat("a", 2000), "/", ""},
		{"http://ü." + strings.Repeat("a", 1021), "http://xn--tda." + strings.Repeat("a", 1021), "/", ""},
		{"http://ü." + strings.Repeat("a", 1022), "", "", "invalid_url"},
		{"http://127.0.0.1/", "http://127.0.0.1", "/", ""},
		{"http://[2001:DB8:0::1]:8080/", "http://[2001:db8::1]:8080", "/", ""},
		{"http://[::1]:80", "http://[::1]", "/", ""},
		{"http://[::ffff:1.2.3.4]", "http://[::ffff:1.2.3.4]", "/", ""},
		{"http://[%3A:%31]", "http://[::1]", "/", ""},
		{"http://%5B::1%5D", "", "", "invalid_url"},
		{"http://[::1%5D", "", "", "invalid_url"},
		{"http://[fe80::1%25eth0]", "", "", "invalid_url"},
		{"http://[fe80::1%eth0]", "", "", "invalid_url"},
		{"http://[1.2.3.4]", "", "", "invalid_url"},
		{"http://[::1]x", "", "", "invalid_url"},
		{"http://[::1", "", "", "invalid_url"},
		{"http://::1", "", "", "invalid_url"},
		{"", "", "", "invalid_url"},
		{"example.com/", "", "", "invalid_url"},
		{"//h/a", "", "", "invalid_url"},
		{"http:/h", "", "", "invalid_url"},
		{"mailto:x", "", "", "invalid_url"},
		{"/a?u=http://h", "", "", "invalid_url"},
		{"1http://h", "", "", "invalid_url"},
		{"://h", "", "", "invalid_url"},
		{"ws+x.-1://", "", "", "unsupported_scheme"},
		{"gopher://h/", "", "", "unsupported_scheme"},
		{"gopher://\x00", "", "", "invalid_url"},
		{"http://h/a\rb", "", "", "invalid_url"},
		{"http://h/#\n.", "", "", "invalid_url"},
		{"http://h/\x00", "", "", "invalid_url"},
	} {
		authority, path, reason := SplitURL(tt.url)
		must.Be(t, authority == tt.authority && path == tt.path && reason == tt.reason, "%q: got %q, %q, %q; want %q, %q, %q", tt.url, authority, path, reason, tt.authority, tt.path, tt.reason)
	}
}
