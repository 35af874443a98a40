package ruleset

import (
	"time"

	"robotsbatch/batch/manifest"
	"robotsbatch/batch/option"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/rules/rulesdir"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
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

// opened is a source that is open for lookups: a folder, or a rule pack, which is a *packSource.
type opened interface {
	matcher.Origins
	// Authority says which fetch decides about an authority, as far as it is known.
	Authority(authority []byte) (a rulepack.Authority, known bool, err error)
	// describe says which file decides about an authority, of which Authority returned a.
	describe(authority []byte, a *rulepack.Authority, o robotstxt.Options) (Source, error)
	// historical returns the source for lookups by time.
	historical() (matcher.Historical, error)
	// state says how new the rules are, and why there are none if so.
	state() (state, error)
	// oddBodies counts the bodies that are not a text.
	oddBodies() OddBodies
	// identify sets what tells these rules from others.
	identify(rules *manifest.Rules)
	Close() error
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

// openedFolder is a folder that is open.
type openedFolder struct {
	*rulesdir.Dir
	name    string
	ignored int // the number of names that no host has, except hidden ones
}

func (d openedFolder) historical() (matcher.Historical, error) { return matcher.Always(d.Dir), nil }

func (d openedFolder) Authority(authority []byte) (a rulepack.Authority, known bool, err error) {
	known, err = d.Has(authority)
	return a, known, err
}

func (d openedFolder) describe(authority []byte, _ *rulepack.Authority, o robotstxt.Options) (found Source, err error) {
	found.Name, found.Text, err = d.Text(authority)
	found.Agents = agentsOf(found.Text, o)
	return found, err
}

func (d openedFolder) state() (state, error) { return state{none: whyNoNames(d.Dir)}, nil }

func (d openedFolder) oddBodies() OddBodies {
	stats := d.Stats()
	return OddBodies{d.name, stats.HTML, stats.Binary, true}
}

func (d openedFolder) identify(rules *manifest.Rules) {
	rules.Kind, rules.Checksum = "folder", d.Names()
}
