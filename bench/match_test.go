package bench

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/bench/corpus"
	"robotsbatch/bench/ruletable"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/reference"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// madeUp returns a body of some rules, wild of them with a wildcard, and paths. About half
// of the paths start like one of the rules.
func madeUp(rules, wild int) (body string, paths [][]byte) {
	rng := rand.New(rand.NewPCG(uint64(rules), uint64(wild)))
	word := func() string {
		return [...]string{"shop", "cart", "search", "tag", "page", "user", "img", "api", "news", "archive"}[rng.IntN(10)] + fmt.Sprint(rng.IntN(100))
	}
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	var starts []string
	for i := range rules {
		start := "/" + word() + "/" + word()
		starts = append(starts, start)
		if i < wild {
			start = "/*/" + word() + "?" + word() + "="
		}
		fmt.Fprintf(&b, "%s: %s\n", [...]string{"Disallow", "Disallow", "Allow"}[rng.IntN(3)], start)
	}
	for range 1000 {
		start := "/" + word() + "/" + word()
		if len(starts) > 0 && rng.IntN(2) == 0 {
			start = starts[rng.IntN(len(starts))]
		}
		paths = append(paths, []byte(start+"/"+word()+"/"+word()+".html?"+word()+"=1"))
	}
	return b.String(), paths
}

// BenchmarkMatch measures one decision on a path, with compiled rules.
func BenchmarkMatch(b *testing.B) {
	for _, size := range []struct{ rules, wild int }{{0, 0}, {10, 2}, {100, 10}, {1000, 200}} {
		body, paths := madeUp(size.rules, size.wild)
		trie := matcher.Compile(robotstxt.Parse([]byte(body), robotstxt.Options{}), []matcher.Chain{{matcher.Everyone}})[0]
		oracle := reference.Parse([]byte(body), reference.RFC9309, robotstxt.DefaultLimit)
		var target matcher.Target
		allowed := func(path []byte) bool {
			target.Set(path, robotstxt.RFC9309)
			allowed := trie.Allowed(&target)
			return allowed
		}
		expected := func(path []byte) bool {
			return reference.Decide(oracle, []string{matcher.Everyone}, string(path), reference.RFC9309).Allowed
		}
		for _, path := range paths {
			if allowed(path) != expected(path) {
				b.Fatalf("%s: the verdicts differ", path)
			}
		}
		for _, impl := range []struct {
			name    string
			allowed func([]byte) bool
		}{{"trie", allowed}, {"reference", expected}} {
			b.Run(fmt.Sprintf("impl=%s/rules=%d/wild=%d", impl.name, size.rules, size.wild), func(b *testing.B) {
				perURL(b, len(paths), func() {
					for _, path := range paths {
						impl.allowed(path)
					}
				})
			})
		}
	}
}

// BenchmarkEvaluate measures whole URLs of a generated frontier: splitting,
// finding the origin, deciding.
func BenchmarkEvaluate(b *testing.B) {
	c := corpus.New(corpus.Options{Origins: 300, URLs: 20_000})
	var all [][]byte
	var table ruletable.Table
	oracles := make(map[string]reference.File)
	var scratch urls.Scratch
	for origin, url := range c.URLs() {
		all = append(all, append([]byte(nil), url...))
		key, _, err := scratch.Split(url)
		if err != nil || origin.Body < 0 {
			continue
		}
		if _, known := oracles[string(key)]; !known {
			body := c.AppendBody(nil, origin.Body)
			oracles[string(key)] = reference.Parse(body, reference.RFC9309, robotstxt.DefaultLimit)
			tries := matcher.Compile(robotstxt.Parse(body, robotstxt.Options{}), []matcher.Chain{{"CCBot"}})
			table.Add(key, matcher.Origin{Access: access.Rules, Tries: tries})
		}
	}
	list := batches(all)
	e := evaluate.New(&table, evaluate.Options{})
	var v batch.Verdicts
	for _, x := range list {
		must.Do(b, e.Evaluate(x, &v))
		for row := range v.Rows {
			allowed, known := expectedOf(oracles, x.URLs.Value(row))
			bit := byte(1) << (row & 7)
			if allowed != (v.Agents[0].Allowed[row>>3]&bit != 0) || known != (v.Agents[0].Valid[row>>3]&bit != 0) {
				b.Fatalf("%s: the verdicts differ", x.URLs.Value(row))
			}
		}
	}
	b.Run("impl=trie", func(b *testing.B) {
		perURL(b, len(all), func() {
			for _, x := range list {
				must.Do(b, e.Evaluate(x, &v))
			}
		})
	})
	b.Run("impl=reference", func(b *testing.B) {
		perURL(b, len(all), func() {
			for _, url := range all {
				expectedOf(oracles, url)
			}
		})
	})
}

func expectedOf(oracles map[string]reference.File, url []byte) (allowed, known bool) {
	key, path, reason := reference.SplitURL(string(url))
	if reason != "" {
		return false, false
	}
	file, ok := oracles[key]
	if !ok {
		return true, true
	}
	return reference.Decide(file, []string{"CCBot"}, path, reference.RFC9309).Allowed, true
}
