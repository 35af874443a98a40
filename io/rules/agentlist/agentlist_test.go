package agentlist

import (
	"fmt"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
)

func TestParse(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"GPTBot\nCCBot\n", "[GPTBot CCBot]"},
		{"# comment\r\n\r\n  GPTBot  # OpenAI\rGooglebot-News,Googlebot\t# a chain\n*", "[GPTBot Googlebot-News,Googlebot *]"},
		{"GPTBot\ngptbot\nCCBot\nGPTBOT,CCBot\nGPTBot,CCBot", "[GPTBot CCBot GPTBOT,CCBot]"},
		{"iaskspider/2.0\nKangaroo Bot # two words\nGPTBot", "[iaskspider Kangaroo GPTBot]"},
		{` {"GPTBot": {"operator": "OpenAI", "respect": ["yes"]}, "iaskspider/2.0": null, "Kangaroo Bot": {}, "bigsur.ai": 1, "gptBOT": 2}`, "[GPTBot iaskspider Kangaroo bigsur.ai]"},
	} {
		agents, err := Parse([]byte(test.text))
		var chains []matcher.Chain
		for _, agent := range agents {
			chains = append(chains, agent.Chain)
		}
		got := fmt.Sprint(chains)
		must.Be(t, err == nil && got == test.want, "%q: %s, %v, want %s", test.text, got, err, test.want)
	}
}

// The class of an agent is what the list says of its function.
func TestParseClasses(t *testing.T) {
	agents, err := Parse([]byte(`{"A": {"operator": "x", "function": " AI Assistants "}, "B": {"class": "search", "function": "other"}, "C": {"function": ["no text"]}, "D": null}`))
	got, want := fmt.Sprint(agents), "[{A AI Assistants} {B search} {C } {D }]"
	must.Be(t, err == nil && got == want, "%s, %v, want %s", got, err, want)
}

func TestParseRefuses(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "it has no agents: write one a line, such as GPTBot"},
		{"# none\n", "it has no agents"},
		{"{}", "it has no agents"},
		{"GPTBot\nMozilla/5.0 (compatible; Some/1.0)\n", "line 2: agent \"Mozilla/5.0 (compatible; Some/1.0)\" looks like a User-Agent header; give its product token: Some"},
		{"\n\nUser-agent: GPTBot\n", "line 3 is a line of a robots.txt"},
		{"- GPTBot\n- CCBot\n", "line 1: \"- GPTBot\" is no product token"},
		{"* GPTBot", "line 1: "},
		{"https://example.com/a\nDisallow: /b", "line 1: \"https://example.com/a\" is no product token: write the agents alone, one a line, such as GPTBot; line 2: \"Disallow: /b\" is no"},
		{"008\n1. GPTBot", "line 2: "},
		{`["GPTBot"]`, "line 1: "},
		{"'GPTBot'", "line 1: \"'GPTBot'\" is no product token: write the agents alone, one a line, such as GPTBot"},
		{"GPTBot#x", "line 1: "},
		{"GPT\u00A0Bot", "line 1: "},
		{"GPTBot\u200B", "line 1: \"GPTBot\\u200b\" is no product token"},
		{"<li>GPTBot", "line 1: "},
		{"\x89PNG\r\n\x1A\n", "it is not text"},
		{"a,,b", "line 1: an agent's name is empty"},
		{"a,,b\nGPTBot\nUser-agent: x\n/1", "line 1: an agent's name is empty: give a product token such as CCBot, or \"*\" for the rules for everyone; line 3 is a line of a robots.txt: write the agents alone, one a line; line 4: "},
		{strings.Repeat("a,,b\n", 12), "line 3: an agent's name is empty: give a product token such as CCBot, or \"*\" for the rules for everyone; and 9 more"},
		{`{"": 1, "x": 2, "/3": 4}`, `the key "" names no agent; the key "/3" names no agent`},
		{`{"/1": 1, "/2": 2, "/3": 3, "/4": 4}`, `the key "/3" names no agent; and 1 more`},
		{`{"a": 1`, "the JSON is broken"},
		{`{"a" 1}`, "the JSON is broken"},
		{`{"a": }`, "the JSON is broken"},
		{`{"a": 1} x`, "the JSON goes on after its object"},
		{`{"": 1}`, `the key "" names no agent`},
		{`{"bots": ["GPTBot"]}`, `the key "bots" has a list: make each agent a key`},
		{`{"/1.0": 1}`, `the key "/1.0" names no agent`},
		{`{"a,b": 1}`, `the key "a,b" names no agent`},
		{strings.Repeat("#", MaxSize+1), "more than 1 MiB"},
		{manyLines(maxAgents + 1), "it has 10001 agents, and 10000 is the most"},
	} {
		must.Say(t, must.Err(Parse([]byte(test.text))), test.want, test.text)
	}
}

func manyLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "bot%d\n", i)
	}
	return b.String()
}

func FuzzParse(f *testing.F) {
	f.Add("GPTBot # x\n*")
	f.Add(`{"a b/c": {"x": [1]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		agents, err := Parse([]byte(text))
		must.Be(t, (err == nil) != (len(agents) == 0), "%d agents and %v", len(agents), err)
		for _, agent := range agents {
			chain := agent.Chain
			must.Be(t, len(chain) != 0 && chain[0] != "" && !strings.ContainsAny(chain[0], " /\n"), "the chain %q", chain)
		}
	})
}
