package report

import (
	"strings"
	"testing"
)

// The hash of an authority is that of its key, however it is written.
func TestHash(t *testing.T) {
	const example, other = "-2690290139961063022", "-809038105997760701"
	for _, test := range []struct {
		url        string
		partitions int
		want       string // empty for an error
	}{
		{"example.com", 0, example + "\thttps://example.com\n"},
		{"https://EXAMPLE.com:443/a?b", 0, example + "\thttps://example.com\n"},
		{"http://example.com:8080/x", 0, other + "\thttp://example.com:8080\n"},
		{"example.com", 16, example + "\t2\thttps://example.com\n"},
		{"http://example.com:8080", 16, other + "\t3\thttp://example.com:8080\n"},
		{"example.com", 1, example + "\t0\thttps://example.com\n"},
		{"localhost", 0, "-"},
		{"https://", 0, ""},
		{"gopher://example.com/", 0, ""},
	} {
		var b strings.Builder
		err := Hash(&b, test.url, test.partitions)
		switch got := b.String(); {
		case test.want == "" && (err == nil || got != ""), test.want != "" && err != nil:
			t.Errorf("%s: %q, %v", test.url, got, err)
		case test.want == "-" && !strings.HasSuffix(got, "\thttps://"+test.url+"\n"), len(test.want) > 1 && got != test.want:
			t.Errorf("%s: %q; want %q", test.url, got, test.want)
		}
	}
}
