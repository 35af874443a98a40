package ruleset

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"robotsbatch/batch/option"
	"robotsbatch/io/rules/captures"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/meter"
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
	// WARC says that some captures are of WARC files, which have no record of a fetch without
	// an answer.
	WARC bool
	// Pack describes the rule pack made of the captures alone; nil if it has other sources too.
	Pack *rulepack.Info

	named string // a checksum of the versions of the WARC files that an index names
}

// capturesShare divides the memory: captures that wait take 1/capturesShare of it. The
// rest is for the rule pack that is made of them.
const capturesShare = 8

// captureSet reads the captures of all sources, into one set, because redirects may lead from any
// source into any other.
type captureSet struct {
	*captures.Set // nil where captures are only visited
	*Found
	bodySize int // the most bytes of a body that are visited
	// singleBody is the body of the single robots.txt, once it was read.
	singleBody []byte
	part       func(file string) *meter.Part // the progress of reading a file; see measure
	warc       atomic.Bool                   // whether a WARC file was opened
	named      versionSum                    // of the WARC files that an index names
}

// addCaptures adds to a pack what captures decide about each authority: those of all sources that
// have some, and those that the old pack keeps. Without either it adds nothing.
func (p *packing) addCaptures(ctx context.Context, b *rulepack.Builder) error {
	o := &p.options
	var names []string
	if p.old != nil {
		names = append(names, p.old.name)
	}
	for i := range p.sources {
		if s := &p.sources[i]; s.captured() {
			names = append(names, shownFile(s.name))
		}
	}
	if len(names) == 0 {
		return nil
	}
	to := captures.Options{
		Bodies: b, Profile: o.Profile, Limit: o.Limit, Memory: o.Memory / capturesShare, Folder: b.Folder(), // for what does not fit into memory
		Keep: p.keep, Mixed: len(p.sources) > 1,
	}
	if p.keep {
		to.Payload = b.Payload
	}
	s := &captureSet{Set: captures.NewSet(to), Found: p.Found, bodySize: to.BodySize()}
	defer s.Close()
	if err := p.readCaptures(ctx, s, b); err != nil {
		return err
	}
	c := &Captured{Names: names, AsOf: o.AsOf, Newest: s.Newest()}
	if c.AsOf.IsZero() {
		c.AsOf = later(p.newest, c.Newest)
	}
	b.SetAsOf(packTime(c.AsOf))
	if err := s.Resolve(ctx, c.AsOf, o.Policy, o.History, func(d *captures.Decision) error { return p.addDecision(b, d) }); err != nil {
		return err
	}
	if p.keep {
		b.SetCaptured(rulepack.Captured{Policy: o.Policy, Later: s.Later(), Dropped: s.Dropped(), Newest: packTime(c.Newest), Sources: p.kindsOf()})
	}
	p.captures = c
	p.countCaptures(s)
	return nil
}

// readCaptures reads the captures of all sources into s, and then adds those that the old pack
// keeps, whose bodies go into the new pack, b.
func (p *packing) readCaptures(ctx context.Context, s *captureSet, b *rulepack.Builder) error {
	files := s.files(ctx, (*source).captured)
	if p.old != nil {
		c, err := p.old.pack.Captured()
		if err != nil {
			return err
		}
		first := 0 // the first source of new captures, to which those of the pack are added
		if len(files) > 0 {
			first = files[0].Source
		}
		s.Continue(c.Newest, c.Later, c.Dropped, first) // before new captures: the pack may have dropped some of its own
	}
	if err := s.Read(ctx, files, p.options.Workers); err != nil {
		return err
	}
	if len(files) == 1 {
		p.single = s.singleBody
	}
	if p.old == nil {
		return nil
	}
	return p.addOld(s, b)
}

