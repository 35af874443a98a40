package extent

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/reference"
	"robotsbatch/matcher/robotstxt"
)

var realFlag = flag.String("real", "", "folder of robots.txt files for TestRealFiles")

var profiles = []struct {
	name      string
	engine    matcher.Profile
	reference reference.Profile
}{{"rfc9309", robotstxt.RFC9309, reference.RFC9309}, {"google", robotstxt.Google, reference.Google}}

func of(body, agent string, p matcher.Profile) Result {
	f := robotstxt.Parse([]byte(body), robotstxt.Options{Profile: p})
	return Of(&matcher.Compile(f, []matcher.Chain{{agent}})[0])
}

func TestOf(t *testing.T) {
	for _, test := range []struct{ rules, want string }{
		{"", "none"},
		{"Disallow:", "none"},
		{"Allow: /", "none"},
		{"Disallow: x", "none"},
		{"Disallow: /", "all"},
		{"Disallow: *", "all"},
		{"Disallow: /*", "all"},
		{"Disallow: /*$", "all"},
		{"Disallow: */", "all"},
		{"Disallow: /$", "some"},
		{"Disallow: /a", "some"},
		{"Disallow: /|Allow: /", "none"},
		{"Disallow: *|Allow: /", "none"},
		{"Disallow: *$|Allow: /", "all"},
		{"Disallow: /|Allow: /$", "some"},
		{"Disallow: /|Allow: /robots.txt", "some"},
		{"Disallow: /|Allow: /robots.txt$", "all"},
		{"Disallow: /robots.txt$", "none"},
		{"Disallow: /robots.txt", "some"},
		{"Disallow: /%72obots.txt$", "none"},
		{"Disallow: /a|Allow: /", "some"},
		{"Disallow: /a|Allow: /a", "none"},
		{"Disallow: /a/b|Allow: /a**", "none"},
		{"Disallow: /a?b|Allow: /a***", "none"},
		{"Disallow: /?|Allow: */", "none"},
		{"Disallow: /a?|Allow: */a", "none"},
		{"Disallow: /a/?x|Allow: *a*/***", "none"},
		{"Disallow: /a?|Allow: */b", "some"},
		{"Disallow: *?|Allow: **", "none"},
		{"Disallow: /*?|Allow: /*?***", "none"},
		{"Disallow: /a*b|Allow: /a***|Allow: *ab***", "none"},
		{"Disallow: /|Allow: /a|Disallow: /a", "some"},
		{"Disallow: /|Allow: /a|Disallow: /a*", "all"},
		{"Disallow: /|Allow: /a*b|Disallow: /a****", "all"},
		{"Disallow: *a|Allow: /*a*", "none"},
		{"Disallow: *a|Allow: *a*", "none"},
		{"Disallow: *a|Allow: /a*|Allow: /*a*", "none"},
		{"Disallow: */a|Allow: /a*|Allow: /*/a*", "none"},
		{"Disallow: */a|Allow: /*/a*", "some"},
	} {
		body := "User-agent: *\n" + strings.ReplaceAll(test.rules, "|", "\n")
		got := of(body, "*", robotstxt.RFC9309)
		must.Be(t, got.Extent.String() == test.want, "%s: %s (%q is denied, %q allowed), want %s", test.rules, got.Extent, got.Denied, got.Allowed, test.want)
	}
}

func TestGoogleAllowsDirectoriesOfIndexPages(t *testing.T) {
	const body = "User-agent: *\nDisallow: /\nAllow: /x/index.html\nDisallow: /x/index.html*"
	got := of(body, "*", robotstxt.Google)
	must.Be(t, got.Extent == Some && got.Allowed == "/x/", "%v", got)
	got = of(body, "*", robotstxt.RFC9309)
	must.Be(t, got.Extent == All, "%v", got)
}

// TestGoogleSpellsPatternsAlone: Google's parser changes the escapes of patterns to upper
// case, but compares paths as they are.
func TestGoogleSpellsPatternsAlone(t *testing.T) {
	for _, pattern := range []string{"/%7e", "/\xc3\xa9"} {
		got := of("User-agent: *\nDisallow: "+pattern, "*", robotstxt.Google)
		must.Be(t, got.Extent == Some, "Disallow: %q: %v", pattern, got)
	}
}

// TestAgainstAllShortPaths compares the extent of random rules with the reference's
// verdicts on all short paths over their alphabet and one more byte.
func TestAgainstAllShortPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var paths []string
	for _, rest := range sequences([]string{"/", "a", "b", "?", "$", "!", "%2F", "%7E"}, must.Short(3, 4)) {
		paths = append(paths, "/"+rest)
	}
	counts := make(map[Extent]int)
	for range 700 {
		body := randomRules(r)
		for _, profile := range profiles {
			got := of(body, "*", profile.engine)
			counts[got.Extent]++
			err := check(got, body, "*", profile.engine, profile.reference, paths)
			must.Be(t, err == nil, "%s: %q: %v", profile.name, body, err)
		}
	}
	must.Be(t, counts[None] >= 100 && counts[All] >= 100 && counts[Some] >= 100 && counts[Undecided] <= 10, "%v show little", counts)
}

