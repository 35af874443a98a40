package blob

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

func TestGlob(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a.txt", ".b.txt", "d/a.txt", "d/e/a.txt", "d/e/b.csv", "_tmp/a.txt", ".h/a.txt", "dt=1/p.arrow", "dt=2/p.arrow", "x[1].txt"} {
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o777))
		must.Do(t, os.WriteFile(name, nil, 0o666))
	}
	for _, test := range []struct{ pattern, root, want string }{
		{"*.txt", "", "a.txt x[1].txt"},
		{".*.txt", "", ".b.txt"},
		{"x[[]1].txt", "", "x[1].txt"},
		{"*/a.txt", "", "_tmp/a.txt d/a.txt"},
		{"d/*/*", "d/", "d/e/a.txt d/e/b.csv"},
		{"d/*", "d/", "d/a.txt d/e"},
		{"**/a.txt", "", "a.txt d/a.txt d/e/a.txt"},
		{"**/e/a.txt", "", "d/e/a.txt"},
		{"**/**/a.txt", "", "a.txt d/a.txt d/e/a.txt"},
		{"d/**", "d/", "d/a.txt d/e/a.txt d/e/b.csv"},
		{"./d/**/*.csv", "./d/", "d/e/b.csv"},
		{"dt=*/p.arrow", "", "dt=1/p.arrow dt=2/p.arrow"},
		{"dt=*/", "", "dt=1 dt=2"},
		{"*/p.arrow/x", "", ""},
		{"none/*", "none/", ""},
		{"a.txt/*", "a.txt/", ""},
	} {
		found, err := Glob(filepath.FromSlash(test.pattern))
		for i, name := range found {
			found[i] = filepath.ToSlash(filepath.Clean(name))
		}
		if want := strings.Fields(test.want); err != nil || !slices.Equal(found, want) {
			t.Errorf("%s: %q, %v; want %q", test.pattern, found, err, want)
		}
		if root := PatternRoot(test.pattern); filepath.ToSlash(root) != test.root {
			t.Errorf("%s: root %q, want %q", test.pattern, root, test.root)
		}
	}
	must.Fail(t, must.Err(Glob("d/[/x")), "for a bad pattern")
}
