package ruleset

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/rules/captures"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/meter"
	"robotsbatch/matcher/access"
)

// Compiled says what Compile made.
type Compiled struct {
	// Ignored counts the names in folders that name no authority, except hidden ones.
	Ignored int64
	// Info describes the rule pack.
	Info *rulepack.Info
	// Captured says what was read of captures; nil when no source is captures.
	Captured *Captured
}

// Compile makes a rule pack of this name, a file or an object, of all sources. After an error
// there is none, and what was there before stays.
func (f *Found) Compile(ctx context.Context, name string) (*Compiled, error) {
	old, err := f.openUpdated(ctx)
	if err != nil {
		return nil, err
	}
	defer old.Close() // it was only read from
	for _, s := range f.sources {
		if s.kind == packKind {
			return nil, option.Usagef("%s is compiled already: compile takes folders of robots.txt files and captures; %s adds captures to it", option.Rules.With(s.shown()), option.Update)
		}
	}
	p := &packing{Found: f, old: old, keep: old != nil || f.keepsCaptures(), states: make([]state, len(f.sources))}
	b, err := f.createPack(ctx, name, rulepack.BuildOptions{Partition: f.options.Partition, Partitions: f.options.Partitions})
	if err != nil {
		return nil, option.Errorf("%s: %w", option.Out, err)
	}
	defer b.Abort()
	if err := p.fill(ctx, b); err != nil {
		return nil, err
	}
	if err := f.checkUsable(p.states); err != nil {
		return nil, err
	}
	if old != nil {
		if err := errors.Join(old.pack.Unchanged(), old.Close()); err != nil { // closed, because the result may replace it
			return nil, err
		}
	}
	info, err := b.Finish()
	if err == nil && info.Authorities == 0 {
		f.options.Warn(option.Messagef("%s is a rule pack without hosts, which a job takes with %s alone", blob.Shown(name), option.AllowNoRules))
	}
	return &Compiled{p.ignored, info, p.captures}, err
}

// createPack begins a rule pack. It sets those of its options that follow from the sources'.
func (f *Found) createPack(ctx context.Context, name string, b rulepack.BuildOptions) (*rulepack.Builder, error) {
	o := &f.options
	b.Profile, b.Limit, b.Memory, b.Maker, b.History = o.Profile, o.Limit, o.Memory-o.Memory/capturesShare, o.Maker, o.History
	return rulepack.Create(ctx, name, b)
}

// packing makes a rule pack of folders and captures.
type packing struct {
	*Found
	// old is the pack of Options.Update, nil for none. keep puts all captures into the new pack,
	// so that it can be updated in turn.
	old  *opened
	keep bool
	// opened are the sources that are not packed, by their numbers, and nil for those that are; nil
	// if all are packed. Those before a source of captures have precedence over it. newest is the
	// time of their newest fetch.
	opened list
	newest time.Time

	states   []state // of all sources, of which those that are packed are set
	ignored  int64
	captures *Captured // nil without captures
	single   []byte    // the body, if that is all: of a single robots.txt
}

// fill adds all captures to a pack and, if all sources are packed, the folders.
func (p *packing) fill(ctx context.Context, b *rulepack.Builder) error {
	for number := range p.sources {
		if p.opened == nil && p.sources[number].kind == folderKind {
			if err := p.addFolder(ctx, b, number); err != nil {
				return err
			}
		}
	}
	return p.addCaptures(ctx, b)
}

// addFolder adds a folder of robots.txt files to a pack.
func (p *packing) addFolder(ctx context.Context, b *rulepack.Builder, number int) error {
	folder, err := p.openDir(ctx, p.sources[number].name)
	if err != nil {
		return err
	}
	defer folder.Close() // it was only read from
	step := meter.Start(ctx, "reading robots.txt", meter.Files, int64(folder.dir.Len()))
	read := func() { step.Add(1) }
	err = folder.dir.Walk(p.options.Workers, read, func(authority, body []byte) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		return b.Add(rulepack.Entry{Authority: authority, Access: access.Rules, Body: body, Source: uint32(number)})
	})
	p.ignored += int64(folder.ignored)
	p.states[number].none = whyNoNames(folder.dir)
	return err
}

