package ruleset

import (
	"context"
	"time"

	"robotsbatch/batch/option"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/rules/rulesdir"
	"robotsbatch/io/store/meter"
	"robotsbatch/matcher/access"
)

// Compiled says what AddTo added.
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
	var b *rulepack.Builder
	defer func() {
		if old != nil {
			_ = old.Close() // it was only read from
		}
		if b != nil {
			b.Abort()
		}
	}()
	made, err := f.addTo(ctx, old, f.keeps(o), func() (_ *rulepack.Builder, err error) {
		if b, err = rulepack.Create(ctx, name, o); err != nil {
			err = option.Errorf("%s: %w", option.Out, err)
		}
		return b, err
	})
	if err != nil {
		return nil, err
	}
	if old != nil { // which the result may replace
		if err := old.Close(); err != nil {
			return nil, err
		}
	}
	made.Info, err = b.Finish()
	return made, err
}

// addTo adds all authorities of all sources, folders and captures, to a rule pack.
// prepare returns the pack to add to; it is called after all folders are listed and
// before any file is read. The captures of an old pack are added, if it is not nil; keep keeps
// all captures for another one.
func (f *Found) addTo(ctx context.Context, old *packSource, keep bool, prepare func() (*rulepack.Builder, error)) (*Compiled, error) {
	folders := make([]*rulesdir.Dir, len(f.sources)) // nil for captures
	defer func() {
		for _, folder := range folders {
			if folder != nil {
				_ = folder.Close() // it was only read from
			}
		}
	}()
	for i := range f.sources {
		var err error
		switch s := &f.sources[i]; s.kind {
		case packKind:
			return nil, option.Usagef("%s is compiled already: compile takes folders of robots.txt files and captures; %s adds captures to it", option.Rules.With(s.shown()), option.Update)
		case folderKind:
			folders[i], err = f.openDir(ctx, s.name, nil)
		}
		if err != nil {
			return nil, err
		}
	}
	b, err := prepare()
	if err != nil {
		return nil, err
	}
	c := new(Compiled)
	if c.Ignored, err = f.addFolders(ctx, b, folders); err != nil {
		return nil, err
	}
	states := make([]state, len(f.sources))
	for i, folder := range folders {
		if folder != nil {
			states[i].none = whyNoNames(folder)
		}
	}
	if f.firstCaptured() >= 0 || old != nil {
		// The pack itself orders the sources, so nothing is shadowed.
		c.Captured, _, err = f.addCaptures(ctx, b, old, keep || old != nil, time.Time{}, func([]byte, int) (bool, error) { return false, nil })
		if err != nil {
			return nil, err
		}
		c.Captured.setStates(f, states)
	}
	return c, f.refuse(states)
}

// addFolders adds all robots.txt files of folders, and returns how many names it
// ignored.
func (f *Found) addFolders(ctx context.Context, b *rulepack.Builder, folders []*rulesdir.Dir) (ignored int64, err error) {
	for i, folder := range folders {
		if folder == nil {
			continue
		}
		step := meter.Start(ctx, "reading robots.txt", meter.Files, int64(folder.Len()))
		read := func() { step.Add(1) }
		err := folder.Walk(f.options.Workers, read, func(authority, body []byte) error {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			return b.Add(rulepack.Entry{Authority: authority, Access: access.Rules, Body: body, Source: uint32(i)})
		})
		if err != nil {
			return 0, err
		}
		ignored += folder.Stats().Ignored
	}
	return ignored, nil
}

// addCaptures adds the decisions of the captures, and of those that an old pack keeps if it is
// not nil. keep keeps all of them for another pack. It leaves out an authority if shadowed
// reports that a source before the given one knows it, and judges without Options.AsOf at the
// time of the newest capture, or at a later one. It also returns the body if that is all: of a
// single robots.txt.
func (f *Found) addCaptures(ctx context.Context, b *rulepack.Builder, old *packSource, keep bool, later time.Time, shadowed func(authority []byte, source int) (bool, error)) (*Captured, []byte, error) {
	set := f.newCaptureSet(ctx, b, keep)
	defer set.Close()
	if err := set.read(ctx, old, b, later); err != nil {
		return nil, nil, err
	}
	err := set.addTo(ctx, b, shadowed)
	if keep {
		b.SetCaptured(rulepack.Captured{Policy: f.options.Policy, Later: set.Later(), Dropped: set.Dropped(), Newest: packTime(set.Newest()), Sources: f.kindsOf()})
	}
	if len(set.files) != 1 {
		set.singleBody = nil
	}
	return set.captured(), set.singleBody, err
}
