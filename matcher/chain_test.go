package matcher

import "testing"

func TestRelatedNamesSharePrefix(t *testing.T) {
	for chain, want := range map[string]bool{
		"CCBot": true, "*": true, "Googlebot-News,Googlebot": true, "googlebot-image,Googlebot,*": true, "Google-Extended,Googlebot": true,
		"CCBot,GPTBot": false, "ChatGPT-User,ClaudeBot": false,
		"Googlebot-News,Googlebot,CCBot": false, "AI,AI2Bot": true,
	} {
		c, err := ParseChain(chain)
		if err != nil {
			t.Fatal(err)
		}
		if c.Related() != want {
			t.Errorf("%s: %v", chain, !want)
		}
	}
}
