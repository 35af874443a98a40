package ruleset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"robotsbatch/batch/option"
	"robotsbatch/io/rules/captures"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/urls"
)

// Captured says what was read of the captures of all sources.
type Captured struct {
	// Names of the sources that are captures.
	Names []string
	// AsOf is the time after which no capture counts.
	AsOf time.Time
	// Newest is the time of the newest capture; the zero time if none has one.
	Newest time.Time
	// Stats are of all sources together.
	captures.Stats
	// Broken counts the records and rows that are broken: skipped, or taken as fetches without an answer.
	Broken int64
	// WARC says that some captures are of WARC files, which have no record of a fetch without
	// an answer.
	WARC bool
	// Pack describes the rule pack made of the captures alone; nil if it has other sources too.
	Pack *rulepack.Info

	bySource []captures.Stats
	named    string // a checksum of the versions of the WARC files that an index names
}

// CapturesShare divides the memory: captures that wait take 1/CapturesShare of it. The
// rest is for the rule pack that is made of them.
const CapturesShare = 8

// captureSet holds the captures of all sources in one set, because redirects may lead
// from any source into any other.
type captureSet struct {
	*captures.Set
	options  *Options
	asOf     time.Time
	names    []string // of the sources with captures
	files    []captures.File
	paths    []string // of files
	sources  int
	asked    int // the number of the source that lists what was asked for; -1 for none
	bodySize int // the most bytes of a body that readers hand out
	// singleBody is the body of the single robots.txt, once it was read.
	singleBody []byte
	warner     *warner
	measured   measured
	warc       atomic.Bool // whether a WARC file was opened
	named      versionSum  // of the WARC files that an index names
}

// newCaptureSet prepares to read the captures. Their bodies go into b; what does not
// fit into memory is written to its folder.
func (f *Found) newCaptureSet(ctx context.Context, b *rulepack.Builder, keep bool) *captureSet {
	o := &f.options
	options := captures.Options{
		Bodies: b, Profile: o.Profile, Limit: o.Limit, Memory: o.Memory / CapturesShare, Folder: b.Folder(),
		Keep: keep, Mixed: len(f.sources) > 1,
	}
	if keep {
		options.Payload = b.Payload
	}
	s := &captureSet{
		Set: captures.NewSet(options), options: o, asOf: o.AsOf,
		names: f.capturedNames(), sources: len(f.sources), bodySize: options.BodySize(), warner: f.warner, asked: -1,
	}
	for number, source := range f.captured() {
		if source.kind == askedKind {
			s.asked = number
		}
		for _, name := range source.files {
			s.paths = append(s.paths, name)
			s.files = append(s.files, captures.File{Source: number, Each: func(ctx context.Context, visit func(*captures.Capture) error) error {
				return s.each(ctx, source.kind, name, visit)
			}})
		}
	}
	return s
}

// read reads all files, and then the captures that an old pack keeps. If Options.AsOf is not
// set, it sets asOf to the time of the newest capture, or to later if that is newer.
func (s *captureSet) read(ctx context.Context, old *packSource, b *rulepack.Builder, later time.Time) error {
	s.measured = measure(ctx, s.paths)
	if err := s.continues(old); err != nil {
		return err
	}
	if err := s.Read(ctx, s.files, s.options.Workers); err != nil {
		return err
	}
	if err := s.addUpdated(old, b); err != nil {
		return err
	}
	if s.asOf.IsZero() {
		s.asOf = later
		if newest := s.Newest(); newest.After(later) {
			s.asOf = newest
		}
	}
	return nil
}

// addTo adds the decisions to a pack. It leaves out an authority if shadowed reports
// that a source before the given one knows it.
func (s *captureSet) addTo(ctx context.Context, b *rulepack.Builder, shadowed func(authority []byte, source int) (bool, error)) error {
	b.SetAsOf(packTime(s.asOf))
	resolve := s.Resolve
	if s.options.History {
		resolve = s.ResolveHistory
	}
	return resolve(ctx, s.asOf, s.options.Policy, func(d *captures.Decision) error {
		if len(d.Authority) == 0 {
			return b.AddElsewhere(d.URL, rulepack.Captures(d.Captures))
		}
		if is, err := shadowed(d.Authority, d.Source); is || err != nil {
			return err
		}
		if d.Access == access.Rules && d.Kept == 0 { // the pack would have an empty one
			return fmt.Errorf("%w: %s has rules without a body", rulepack.ErrDamaged, d.Authority)
		}
		return b.Add(rulepack.Entry{
			Authority: d.Authority, Access: d.Access, Kept: d.Kept, Stale: d.Stale,
			Status: d.Status, Fetched: packTime(d.Fetched), Source: uint32(d.Source),
			History: d.History, Captures: rulepack.Captures(d.Captures),
		})
	})
}

