package ruleset

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"robotsbatch/batch/option"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/matcher"
	"robotsbatch/matcher/spelling"
)

// agentWatch finds agents that are likely misspelt: GTPBot, when no robots.txt names it
// but some name GPTBot.
//
// A robots.txt may have thousands of names, and a job thousands of agents. So each
// distinct name is compared with the agents only once.
type agentWatch struct {
	mu      sync.Mutex                 // guards the fields below; all workers compile rules
	chains  []*watchedChain            // not named by any robots.txt yet
	asked   map[string][]*watchedChain // by name in lower case
	almost  map[string][]*watchedChain // by name seen: the chains that have a name almost like it
	longest int                        // length of the longest name asked for
	packs   []*rulepack.Pack           // whose names are looked through last
}

// watchedChain is a chain of agents whose names are watched for.
type watchedChain struct {
	asked   string // as given to -agent
	letters []letters
	names   []string         // in lower case
	near    map[string]int64 // similar names, and how often each came
}

const (
	// maxNear is the most similar names counted for a chain.
	maxNear = 64
	// maxCompared is the most distinct names compared with the agents.
	maxCompared = 1 << 14
)

func newAgentWatch(chains []matcher.Chain) *agentWatch {
	w := &agentWatch{asked: make(map[string][]*watchedChain), almost: make(map[string][]*watchedChain)}
	for _, chain := range chains {
		c := &watchedChain{asked: strings.Join(chain, ","), near: make(map[string]int64)}
		for _, name := range chain {
			if name != matcher.Everyone {
				name = strings.ToLower(name)
				c.names, c.letters = append(c.names, name), append(c.letters, lettersOf(name))
				w.asked[name] = append(w.asked[name], c)
				w.longest = max(w.longest, len(name))
			}
		}
		if len(c.names) > 0 {
			w.chains = append(w.chains, c)
		}
	}
	return w
}

// hook returns a function that takes names, or nil if none are needed.
func (w *agentWatch) hook() func(name []byte) bool {
	if len(w.chains) == 0 {
		return nil
	}
	return w.named
}

// named takes a name from a robots.txt. It returns false when no more names are needed.
func (w *agentWatch) named(name []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(name) > w.longest+2 {
		return len(w.chains) > 0
	}
	lower := bytes.ToLower(name)
	if chains, ok := w.asked[string(lower)]; ok {
		delete(w.asked, string(lower))
		w.chains = slices.DeleteFunc(w.chains, func(c *watchedChain) bool { return slices.Contains(chains, c) })
	}
	almost, compared := w.almost[string(lower)]
	if !compared && len(w.almost) < maxCompared {
		almost = w.compare(string(lower))
		w.almost[string(lower)] = almost
	}
	for _, c := range almost {
		c.near[string(lower)]++
	}
	return len(w.chains) > 0
}

// watchPack takes the names of a pack: at once those that are asked for, and only if others
// are missing in the end all of them.
func (w *agentWatch) watchPack(p *rulepack.Pack) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, chains := range w.asked {
		if p.HasName(name) {
			delete(w.asked, name)
			w.chains = slices.DeleteFunc(w.chains, func(c *watchedChain) bool { return slices.Contains(chains, c) })
		}
	}
	w.packs = append(w.packs, p)
}

// lookThrough compares the names of packs with those that no robots.txt names.
func (w *agentWatch) lookThrough() {
	if len(w.chains) == 0 {
		return
	}
	for _, p := range w.packs {
		_ = p.Names(func(name []byte, bodies int64) bool { // without them there is no notice
			if len(name) <= w.longest+2 {
				for _, c := range w.compare(string(name)) {
					c.near[string(name)] += bodies
				}
			}
			return true
		})
	}
	w.packs = nil
}

// compare returns the chains with a name similar to this one, which count it.
func (w *agentWatch) compare(name string) (chains []*watchedChain) {
	of := lettersOf(name)
	for _, c := range w.chains {
		if len(c.near) < maxNear && c.isAlmost(name, of) {
			chains = append(chains, c)
		}
	}
	return chains
}

func (c *watchedChain) isAlmost(name string, of letters) bool {
	for i, asked := range c.names {
		if len(name) <= len(asked)+2 && len(name) >= len(asked)-2 && of.near(c.letters[i]) && isAlmost(name, asked) {
			return true
		}
	}
	return false
}

// letters is the set of a name's bytes: one bit for each byte modulo 64.
type letters uint64

func lettersOf(name string) (l letters) {
	for i := range len(name) {
		l |= 1 << (name[i] & 63)
	}
	return l
}

// near is false if the names must be more than two edits apart: an edit removes at most
// one letter and adds at most one.
func (l letters) near(other letters) bool { return bits.OnesCount64(uint64(l^other)) <= 4 }

// isAlmost reports whether one name is likely a slip for the other: one edit apart, or two
// when they are long. In a short name another letter makes another name (devin and devil,
// wpbot and npbot), unless the two look alike.
func isAlmost(a, b string) bool {
	const short, long = 4, 9
	switch n := min(len(a), len(b)); {
	case n < short:
		return false
	case n < long:
		return spelling.Distance(a, b) == 1 && (len(a) != len(b) || slippedLetters(a, b))
	}
	return spelling.Distance(a, b) <= 2
}

// slippedLetters reports whether two names that are one edit apart and of one length differ
// by neighbours that were swapped, or by a letter that looks like the other.
func slippedLetters(a, b string) bool {
	first := 0
	for a[first] == b[first] {
		first++
	}
	if a[first+1:] != b[first+1:] {
		return true // swapped
	}
	for _, alike := range []string{"o0", "il1", "s5", "-_", "b8", "z2"} {
		if strings.IndexByte(alike, a[first]) >= 0 && strings.IndexByte(alike, b[first]) >= 0 {
			return true
		}
	}
	return false
}

// warnings returns a line for each agent that is likely misspelt.
func (w *agentWatch) warnings() []option.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lookThrough()
	var lines []option.Message
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
			lines = append(lines, option.Messagef("%s: no robots.txt that was read names it, while %s is named %s: is it misspelt?", option.Agent.With(c.asked), best, times))
		}
	}
	return lines
}
