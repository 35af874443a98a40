package rulepack

import (
	"math/rand/v2"
	"testing"

	"robotsbatch/bench/corpus"
	"robotsbatch/bench/ruletable"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

// BenchmarkPackLookup looks up authorities of a pack that is in memory, in no
// order: hot, where all bodies are kept open; cold, where none is; first, where
// each is looked at for the first time; and such as are not in the pack. Beside
// it is a table in memory.
func BenchmarkPackLookup(b *testing.B) {
	c := corpus.New(corpus.Options{Origins: 20_000, Missing: -1, Distinct: 0.1})
	name := buildCorpus(b, c, robotstxt.RFC9309)
	chains := []matcher.Chain{{"CCBot"}}
	var known, unknown [][]byte
	for o := range c.Origins() {
		known = append(known, o.Authority())
		unknown = append(unknown, append(o.Authority(), '.'))
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(known), func(i, j int) { known[i], known[j] = known[j], known[i] })
	for _, test := range []struct {
		name        string
		authorities [][]byte
		options     Options
		want        access.Outcome
	}{
		{"impl=pack/data=hot", known, Options{Chains: chains}, access.Rules},
		{"impl=pack/data=cold", known, Options{Chains: chains}, access.Rules},
		{"impl=pack/data=cold/explain", known, Options{Chains: chains}, access.Rules},
		{"impl=pack/data=unknown", unknown, Options{Chains: chains}, access.Unknown},
	} {
		b.Run(test.name, func(b *testing.B) {
			lookupAll(b, mustOpen(b, name, test.options), test.authorities, test.want)
		})
	}
	b.Run("impl=pack/data=first", func(b *testing.B) {
		var o matcher.Origin
		for i := 0; b.Loop(); {
			p := mustOpen(b, name, Options{Chains: chains})
			for range 1000 {
				must.Do(b, p.Lookup(known[i%len(known)], &o))
				i++
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/lookup")
		b.ReportMetric(0, "ns/op")
	})
	var table ruletable.Table
	p := mustOpen(b, name, Options{Chains: chains})
	for _, authority := range known {
		var o matcher.Origin
		must.Do(b, p.Lookup(authority, &o))
		table.Add(authority, o)
	}
	b.Run("impl=table/data=hot", func(b *testing.B) { lookupAll(b, &table, known, access.Rules) })
}

func lookupAll(b *testing.B, origins matcher.Origins, authorities [][]byte, want access.Outcome) {
	var o matcher.Origin
	for _, authority := range authorities {
		if err := origins.Lookup(authority, &o); err != nil || o.Access != want {
			b.Fatalf("%s: access %d, %v", authority, o.Access, err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, authority := range authorities {
			_ = origins.Lookup(authority, &o) // it was checked above
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(authorities)), "ns/lookup")
	b.ReportMetric(0, "ns/op")
}
