package ruleset

import (
	"errors"
	"time"

	"robotsbatch/batch/option"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/rules/rulesdir"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher"
)

// source is what a name of Options.Sources means. It is not open.
type source struct {
	kind kind
	name string
	// files are what it consists of; none for a folder of robots.txt files.
	files []string
	// unread are files of a folder of captures that are not read, but may have rules.
	unread []string
}

// kind is what a source may be. For a new one, add it to kinds, to peek, which recognises
// it, and to what reads it: captureSet.each if as captures, else Found.open and Bodies.
type kind int

const (
	folderKind kind = iota // robots.txt files, on disk or in a store
	packKind
	capturesKind // WARC files and tables of captures
	singleKind   // a robots.txt, as a capture for each URL of Options.Single
	askedKind    // Options.Asked, as captures that failed; it is the last source
)

// kinds describes each kind. All sources that are read as captures are opened as one rule pack,
// because redirects may lead from any into any other.
var kinds = [...]struct {
	name     string              // for people
	kept     rulepack.SourceKind // what a pack that keeps its captures calls it
	captured bool                // it is read as captures
}{
	folderKind:   {"folder", rulepack.FolderSource, false},
	packKind:     {"rule pack", rulepack.FolderSource, false},
	capturesKind: {"captures", rulepack.CapturesSource, true},
	singleKind:   {"a single robots.txt", rulepack.CapturesSource, true},
	askedKind:    {"a list of what was asked for", rulepack.AskedSource, true},
}

// shown is the source's name for people.
func (s *source) shown() string { return blob.Shown(s.name) }

// captured reports whether the source is read as captures.
func (s *source) captured() bool { return kinds[s.kind].captured }

// opened is a source that is open for lookups: a folder or a rule pack. It has a dir or a pack.
type opened struct {
	matcher.Origins // the dir or the pack
	dir             *rulesdir.Dir
	pack            *rulepack.Pack
	name            string        // for people
	ignored         int           // the number of names in a folder that no host has, except hidden ones
	scratch         *blob.Scratch // of a temporary pack, removed by Close; else empty
	captured        bool          // a pack made of captures, which Captured counts
	// text is the robots.txt of all authorities, if the pack was made of a single one.
	text []byte
}

// authority says which fetch decides about an authority, as far as it is known.
func (o *opened) authority(authority []byte) (a rulepack.Authority, known bool, err error) {
	if o.pack != nil {
		return o.pack.Authority(authority)
	}
	known, err = o.dir.Has(authority)
	return a, known, err
}

// Close closes the folder or the pack, and removes a pack that is temporary.
func (o *opened) Close() error {
	if o.dir != nil {
		return o.dir.Close()
	}
	err := o.pack.Close()
	if o.scratch != nil {
		err = errors.Join(err, o.scratch.Remove())
	}
	return err
}

// state is what is known of all rules of a source.
type state struct {
	newest time.Time      // of the fetches; the zero time if none is known
	none   option.Message // why it has no rules; empty if it has some
}

// newestState returns the time of the newest fetch in sources with these states; the zero time if none is known.
func newestState(states []state) (newest time.Time) {
	for _, s := range states {
		newest = later(newest, s.newest)
	}
	return newest
}
