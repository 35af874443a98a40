package ruleset

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"robotsbatch/io/rules/captures"
	"robotsbatch/io/store/must"
)

// A line that is too long is an error that says where it is and what a line should be.
func TestAskedLongLine(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "asked.txt")
	must.Do(t, os.WriteFile(name, []byte("https://a.test/\n"+strings.Repeat("b", maxAskedLine+1)), 0o600))
	var urls []string
	err := eachOfAsked(t.Context(), name, func(x *captures.Capture) error {
		urls = append(urls, fmt.Sprintf("%s failed %v", x.URL, x.Failed))
		return nil
	})
	must.EqualSlices(t, urls, []string{"https://a.test/robots.txt failed true"})
	const want = "after line 1: the next line has more than 65536 bytes: a list has a URL or host a line"
	must.Say(t, err, want)
}
