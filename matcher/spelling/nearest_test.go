package spelling

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{"in", "rules", "agent", "url-column", "GPTBot", "CCBot"}
	for name, want := range map[string]string{
		"rule": "rules", "urls-column": "url-column", "GTPBot": "GPTBot", "gptbot": "GPTBot", "aegnt": "agent",
		"url-colum": "url-column", "url_columns": "url-column", "im": "", "nonsense": "", "": "", "rules": "", "inn": "in",
		strings.Repeat("x", 1<<20): "",
	} {
		if got := Nearest(name, names); got != want {
			t.Errorf("%.40q: %q, want %q", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"ca", "abc", 3}, {"kitten", "sitting", 3}} {
		if got := Distance(test.a, test.b); got != test.want {
			t.Errorf("%q, %q: %d, want %d", test.a, test.b, got, test.want)
		}
	}
}
