package ruleset

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"robotsbatch/batch/manifest"
	"robotsbatch/batch/option"
	"robotsbatch/io/rules/captures"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/rules/rulesdir"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/meter"
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

// kind is what a source may be. For a new one that is read as captures, add it to kinds, to peek, which
// recognises it, and to read.go the function that reads it. One whose captures are not fetches also needs
// Bodies, and one that is not captures Found.open as well.
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
	name string              // for people
	kept rulepack.SourceKind // what a pack that keeps its captures calls it
	// each reads a file as captures, as captureSet.each does; nil for a kind that is not captures.
	each func(s *captureSet, ctx context.Context, file string, part *meter.Part, visit func(*captures.Capture) error) error
	// fetched says that the captures are fetches with all that was recorded of them, so that they can
	// be listed one by one.
	fetched bool
}{
	folderKind:   {name: "folder", kept: rulepack.FolderSource},
	packKind:     {name: "rule pack", kept: rulepack.FolderSource},
	capturesKind: {"captures", rulepack.CapturesSource, (*captureSet).eachOfFile, true},
	singleKind:   {"a single robots.txt", rulepack.CapturesSource, (*captureSet).eachOfSingle, false},
	askedKind:    {"a list of what was asked for", rulepack.AskedSource, (*captureSet).eachOfAsked, false},
}

// shown is the source's name for people.
func (s *source) shown() string { return blob.Shown(s.name) }

// captured reports whether the source is read as captures, and fetched whether these were recorded.
func (s *source) captured() bool { return kinds[s.kind].each != nil }
func (s *source) fetched() bool  { return kinds[s.kind].fetched }

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

