//go:build linux

package bench

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"robotsbatch/bench/corpus"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
)

var (
	packFlag   = flag.String("pack", "", "a rule pack of -origins and -bodies to measure with none of it in memory")
	bodiesFlag = flag.Int("bodies", 100, "distinct bodies of the pack")
)

// BenchmarkColdPack measures what opening a rule pack and looking up authorities cost with
// none of it in memory. As root it drops the system's file cache.
func BenchmarkColdPack(b *testing.B) {
	if *packFlag == "" {
		b.Skip("needs -pack, and drops the file cache")
	}
	b.Run("what=open", func(b *testing.B) {
		m := cold{faults: make(map[int64]int)}
		for b.Loop() {
			for range 7 { // because the disk's time varies
				m.how = dropCache(b, *packFlag)
				var p *rulepack.Pack
				m.measure(func() {
					p = must.Get(rulepack.Open(*packFlag, rulepack.Options{Chains: []matcher.Chain{{"CCBot"}}}))(b)
				})
				must.Do(b, p.Close())
			}
		}
		m.report(b)
	})
	c := corpus.New(corpus.Options{Origins: *originsFlag, Missing: -1, Distinct: float64(*bodiesFlag) / float64(*originsFlag)})
	origins := rand.New(rand.NewPCG(1, 1)).Perm(*originsFlag)
	origins = origins[:min(1000, len(origins))]
	half := len(origins) / 2
	coldLookups(b, "what=record", c, origins[:half], func(b *testing.B, p *rulepack.Pack, key []byte) {
		_, known, err := p.Authority(key)
		must.Need(b, err == nil && known, "%s: %t, %v", key, known, err)
	})
	coldLookups(b, "what=rules-and-notes", c, origins[half:], func(b *testing.B, p *rulepack.Pack, key []byte) {
		var o matcher.Origin
		must.Do(b, p.Lookup(key, &o))
	})
}

// coldLookups measures looking up origins, each once.
func coldLookups(b *testing.B, name string, c *corpus.Corpus, origins []int, lookup func(*testing.B, *rulepack.Pack, []byte)) {
	b.Run(name, func(b *testing.B) {
		m := cold{faults: make(map[int64]int)}
		for b.Loop() {
			m.how = dropCache(b, *packFlag)
			p := must.Get(rulepack.Inspect(*packFlag, ""))(b) // it reads only what is asked for
			for i := range 100 {                              // this program was dropped from memory, too
				_, _, err := p.Authority(fmt.Appendf(nil, "https://nobody%d.example", i))
				must.Do(b, err)
			}
			for _, i := range origins {
				o := c.Origin(i)
				key := o.Authority()
				m.measure(func() { lookup(b, p, key) })
			}
			must.Do(b, p.Close())
		}
		m.report(b)
	})
}

// cold has what each of several measurements took.
type cold struct {
	how    string // memory was made empty
	took   []time.Duration
	faults map[int64]int // by their page faults that read from the disk
}

func (m *cold) measure(do func()) {
	before, started := majorFaults(), time.Now()
	do()
	m.took = append(m.took, time.Since(started))
	m.faults[majorFaults()-before]++
}

func (m *cold) report(b *testing.B) {
	slices.Sort(m.took)
	n := len(m.took)
	b.Logf("%s; %d measurements by their page faults that read from the disk: %v; between %v and %v", m.how, n, m.faults, m.took[0], m.took[n-1])
	b.ReportMetric(float64(m.took[n/2].Nanoseconds())/1000, "median-µs")
	b.ReportMetric(float64(m.took[n*99/100].Nanoseconds())/1000, "p99-µs")
	b.ReportMetric(0, "ns/op")
}

// dropCache drops the system's file cache, or without the right to do so a file from it.
func dropCache(b *testing.B, name string) (how string) {
	b.Helper()
	unix.Sync()
	if os.WriteFile("/proc/sys/vm/drop_caches", []byte("3\n"), 0) == nil {
		return "the system's cache was dropped"
	}
	f := must.Get(os.Open(name))(b)
	defer f.Close()
	must.Do(b, unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED))
	return "the file was dropped from the system's cache"
}

func majorFaults() int64 {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return int64(usage.Majflt)
}