// kindsOf returns the kinds of the sources, for a pack that keeps its captures.
func (f *Found) kindsOf() (of []rulepack.SourceKind) {
	for _, s := range f.sources {
		of = append(of, kinds[s.kind].kept)
	}
	return of
}

// keepsCaptures reports whether a pack of the sources keeps its captures, so that it can be
// given as Options.Update. Packs of several partitions do not: redirects lead from any into any
// other.
func (f *Found) keepsCaptures() bool {
	return f.options.Partitions <= 1 && slices.ContainsFunc(f.kindsOf(), func(k rulepack.SourceKind) bool { return k != rulepack.FolderSource })
}

// openUpdated opens Options.Update, and refuses a pack that cannot be added to; nil for none.
func (f *Found) openUpdated(ctx context.Context) (*opened, error) {
	name := f.options.Update
	if name == "" {
		return nil, nil
	}
	found, err := Detect(ctx, name)
	if err != nil {
		return nil, option.Errorf("%s: %w", option.Update.With(blob.Shown(name)), err)
	}
	if found != format.RulePack {
		return nil, option.Usagef("%s is no rule pack: name one that compile made of captures", option.Update.With(blob.Shown(name)))
	}
	open := Found{options: Options{Profile: f.options.Profile, Limit: f.options.Limit}} // for no agents, and at no time
	old, err := open.openPackSource(ctx, &source{kind: packKind, name: name})
	if err != nil {
		return nil, err
	}
	if err := f.checkUpdated(old); err != nil {
		return nil, errors.Join(err, old.Close())
	}
	return old, nil
}

// checkUpdated returns an error for a pack if adding the sources to it may make another pack than
// compiling all captures at once does.
func (f *Found) checkUpdated(old *opened) error {
	o, info, name := &f.options, old.pack.Info(), option.Update.With(old.name)
	c, err := old.pack.Captured()
	if err != nil {
		return err
	}
	at := func(second int64) string { return time.Unix(second, 0).UTC().Format(time.RFC3339) }
	asOf := int64(packSecond(o.AsOf))
	switch {
	case c == nil && info.Partitions > 1:
		return option.Usagef("%s is a rule pack of one partition, which keeps no captures: compile all captures again", name)
	case c == nil:
		return option.Usagef("%s keeps no captures, because it was made of folders alone: compile those again", name)
	case info.History && !o.History:
		return option.Usagef("%s has a history, which the result would not have: add %s", name, option.History)
	case !info.History && o.History:
		return option.Usagef("%s has no history, and what it dropped cannot be made up: leave out %s, or compile all captures again", name, option.History)
	case c.Policy != o.Policy:
		return option.Usagef("%s was compiled with another %s: give the same, or compile all captures again", name, option.Assume)
	case c.Later && asOf != info.AsOf:
		return option.Usagef("%s was compiled with %s, and later captures were left out: give the same, or compile all captures again", name, option.AsOf.With(at(info.AsOf)))
	case !info.History && asOf != 0 && asOf < min(info.AsOf, int64(c.Newest)):
		return option.Usagef("%s is of %s, and knows no earlier time: give a later %s, or compile all captures again", name, at(info.AsOf), option.AsOf)
	}
	kinds := f.kindsOf()
	for i, kind := range c.Sources {
		if i < len(kinds) && kinds[i] != kind || i >= len(kinds) && kind == rulepack.FolderSource {
			return option.Usagef("%s was made of %s: name as many %s in this order, folders again, and captures that are new", name, kindNames(c.Sources), option.Rules)
		}
	}
	return nil
}

// kindNames lists kinds of sources for people.
func kindNames(kinds []rulepack.SourceKind) string {
	var names []string
	for _, kind := range kinds {
		names = append(names, [...]string{"captures", "a folder", "a list of what was asked for"}[kind])
	}
	return SomeOf(names)
}

// addOld adds the captures that the old pack keeps to those that were read, and their bodies to the
// new pack.
func (p *packing) addOld(s *captureSet, b *rulepack.Builder) error {
	payload := func(kept, name uint64) {
		b.Payload(kept, name)
		s.SetPayload(name, kept)
	}
	return b.AddPack(p.old.pack, payload, func(k *rulepack.Known) error {
		err := s.AddKept(k.Authority, k.Key, captures.Kept(k.Captures), k.Intervals)
		if errors.Is(err, captures.ErrKept) {
			err = fmt.Errorf("%s: %w: %w", p.old.name, rulepack.ErrDamaged, err)
		}
		return err
	})
}