// Close closes the folder or the pack, and removes a pack that is temporary. o may be nil, for a
// source that was not opened.
func (o *opened) Close() error {
	switch {
	case o == nil:
		return nil
	case o.dir != nil:
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

// checkUsable returns an error if no source has rules, because everything would be allowed, unless
// Options.AllowNone is set. Otherwise it warns of each source without rules. states are those of
// f.sources.
func (f *Found) checkUsable(states []state) error {
	usable := slices.ContainsFunc(states, func(s state) bool { return s.none.Empty() })
	var lines []option.Message
	for i := range states {
		if s := &f.sources[i]; !states[i].none.Empty() && s.kind != askedKind { // a list of fetches decides nothing if all were answered
			lines = append(lines, option.Messagef("%s %s", option.Rules.With(s.shown()), states[i].none))
		}
	}
	if !usable && !f.options.AllowNone {
		return option.Errorf("no usable rules: %s. Without rules everything is allowed: %s goes on", option.Join(lines, "; "), option.AllowNoRules)
	}
	for _, line := range lines {
		f.options.Warn(line)
	}
	return nil
}

// whyNoNames says why a folder has no rules; empty if it has some.
func whyNoNames(d *rulesdir.Dir) (none option.Message) {
	switch s := d.Stats(); {
	case s.Listed > 0:
		return none
	case s.Ignored == 0:
		return option.Messagef("is an empty folder")
	}
	return option.Messagef("has no file that is named by its host, such as example.com or example.com.txt; give a single robots.txt itself, with %s", option.For.With("example.com"))
}

// whyNone says why a source of captures has no rules; empty if it has some. several says that it is one
// of several sources, and late that captures may be later than asOf.
func whyNone(s *captures.Stats, asOf time.Time, several, late bool) (none option.Message) {
	switch {
	case s.Authorities > 0:
		return none
	case s.Captures == 0:
		return option.Messagef("has no capture of a robots.txt that can be read")
	case s.Captures == s.Elsewhere:
		return option.Messagef("has captures of other URLs than robots.txt alone")
	case several && !late:
		return option.Messagef("decides nothing, because those before it know all its hosts: to take the newest capture of each host, name the files with one pattern")
	}
	none = noneBefore(asOf)
	if several {
		none = option.Messagef("%s, or another %s has them all", none, option.Rules)
	}
	return none
}

// noneBefore says that a source knows nothing of a time.
func noneBefore(asOf time.Time) option.Message {
	return option.Messagef("has no capture of a robots.txt from %s or before (%s)", asOf.UTC().Format(time.RFC3339), option.AsOf)
}

// shownIgnored is the most ignored names that are listed, and loggedIgnored the most with Options.MoreIgnored:
// a folder in a store may have millions.
const shownIgnored, loggedIgnored = 10, 1000

// ignoredNames holds the names in a folder that are not host names.
type ignoredNames struct {
	more  bool // Options.MoreIgnored
	names []string
	count int
}

// add counts a name, and keeps it if it is one of the first.
func (n *ignoredNames) add(name string) {
	if n.count++; n.count <= shownIgnored || n.more && n.count <= loggedIgnored {
		n.names = append(n.names, name)
	}
}

// note tells about the names in a folder, if there are any.
func (n *ignoredNames) note(folder string, f *Found) {
	if n.count == 0 {
		return
	}
	what := fmt.Sprintf("%d names", n.count)
	if n.count == 1 {
		what = "1 name"
	}
	names := strings.Join(n.names, ", ")
	if more := n.count - len(n.names); more > 0 {
		names += fmt.Sprintf(", and %d more", more)
	}
	f.options.Note(option.Messagef("%s: ignored %s that no host has: %s", option.Rules.With(blob.Shown(folder)), what, names))
}

// Planned is what is known of a source without reading its rules.
type Planned struct {
	Name, Kind string
	// Files and Bytes are those of captures and packs; Bytes is 0 where sizes are not known.
	Files int
	Bytes int64
	// Hosts is the number of hosts of a folder or a pack, -1 where it is not known.
	Hosts   int64
	Newest  time.Time // of a pack; zero if not known
	History bool
}

// Plan describes each source, and reads the head of a pack on this machine. With whole it also
// counts the hosts of folders, and looks up the sizes of objects, which may take long.
func (f *Found) Plan(ctx context.Context, whole bool) ([]Planned, error) {
	var all []Planned
	for _, s := range f.sources {
		p := Planned{Name: s.shown(), Kind: kinds[s.kind].name, Files: len(s.files), Hosts: -1}
		switch {
		case s.kind == folderKind && whole:
			folder, err := f.openDir(ctx, s.name)
			if err != nil {
				return nil, err
			}
			p.Hosts = folder.dir.Stats().Listed
			_ = folder.Close() // it was only read from
		case s.kind == packKind && !blob.IsURL(s.name):
			err := Inspect(ctx, s.name, func(pack *rulepack.Pack) error {
				info := pack.Info()
				p.Hosts, p.History, p.Newest = info.Authorities, info.History, newestOf(info)
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		for _, name := range s.files {
			if !whole && blob.IsURL(name) {
				continue
			}
			info, err := blob.Stat(ctx, name)
			if err != nil {
				return nil, err
			}
			p.Bytes += info.Size
		}
		all = append(all, p)
	}
	return all, nil
}

// Versions holds each source's version from before any of them was opened.
type Versions struct {
	found    *Found
	captures [][]blob.Info // by source that is read as captures, of its files
}

// Versions looks up which version of each source there is.
func (f *Found) Versions(ctx context.Context) *Versions {
	v := &Versions{found: f, captures: make([][]blob.Info, len(f.sources))}
	for i, source := range f.sources {
		if !source.captured() {
			continue
		}
		for _, name := range source.files {
			info, _ := blob.Stat(ctx, name) // opening the file reports what is wrong with it
			v.captures[i] = append(v.captures[i], info)
		}
	}
	return v
}

// Identify returns the identity of the rules in the open set: one for each source, and
// one for all captures together. A file that changed since the versions were looked up
// is an error.
func (v *Versions) Identify(s *Set) ([]manifest.Rules, error) {
	list := make([]manifest.Rules, len(v.found.sources))
	next, captured := 0, false // the index in s.sources; whether that of all captures, which are one source there, is passed
	for i := range v.found.sources {
		rules, source := &list[i], &v.found.sources[i]
		rules.Name = source.shown()
		if !source.captured() {
			if o := s.sources[next]; o.dir != nil {
				rules.Kind, rules.Checksum = "folder", o.dir.Names()
			} else {
				rules.Kind, rules.Checksum = "pack", o.pack.Info().Checksum
			}
			next++
			continue
		}
		rules.Kind = "captures"
		for j, info := range v.captures[i] {
			path := source.files[j]
			if err := info.Unchanged(path); err != nil {
				return nil, err
			}
			f := manifest.File{Size: info.Size, Modified: info.Modified.UTC(), ETag: info.Version}.Named(blob.Shown(path))
			if !info.Known() { // a pipe, which may have anything in the next run
				f.Modified = time.Now().UTC()
			}
			rules.Files = append(rules.Files, f)
		}
		if !captured {
			captured, rules.Checksum = true, s.captured.named
			next++
		}
	}
	return list, nil
}

// FileNow returns the current version of a file in a folder source, with its name for
// people. ok is false if there is no such source.
func (v *Versions) FileNow(ctx context.Context, source int, name string) (now manifest.File, shown string, ok bool, err error) {
	if source < 0 || source >= len(v.found.sources) || v.found.sources[source].kind != folderKind {
		return now, "", false, nil
	}
	folder := v.found.sources[source].name
	path := blob.Join(folder, name)
	if blob.IsURL(folder) {
		var info blob.Info
		info, err = blob.Stat(ctx, path)
		now = manifest.File{Name: name, Size: info.Size, Modified: info.Modified}
	} else {
		now, err = rulesdir.Version(folder, name)
	}
	return now, blob.Shown(path), true, err
}

// versionSum is a checksum of the versions of files, in whatever order they come.
type versionSum struct {
	mu  sync.Mutex
	sum [4]uint64
}

// add adds the version of a file. The sum of hashes does not depend on the order of the files.
func (v *versionSum) add(name string, i blob.Info) {
	h := sha256.Sum256(fmt.Appendf(nil, "%q %d %d %s", name, i.Size, i.Modified.UnixNano(), i.Version))
	v.mu.Lock()
	defer v.mu.Unlock()
	for n := range v.sum {
		v.sum[n] += binary.BigEndian.Uint64(h[8*n:])
	}
}

// String is empty without files.
func (v *versionSum) String() string {
	if v.sum == [4]uint64{} {
		return ""
	}
	return fmt.Sprintf("%016x%016x%016x%016x", v.sum[0], v.sum[1], v.sum[2], v.sum[3])
}
