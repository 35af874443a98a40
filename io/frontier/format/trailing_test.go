package format

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// hosts repeats a line for hosts in turn.
func hosts(line string, of ...string) string {
	var b strings.Builder
	for i := range leastLines {
		fmt.Fprintf(&b, line, of[i%len(of)])
	}
	return b.String()
}

// Lines that go on after the URL are told from URLs with blanks and |.
func TestLinesThatGoOnAfterTheURL(t *testing.T) {
	for _, test := range []struct {
		head string
		want byte // the separator; 0 for a list of URLs
	}{
		{"https://a.example/x.pdf\t12\nhttps://a.example/y\t3\n", '\t'},
		{"https://a.example/x.pdf\t12", '\t'},
		{"https://a.example/x.pdf\ttext of the page\nhttps://a.example/y\n", '\t'},
		{"\uFEFF\r\nhttps://a.example/x\t\tz\r\nhttps://a.example/y\t\t\r\n", '\t'},
		{"https://a.example/x.pdf 12\nhttps://a.example/y   3\n", ' '},
		{"https://a.example/x 2026-03-01T12:00:00Z 200\nhttps://a.example/y 2026-03-02T12:00:00Z 404\n", ' '},
		{"https://a.example/x https://b.example/\nhttps://a.example/y https://b.example/z\n", ' '},
		{"https://a.example/x|12\nhttps://a.example/y?q|3\n", '|'},
		{"https://a.example/x | 12 | 5\nhttps://a.example/y | 3 | 6\n", '|'},
		{hosts("https://%s/x.pdf,12\n", "a.example", "b.example", "www.c.example"), ','},
		{hosts("https://%s;12;2026-03-01\n", "a.example", "b.example", "c.example"), ';'},
		{"https://a.example/" + strings.Repeat("x", HeadSize-25) + "\t1\nhttps://a", '\t'},

		{"https://a.example/x\nhttps://a.example/y\n", 0},
		{"https://a.example/x\t\n\thttps://a.example/y\n", 0}, // trimmed
		{"https://a.example/x\nhttps://a.example/y\nhttps://a.example/z\t1\n", 0},
		{"https://a.example/Going Deep\nhttps://a.example/SAGE III\n", 0},
		{"https://a.example/Part 1\nhttps://a.example/Part 2.pdf\n", 0},
		{"https://a.example/Part 1\nhttps://a.example/\n", 0},
		{"https://a.example/Part 1\n", 0},
		{"https://a.example/Part 1\nhttps://a.example/Part 1 2\n", 0},
		{"https://a.example/?cat=news|15981\nhttps://a.example/?cat=news|16505\n", 0},
		{hosts("https://%s/x,12\n", "a.example", "b.a.example", "www.a.example:80", "A.example"), 0}, // a site may have such URLs
		{"https://a.example/x,12\nhttps://b.example/y,3\nhttps://c.example/y,3\n", 0},                // few
		{hosts("https://%s/?q=1,12\n", "a.example", "b.example", "c.example"), 0},
		{hosts("https://%s/x,12\n", "a.example", "b.example", "c.example") + "https://b.example/y\n", 0},
		{"https://a.example/x|y\nhttps://a.example/y|z\n", 0},
		{"a.example/x\t1\n", 0},
		{"", 0},
	} {
		err := CheckTrailing([]byte(test.head))
		found := (*trailingError)(nil)
		if errors.As(err, &found); test.want == 0 && err != nil || test.want != 0 && (found == nil || found.separator != test.want) {
			t.Errorf("%.80q: %v, want %q", test.head, err, test.want)
		}
	}
}
