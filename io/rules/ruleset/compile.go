package ruleset

import (
	"context"
	"time"

	"robotsbatch/batch/option"
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
	if old != nil {
		defer old.Close() // it was only read from
	}
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
	if old != nil { // which the result may replace
		if err := old.Close(); err != nil {
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
	// opened are the sources that are open beside the pack; nil for a pack of all: what one of them
	// knows of an authority goes before later captures. newest is the time of their newest fetch.
	opened list
	newest time.Time

	states   []state // of all sources, of which those that are packed are set
	ignored  int64
	captures *Captured // nil without captures
	single   []byte    // the body, if that is all: of a single robots.txt
}

// fill adds to a pack all captures and, unless they are open beside it, the folders.
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