// randomRules returns a few short rules; many of these bodies deny everything or nothing.
func randomRules(r *rand.Rand) string {
	tokens := []string{"/", "a", "b", "*", "*", "*", "$", "?", "%2F", "%7e"}
	body := "User-agent: *\n"
	for range 1 + r.IntN(4) {
		body += []string{"Allow: ", "Disallow: "}[r.IntN(2)] + []string{"/", "*"}[r.IntN(2)]
		for range r.IntN(4) {
			body += tokens[r.IntN(len(tokens))]
		}
		body += strings.Repeat("*", r.IntN(3)*r.IntN(2)) + []string{"", "", "$"}[r.IntN(3)] + "\n"
	}
	return body
}

// sequences returns all sequences of up to n tokens.
func sequences(tokens []string, n int) []string {
	all, last := []string{""}, []string{""}
	for range n {
		var next []string
		for _, s := range last {
			for _, token := range tokens {
				next = append(next, s+token)
			}
		}
		all, last = append(all, next...), next
	}
	return all
}

// check compares a Result with verdicts of the reference, on the paths that it names and on
// others.
func check(got Result, body, agent string, engine matcher.Profile, p reference.Profile, paths []string) error {
	f := reference.Parse([]byte(body), p, 0)
	allowed := func(path string) bool { return reference.Decide(f, []string{agent}, path, p).Allowed }
	if got.Denied != "" && allowed(got.Denied) || got.Allowed != "" && !allowed(got.Allowed) {
		return fmt.Errorf("%+v: the reference has other verdicts", got)
	}
	if got.Extent == Some && (got.Denied == "" || got.Allowed == "") {
		return fmt.Errorf("%+v: names no path", got)
	}
	for _, path := range paths {
		is, _ := matcher.IsRobotsTxt([]byte(path), engine)
		switch {
		case is:
		case got.Extent == None && !allowed(path):
			return fmt.Errorf("%q is denied", path)
		case got.Extent == All && allowed(path):
			return fmt.Errorf("%q is allowed", path)
		}
	}
	return nil
}

// TestWithoutAFreshByte: rules that use every byte allow no proof. The answer then comes
// from the paths that were tried.
func TestWithoutAFreshByte(t *testing.T) {
	every := "Disallow: /"
	for c := byte('!'); c < 0x7F; c++ {
		if !strings.ContainsRune("#$*|", rune(c)) {
			every += string(c)
		}
	}
	for _, test := range []struct{ rules, want string }{
		{every, "some"},
		{every + "|Disallow: /", ""},
		{every + "|Allow: /$|Disallow: /", "some"},
	} {
		body := "User-agent: *\n" + strings.ReplaceAll(test.rules, "|", "\n")
		got := of(body, "*", robotstxt.RFC9309)
		must.Be(t, got.Extent.String() == test.want, "%s: %+v, want %q", test.rules, got, test.want)
	}
}

// FuzzOf compares Of with the reference, on paths made from the rules.
func FuzzOf(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /a*b$\nAllow: /?x=%2f", "/a/b?c")
	f.Add("User-agent: *\nDisallow: /\nAllow: *~%zz\nAllow: /\xFF", "/%2F?/%2f")
	f.Fuzz(func(t *testing.T, body, path string) {
		var paths []string
		for _, word := range append(strings.Fields(body), path) {
			for _, star := range []string{"", "x", "/", "?"} {
				if at := strings.IndexByte(word, '/'); at >= 0 {
					paths = append(paths, strings.ReplaceAll(word[at:], "*", star), strings.ReplaceAll(word[at:], "*", star)+"y")
				}
			}
		}
		for _, profile := range profiles {
			for _, path := range paths {
				if strings.ContainsAny(path, "#\x00\n\r") || strings.TrimSpace(path) != path {
					return
				}
			}
			err := check(of(body, "*", profile.engine), body, "*", profile.engine, profile.reference, paths)
			must.Be(t, err == nil, "%s: %q: %v", profile.name, body, err)
		}
	})
}

// TestRealFiles compares the extents of real files with the reference's verdicts, on paths
// made from all their rules. It runs if -real names a folder.
func TestRealFiles(t *testing.T) {
	if *realFlag == "" {
		t.Skip("-real names no folder")
	}
	files := must.Get(filepath.Glob(filepath.Join(*realFlag, "*")))(t)
	counts := make(map[Extent]int)
	for _, name := range files {
		text := must.Get(os.ReadFile(name))(t)
		body := string(text)
		for _, agent := range []string{"*", "GPTBot", "CCBot"} {
			got := of(body, agent, robotstxt.RFC9309)
			counts[got.Extent]++
			var paths []string
			for _, group := range robotstxt.Parse(text, robotstxt.Options{}).Groups {
				for i := range group.Rules {
					if pattern := group.Rules[i].Pattern; len(paths) < 200 && !strings.Contains(string(pattern), "\x00") {
						paths = append(paths, pathsOf(pattern)...)
					}
				}
			}
			err := check(got, body, agent, robotstxt.RFC9309, reference.RFC9309, append(paths, "/", "/index.html", "/a/b?c=d"))
			must.Be(t, err == nil, "%s for %s: %v", name, agent, err)
		}
	}
	t.Logf("%d files: %v", len(files), counts)
}

func pathsOf(pattern []byte) (all []string) {
	for _, text := range []string{"", "x"} {
		rule := matcher.ParsedRule{Pattern: pattern}
		for _, path := range rule.Witnesses(robotstxt.RFC9309, text) {
			all = append(all, string(path))
		}
	}
	return all
}
