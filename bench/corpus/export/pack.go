package export

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"robotsbatch/bench/corpus"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/matcher/access"
)

// packShare is the number of origins that a goroutine handles.
const packShare = 256

// Pack writes a rule pack with the body of each origin that has one. It avoids a folder of
// a million files.
func Pack(name string, c *corpus.Corpus) error {
	b, err := rulepack.Create(context.Background(), name, rulepack.BuildOptions{})
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	defer b.Abort()
	kept := make([]atomic.Uint64, c.Bodies())
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for first := 0; first < c.Options().Origins; first += packShare {
		group.Go(func() error { return addTo(b, c, kept, first, min(first+packShare, c.Options().Origins)) })
	}
	if err = group.Wait(); err == nil {
		_, err = b.Finish()
	}
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// addTo adds the origins [first, end) to a pack. It makes each body only once, for the first
// origin that has it: making it for each origin would take longer than building the pack. kept
// has, by body, what Builder.Keep returned, or 0.
func addTo(b *rulepack.Builder, c *corpus.Corpus, kept []atomic.Uint64, first, end int) error {
	var memory []byte
	for i := first; i < end; i++ {
		o := c.Origin(i)
		if o.Body < 0 {
			continue
		}
		known := kept[o.Body].Load()
		if known == 0 {
			var err error
			memory = c.AppendBody(memory[:0], o.Body)
			if known, err = b.Keep(memory, false); err != nil {
				return err
			}
			kept[o.Body].Store(known)
		}
		if err := b.Add(rulepack.Entry{Authority: o.Authority(), Access: access.Rules, Kept: known, Status: 200}); err != nil {
			return err
		}
	}
	return nil
}
