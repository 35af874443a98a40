package export

import (
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"robotsbatch/bench/corpus"
	"robotsbatch/io/rulepack"
	"robotsbatch/matcher/access"
)

// packShare is how many origins a goroutine takes at a time.
const packShare = 256

// Pack writes a rule pack of that name, with the body of each origin that has
// one. A million origins take no folder of a million files so.
func Pack(name string, c *corpus.Corpus) error {
	b, err := rulepack.Create(name, rulepack.BuildOptions{})
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	defer b.Abort()
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for failed.Load() == nil {
				first := int(next.Add(packShare)) - packShare
				if first >= c.Options().Origins {
					return
				}
				if err := addOrigins(b, c, first, min(first+packShare, c.Options().Origins)); err != nil {
					failed.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	group.Wait()
	if err := failed.Load(); err != nil {
		return fmt.Errorf("export: %w", *err)
	}
	if _, err := b.Finish(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// addOrigins adds the origins first to end-1.
func addOrigins(b *rulepack.Builder, c *corpus.Corpus, first, end int) error {
	var body []byte
	for i := first; i < end; i++ {
		o := c.Origin(i)
		if o.Body < 0 {
			continue
		}
		authority := []byte(o.Scheme + "://" + o.Host)
		if o.Port != 0 {
			authority = strconv.AppendInt(append(authority, ':'), int64(o.Port), 10)
		}
		body = c.AppendBody(body[:0], o.Body)
		if err := b.Add(rulepack.Entry{Authority: authority, Access: access.Rules, Body: body, Status: 200}); err != nil {
			return err
		}
	}
	return nil
}
