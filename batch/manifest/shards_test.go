package manifest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

// shardOf returns the manifest of a finished shard with one output.
func shardOf(index, count int, change func(*Job)) *Manifest {
	j := job()
	j.Shard = &Shard{Index: index, Count: count}
	j.Shard.Deal([]string{"a", "b"})
	if change != nil {
		change(j)
	}
	return &Manifest{Job: *j, RuleFiles: ruleFiles(), Outputs: []Output{*output(fmt.Sprintf("%d.csv", index))}, Ended: true}
}

// TestMerge: the merged manifest has the outputs of all shards in order, and each rule file
// once.
func TestMerge(t *testing.T) {
	text := must.Get(Merge([]*Manifest{shardOf(0, 3, nil), shardOf(1, 3, nil), shardOf(2, 3, nil)}))(t)
	want := &Manifest{Job: *job(), RuleFiles: ruleFiles(), Outputs: []Output{*output("0.csv"), *output("1.csv"), *output("2.csv")}, Ended: true}
	must.DeepEqual(t, mustRead(t, text), want)
}

func TestMergeNames(t *testing.T) {
	older := shardOf(1, 2, nil)
	older.Outputs[0].Inputs[0].Size++
	otherRules := shardOf(1, 2, nil)
	otherRules.RuleFiles[0].Modified = modified.Add(1)
	running := shardOf(1, 3, nil)
	running.Ended = false
	again := shardOf(2, 3, nil)
	again.Outputs[0].Output.Name = "0.csv"
	for _, test := range []struct {
		name       string
		shards     []*Manifest
		incomplete bool
		want       string
	}{
		{"missing", []*Manifest{nil, shardOf(1, 5, nil), nil, nil, nil}, true, "of 5 shards, missing: 0,2-4"},
		{"running", []*Manifest{shardOf(0, 3, nil), running, nil}, true, "of 3 shards, missing: 2; unfinished: 1"},
		{"options", []*Manifest{shardOf(0, 2, nil), shardOf(1, 2, func(j *Job) { j.Options["emit"] = []string{"denied"} })}, false, "emit has changed"},
		{"rules", []*Manifest{shardOf(0, 2, nil), shardOf(1, 2, func(j *Job) { j.Rules[0].Checksum = "13" })}, false, "the rules in rules have changed"},
		{"program", []*Manifest{shardOf(0, 2, nil), shardOf(1, 2, func(j *Job) { j.Program = "older" })}, false, "the program has changed (it was older)"},
		{"deals", []*Manifest{shardOf(0, 2, nil), shardOf(1, 2, func(j *Job) { j.Manifest++ })}, false, "the format of the manifest has changed"},
		{"inputs", []*Manifest{shardOf(0, 2, nil), shardOf(1, 2, func(j *Job) { j.Shard.Deal([]string{"a", "b", "c"}) })}, false, "saw different inputs, 2 and 3 of them"},
		{"versions", []*Manifest{shardOf(0, 2, nil), older}, false, " was replaced between the reads of shards 0 and 1"},
		{"rule files", []*Manifest{shardOf(0, 2, nil), otherRules}, false, "rules/example.com was replaced between the reads of shards 0 and 1"},
		{"output twice", []*Manifest{shardOf(0, 3, nil), shardOf(1, 3, nil), again}, false, "0.csv is an output of shards 0 and 2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Merge(test.shards)
			must.Be(t, err != nil && errors.Is(err, ErrIncomplete) == test.incomplete && strings.Contains(err.Error(), test.want), "error %v, want %q", err, test.want)
		})
	}
}

// TestDeal: each input belongs to one shard, whichever order inputs are named in, and no two
// shards differ by more than one.
func TestDeal(t *testing.T) {
	for _, test := range []struct{ inputs, shards int }{{300, 64}, {1000, 7}, {64, 64}, {3, 5}, {0, 2}, {1, 1}} {
		names := make([]string, test.inputs)
		for i := range names {
			names[i] = fmt.Sprintf("dt=2026-03-%02d/part-%d.parquet", i%31, i)
		}
		shuffled := slices.Clone(names)
		rand.Shuffle(len(shuffled), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
		of, least, most := make(map[string]int), test.inputs, 0
		for index := range test.shards {
			mine := (&Shard{Index: index, Count: test.shards}).Deal(names)
			must.Be(t, slices.IsSorted(mine), "shard %d has its inputs in another order: %v", index, mine)
			least, most = min(least, len(mine)), max(most, len(mine))
			for _, i := range mine {
				of[names[i]] = index
			}
		}
		must.Be(t, len(of) == test.inputs && most-least <= 1, "%d of %d inputs were dealt to %d shards, %d to %d each", len(of), test.inputs, test.shards, least, most)
		for index := range test.shards {
			for _, i := range (&Shard{Index: index, Count: test.shards}).Deal(shuffled) {
				must.Need(t, of[shuffled[i]] == index, "%s is shard %d's, and %d's in another order", shuffled[i], of[shuffled[i]], index)
			}
		}
	}
	// Other versions of the program must assign the same shards.
	must.EqualSlices(t, (&Shard{Index: 1, Count: 2}).Deal([]string{"c", "b", "B", "a", "b/1"}), []int{3, 4}, "shard 1 of 2 has the inputs")
}

func TestShardNames(t *testing.T) {
	for _, s := range []Shard{{Index: 3, Count: 16}, {Index: 0, Count: 1}, {Index: 123456, Count: 1000000}} {
		name := s.FileName()
		got, ok := ParseFileName(name)
		must.Be(t, ok && got == s && IsName(name), "%s: %v, %v", name, got, ok)
	}
	for _, name := range []string{
		FolderName, "_robotsbatch.shard-00016-of-00016.manifest.jsonl", "_robotsbatch.shard-1-of-2.manifest.jsonl", "robotsbatch.shard-00001-of-00002.manifest.jsonl",
		"_robotsbatch.shard-00001-of-99999999999999999999.manifest.jsonl", "_robotsbatch.shard-00001-of-9999999999999999.manifest.jsonl",
		"_robotsbatch.shard-000001-of-00002.manifest.jsonl",
	} {
		s, ok := ParseFileName(name)
		must.Be(t, !ok, "%s is taken for %v", name, s)
	}
}

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int{"": nil, "4": {4}, "0-2": {0, 1, 2}, "1,3-5,9": {1, 3, 4, 5, 9}} {
		must.Equal(t, ranges(numbers), want, numbers)
	}
}
