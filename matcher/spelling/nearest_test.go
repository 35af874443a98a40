package spelling

import (
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

func TestNearest(t *testing.T) {
	names := []string{"in", "rules", "agent", "url-column", "GPTBot", "CCBot"}
	for name, want := range map[string]string{
		"rule": "rules", "urls-column": "url-column", "GTPBot": "GPTBot", "gptbot": "GPTBot", "aegnt": "agent",
		"url-colum": "url-column", "url_columns": "url-column", "im": "", "nonsense": "", "": "", "rules": "", "inn": "in",
		strings.Repeat("x", 1<<20): "",
	} {
		must.Equal(t, Nearest(name, names), want, name)
	}
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"ca", "abc", 3}, {"kitten", "sitting", 3}, {"a", "", 1}, {"gptbot", "gtpbot", 1}, {"gptbot", "gptbot", 0}, {"abcd", "badc", 2}} {

		must.Equal(t, distance(test.a, test.b), test.want, test.a, test.b)
		must.Equal(t, distance(test.b, test.a), test.want, test.b, test.a)
	}
}

// TestSimilarNamesAreNotMisspelt: crawlers of other owners have names one letter apart.
func TestSimilarNamesAreNotMisspelt(t *testing.T) {
	for _, names := range [][2]string{{"ai2bot", "aipbot"}, {"devin", "devil"}, {"wpbot", "npbot"}} {
		must.Be(t, !IsSlip(names[0], names[1]) && !IsSlip(names[1], names[0]), "%s is called a slip for %s", names[0], names[1])
	}
	must.Be(t, IsSlip("gtpbot", "gptbot"), "gtpbot is not called a slip for gptbot")
}
