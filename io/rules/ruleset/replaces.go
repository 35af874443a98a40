package ruleset

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"robotsbatch/io/rules/rulesdir"
	"robotsbatch/io/store/blob"
)

// Replaces returns the name, for people, of the source of which an output would replace a file, or to
// whose folder it would add a robots.txt; "" for none. Links are followed.
func (f *Found) Replaces(out string) string {
	if out == blob.Stdio || out == "" {
		return ""
	}
	if info, err := os.Stat(out); !blob.IsURL(out) && (strings.HasSuffix(out, "/") || err == nil && !info.Mode().IsRegular()) {
		return "" // a folder, of whose outputs each is asked about, or a device
	}
	replaced := f.replaced(out)
	for _, s := range f.sources {
		if s.kind == folderKind && isBelow(s.name, out) || replaced != "" && (s.name == replaced || slices.Contains(s.files, replaced)) {
			return s.shown()
		}
	}
	return ""
}

// isBelow reports whether a file is a robots.txt of a folder of rules, by its name.
func isBelow(folder, file string) bool {
	if blob.IsURL(folder) != blob.IsURL(file) {
		return false
	}
	if blob.IsURL(folder) {
		key, ok := strings.CutPrefix(blob.Shown(file), blob.Shown(folder))
		return ok && rulesdir.IsRules(key)
	}
	real := func(name string) (string, error) {
		name, err := filepath.EvalSymlinks(name)
		if err == nil {
			name, err = filepath.Abs(name)
		}
		return name, err
	}
	to, err := real(file)
	if err != nil { // a file that is not there yet
		to, err = real(filepath.Dir(file))
		to = filepath.Join(to, filepath.Base(file))
	}
	from, fromErr := real(folder)
	below, belowErr := filepath.Rel(from, to)
	return cmp.Or(err, fromErr, belowErr) == nil && filepath.IsLocal(below) && rulesdir.IsRules(filepath.ToSlash(below))
}
