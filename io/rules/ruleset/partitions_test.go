package ruleset

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/partition"
)

// A pack of a partition knows its authorities, says nothing of those that its sources do
// not know, and refuses those of other partitions, one by one and many at once.
func TestPartitions(t *testing.T) {
	const count, authorities = 3, 200
	folder := t.TempDir()
	key := func(i int) []byte { return fmt.Appendf(nil, "https://host%d.example", i) }
	var names []string
	for number := range count {
		names = append(names, filepath.Join(folder, fmt.Sprintf("%d.rules", number)))
		b, err := rulepack.Create(t.Context(), names[number], rulepack.BuildOptions{Partition: number, Partitions: count})
		must.Do(t, err)
		for i := 0; i < authorities; i += 2 {
			must.Do(t, b.Add(rulepack.Entry{Authority: key(i), Access: access.Rules, Body: []byte("User-agent: *\nDisallow: /")}))
		}
		must.Get(b.Finish())(t)
	}
	for _, given := range [][]int{{0}, {1}, {2}, {0, 2}, {2, 1, 0}} {
		var sources []string
		here := make(map[int]bool)
		for _, number := range given {
			sources = append(sources, names[number])
			here[number] = true
		}
		found, err := Find(t.Context(), Options{Sources: sources, Memory: 64 << 20, Workers: 1, Chains: []matcher.Chain{{"*"}}})
		must.Do(t, err)
		set, err := found.Open(t.Context())
		must.Do(t, err)
		defer set.Close()
		for i := range authorities {
			of := partition.Of(partition.Hash(key(i)), count)
			var o [1]matcher.Origin
			err := set.Origins().Lookup(key(i), &o[0])
			checkPartition(t, given, i, of, here[of], o[0].Access, err)
			if bulk, ok := set.Origins().(matcher.BulkOrigins); ok {
				_, err := bulk.LookupAll([]matcher.Key{{Text: key(i), Hash: matcher.HashOf(key(i))}}, o[:])
				checkPartition(t, given, i, of, here[of], o[0].Access, err)
			}
		}
	}
}

func checkPartition(t *testing.T, given []int, i, of int, here bool, got access.Outcome, err error) {
	t.Helper()
	want := access.Unknown
	if i%2 == 0 {
		want = access.Rules
	}
	switch {
	case here && (err != nil || got != want):
		t.Errorf("partitions %v, host%d of %d: %v, %v", given, i, of, got, err)
	case !here && (err == nil || !strings.Contains(err.Error(), fmt.Sprintf("host%d.example is in partition %d of 3", i, of))):
		t.Errorf("partitions %v, host%d of %d: error %v", given, i, of, err)
	}
}
