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
		Chains: o.Chains, Profile: o.Profile, Limit: o.Limit, Explain: o.Explain, Records: o.Records, Usage: o.Usage,
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

// File returns the name of the pack, or of the captures that it was made of, if it has
// an authority.
func (p *packSource) File(authority []byte) (string, error) {
	if _, known, err := p.Authority(authority); err != nil || !known {
		return "", err
	}
	return p.name, nil
}

func (p *packSource) pack() *packSource { return p }
func (p *packSource) always() bool      { return false }

func (p *packSource) newest() (newest time.Time) {
	if second := p.Info().AsOf; second != 0 {
		newest = time.Unix(second, 0).UTC()
	}
	return newest
}

func (p *packSource) fetch(authority []byte) (fetched, error) {
	a, known, err := p.Authority(authority)
	return fetched{a.Status, a.Fetched, a.Stale, known}, err
}

func (p *packSource) alone(s *Set) matcher.Origins {
	if p.Partitions() > 1 {
		return partitioned{p, s}
	}
	return p
}

func (p *packSource) historical() (matcher.Historical, error) {
	if err := p.checkHistory(); err != nil {
		return nil, err
	}
	if p.Partitions() > 1 {
		return nil, option.Usagef("%s is a rule pack of one partition, which cannot tell what held at other times: compile one of all hosts", option.Rules.With(blob.Shown(p.name)))
	}
	return p.Pack, nil
}

func (p *packSource) whyNone() (none option.Message, err error) {
	info := p.Info()
	switch {
	case info.Authorities == 0:
		return option.Messagef("is a rule pack without hosts"), nil
	case !info.History || p.asOf.IsZero():
		return none, nil
	}
	if empty, err := p.Empty(); err != nil || !empty {
		return none, err
	}
	return noneBefore(p.asOf), nil
}

// checkMoment refuses a time before that of a pack without a history: the pack has dropped
// what held then, and lookups would answer by later fetches.
func (p *packSource) checkMoment() error {
	info, second := p.Info(), packSecond(p.asOf)
	if info.History || second == 0 || int64(second) >= info.AsOf {
		return nil
	}
	return option.Usagef("%s is a rule pack of %s without a history, so it does not know what held at %s (%s): compile it with %s",
		option.Rules.With(blob.Shown(p.name)), p.newest().Format(time.RFC3339), p.asOf.UTC().Format(time.RFC3339), option.AsOf, option.History)
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

// fetchPack opens a temporary copy of a rule pack in a store, because packs are
// memory-mapped.
func (f *Found) fetchPack(ctx context.Context, name string, watch *agentWatch) (*packSource, error) {
	scratch, file, err := fetch(ctx, name)
	if err != nil {
		return nil, err
	}
	pack, err := f.openPack(file, blob.Shown(name), watch)
	if err != nil {
		return nil, errors.Join(option.Errorf("%s: %w", option.Rules.With(blob.Shown(name)), err), scratch.Remove())
	}
	pack.scratch = scratch
	_ = scratch.Remove() // where an open file can be removed, nothing is left even after a crash
	return pack, nil
}

// fetch copies an object to a file in a new temporary folder.
func fetch(ctx context.Context, name string) (scratch *blob.Scratch, file string, err error) {
	if scratch, err = blob.NewScratch(); err != nil {
		return nil, "", fmt.Errorf("a copy of %s: %w", blob.Shown(name), err)
	}
	file = filepath.Join(scratch.Path, "copy.rules")
	if err := copyObject(ctx, name, file); err != nil {
		return nil, "", errors.Join(err, scratch.Remove())
	}
	return scratch, file, nil
}

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
func Inspect(ctx context.Context, name string, use func(*rulepack.Pack) error) (err error) {
	file := name
	if blob.IsURL(name) {
		var scratch *blob.Scratch
		if scratch, file, err = fetch(ctx, name); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, scratch.Remove()) }()
	}
	p, err := rulepack.Inspect(file)
	if err == nil {
		err = errors.Join(use(p), p.Close())
	}
	if err != nil && file != name {
		return fmt.Errorf("%s: %w", blob.Shown(name), err)
	}
	return err
}
