package bench

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/bench/corpus"
	"robotsbatch/bench/figures"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// BenchmarkHosts measures what a host costs: the evaluator with a rule pack in which each
// host has a body of its own, more than caches hold, over lists with a number of URLs a host,
// as crawls list them and shuffled. A pass opens the pack again, as a job does.
func BenchmarkHosts(b *testing.B) {
	if testing.Short() {
		b.Skip("compiles packs of 100 MB")
	}
	for _, c := range []struct{ hosts, urls int }{{60_000, 1}, {60_000, 10}, {15_000, 60}, {3_000, 500}} {
		flat := corpus.NewFlat(c.hosts, c.urls)
		var sorted [][]byte
		for url := range flat.BySURT() {
			sorted = append(sorted, bytes.Clone(url))
		}
		mixed := append([][]byte(nil), sorted...)
		corpus.Shuffle(mixed)
		name := packOf(b, flat)
		for _, order := range []struct {
			name string
			urls [][]byte
		}{{"sorted", sorted}, {"shuffled", mixed}} {
			b.Run(fmt.Sprintf("urls=%d/order=%s", c.urls, order.name), func(b *testing.B) {
				benchmarkHosts(b, name, order.urls, c.hosts)
			})
		}
	}
}

// packOf compiles the bodies of a corpus to a rule pack, and returns its name.
func packOf(b *testing.B, c *corpus.Corpus) string {
	b.Helper()
	name := filepath.Join(b.TempDir(), "site.rules")
	pack := must.Get(rulepack.Create(context.Background(), name, rulepack.BuildOptions{}))(b)
	defer pack.Abort()
	for o := range c.Origins() {
		entry := rulepack.Entry{Authority: o.Authority(), Access: access.Rules, Body: c.AppendBody(nil, o.Body), Status: 200}
		must.Do(b, pack.Add(entry))
	}
	must.Get(pack.Finish())(b)
	return name
}

func benchmarkHosts(b *testing.B, name string, list [][]byte, hosts int) {
	columns := batches(list)
	var took, byIndexByte []float64
	b.ReportAllocs()
	for b.Loop() {
		nanoseconds := evaluateHosts(b, name, columns)
		start := time.Now()
		for _, x := range columns {
			indexBytes(x)
		}
		looked := float64(time.Since(start).Nanoseconds())
		took, byIndexByte = append(took, nanoseconds), append(byIndexByte, nanoseconds/looked)
	}
	b.ReportMetric(figures.Median(took)/float64(len(list)), "ns/url")
	b.ReportMetric(figures.Median(took)/1000/float64(hosts), "µs/host")
	b.ReportMetric(figures.Median(byIndexByte), "x-indexbyte")
	b.ReportMetric(0, "ns/op")
}

// evaluateHosts opens a pack, evaluates batches and returns the nanoseconds.
func evaluateHosts(b *testing.B, name string, columns []*batch.Batch) float64 {
	start := time.Now()
	pack := must.Get(rulepack.Open(name, rulepack.Options{Chains: []matcher.Chain{{"CCBot"}}}))(b)
	defer pack.Close()
	e := evaluate.New(pack, evaluate.Options{})
	var v batch.Verdicts
	for _, x := range columns {
		must.Do(b, e.Evaluate(x, &v))
	}
	return float64(time.Since(start).Nanoseconds())
}
