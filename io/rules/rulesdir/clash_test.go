package rulesdir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

// All pairs of files for one authority are named at once, up to a number, and files with the same
// body are one.
func TestPairsOfFilesAreNamedAtOnce(t *testing.T) {
	folder := t.TempDir()
	put := func(name, body string) {
		t.Helper()
		must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte(body), 0o666))
	}
	open := func() (string, int) {
		t.Helper()
		dir, err := Open(folder, Options{})
		if err != nil {
			return err.Error(), 0
		}
		defer dir.Close()
		return "", int(dir.Stats().Listed)
	}
	put("same.example", "User-agent: *")
	put("same.example.txt", "User-agent: *")
	put("alone.example", "User-agent: *")
	if text, listed := open(); text != "" || listed != 2 {
		t.Errorf("files with the same body: %d files, %s", listed, text)
	}
	for i := range mostClashes + 3 {
		put(fmt.Sprintf("h%02d.example", i), "User-agent: a")
		put(fmt.Sprintf("h%02d.example.txt", i), "User-agent: b")
	}
	text, _ := open()
	if n := strings.Count(text, "are both for"); n != mostClashes || !strings.HasSuffix(text, "and 3 more pairs of files are for one host each") || strings.Contains(text, "same.example") {
		t.Errorf("%d pairs: %s", n, text)
	}
}
