package bench

import (
	"testing"

	"robotsbatch/bench/corpus"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

// BenchmarkEngineFlat measures the evaluator where no cache helps: 100,000
// hosts with six URLs each, so that nearly every origin's rules come from
// memory.
func BenchmarkEngineFlat(b *testing.B) {
	if testing.Short() {
		b.Skip("makes 600,000 URLs")
	}
	const hosts = 100_000
	c := corpus.New(corpus.Options{Origins: hosts, URLs: 6 * hosts, LargestOrigin: 12})
	var urls [][]byte
	var table matcher.Table
	var scratch matcher.Scratch
	chains := []matcher.Chain{{"CCBot"}}
	bodies := make(map[int][]matcher.Trie)
	last := -1
	for origin, url := range c.URLs() {
		urls = append(urls, append([]byte(nil), url...))
		if origin.Body < 0 || origin.Index == last {
			continue
		}
		key, _, reason := scratch.Split(url)
		if reason != matcher.NoReason {
			continue
		}
		last = origin.Index
		tries, ok := bodies[origin.Body]
		if !ok {
			tries = matcher.Compile(robotstxt.Parse(c.AppendBody(nil, origin.Body), robotstxt.Options{}), chains)
			bodies[origin.Body] = tries
		}
		table.Add(key, matcher.Origin{Access: access.Rules, Tries: tries})
	}
	benchmarkEngine(b, &table, batches(urls), 1)
}
