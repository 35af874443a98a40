package captures

import (
	"bytes"
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher/access"
)

// The examples of RFC 3986 §5.4, without those of other schemes: what a redirect leads to.
func TestTargets(t *testing.T) {
	const base = "http://a/b/c/d;p?q"
	for location, want := range map[string]string{
		"g:h": "g:h", "g": "http://a/b/c/g", "./g": "http://a/b/c/g", "g/": "http://a/b/c/g/", "/g": "http://a/g", "//g": "http://g",
		"?y": "http://a/b/c/d;p?y", "g?y": "http://a/b/c/g?y", "#s": "http://a/b/c/d;p#s", "g#s": "http://a/b/c/g#s",
		";x": "http://a/b/c/;x", "g;x": "http://a/b/c/g;x", "": "", ".": "http://a/b/c/", "./": "http://a/b/c/", "..": "http://a/b/",
		"../": "http://a/b/", "../g": "http://a/b/g", "../..": "http://a/", "../../g": "http://a/g", "../../../g": "http://a/g",
		"/./g": "http://a/g", "/../g": "http://a/g", "g.": "http://a/b/c/g.", ".g": "http://a/b/c/.g", "g..": "http://a/b/c/g..",
		"./../g": "http://a/b/g", "./g/.": "http://a/b/c/g/", "g/./h": "http://a/b/c/g/h", "g/../h": "http://a/b/c/h",
		"g;x=1/../y": "http://a/b/c/y", "g?y/../x": "http://a/b/c/g?y/../x", "g#s/../x": "http://a/b/c/g#s/../x",
		// §6.2.2, and what is no URL by RFC 3986
		"https://b.example/./robots.txt": "https://b.example/robots.txt", "https://b/x/%2e%2E/%72obots.txt?%7e%3a": "https://b/robots.txt?~%3A",
		"/../..//g": "http://a//g", "/%zz/%": "http://a/%zz/%", " /g ": "http://a/g", "HTTPS://B/%41": "HTTPS://B/A", "https://b": "https://b",
	} {
		must.Equal(t, string(Target(&Capture{URL: []byte(base), Location: []byte(location)})), want, location, "leads to")
	}
	must.Equal(t, string(Target(&Capture{URL: []byte("http://a?q"), Location: []byte("g")})), "http://a/g", "beside no path")
}

// References resolve as net/url resolves them, where it takes them.
func FuzzTargets(f *testing.F) {
	for _, location := range []string{"../x", "//h/./y", "/a/../../b?c/..", "%2e%2e/x", "g;x", ".", "/.", "/..", "a//../b", "/../..//?c"} {
		f.Add(location)
	}
	f.Fuzz(func(t *testing.T, location string) {
		const base = "http://a/b/c/d?q"
		got := Target(&Capture{URL: []byte(base), Location: []byte(location)})
		if twice := appendNormalised(nil, got[pathStart(got):]); string(twice) != string(got[pathStart(got):]) && !strings.Contains(location, "%") {
			t.Errorf("%q is %q, and then %q", location, got, twice)
		}
		from, _ := url.Parse(base)
		reference, err := url.Parse(location)
		if err != nil || strings.ContainsAny(location, "%#\\ \t\r\n\v\f") || reference.Host == "" && strings.HasPrefix(location, "//") || reference.Scheme != "" || location == "" ||
			reference.User != nil || strings.HasSuffix(location, "?") || strings.ContainsFunc(location, func(r rune) bool { return r > '~' || r <= ' ' }) {
			return
		}
		want := from.ResolveReference(reference)
		if bytes.HasPrefix(got[pathStart(got):], []byte("//")) {
			return // net/url leaves one slash of those at the beginning, RFC 3986 §5.2.4 all
		}
		if want.EscapedPath() != strings.SplitN(string(got[pathStart(got):]), "?", 2)[0] && want.Path == want.EscapedPath() {
			t.Errorf("%q leads to %q, want %q", location, got, want)
		}
	})
}

// A redirect finds what it leads to, however both write it.
func TestRedirectsToDotSegmentsAndEscapes(t *testing.T) {
	for _, test := range []struct{ location, url string }{
		{"https://b.example/./robots.txt", "https://b.example/robots.txt"},
		{"//B.example:443/x/../robots.txt#top", "https://b.example/robots.txt"},
		{"https://b.example/%72obots%2etxt", "https://b.example/robots.txt"},
		{"https://b.example/~r%c3%a9", "https://b.example/%7Er%C3%A9"},
		{"./x/./y?z", "https://a.example/x/y?z"},
	} {
		var bodies distinct
		s := NewSet(Options{Bodies: &bodies})
		defer s.Close()
		a := s.newAdder()
		for i, x := range []Capture{
			{URL: []byte("https://a.example/robots.txt"), Status: 301, Location: []byte(test.location)},
			{URL: []byte(test.url), Status: 200, Body: []byte("User-agent: *\nDisallow: /\n")},
		} {
			must.Do(t, a.Add(&x, 0, uint64(i)))
		}
		found := false
		err := s.Resolve(context.Background(), time.Time{}, access.Policy{}, func(d *Decision) error {
			found = found || string(d.Authority) == "https://a.example" && d.Access == access.Rules
			return nil
		})
		if err != nil || !found {
			t.Errorf("%s does not lead to %s: %v", test.location, test.url, err)
		}
	}
}
