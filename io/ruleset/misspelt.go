package ruleset

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"robotsbatch/matcher/spelling"

	"robotsbatch/matcher"
)

// agentWatch finds agents that no robots.txt names while some name one that is
// written almost the same: GTPBot for GPTBot.
type agentWatch struct {
	mu     sync.Mutex // for what follows; rules are compiled by all workers
	chains []*watchedChain
}

// watchedChain is a chain that was not named yet.
type watchedChain struct {
	asked string           // as -agent has it
	names []string         // in lower case
	near  map[string]int64 // names almost the same, and how often they came
}

// maxNear is how many names that are almost the same are counted.
const maxNear = 64

func newAgentWatch(chains []matcher.Chain) *agentWatch {
	w := new(agentWatch)
	for _, chain := range chains {
		c := &watchedChain{asked: strings.Join(chain, ","), near: make(map[string]int64)}
		for _, name := range chain {
			if name != matcher.Everyone {
				c.names = append(c.names, strings.ToLower(name))
			}
		}
		if len(c.names) > 0 {
			w.chains = append(w.chains, c)
		}
	}
	return w
}

// hook returns what takes names; nil when none are wanted.
func (w *agentWatch) hook() func(name []byte) bool {
	if len(w.chains) == 0 {
		return nil
	}
	return w.named
}

// named takes a name that a robots.txt has; it is false when no more are wanted.
func (w *agentWatch) named(name []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.chains = slices.DeleteFunc(w.chains, func(c *watchedChain) bool { return c.take(name) })
	return len(w.chains) > 0
}

// take reports whether a name is one of the chain's, and counts it if it is almost.
func (c *watchedChain) take(name []byte) bool {
	for _, asked := range c.names {
		if len(name) > len(asked)+2 || len(name) < len(asked)-2 {
			continue
		}
		lower := string(bytes.ToLower(name))
		if lower == asked {
			return true
		}
		if _, counted := c.near[lower]; (counted || len(c.near) < maxNear) && isAlmost(lower, asked) {
			c.near[lower]++
		}
	}
	return false
}

// isAlmost reports whether one name is likely a slip for the other: one edit apart,
// or two when they are long.
func isAlmost(a, b string) bool {
	const short, long = 4, 9
	switch n := min(len(a), len(b)); {
	case n < short:
		return false
	case n < long:
		return spelling.Distance(a, b) == 1
	}
	return spelling.Distance(a, b) <= 2
}

// warnings are a line for each agent that is likely misspelt.
func (w *agentWatch) warnings() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []string
	for _, c := range w.chains {
		best, count := "", int64(0)
		for name, n := range c.near {
			if n > count || n == count && name < best {
				best, count = name, n
			}
		}
		if count > 0 {
			times := fmt.Sprintf("%d times", count)
			if count == 1 {
				times = "once"
			}
			lines = append(lines, fmt.Sprintf("-agent %s: no robots.txt that was read names it, while %s is named %s: is it misspelt?", c.asked, best, times))
		}
	}
	return lines
}