// openPack opens the rule pack in a file; name is what people call it.
func (f *Found) openPack(file, name string) (*opened, error) {
	o := &f.options
	pack, err := rulepack.Open(file, rulepack.Options{
		Name: name, Chains: o.Chains, Profile: o.Profile, Limit: o.Limit, Explain: o.Explain, Records: o.Records, Usage: o.Usage,
		AsOf: packSecond(o.AsOf), Budget: o.Budget,
	})
	if errors.Is(err, rulepack.ErrMismatch) {
		err = &option.UsageError{Err: err}
	}
	if err != nil {
		return nil, err
	}
	return &opened{Origins: pack, pack: pack, name: name}, nil
}

// newestOf returns the time of the newest fetch in a pack; the zero time if none is known.
func newestOf(info *rulepack.Info) (newest time.Time) {
	if info.AsOf != 0 {
		newest = time.Unix(info.AsOf, 0).UTC()
	}
	return newest
}

// stateOf returns what is known of all rules of a source. At Options.AsOf a pack with a history may
// know no host yet.
func (f *Found) stateOf(o *opened) (s state, err error) {
	if o.dir != nil {
		return state{none: whyNoNames(o.dir)}, nil
	}
	info := o.pack.Info()
	s.newest = newestOf(info)
	switch asOf := f.options.AsOf; {
	case info.Authorities == 0:
		s.none = option.Messagef("is a rule pack without hosts")
	case info.History && !asOf.IsZero():
		var empty bool
		if empty, err = o.pack.Empty(); empty {
			s.none = noneBefore(asOf)
		}
	}
	return s, err
}

// openPackSource opens a source that is a rule pack. It refuses a pack without a history that is
// later than Options.AsOf, unless that is the clock's: the pack has dropped what held then, and
// lookups would answer by later fetches.
func (f *Found) openPackSource(ctx context.Context, s *source) (*opened, error) {
	o, err := openLocal(ctx, s.name, func(file string) (*opened, error) { return f.openPack(file, s.shown()) })
	if err != nil {
		return nil, err
	}
	info, second := o.pack.Info(), packSecond(f.options.AsOf)
	if f.options.Clock || info.History || second == 0 || int64(second) >= info.AsOf {
		return o, nil
	}
	err = option.Usagef("%s is a rule pack of %s without a history, so it does not know what held at %s (%s): compile it with %s",
		option.Rules.With(blob.Shown(o.name)), newestOf(info).Format(time.RFC3339), f.options.AsOf.UTC().Format(time.RFC3339), option.AsOf, option.History)
	return nil, errors.Join(err, o.Close())
}

// openLocal calls open with the file of a rule pack. Packs are mapped into memory, so one in a store is
// first copied to a temporary file, which Close of the result removes.
func openLocal(ctx context.Context, name string, open func(file string) (*opened, error)) (*opened, error) {
	if !blob.IsURL(name) {
		return open(name)
	}
	return openTemporary("a copy of "+blob.Shown(name), func(file string) (*opened, error) {
		if err := blob.Copy(ctx, name, file); err != nil {
			return nil, err
		}
		return open(file)
	})
}

// openTemporary calls open with the name of a temporary file, in which open makes a rule pack and
// opens it. Close of the result removes the file. what is what errors call it.
func openTemporary(what string, open func(file string) (*opened, error)) (*opened, error) {
	scratch, err := blob.NewScratch()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	o, err := open(filepath.Join(scratch.Path, "temporary.rules"))
	if err != nil {
		return nil, errors.Join(err, scratch.Remove())
	}
	o.scratch = scratch
	_ = scratch.Remove() // where an open file can be removed, nothing is left even after a crash
	return o, nil
}

// Inspect opens the pack of that name (or a copy, if it is in a store), calls use, and
// closes it; see [rulepack.Inspect].
func Inspect(ctx context.Context, name string, use func(*rulepack.Pack) error) error {
	o, err := openLocal(ctx, name, func(file string) (*opened, error) {
		p, err := rulepack.Inspect(file, blob.Shown(name))
		return &opened{pack: p}, err
	})
	if err != nil {
		return err
	}
	return errors.Join(use(o.pack), o.Close())
}