// files returns the files of the sources for which takes returns true, and starts to show the
// progress of reading them.
func (s *captureSet) files(ctx context.Context, takes func(*source) bool) (files []captures.File) {
	var paths []string
	for number := range s.sources {
		source := &s.sources[number]
		if !takes(source) {
			continue
		}
		for _, path := range source.files {
			paths = append(paths, path)
			files = append(files, captures.File{Source: number, Name: blob.Shown(path), Each: func(ctx context.Context, visit func(*captures.Capture) error) error {
				return s.each(ctx, source.kind, path, visit)
			}})
		}
	}
	s.part = measure(ctx, paths)
	return files
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// addDecision adds to a pack what captures decide about an authority, unless a source with
// precedence knows it. A decision without an authority has the captures of another URL, which the
// pack keeps for later redirects to it.
func (p *packing) addDecision(b *rulepack.Builder, d *captures.Decision) error {
	if len(d.Authority) == 0 {
		return b.AddElsewhere(d.URL, rulepack.Captures(d.Captures))
	}
	if known, err := p.isKnownBefore(d.Source, d.Authority); known || err != nil {
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
}

// isKnownBefore reports whether an open source knows an authority, and has precedence over the
// source with a number, which has captures. With a history, packs do not count: they may know the
// authority only since a later time than the captures.
func (p *packing) isKnownBefore(number int, authority []byte) (bool, error) {
	for _, source := range p.opened[:min(number, len(p.opened))] {
		if source == nil || p.options.History && source.pack != nil {
			continue
		}
		if _, known, err := source.authority(authority); known || err != nil {
			return true, err
		}
	}
	return false, nil
}

// countCaptures sets the counts of p.captures, and the states of the sources that are read as
// captures, all with the time of the newest capture of any. s is resolved.
func (p *packing) countCaptures(s *captureSet) {
	c := p.captures
	c.Broken, c.WARC, c.named = p.broken.Load(), s.warc.Load(), s.named.String()
	for number := range p.sources {
		stats, source := s.Stats(number), &p.sources[number]
		switch source.kind {
		case askedKind:
			stats.Captures = 0 // nobody fetched what the list has
		case singleKind:
			stats.Captures = 1 // one file, although it was visited once for each URL
		}
		c.Add(stats)
		if source.captured() {
			p.states[number] = state{c.Newest, whyNone(&stats, c.AsOf, len(p.sources) > 1, !p.options.AsOf.IsZero())}
		}
	}
}

// packTime converts a time to a pack's form; a time out of its range becomes unknown.
func packTime(t time.Time) uint32 {
	if seconds := t.Unix(); seconds == int64(uint32(seconds)) {
		return uint32(seconds)
	}
	return 0
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
// until visit returns an error. source is the name of the file. The capture is valid until
// visit returns, and its body may still be compressed. A source that is not captures is
// an error.
func (f *Found) EachCapture(ctx context.Context, visit func(source string, x *captures.Capture) error) error {
	for _, source := range f.sources {
		if !source.fetched() {
			return option.Usagef("%s has no captures: name only WARC files and tables of captures, or only rule packs with a history", option.Rules.With(source.shown()))
		}
	}
	return f.eachCapture(ctx, func(_ int, file string, x *captures.Capture) error { return visit(file, x) })
}

// EachFetch calls visit for each capture of a robots.txt, until visit returns an error. source is
// the index of its source. The status is 0 if there was no answer or it is not known, and fetched
// is the zero time if that is not known. target is the URL that a redirect leads to, else nil.
func (f *Found) EachFetch(ctx context.Context, visit func(source int, authority []byte, status int, fetched time.Time, target []byte) error) error {
	var scratch urls.Scratch
	return f.eachCapture(ctx, func(source int, _ string, x *captures.Capture) error {
		authority, path, err := scratch.Split(x.URL)
		if err != nil || len(authority) > rulepack.MaxAuthority || string(path) != "/robots.txt" {
			return nil
		}
		status, target := x.Status, []byte(nil)
		if x.Failed {
			status = 0
		}
		if status/100 == 3 && status != access.NotModified {
			target = captures.Target(x)
		}
		return visit(source, authority, status, x.Time, target)
	})
}

// eachCapture is EachCapture for all sources that are captures, whatever the others are.
func (f *Found) eachCapture(ctx context.Context, visit func(source int, file string, x *captures.Capture) error) error {
	size := captures.Options{Profile: f.options.Profile, Limit: f.options.Limit}
	s := &captureSet{Found: f, bodySize: size.BodySize()}
	for _, file := range s.files(ctx, (*source).fetched) {
		err := file.Each(ctx, func(x *captures.Capture) error {
			if len(x.File) > 0 {
				return visit(file.Source, blob.Shown(string(x.File)), x)
			}
			return visit(file.Source, file.Name, x)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
