package manifest

import (
	"encoding/hex"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
)

// Version is the version of the format. Shards of version 1 had their inputs by a hash of
// the name: they do not go together with later ones.
const Version = 2

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
	// Checksum is of a pack's bytes, or of the names in a folder. The first source of captures has the
	// one of the versions of all WARC files that indexes name. Else it is empty.
	Checksum string `json:"checksum,omitempty"`
	// Files are those of captures. The files of a folder come in lines of their
	// own, when they are used.
	Files []File `json:"files,omitempty"`
}

// File is a version of a file.
type File struct {
	Name string `json:"name"`
	// NameHex has the bytes of a name that is not UTF-8, which JSON cannot hold; else it is empty.
	NameHex string `json:"name_hex,omitempty"`
	// Size in bytes.
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified,omitzero"`
	// ETag is what an object store calls the version.
	ETag string `json:"etag,omitempty"`
}

// Named returns f with another name, which may be no UTF-8.
func (f File) Named(name string) File {
	f.Name, f.NameHex = name, ""
	if !utf8.ValidString(name) {
		f.NameHex = hex.EncodeToString([]byte(name))
	}
	return f
}

// restoreName sets the name that Named recorded, which JSON cannot hold if it is not UTF-8.
func (f *File) restoreName() {
	if name, err := hex.DecodeString(f.NameHex); err == nil && len(name) > 0 {
		f.Name = string(name)
	}
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
	Counts batch.Stats `json:"counts"`
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
	// Rows is the number of rows that end in it.
	Rows     int64  `json:"rows"`
	Checksum string `json:"xxh3_128"`
}

// Difference says what has changed from j to another job that gives other outputs for it,
// such as "agent has changed"; it is empty if nothing has.
func (j *Job) Difference(other *Job) (none option.Message) {
	if j.Manifest != other.Manifest {
		return option.Messagef("the format of the manifest has changed (it was %d)", j.Manifest)
	}
	if j.Program != other.Program {
		return option.Messagef("the program has changed (it was %s)", j.Program)
	}
	both := make(map[string][]string)
	maps.Copy(both, j.Options)
	maps.Copy(both, other.Options)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if !slices.Equal(j.Options[name], other.Options[name]) {
			return option.Messagef("%s has changed", option.Name(name))
		}
	}
	if len(j.Rules) != len(other.Rules) {
		return option.Messagef("%s has changed", option.Rules)
	}
	for i, rules := range j.Rules {
		if rules.differ(&other.Rules[i]) {
			return option.Messagef("the rules in %s have changed", rules.Name)
		}
	}
	return none
}

// differ reports whether two sources of rules are not the same version of one source.
func (r *Rules) differ(other *Rules) bool {
	return r.Name != other.Name || r.Kind != other.Kind || r.Checksum != other.Checksum || !slices.EqualFunc(r.Files, other.Files, File.Same)
}
