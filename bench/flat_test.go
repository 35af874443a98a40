package bench

import (
	"bytes"
	"fmt"
	"testing"

	"robotsbatch/bench/corpus"
	"robotsbatch/bench/ruletable"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// The flat frontiers have this many hosts and URLs per host.
const (
	flatHosts = 100_000
	flatURLs  = 6
)

// BenchmarkEngineFlat measures the evaluator where caches do not help: there are so many
// hosts that the rules of nearly every origin come from main memory. All generated hosts
// have rules; of the real URLs, only those on hosts with rules are used.
func BenchmarkEngineFlat(b *testing.B) {
	if testing.Short() {
		b.Skip("makes 600,000 URLs")
	}
	b.Run("data=made-up", func(b *testing.B) {
		list, table := flatMadeUp()
		benchmarkEngine(b, newEngine(table, list, 1), nil)
	})
	b.Run("data=real", func(b *testing.B) {
		list, table := needReal(b).flattened()
		benchmarkEngine(b, newEngine(table, list, 1), nil)
	})
}

// flatMadeUp generates a frontier.
func flatMadeUp() ([][]byte, *ruletable.Table) {
	c := corpus.New(corpus.Options{Origins: flatHosts, URLs: flatURLs * flatHosts, LargestOrigin: 2 * flatURLs})
	var list [][]byte
	var table ruletable.Table
	var scratch urls.Scratch
	bodies := make(map[int][]matcher.Trie)
	last := -1
	for origin, url := range c.URLs() {
		list = append(list, append([]byte(nil), url...))
		if origin.Body < 0 || origin.Index == last {
			continue
		}
		key, _, err := scratch.Split(url)
		if err != nil {
			continue
		}
		last = origin.Index
		tries, ok := bodies[origin.Body]
		if !ok {
			tries = compiled(c.AppendBody(nil, origin.Body))
			bodies[origin.Body] = tries
		}
		table.Add(key, matcher.Origin{Access: access.Rules, Tries: tries})
	}
	return list, &table
}

// flattened cuts the URLs of each host into runs of six and gives each run a host and a
// copy of the rules of its own. It repeats the list as often as needed.
func (f *frontier) flattened() ([][]byte, *ruletable.Table) {
	var list [][]byte
	var table ruletable.Table
	var scratch urls.Scratch
	for hosts := 0; hosts < flatHosts; {
		for rest := f.urls; len(rest) >= flatURLs && hosts < flatHosts; {
			key, _, err := scratch.Split(rest[0])
			n := 1
			for n < flatURLs && err == nil && sameHost(rest[0], rest[n]) {
				n++
			}
			if n == flatURLs {
				body, known := f.bodies[string(key)]
				for _, url := range rest[:n] {
					list = append(list, underHost(hosts, url))
				}
				hosts++
				if known {
					key, _, _ = scratch.Split(list[len(list)-1])
					table.Add(key, matcher.Origin{Access: access.Rules, Tries: compiled(body)})
				}
			}
			rest = rest[n:]
		}
	}
	return list, &table
}

// sameHost reports whether two URLs have the same scheme and host.
func sameHost(a, b []byte) bool {
	start := bytes.Index(a, []byte("://"))
	if start < 0 {
		return false
	}
	end := bytes.IndexByte(a[start+3:], '/')
	return end > 0 && bytes.HasPrefix(b, a[:start+3+end+1])
}

// underHost inserts a label before the host of a URL.
func underHost(label int, url []byte) []byte {
	start := bytes.Index(url, []byte("://")) + 3
	return fmt.Appendf(nil, "%sw%d.%s", url[:start], label, url[start:])
}

func compiled(body []byte) []matcher.Trie {
	return matcher.Compile(robotstxt.Parse(body, robotstxt.Options{}), []matcher.Chain{{"CCBot"}})
}
