package evaluate

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/zeebo/xxh3"

	"robotsbatch/batch"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
)

// A sample is that of the lowest hashes, whoever adds them in whatever order, each once.
func TestMisses(t *testing.T) {
	name := func(hash int) string { return fmt.Sprintf("https://%05d.example", hash) }
	for _, count := range []int{0, 1, mostMisses - 1, mostMisses, mostMisses + 1, 1000} {
		var m Misses
		var adding sync.WaitGroup
		for start := range 4 {
			adding.Go(func() {
				for i := range count {
					hash := (i*7 + start*count/4) % max(count, 1)
					if count%7 == 0 {
						hash = (i + start) % count
					}
					m.add([]byte(name(hash)), uint64(hash))
				}
			})
		}
		adding.Wait()
		var want []string
		for hash := range min(count, mostMisses) {
			want = append(want, name(hash))
		}
		if got := m.Authorities(); !slices.Equal(got, want) {
			t.Errorf("of %d: %d: %.3q", count, len(got), got)
		}
	}
}

// Every run has the same sample: those with the lowest hashes.
func TestMissesOfEachRun(t *testing.T) {
	var all []string
	column := batch.Column{Offsets32: []int32{0}}
	for i := range 1000 {
		all = append(all, fmt.Sprintf("https://%d.example", i))
		column.Data = append(column.Data, all[i]+"/x"...)
		column.Offsets32 = append(column.Offsets32, int32(len(column.Data)))
	}
	var m Misses
	var v batch.Verdicts
	must.Do(t, New(new(matcher.Table), Options{Misses: &m}).Evaluate(&batch.Batch{URLs: column}, &v))
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Compare(xxh3.HashString(a), xxh3.HashString(b))
	})
	want := all[:mostMisses]
	slices.Sort(want)
	if got := m.Authorities(); !slices.Equal(got, want) {
		t.Errorf("%d: %.3q, want %.3q", len(got), got, want)
	}
}
