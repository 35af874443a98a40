package manifest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// shardOf returns the manifest of a finished shard with one output.
func shardOf(index, count int, change func(*Job)) *Manifest {
	j := job()
	j.Shard = &Shard{Index: index, Count: count}
	j.Shard.NameInputs([]string{"a", "b"})
	if change != nil {
		change(j)
	}
	return &Manifest{Job: *j, RuleFiles: ruleFiles(), Outputs: []Output{*output(fmt.Sprintf("%d.csv", index))}, Ended: true}
}

// TestMerge: the merged manifest has the outputs of all shards in order, and each rule file
// once.
func TestMerge(t *testing.T) {
	text, err := Merge([]*Manifest{shardOf(0, 3, nil), shardOf(1, 3, nil), shardOf(2, 3, nil)})
	if err != nil {
		t.Fatal(err)
	}
	want := &Manifest{Job: *job(), RuleFiles: ruleFiles(), Outputs: []Output{*output("0.csv"), *output("1.csv"), *output("2.csv")}, Ended: true}
	if got := mustRead(t, text); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestMergeNames(t *testing.T) {
	running := shardOf(1, 3, nil)
	running.Ended = false
	again := shardOf(2, 3, nil)
	again.Outputs[0].Output.Name = "0.csv"
	tests := []struct {
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
		{"inputs", []*Manifest{shardOf(0, 2, nil), shardOf(1, 2, func(j *Job) { j.Shard.NameInputs([]string{"a", "b", "c"}) })}, false, "saw different inputs, 2 and 3 of them"},
		{"output twice", []*Manifest{shardOf(0, 3, nil), shardOf(1, 3, nil), again}, false, "0.csv is an output of shards 0 and 2"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Merge(test.shards)
			if err == nil || errors.Is(err, ErrIncomplete) != test.incomplete || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// TestTakes: each input belongs to one shard, and still does when other inputs are added or
// removed.
func TestTakes(t *testing.T) {
	taken := make([]int, 7)
	for i := range 1000 {
		name := fmt.Sprintf("dt=2026-03-%02d/part-%d.parquet", i%31, i)
		for index := range taken {
			if (Shard{Index: index, Count: len(taken)}).Takes(name) {
				taken[index]++
			}
		}
	}
	sum := 0
	for _, n := range taken {
		sum += n
	}
	if sum != 1000 || slices.Min(taken) < 100 {
		t.Errorf("1000 inputs were dealt as %v", taken)
	}
	// Other versions of the program must assign the same shard.
	if !(Shard{Index: 6, Count: 16}).Takes("part-0.parquet") {
		t.Error("part-0.parquet was shard 6's of 16")
	}
}

func TestShardNames(t *testing.T) {
	for _, s := range []Shard{{Index: 3, Count: 16}, {Index: 0, Count: 1}, {Index: 123456, Count: 1000000}} {
		name := s.FileName()
		if got, ok := ParseFileName(name); !ok || got != s || !IsName(name) {
			t.Errorf("%s: %v, %v", name, got, ok)
		}
	}
	for _, name := range []string{
		FolderName, "_robotsbatch.shard-00016-of-00016.manifest.jsonl", "_robotsbatch.shard-1-of-2.manifest.jsonl", "robotsbatch.shard-00001-of-00002.manifest.jsonl",
		"_robotsbatch.shard-00001-of-99999999999999999999.manifest.jsonl",
	} {
		if s, ok := ParseFileName(name); ok {
			t.Errorf("%s is taken for %v", name, s)
		}
	}
}

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int{"": nil, "4": {4}, "0-2": {0, 1, 2}, "1,3-5,9": {1, 3, 4, 5, 9}} {
		if got := ranges(numbers); got != want {
			t.Errorf("%v: %q", numbers, got)
		}
	}
}
