package ruleset

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"robotsbatch/io/rules/captures"
)

// A line that is too long is an error that says where it is and what a line should be.
func TestAskedLongLine(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "asked.txt")
	if err := os.WriteFile(name, []byte("https://a.test/\n"+strings.Repeat("b", maxAskedLine+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	var urls []string
	err := eachOfAsked(t.Context(), name, func(x *captures.Capture) error {
		urls = append(urls, fmt.Sprintf("%s failed %v", x.URL, x.Failed))
		return nil
	})
	if want := []string{"https://a.test/robots.txt failed true"}; !slices.Equal(urls, want) {
		t.Errorf("%q, want %q", urls, want)
	}
	const want = "after line 1: the next line has more than 65536 bytes: a list has a URL or host a line"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
