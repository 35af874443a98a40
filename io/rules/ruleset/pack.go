package ruleset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"robotsbatch/batch/option"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/store/blob"
)

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
		if err := copyObject(ctx, name, file); err != nil {
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

// copyObject copies an object into a new file.
func copyObject(ctx context.Context, name, file string) error {
	in, err := blob.Open(ctx, name)
	if err != nil {
		return err
	}
	defer in.Close() // it was only read from
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		return fmt.Errorf("a copy of %s in %s: %w", in.Name(), os.TempDir(), err)
	}
	return out.Close()
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
