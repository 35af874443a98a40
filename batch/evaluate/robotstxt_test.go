package evaluate

import (
	"math/rand/v2"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/batch/internal/batchtest"
	"robotsbatch/bench/ruletable"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/reference"
	"robotsbatch/matcher/robotstxt"
)

// nearRobotsTxt are paths that share a prefix with /robots.txt, and that path in all its
// spellings.
var nearRobotsTxt = []string{
	"", "/", "/r", "/robots", "/robots.tx", "/robots.txt", "/robots.txt?", "/robots.txt?x", "/robots.txtx", "/robots.txt/", "/robots.txt#x",
	"/robots.txt%", "/robots.txt%2", "/robots.txt%20", "/robots.txt ", "/robots.tx%74", "/robots.tx%7", "/robots.tx%75", "/%72obots.txt", "/%72obots.txtx",
	"/%2Frobots.txt", "/robots%2etxt#x", "/robots%2Etxt?x", "/Robots.txt", "//robots.txt", "?/robots.txt", ";/robots.txt", "#/robots.txt",
	".other/", ":81/", // other authorities, which are not in the table
}

// robotsTxtBodies decide these paths differently.
var robotsTxtBodies = []string{
	"User-agent: *\nDisallow: /\n",
	"User-agent: *\nDisallow: /robots\n",
	"User-agent: *\nDisallow: /robots.txt\n",
	"User-agent: *\nDisallow: /robots.txt$\n",
	"User-agent: *\nAllow: /robots.txt\nDisallow: /r\nDisallow: /*x$\n",
	"User-agent: *\nDisallow: /*?x\n",
	"User-agent: *\nDisallow: /*.txt\nAllow: /robots.txtx\n",
	"User-agent: *\nDisallow: /robots.txtx\nDisallow: /robots.txt?\n",
	"",
}

// TestVerdictsNearRobotsTxt: a verdict is reused for the next URL with the same prefix.
// /robots.txt, which RFC9309 always allows, must neither take a verdict from its neighbours
// nor give them its own, whatever rule decides these.
func TestVerdictsNearRobotsTxt(t *testing.T) {
	const authority = "http://a.example"
	sequences := pathSequences()
	for _, profile := range []struct {
		engine    matcher.Profile
		reference reference.Profile
	}{{robotstxt.RFC9309, reference.RFC9309}, {robotstxt.Google, reference.Google}} {
		check := func(origin matcher.Origin, missing access.Missing, what string, allowed func(path string) bool) {
			var rules ruletable.Table
			rules.Add([]byte(authority), origin)
			want := make(map[string]bool)
			for _, path := range nearRobotsTxt {
				of, split, _ := reference.SplitURL(authority + path)
				if want[path] = allowed(split); of != authority {
					want[path] = missing == access.MissingAllow
				}
			}
			e := New(&rules, Options{Profile: profile.engine, Missing: missing})
			var v batch.Verdicts
			for _, paths := range sequences {
				lines := make([]string, len(paths))
				for i, path := range paths {
					lines[i] = authority + path
				}
				must.Do(t, e.Evaluate(&batch.Batch{URLs: batchtest.URLs(lines...)}, &v))
				for row, path := range paths {
					if got := v.Agents[0].Allowed[row>>3]>>(row&7)&1 == 1; got != want[path] {
						t.Fatalf("profile %d, %s: row %d of %q is allowed: %v", profile.engine, what, row, paths, got)
					}
				}
			}
		}
		for _, body := range robotsTxtBodies {
			f := robotstxt.Parse([]byte(body), robotstxt.Options{Profile: profile.engine})
			known := reference.Parse([]byte(body), profile.reference, 0)
			origin := matcher.Origin{Access: access.Rules, Tries: matcher.Compile(f, []matcher.Chain{{matcher.Everyone}})}
			check(origin, access.MissingAllow, body, func(path string) bool {
				return reference.Decide(known, []string{"*"}, path, profile.reference).Allowed
			})
		}
		only := func(path string) bool { return profile.reference == reference.RFC9309 && reference.IsRobotsTxt(path) }
		check(matcher.Origin{Access: access.DisallowAll}, access.MissingAllow, "unreachable", only)
		check(matcher.Origin{}, access.MissingDeny, "nothing known", only)
		check(matcher.Origin{Access: access.AllowAll}, access.MissingDeny, "unavailable", func(string) bool { return true })
	}
}

// pathSequences returns all pairs of paths, and longer random sequences.
func pathSequences() [][]string {
	var sequences [][]string
	for _, a := range nearRobotsTxt {
		for _, b := range nearRobotsTxt {
			sequences = append(sequences, []string{a, b})
		}
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		paths := make([]string, 100)
		for i := range paths {
			paths[i] = nearRobotsTxt[rng.IntN(len(nearRobotsTxt))]
		}
		sequences = append(sequences, paths)
	}
	return sequences
}