// packTime converts a time to a pack's form; a time out of its range becomes unknown.
func packTime(t time.Time) uint32 {
	if seconds := t.Unix(); seconds == int64(uint32(seconds)) {
		return uint32(seconds)
	}
	return 0
}

// captured reports what was read.
func (s *captureSet) captured() *Captured {
	c := &Captured{Names: s.names, AsOf: s.asOf, Newest: s.Newest(), Broken: s.warner.broken, WARC: s.warc.Load(), bySource: make([]captures.Stats, s.sources), named: s.named.String()}
	for number := range c.bySource {
		c.bySource[number] = s.Set.Stats(number)
		if number == s.asked {
			c.bySource[number].Captures = 0 // they are none
		}
		c.Add(c.bySource[number])
	}
	return c
}

// openCaptures makes a temporary rule pack of all captures and opens it. It leaves out
// authorities that a source before the captures knows. newest is the newest fetch of the other
// sources.
func (f *Found) openCaptures(ctx context.Context, s *Set, newest time.Time) (*packSource, *Captured, error) {
	before := slices.Clone(s.sources)
	if f.options.History { // a pack with precedence may know an authority only from a later time on than the captures
		for i, source := range before {
			if source != nil && source.pack() != nil {
				before[i] = nil
			}
		}
	}
	var captured *Captured
	var single []byte
	pack, err := f.makePack(ctx, rulepack.BuildOptions{Asked: f.options.asked()}, f.capturedNames(), s.watch, func(b *rulepack.Builder) (err error) {
		captured, single, err = f.addCaptures(ctx, b, nil, false, newest, func(authority []byte, source int) (bool, error) {
			x, err := before[:source].fetch(authority)
			return x.file != "", err
		})
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	pack.captured, pack.text, captured.Pack = true, single, pack.Info()
	return pack, captured, nil
}

// SomeOf joins names for a message: all, or the first ones if there are many.
func SomeOf(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// EachCapture calls visit for each capture of all sources, in the order of their files,
// until that returns an error. source is the name of the file. The capture is valid until
// visit returns, and its body may still be compressed. A source that is not captures is
// an error.
func (f *Found) EachCapture(ctx context.Context, visit func(source string, x *captures.Capture) error) error {
	for _, source := range f.sources {
		if source.kind != capturesKind {
			return option.Usagef("%s has no captures: they are in WARC files, in tables, and in rule packs with a history, which are listed without others", option.Rules.With(source.shown()))
		}
	}
	return f.eachCapture(ctx, visit)
}

// EachFetch calls visit for each capture, of any source, of an authority's robots.txt. The
// status is 0 if there was no answer or none is known; fetched is the time of the fetch in
// seconds since 1970, 0 if unknown; the last argument is the URL that a redirect leads to.
func (f *Found) EachFetch(ctx context.Context, visit func(authority []byte, status int, fetched int64, target []byte) error) error {
	var scratch urls.Scratch
	return f.eachCapture(ctx, func(_ string, x *captures.Capture) error {
		authority, path, err := scratch.Split(x.URL)
		if err != nil || len(authority) > rulepack.MaxAuthority || string(path) != "/robots.txt" {
			return nil
		}
		fetched := int64(0)
		if !x.Time.IsZero() {
			fetched = x.Time.Unix()
		}
		status, target := x.Status, []byte(nil)
		if x.Failed {
			status = 0
		}
		if status/100 == 3 && status != access.NotModified {
			target = captures.Target(x)
		}
		return visit(authority, status, fetched, target)
	})
}

func (f *Found) eachCapture(ctx context.Context, visit func(source string, x *captures.Capture) error) error {
	size := captures.Options{Profile: f.options.Profile, Limit: f.options.Limit}
	s := &captureSet{options: &f.options, bodySize: size.BodySize(), warner: f.warner}
	for _, source := range f.sources {
		if source.kind == capturesKind {
			s.paths = append(s.paths, source.files...)
		}
	}
	s.measured = measure(ctx, s.paths)
	for _, name := range s.paths {
		shown := blob.Shown(name)
		err := s.each(ctx, capturesKind, name, func(x *captures.Capture) error {
			if len(x.File) > 0 {
				return visit(blob.Shown(string(x.File)), x)
			}
			return visit(shown, x)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
