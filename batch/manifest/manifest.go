package manifest

import (
	"maps"
	"slices"
	"time"

	"robotsbatch/batch"
)

// Version is the version of the format.
const Version = 1

// Manifest is what a manifest file says.
type Manifest struct {
	Job Job
	// RuleFiles are the files of rules folders that were read.
	RuleFiles []RuleFile
	// Outputs are those that are complete.
	Outputs []Output
	// Ended says that the job came to its end.
	Ended bool
	// Cut says that the last line was cut off.
	Cut bool
}

// Job has everything, apart from the inputs, that the output depends on.
type Job struct {
	// Manifest is the version of the format.
	Manifest int `json:"manifest"`
	// Program is the program with its version.
	Program string `json:"program"`
	// Options are the flags that were given and decide about the outputs'
	// bytes, by their names, each with its values in order.
	Options map[string][]string `json:"options"`
	// Rules are the sources of rules in order.
	Rules []Rules `json:"rules"`
	// Shard is the part of the job that the manifest is of; nil for the whole.
	Shard *Shard `json:"shard,omitempty"`
}

// Rules is a source of rules.
type Rules struct {
	Name string `json:"name"`
	// Kind is "folder", "pack" or "captures".
	Kind string `json:"kind"`
	// Checksum is that of a pack; of a folder, one of the names in it.
	Checksum string `json:"checksum,omitempty"`
	// Files are those of captures. The files of a folder come in lines of their
	// own, when they are used.
	Files []File `json:"files,omitempty"`
}

// File is a version of a file.
type File struct {
	Name string `json:"name"`
	// Size in bytes.
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified,omitzero"`
	// ETag is what an object store calls the version.
	ETag string `json:"etag,omitempty"`
}

// Same reports whether two are the same version of one file.
func (f File) Same(other File) bool {
	return f.Name == other.Name && f.Size == other.Size && f.Modified.Equal(other.Modified) && f.ETag == other.ETag
}

// RuleFile is a file of a rules folder.
type RuleFile struct {
	// Source is the index of the folder in Job.Rules.
	Source int `json:"source"`
	File
}

// Output is an output that is complete.
type Output struct {
	// Inputs are those whose rows are in it. One without time and ETag was a
	// stream.
	Inputs []File `json:"inputs"`
	// Output is named relative to the manifest's folder, with slashes.
	Output File `json:"output"`
	// Checksum is that of the whole.
	Checksum string `json:"xxh3_128"`
	// Parts follow one another from the first byte to the last.
	Parts []Part `json:"parts"`
	// Counts are of its rows.
	Counts Counts `json:"counts"`
	// Truncated are inputs that ended too early.
	Truncated []Truncated `json:"truncated,omitempty"`
}

// Truncated is an input that ended too early, and how many rows of it came.
type Truncated struct {
	Input string `json:"input"`
	Rows  int64  `json:"rows"`
}

// Part is a run of bytes of an output: a batch or row group, or what comes
// before the first and after the last.
type Part struct {
	Offset int64 `json:"offset"`
	Size   int64 `json:"size"`
	// Rows is how many rows end in it.
	Rows     int64  `json:"rows"`
	Checksum string `json:"xxh3_128"`
}

// Counts are those of [batch.Stats].
type Counts struct {
	Rows              int64         `json:"rows"`
	Written           int64         `json:"rows_written"`
	Invalid           int64         `json:"invalid"`
	UnsupportedScheme int64         `json:"unsupported_scheme"`
	NoTime            int64         `json:"no_time,omitempty"`
	NoCaptureYet      int64         `json:"no_capture_yet,omitempty"`
	Outdated          int64         `json:"outdated,omitempty"`
	MoreSitemaps      int64         `json:"sitemaps_cut,omitempty"`
	WeightNulls       int64         `json:"weight_nulls,omitempty"`
	WeightNotNumbers  int64         `json:"weight_not_numbers,omitempty"`
	Authorities       int64         `json:"authorities"`
	WithoutRobots     int64         `json:"authorities_without_robots"`
	Agents            []AgentCounts `json:"agents"`
}

// AgentCounts are those of [batch.Counts].
type AgentCounts struct {
	Allowed int64 `json:"allowed"`
	Denied  int64 `json:"denied"`
	Unknown int64 `json:"unknown"`
	// Weights are sums of weights, absent where they are 0.
	Weights batch.Weights `json:"weights,omitzero"`
	// Newest is absent where the newest rules were not asked, too.
	Newest *batch.Newest `json:"newest,omitempty"`
}

// CountsOf takes statistics down.
func CountsOf(s *batch.Stats) Counts {
	c := Counts{
		Rows: s.Rows, Written: s.Selected, Invalid: s.Invalid, UnsupportedScheme: s.UnsupportedScheme,
		NoTime: s.NoTime, NoCaptureYet: s.NoCaptureYet,
		Outdated: s.Outdated, MoreSitemaps: s.MoreSitemaps, WeightNulls: s.WeightNulls, WeightNotNumbers: s.WeightNotNumbers,
		Authorities: s.Authorities, WithoutRobots: s.WithoutRobots,
	}
	for _, a := range s.Agents {
		c.Agents = append(c.Agents, AgentCounts(a))
	}
	return c
}

// Stats are the statistics that were taken down.
func (c *Counts) Stats() *batch.Stats {
	s := &batch.Stats{
		Rows: c.Rows, Selected: c.Written, Invalid: c.Invalid, UnsupportedScheme: c.UnsupportedScheme,
		NoTime: c.NoTime, NoCaptureYet: c.NoCaptureYet,
		Outdated: c.Outdated, MoreSitemaps: c.MoreSitemaps, WeightNulls: c.WeightNulls, WeightNotNumbers: c.WeightNotNumbers,
		Authorities: c.Authorities, WithoutRobots: c.WithoutRobots,
	}
	for _, a := range c.Agents {
		s.Agents = append(s.Agents, batch.Counts(a))
	}
	return s
}

// Difference says in what another job would give other outputs; it is empty
// when in nothing.
func (j *Job) Difference(other *Job) string {
	if j.Program != other.Program {
		return "the program was " + j.Program
	}
	names := slices.Sorted(maps.Keys(j.Options))
	for name := range other.Options {
		if _, ok := j.Options[name]; !ok {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if !slices.Equal(j.Options[name], other.Options[name]) {
			return "-" + name + " was another"
		}
	}
	if len(j.Rules) != len(other.Rules) {
		return "-rules was another"
	}
	for i, rules := range j.Rules {
		if rules.differ(&other.Rules[i]) {
			return "the rules in " + rules.Name + " were others"
		}
	}
	return ""
}

func (r *Rules) differ(other *Rules) bool {
	return r.Name != other.Name || r.Kind != other.Kind || r.Checksum != other.Checksum || !slices.EqualFunc(r.Files, other.Files, File.Same)
}
