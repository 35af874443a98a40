package matcher

import (
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

func TestParseChainRefuses(t *testing.T) {
	for chain, want := range map[string]string{
		"": "is empty", "a,": "is empty", "GPT\x1ABot": "no control characters", "a*": `has no "*" in it`, "*,a": "can only come last",
		"GPT Bot": "is it GPTBot?", "Mozilla/5.0 (compatible; GPTBot/1.2)": "its product token: GPTBot", "()": "such as CCBot",
	} {
		c, err := ParseChain(chain)
		must.Be(t, err != nil && strings.Contains(err.Error(), want), "%q: %q, %v, want %s", chain, c, err, want)
	}
}

func TestRelatedNamesSharePrefix(t *testing.T) {
	for chain, want := range map[string]bool{
		"CCBot": true, "*": true, "Googlebot-News,Googlebot": true, "googlebot-image,Googlebot,*": true, "Google-Extended,Googlebot": true,
		"CCBot,GPTBot": false, "ChatGPT-User,ClaudeBot": false,
		"Googlebot-News,Googlebot,CCBot": false, "AI,AI2Bot": true,
	} {
		c := must.Get(ParseChain(chain))(t)
		must.Be(t, c.Related() == want, "%s: %v", chain, !want)
	}
}
