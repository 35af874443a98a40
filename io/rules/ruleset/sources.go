package ruleset

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"robotsbatch/batch/manifest"
	"robotsbatch/batch/option"
	"robotsbatch/io/rules/captures"
	"robotsbatch/io/rules/rulesdir"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
)

// source is what a name of Options.Sources means. It is not open. There are folders of
// robots.txt files, rule packs, and what is read as captures (see capturing).
type source interface {
	// shown is its name for people.
	shown() string
	// open opens it for lookups; nil for what is read as captures.
	open(ctx context.Context, f *Found, watch *agentWatch) (opened, error)
	// compilable opens the folder that a rule pack can be made of; nil for what is read
	// as captures.
	compilable(ctx context.Context, f *Found) (*rulesdir.Dir, error)
	// bodies gives each robots.txt to v.
	bodies(ctx context.Context, v *bodyVisitor) error
	// replacedBy reports whether an output of that name would replace something that is
	// read. replaces says so of one name.
	replacedBy(out string, replaces func(read string) bool) bool
}

// capturing is a source that is read as captures: captures, a single robots.txt, or a
// list of what was asked for. All of a set are opened as one rule pack, because redirects
// may lead from any into any other.
type capturing interface {
	source
	// files are what it consists of, and reader opens one of them.
	files() []string
	reader(ctx context.Context, s *captureSet, file string) (captures.Reader, error)
}

// opened is a source that is open for lookups: a folder or a rule pack.
type opened interface {
	matcher.Origins
	// File returns the name of the file that decides about an authority; "" if there is
	// none.
	File(authority []byte) (string, error)
	// fetch says which fetch decides about an authority.
	fetch(authority []byte) (fetched, error)
	// describe says what decides about an authority, with its text.
	describe(authority []byte, o robotstxt.Options) (Source, error)
	// alone returns the source for lookups where it is the only one of a set.
	alone(s *Set) matcher.Origins
	// always reports whether its rules hold at all times, whatever history is asked for;
	// historical returns it for lookups by time.
	always() bool
	historical() (matcher.Historical, error)
	// newest is the time of the newest fetch; the zero time if none is known.
	newest() time.Time
	// whyNone says why it has no rules; empty if it has some.
	whyNone() (option.Message, error)
	// identify sets what tells these rules from others.
	identify(rules *manifest.Rules)
	// pack returns the rule pack; nil for a folder.
	pack() *packSource
	Close() error
}

// fetched is the fetch that decides about an authority. Status and time are 0 where they
// are not known.
type fetched struct {
	status int
	second int64 // since 1970
	stale  bool
	known  bool // something is known about the authority
}

// captured iterates over the sources that are read as captures, with their numbers.
func (f *Found) captured() iter.Seq2[int, capturing] {
	return func(yield func(int, capturing) bool) {
		for i, s := range f.sources {
			if c, ok := s.(capturing); ok && !yield(i, c) {
				return
			}
		}
	}
}

// firstCaptured returns the number of the first source that is read as captures; -1 for
// none. All of them are one source in its place.
func (f *Found) firstCaptured() int {
	for i := range f.captured() {
		return i
	}
	return -1
}

// isPack reports whether a source is compiled already.
func isPack(s source) bool {
	_, is := s.(*packFile)
	return is
}

// isAsked reports whether a source is Options.Asked.
func isAsked(s source) bool {
	_, is := s.(*askedFile)
	return is
}

// folder is a folder of robots.txt files, on disk or in a store.
type folder struct{ name string }

func (d *folder) shown() string { return blob.Shown(d.name) }

func (d *folder) open(ctx context.Context, f *Found, watch *agentWatch) (opened, error) {
	dir, err := f.openDir(ctx, d.name, watch)
	if err != nil {
		return nil, err
	}
	return openedFolder{dir, d.name}, nil
}

func (d *folder) compilable(ctx context.Context, f *Found) (*rulesdir.Dir, error) {
	return f.openDir(ctx, d.name, newAgentWatch(nil))
}

func (d *folder) bodies(ctx context.Context, v *bodyVisitor) error { return v.folder(ctx, d.name) }

func (d *folder) replacedBy(out string, _ func(read string) bool) bool {
	return isBelow(d.name, out)
}

