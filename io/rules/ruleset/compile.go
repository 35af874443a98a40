package ruleset

import (
	"context"
	"time"

	"robotsbatch/batch/option"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/store/meter"
	"robotsbatch/matcher/access"
)

// Compiled says what Compile made.
type Compiled struct {
	// Ignored counts the names in folders that name no authority.
	Ignored int64
	// Info describes the rule pack.
	Info *rulepack.Info
	// Captured says what was read of captures; nil when no source is captures.
	Captured *Captured
}

// Compile makes a rule pack of this name, a file or an object, of all sources. After an error
// there is none, and what was there before stays.
func (f *Found) Compile(ctx context.Context, name string, o rulepack.BuildOptions) (*Compiled, error) {
	old, err := f.openUpdated(ctx)
	if err != nil {
		return nil, err
	}
	p := &packing{Found: f, old: old, keep: f.keeps(o), states: make([]state, len(f.sources))}
	if old != nil {
		p.keep = true
		defer old.Close() // it was only read from
	}
	for _, s := range f.sources {
		if s.kind == packKind {
			return nil, option.Usagef("%s is compiled already: compile takes folders of robots.txt files and captures; %s adds captures to it", option.Rules.With(s.shown()), option.Update)
		}
	}
	var b *rulepack.Builder
	err = p.fill(ctx, func() (*rulepack.Builder, error) {
		if b, err = rulepack.Create(ctx, name, o); err != nil {
			return nil, option.Errorf("%s: %w", option.Out, err)
		}
		return b, nil
	})
	if b != nil {
		defer b.Abort()
	}
	if err == nil {
		err = f.refuse(p.states)
	}
	if err == nil && old != nil { // which the result may replace
		err = old.Close()
	}
	if err != nil {
		return nil, err
	}
	info, err := b.Finish()
	return &Compiled{p.ignored, info, p.captures}, err
}

// packing makes a rule pack of folders and captures.
type packing struct {
	*Found
	// old is a pack whose captures are added, if it is not nil. keep keeps all captures for
	// another one.
	old  *packSource
	keep bool
	// before are sources: of captures, those authorities are left out that a source before
	// them knows. Without Options.AsOf they are judged at newest, or at the time of the newest
	// capture if that is later.
	before list
	newest time.Time

	states   []state // of all sources, of which those that are packed are set
	ignored  int64
	captures *Captured // nil without captures
	single   []byte    // the body, if that is all: of a single robots.txt
}

// fill adds all sources but rule packs to the pack that prepare returns, which is called after all
// folders are listed and before any file is read.
func (p *packing) fill(ctx context.Context, prepare func() (*rulepack.Builder, error)) error {
	folders := make([]openedFolder, len(p.sources))
	defer func() {
		for _, folder := range folders {
			if folder.Dir != nil {
				_ = folder.Close() // it was only read from
			}
		}
	}()
	for i := range p.sources {
		var err error
		if s := &p.sources[i]; s.kind == folderKind {
			if folders[i], err = p.openDir(ctx, s.name, nil); err == nil {
				p.states[i], err = folders[i].state()
			}
		}
		if err != nil {
			return err
		}
	}
	b, err := prepare()
	if err != nil {
		return err
	}
	for i, folder := range folders {
		if folder.Dir == nil {
			continue
		}
		step := meter.Start(ctx, "reading robots.txt", meter.Files, int64(folder.Len()))
		read := func() { step.Add(1) }
		err := folder.Walk(p.options.Workers, read, func(authority, body []byte) error {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			return b.Add(rulepack.Entry{Authority: authority, Access: access.Rules, Body: body, Source: uint32(i)})
		})
		if err != nil {
			return err
		}
		p.ignored += folder.Stats().Ignored
	}
	return p.addCaptures(ctx, b)
}
