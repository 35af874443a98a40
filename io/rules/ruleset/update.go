package ruleset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/rules/captures"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/store/blob"
)

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

// checkUpdated refuses a pack of which it is not certain that the result is as if all were
// compiled at once.
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
