package ruleset

import (
	"os"
	"path/filepath"
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
	list, err := new(captureSet).openAsked(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	var x captures.Capture
	if err := list.Next(&x); err != nil || string(x.URL) != "https://a.test/robots.txt" || !x.Failed {
		t.Fatalf("%q, failed %v: %v", x.URL, x.Failed, err)
	}
	const want = "after line 1: the next line has more than 65536 bytes: a list has a URL or host a line"
	if err := list.Next(&x); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
