package ruleset

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"robotsbatch/batch/option"
	"robotsbatch/matcher"
	"robotsbatch/matcher/spelling"
)

// agentWatch finds agents that are likely misspelt: GTPBot, when no robots.txt names it
// but some name GPTBot. It also finds those that lack the name they fall back to:
// Googlebot-Image, when no robots.txt names it but some name Googlebot.
type agentWatch struct {
	mu      sync.Mutex       // guards the fields below; all workers compile rules
	chains  []watchedChain   // not named by any robots.txt yet
	seen    map[string]int64 // how often each name was seen that is short enough, in lower case
	longest int              // length of the longest name asked for
}

// watchedChain is a chain of agents whose names are watched for.
type watchedChain struct {
	asked string   // as given to -agent
	names []string // in lower case
}

// maxSeen is the most distinct names that are compared with the agents.
const maxSeen = 1 << 14

// newAgentWatch returns a watch for the names in chains, which are as given; Everyone is no name.
func newAgentWatch(chains []matcher.Chain) *agentWatch {
	w := &agentWatch{seen: make(map[string]int64)}
	for _, chain := range chains {
		c := watchedChain{asked: chain.String()}
		for _, name := range chain {
			if name != matcher.Everyone {
				c.names = append(c.names, strings.ToLower(name))
				w.longest = max(w.longest, len(name))
			}
		}
		if len(c.names) > 0 {
			w.chains = append(w.chains, c)
		}
	}
	return w
}

// nameHook returns the function for rulesdir.Options.Named; nil if no names are watched for. w may be nil.
func (w *agentWatch) nameHook() func(name []byte) bool {
	if w == nil || len(w.chains) == 0 {
		return nil
	}
	return w.addName
}

// addName notes that a robots.txt names an agent. It returns false when no more names are needed.
func (w *agentWatch) addName(name []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(name) > 0 && len(name) <= w.longest+spelling.MostEdits { // a longer one is not almost one of the chains'
		lower := string(bytes.ToLower(name))
		w.dropNamed(func(name string) bool { return name == lower })
		if w.seen[lower] > 0 || len(w.seen) < maxSeen {
			w.seen[lower]++
		}
	}
	return len(w.chains) > 0
}

// dropNamed ends the watch for the chains that have a name, in lower case, that isNamed returns true for.
func (w *agentWatch) dropNamed(isNamed func(name string) bool) {
	w.chains = slices.DeleteFunc(w.chains, func(c watchedChain) bool { return slices.ContainsFunc(c.names, isNamed) })
}

// isAlmost reports whether a name in lower case is likely a slip for one of the chain's.
func (c *watchedChain) isAlmost(name string) bool {
	return slices.ContainsFunc(c.names, func(asked string) bool { return spelling.IsSlip(name, asked) })
}

// extends reports whether the chain's last name is a name in lower case with a hyphen and more after
// it, as googlebot-image is of googlebot.
func (c *watchedChain) extends(name string) bool {
	rest, ok := strings.CutPrefix(c.names[len(c.names)-1], name)
	return ok && name != "" && strings.HasPrefix(rest, "-")
}

// warnings returns a line for each agent that is likely misspelt, also by the names in these packs.
func (w *agentWatch) warnings(packs []*opened) (lines []option.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.chains) == 0 {
		return nil
	}
	seen := maps.Clone(w.seen)
	for _, source := range packs {
		_ = source.pack.Names(func(text []byte, bodies int64) bool { // without them there is no notice
			name := string(text)
			if len(seen) < 2*maxSeen && slices.ContainsFunc(w.chains, func(c watchedChain) bool { return c.extends(name) || c.isAlmost(name) }) {
				seen[name] += bodies
			}
			return true
		})
	}
	names := slices.Sorted(maps.Keys(seen))
	for i := range w.chains {
		if line := w.chains[i].warning(names, seen); !line.Empty() {
			lines = append(lines, line)
		}
	}
	return lines
}

// warning says which agent was likely meant by a chain that no robots.txt names. That is the most
// frequent name that is almost one of the chain's or, if there is none, the longest name that the
// chain's last one extends. The warning is empty if there is neither. names are sorted; seen has
// how often each occurred.
func (c *watchedChain) warning(names []string, seen map[string]int64) (none option.Message) {
	similar, general := "", ""
	for _, name := range names {
		if seen[name] > seen[similar] && c.isAlmost(name) {
			similar = name
		}
		if len(name) > len(general) && c.extends(name) {
			general = name
		}
	}
	if count := seen[similar]; count > 0 {
		times := fmt.Sprintf("%d times", count)
		if count == 1 {
			times = "once"
		}
		return option.Messagef("%s: no robots.txt that was read names it, while %s is named %s: is it misspelt?", option.Agent.With(c.asked), similar, times)
	}
	if general == "" {
		return none
	}
	last := c.names[len(c.names)-1]
	at := strings.LastIndex(strings.ToLower(c.asked), last) // a name * may follow it
	name, end := c.asked[at:at+len(general)], at+len(last)
	return option.Messagef("%s: no robots.txt that was read names it, and some name %s: if it obeys these rules then, give %s",
		option.Agent.With(c.asked), name, option.Agent.With(c.asked[:end]+","+name+c.asked[end:]))
}
