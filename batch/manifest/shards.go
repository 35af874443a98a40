package manifest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"robotsbatch/batch/option"
)

// Shard is one of the parts that a job is divided into. The inputs are dealt among
// them in the order of their names, or the record batches or row groups of one large input by number.
type Shard struct {
	// Index is from 0, and Count how many there are.
	Index int `json:"index"`
	Count int `json:"count"`
	// Inputs is the number of inputs that the whole job has, and InputNames a checksum of their
	// sorted names: all shards must have seen the same.
	Inputs     int    `json:"inputs"`
	InputNames string `json:"input_names_xxh3_128"`
}

// Deal notes which inputs the whole job has, and returns the indices of those that are this
// shard's, in ascending order. Inputs are dealt like cards: the shard of an input is its rank
// among the sorted names, modulo Count. So two shards differ by one input at most, and the
// same names are dealt in the same way, in whichever order they are named.
func (s *Shard) Deal(names []string) []int {
	sorted := make([]int, len(names))
	for i := range sorted {
		sorted[i] = i
	}
	slices.SortStableFunc(sorted, func(a, b int) int { return strings.Compare(names[a], names[b]) })
	var h xxh3.Hasher
	for _, i := range sorted {
		_, _ = h.WriteString(names[i]) // never an error
		_, _ = h.Write([]byte{0})
	}
	s.Inputs, s.InputNames = len(names), hexSum(&h)
	var mine []int
	for rank := s.Index; rank < len(sorted); rank += s.Count {
		mine = append(mine, sorted[rank])
	}
	slices.Sort(mine)
	return mine
}

// String returns the shard as names of files have it, such as 00003-of-00016.
func (s Shard) String() string { return fmt.Sprintf("%05d-of-%05d", s.Index, s.Count) }

const shardBegin = "_robotsbatch.shard-"

// ShardPattern matches the names of shards' manifests.
const ShardPattern = shardBegin + "*" + nameEnd

// FileName returns the name of the shard's manifest in a folder of outputs.
func (s Shard) FileName() string { return shardBegin + s.String() + nameEnd }

var shardName = regexp.MustCompile("^" + regexp.QuoteMeta(shardBegin) + `(\d{5,})-of-(\d{5,})` + regexp.QuoteMeta(nameEnd) + "$")

// ParseFileName returns the index and the count of the shard whose manifest has this name; ok is
// false if no shard's has.
func ParseFileName(name string) (s Shard, ok bool) {
	found := shardName.FindStringSubmatch(name)
	if found == nil {
		return s, false
	}
	s.Index, _ = strconv.Atoi(found[1]) // a number that is too large has another name
	s.Count, _ = strconv.Atoi(found[2])
	return s, s.Index < s.Count && s.Count <= mostShards && s.FileName() == name
}

// ErrIncomplete says that shards of a job are missing, or have not ended.
var ErrIncomplete = errors.New("the job is incomplete")

// Merge returns the text of the manifest of a whole job. shards has the manifest of each shard, by its
// index, nil for a missing one. If shards are missing or have not ended, the error names them and wraps
// ErrIncomplete. Other errors name shards that do not belong together: they are of different jobs, saw
// different files, or wrote the same output.
func Merge(shards []*Manifest) ([]byte, error) {
	if err := checkWhole(shards); err != nil {
		return nil, err
	}
	first := &shards[0].Job
	job := *first
	job.Shard = nil
	text := AppendJob(nil, &job)
	writtenBy := make(map[string]int) // outputs
	listed := make(map[RuleFile]bool)
	versions, readBy := make(map[string]File), make(map[string]int) // inputs and rule files
	checkVersion := func(name string, f File, shard int) error {
		before, other := versions[name], readBy[name]
		versions[name], readBy[name] = f, shard
		if before.Name != "" && other != shard && !f.Same(before) {
			return fmt.Errorf("%s was replaced between the reads of shards %d and %d: do all shards again", name, other, shard)
		}
		return nil
	}
	for i, m := range shards {
		if err := checkTogether(first, &m.Job, i); err != nil {
			return nil, err
		}
		var files []RuleFile // not listed yet
		for _, f := range m.RuleFiles {
			if err := checkVersion(strings.TrimSuffix(first.Rules[f.Source].Name, "/")+"/"+f.Name, f.File, i); err != nil {
				return nil, err
			}
			if !listed[f] {
				listed[f] = true
				files = append(files, f)
			}
		}
		text = AppendRuleFiles(text, files)
		for k := range m.Outputs {
			o := &m.Outputs[k]
			if other, ok := writtenBy[o.Output.Name]; ok {
				return nil, fmt.Errorf("%s is an output of shards %d and %d", o.Output.Name, other, i)
			}
			writtenBy[o.Output.Name] = i
			for _, in := range o.Inputs {
				if err := checkVersion(in.Name, in, i); err != nil {
					return nil, err
				}
			}
			text = AppendOutput(text, o)
		}
	}
	return AppendEnd(text, len(writtenBy)), nil
}

// checkTogether returns an error if shard i is not of the same job as the first one.
func checkTogether(first, j *Job, i int) error {
	if why := j.Difference(first); !why.Empty() {
		return option.Errorf("shards 0 and %d do not belong together: between them %s", i, why)
	}
	if j.Shard.InputNames != first.Shard.InputNames {
		return fmt.Errorf("shards 0 and %d saw different inputs, %d and %d of them: inputs came or went meanwhile; do all shards again",
			i, first.Shard.Inputs, j.Shard.Inputs)
	}
	return nil
}

// checkWhole returns an error that wraps ErrIncomplete and names the shards that are missing or
// have not ended; nil if there are none.
func checkWhole(shards []*Manifest) error {
	var missing, unfinished []int
	for i, m := range shards {
		switch {
		case m == nil:
			missing = append(missing, i)
		case !m.Ended:
			unfinished = append(unfinished, i)
		}
	}
	var text []string
	if len(missing) > 0 {
		text = append(text, "missing: "+ranges(missing))
	}
	if len(unfinished) > 0 {
		text = append(text, "unfinished: "+ranges(unfinished))
	}
	if text == nil {
		return nil
	}
	return fmt.Errorf("%w: of %d shards, %s", ErrIncomplete, len(shards), strings.Join(text, "; "))
}

// ranges returns ascending numbers as schedulers take them, such as 1,4-7,9.
func ranges(numbers []int) string {
	var parts []string
	for first := 0; first < len(numbers); {
		last := first
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		part := strconv.Itoa(numbers[first])
		if last > first {
			part += "-" + strconv.Itoa(numbers[last])
		}
		parts = append(parts, part)
		first = last + 1
	}
	return strings.Join(parts, ",")
}
