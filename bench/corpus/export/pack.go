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
	a := adder{corpus: c, builder: b, kept: make([]atomic.Uint64, c.Bodies())}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for first := 0; first < c.Options().Origins; first += packShare {
		group.Go(func() error { return a.add(first, min(first+packShare, c.Options().Origins)) })
	}
	if err = group.Wait(); err == nil {
		_, err = b.Finish()
	}
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// adder adds origins to a pack. It makes each body only once, for the first origin that has
// it: making it for each origin would take longer than building the pack.
type adder struct {
	corpus  *corpus.Corpus
	builder *rulepack.Builder
	kept    []atomic.Uint64 // by body: what Builder.Keep returned, or 0
}

// add adds the origins [first, end).
func (a *adder) add(first, end int) error {
	var memory []byte
	for i := first; i < end; i++ {
		o := a.corpus.Origin(i)
		if o.Body < 0 {
			continue
		}
		kept := a.kept[o.Body].Load()
		if kept == 0 {
			var err error
			memory = a.corpus.AppendBody(memory[:0], o.Body)
			if kept, err = a.builder.Keep(memory, false); err != nil {
				return err
			}
			a.kept[o.Body].Store(kept)
		}
		if err := a.builder.Add(rulepack.Entry{Authority: o.Authority(), Access: access.Rules, Kept: kept, Status: 200}); err != nil {
			return err
		}
	}
	return nil
}
