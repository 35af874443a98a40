package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"robotsbatch/io/rulepack"
)

// packSource is a rule pack that is open. One that was made of captures for this
// run alone is gone when it is closed.
type packSource struct {
	*rulepack.Pack
	name   string // for people
	folder string // to be removed, if it is not empty
}

// openPack opens a rule pack.
func openPack(file, name string, c *rulesConfig, use ruleUse) (*packSource, error) {
	pack, err := rulepack.Open(file, rulepack.Options{
		Chains: c.agents, Profile: c.profile, Limit: int(c.limit), Explain: use.explain, Records: use.records, Memory: use.cache(c),
	})
	if errors.Is(err, rulepack.ErrMismatch) {
		err = usageError{err}
	}
	if err != nil {
		return nil, err
	}
	return &packSource{Pack: pack, name: name}, nil
}

// File is the pack's name, or that of the captures, if it has an authority.
func (p *packSource) File(authority []byte) (string, error) {
	if _, known, err := p.Authority(authority); err != nil || !known {
		return "", err
	}
	return p.name, nil
}

// Close closes the pack.
func (p *packSource) Close() error {
	err := p.Pack.Close()
	if p.folder != "" {
		err = errors.Join(err, os.RemoveAll(p.folder))
	}
	return err
}

// openCaptures makes a rule pack of all captures and opens it. others are the
// sources that are no captures, each at its place. An authority that one of them
// has before the captures do is not in the pack, so that the pack may stand where
// the first captures do.
func openCaptures(ctx context.Context, c *rulesConfig, found []foundRules, others ruleSources, use ruleUse, log *console) (*packSource, error) {
	folder, err := os.MkdirTemp("", "robotsbatch-")
	if err != nil {
		return nil, fmt.Errorf("a temporary rule pack: %w", err)
	}
	pack, err := compileCaptures(ctx, c, found, others, use, folder, log)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	pack.folder = folder
	// Where the system can do that nothing of it has a name from now on, and is
	// left whatever happens.
	_ = os.RemoveAll(folder)
	return pack, nil
}

func compileCaptures(ctx context.Context, c *rulesConfig, found []foundRules, others ruleSources, use ruleUse, folder string, log *console) (*packSource, error) {
	defer holdHeap(use.memory)()
	file := filepath.Join(folder, "captures.rules")
	b, err := rulepack.Create(ctx, file, rulepack.BuildOptions{
		Profile: c.profile, Limit: int(c.limit), Memory: use.memory - use.memory/captureMemory, Maker: "robotsbatch " + version(),
	})
	if err != nil {
		return nil, err
	}
	defer b.Abort()
	set := newCaptureSet(ctx, c, found, b, use.memory, folder, log)
	defer set.Close()
	if err := set.read(ctx, use.workers, others.newest()); err != nil {
		return nil, err
	}
	err = set.addTo(ctx, b, func(authority []byte, source int) (bool, error) {
		name, err := others[:source].file(authority)
		return name != "", err
	})
	if err != nil {
		return nil, err
	}
	info, err := b.Finish()
	if err != nil {
		return nil, err
	}
	set.tell(info)
	return openPack(file, someOf(set.names), c, use)
}