// openedFolder is a folder that is open.
type openedFolder struct {
	*rulesdir.Dir
	name string
}

func (d openedFolder) alone(*Set) matcher.Origins { return d.Dir }
func (d openedFolder) always() bool               { return true }
func (d openedFolder) newest() time.Time          { return time.Time{} }
func (d openedFolder) pack() *packSource          { return nil }

func (d openedFolder) historical() (matcher.Historical, error) { return matcher.Always(d.Dir), nil }

func (d openedFolder) fetch(authority []byte) (fetched, error) {
	name, err := d.File(authority)
	return fetched{known: err == nil && name != ""}, err
}

func (d openedFolder) describe(authority []byte, o robotstxt.Options) (found Source, err error) {
	found.Name, found.Text, err = d.Text(authority)
	found.Agents = agentsOf(found.Text, o)
	return found, err
}

func (d openedFolder) whyNone() (option.Message, error) { return whyNoNames(d.Dir), nil }

func (d openedFolder) identify(rules *manifest.Rules) {
	rules.Kind, rules.Checksum = "folder", d.Names()
}

// packFile is a rule pack, in a file or in a store.
type packFile struct{ name string }

func (p *packFile) shown() string { return blob.Shown(p.name) }

func (p *packFile) open(ctx context.Context, f *Found, watch *agentWatch) (opened, error) {
	pack, err := p.openPack(ctx, f, watch)
	if err != nil {
		return nil, err
	}
	return pack, nil
}

func (p *packFile) openPack(ctx context.Context, f *Found, watch *agentWatch) (*packSource, error) {
	open := func() (*packSource, error) { return f.openPack(p.name, p.name, watch) }
	if blob.IsURL(p.name) {
		open = func() (*packSource, error) { return f.fetchPack(ctx, p.name, watch) }
	}
	pack, err := open()
	if err != nil || f.options.Clock {
		return pack, err
	}
	if err := pack.checkMoment(); err != nil {
		return nil, errors.Join(err, pack.Close())
	}
	return pack, nil
}

func (p *packFile) compilable(context.Context, *Found) (*rulesdir.Dir, error) {
	return nil, option.Usagef("%s is compiled already: compile takes folders of robots.txt files and captures; %s adds captures to it", option.Rules.With(p.shown()), option.Update)
}

func (p *packFile) bodies(ctx context.Context, v *bodyVisitor) error { return v.pack(ctx, p.name) }

func (p *packFile) replacedBy(_ string, replaces func(read string) bool) bool {
	return replaces(p.name)
}

// captureFiles are WARC files and tables of captures.
type captureFiles struct {
	name  string
	paths []string
}

func (c *captureFiles) shown() string   { return blob.Shown(c.name) }
func (c *captureFiles) files() []string { return c.paths }

func (c *captureFiles) open(context.Context, *Found, *agentWatch) (opened, error) { return nil, nil }

func (c *captureFiles) compilable(context.Context, *Found) (*rulesdir.Dir, error) { return nil, nil }

func (c *captureFiles) reader(ctx context.Context, s *captureSet, file string) (captures.Reader, error) {
	return s.open(ctx, file)
}

func (c *captureFiles) bodies(ctx context.Context, v *bodyVisitor) error { return v.captures(ctx, c) }

func (c *captureFiles) replacedBy(_ string, replaces func(read string) bool) bool {
	return replaces(c.name) || slices.ContainsFunc(c.paths, replaces)
}

// singleFile is a single robots.txt, as a capture for each URL of Options.Single.
type singleFile struct{ captureFiles }

func (c *singleFile) reader(ctx context.Context, s *captureSet, file string) (captures.Reader, error) {
	return s.openSingle(ctx, file)
}

func (c *singleFile) bodies(ctx context.Context, v *bodyVisitor) error { return v.file(ctx, c.name) }

// askedFile is Options.Asked, as captures that failed. It is the last source.
type askedFile struct{ captureFiles }

func (c *askedFile) reader(ctx context.Context, s *captureSet, file string) (captures.Reader, error) {
	return s.openAsked(ctx, file)
}

func (c *askedFile) bodies(context.Context, *bodyVisitor) error { return nil }
