package ruleset

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
)

func TestAgentWatch(t *testing.T) {
	for _, test := range []struct {
		agents, named string // by blanks
		want          string // what the warnings name, by blanks
	}{
		{"GTPBot", "gptbot GPTBot googlebot", "GTPBot gptbot"},
		{"GTPBot", "gptbot GTPBOT", ""},
		{"GTPBot", "googlebot", ""},
		{"GPTBots", "GPTBot", "GPTBots gptbot"},
		{"GTPBot,CCBot", "gptbot ccbot", ""},
		{"GTPBot,CCBut", "gptbot gptbot ccbot", "GTPBot,CCBut gptbot"},
		{"*", "gptbot", ""},
		{"ab", "ac", ""},
		{"CCBot", "GCCBot CCCBot cbot", "CCBot cbot"}, // the first by name, of those as frequent
		{"Goooglebut", "Googlebot", "Goooglebut googlebot"},
		{"Gogglebut", "Googlebot-News", ""},
		{"GTPBot Goglebot", "gptbot googlebot", "GTPBot gptbot Goglebot googlebot"},
	} {
		var chains []matcher.Chain
		for agent := range strings.FieldsSeq(test.agents) {
			chains = append(chains, strings.Split(agent, ","))
		}
		w := newAgentWatch(chains)
		for name := range strings.FieldsSeq(test.named) {
			w.addName([]byte(name))
		}
		var got []string
		for _, warning := range w.warnings(nil) {
			line := warning.String()
			got = append(got, strings.TrimSuffix(strings.Fields(line)[1], ":"), strings.Fields(line)[strings.Count(line[:strings.Index(line, "while ")], " ")+1])
		}
		must.Be(t, slices.Equal(got, strings.Fields(test.want)), "-agent %s among %s: %q, want %s", test.agents, test.named, w.warnings(nil), test.want)
	}
}

// An asked agent that was named ends the watch, and names beyond all bounds cost
// nothing.
func TestAgentWatchEnds(t *testing.T) {
	w := newAgentWatch([]matcher.Chain{{"CCBot"}, {"GPTBot"}})
	for _, step := range []struct {
		name string
		more bool
	}{{strings.Repeat("x", 1<<20), true}, {"ccbot", true}, {"GPTBOT", false}, {"gtpbot", false}} {
		must.Equal(t, w.addName([]byte(step.name)), step.more, "after", step.name)
	}
	w = newAgentWatch([]matcher.Chain{{"CCBot"}})
	must.Be(t, w.nameHook() != nil && newAgentWatch([]matcher.Chain{{matcher.Everyone}}).nameHook() == nil, "hook: names are wanted for CCBot, and none for everyone")
}

// An agent is found to be named however many names came before, of which no more are
// compared with it.
func TestAgentWatchComparesSoManyNames(t *testing.T) {
	w := newAgentWatch([]matcher.Chain{{"CCBot"}, {"GPTBot"}})
	for i := range maxSeen + 1 {
		w.addName(fmt.Appendf(nil, "n%06x", i))
	}
	w.addName([]byte("GTPBot"))
	must.Be(t, len(w.seen) == maxSeen && len(w.warnings(nil)) == 0, "%d names were compared, want %d and none after them: %q", len(w.seen), maxSeen, w.warnings(nil))
	must.Be(t, w.addName([]byte("ccbot")) && !w.addName([]byte("gptbot")), "names are wanted until both agents were named, and no longer")
}
