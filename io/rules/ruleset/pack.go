package ruleset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"robotsbatch/batch/manifest"
	"robotsbatch/batch/option"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher"
)

// packSource is a rule pack that is open.
type packSource struct {
	*rulepack.Pack
	name     string        // for people
	asOf     time.Time     // Options.AsOf
	scratch  *blob.Scratch // of a temporary pack, removed by Close; else empty
	captured bool          // made of captures, which Captured counts
	// text is the robots.txt of all authorities, if the pack was made of a single one.
	text []byte
}

// openPack opens the rule pack in a file; name is what people call it.
func (f *Found) openPack(file, name string, watch *agentWatch) (*packSource, error) {
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
	watch.watchPack(pack)
	return &packSource{Pack: pack, name: name, asOf: o.AsOf}, nil
}

// newestOf returns the time of the newest fetch in a pack; the zero time if none is known.
func newestOf(info *rulepack.Info) (newest time.Time) {
	if info.AsOf != 0 {
		newest = time.Unix(info.AsOf, 0).UTC()
	}
	return newest
}

// historical implements opened. It refuses a pack without a history, and one of a partition.
func (p *packSource) historical() (matcher.Historical, error) {
	if err := p.checkHistory(); err != nil {
		return nil, err
	}
	if p.Partitions() > 1 {
		return nil, option.Usagef("%s is a rule pack of one partition, which cannot tell what held at other times: compile one of all hosts", option.Rules.With(blob.Shown(p.name)))
	}
	return p.Pack, nil
}

// state implements opened. At Options.AsOf a pack with a history may know no host yet.
func (p *packSource) state() (s state, err error) {
	info := p.Info()
	s.newest = newestOf(info)
	switch {
	case info.Authorities == 0:
		s.none = option.Messagef("is a rule pack without hosts")
	case info.History && !p.asOf.IsZero():
		var empty bool
		if empty, err = p.Empty(); empty {
			s.none = noneBefore(p.asOf)
		}
	}
	return s, err
}

// oddBodies counts those of all the pack's hosts.
func (p *packSource) oddBodies() OddBodies {
	if p.captured { // Captured counts them
		return OddBodies{}
	}
	return OddBodies{Name: p.name, HTML: p.Info().HTML, Binary: p.Info().Binary}
}

// checkAsOf returns an error for a time before that of a pack without a history: the pack has
// dropped what held then, and lookups would answer by later fetches.
func (p *packSource) checkAsOf() error {
	info, second := p.Info(), packSecond(p.asOf)
	if info.History || second == 0 || int64(second) >= info.AsOf {
		return nil
	}
	return option.Usagef("%s is a rule pack of %s without a history, so it does not know what held at %s (%s): compile it with %s",
		option.Rules.With(blob.Shown(p.name)), newestOf(info).Format(time.RFC3339), p.asOf.UTC().Format(time.RFC3339), option.AsOf, option.History)
}

func (p *packSource) identify(rules *manifest.Rules) {
	rules.Kind, rules.Checksum = "pack", p.Info().Checksum
}

// Close closes the pack, and removes it if it is temporary.
func (p *packSource) Close() error {
	err := p.Pack.Close()
	if p.scratch != nil {
		err = errors.Join(err, p.scratch.Remove())
	}
	return err
}

// openPackSource opens a source that is a rule pack. watch, which may be nil, takes its names of agents.
func (f *Found) openPackSource(ctx context.Context, s *source, watch *agentWatch) (*packSource, error) {
	pack, err := openLocal(ctx, s.name, func(file string) (*packSource, error) {
		return f.openPack(file, s.shown(), watch)
	})
	if err != nil || f.options.Clock { // a pack of a later moment than the clock's is used as it is
		return pack, err
	}
	if err := pack.checkAsOf(); err != nil {
		return nil, errors.Join(err, pack.Close())
	}
	return pack, nil
}

// openLocal calls open with the file of a rule pack. Packs are mapped into memory, so one in a store is
// first copied to a temporary file, which Close of the result removes.
func openLocal(ctx context.Context, name string, open func(file string) (*packSource, error)) (*packSource, error) {
	if !blob.IsURL(name) {
		return open(name)
	}
	return openTemporary("a copy of "+blob.Shown(name), func(file string) (*packSource, error) {
		if err := copyObject(ctx, name, file); err != nil {
			return nil, err
		}
		return open(file)
	})
}

// openTemporary calls open with the name of a temporary file, in which open makes a rule pack and
// opens it. Close of the result removes the file. what is what errors call it.
func openTemporary(what string, open func(file string) (*packSource, error)) (*packSource, error) {
	scratch, err := blob.NewScratch()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	pack, err := open(filepath.Join(scratch.Path, "temporary.rules"))
	if err != nil {
		return nil, errors.Join(err, scratch.Remove())
	}
	pack.scratch = scratch
	_ = scratch.Remove() // where an open file can be removed, nothing is left even after a crash
	return pack, nil
}

// makePack makes a temporary rule pack of what fill adds, and opens it. b has the options that differ
// from those of all packs; its Name is what people call the pack.
func (p *packing) makePack(ctx context.Context, b rulepack.BuildOptions, watch *agentWatch) (*packSource, error) {
	if hold := p.options.HoldHeap; hold != nil {
		defer hold()()
	}
	return openTemporary("a temporary rule pack", func(file string) (*packSource, error) {
		to, err := p.createPack(ctx, file, b)
		if err != nil {
			return nil, err
		}
		defer to.Abort()
		if err := p.fill(ctx, to); err != nil {
			return nil, err
		}
		if _, err := to.Finish(); err != nil {
			return nil, err
		}
		return p.openPack(file, b.Name, watch)
	})
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
	pack, err := openLocal(ctx, name, func(file string) (*packSource, error) {
		p, err := rulepack.Inspect(file, blob.Shown(name))
		return &packSource{Pack: p}, err
	})
	if err != nil {
		return err
	}
	return errors.Join(use(pack.Pack), pack.Close())
}
