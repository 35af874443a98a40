package ruleset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"robotsbatch/io/rules/rulesdir"
	"robotsbatch/io/store/blob"
)

// Replaces returns the source of which an output of that name would replace something
// that is read, or to which it would add a robots.txt; "" for none. Links are followed.
func (f *Found) Replaces(out string) string {
	info, err := os.Stat(out)
	if isFolder := strings.HasSuffix(out, "/"); out == blob.Stdio || !blob.IsURL(out) && (isFolder || err == nil && !info.Mode().IsRegular()) {
		return ""
	}
	replaces := blob.Replaces(out)
	for _, s := range f.sources {
		if s.kind == folderKind && isBelow(s.name, out) || s.kind != folderKind && (replaces(s.name) || slices.ContainsFunc(s.files, replaces)) {
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
	folder, err := filepath.EvalSymlinks(folder)
	if linked, missing := filepath.EvalSymlinks(file); missing == nil {
		file = linked
	} else if err == nil { // a file that is not there yet
		var parent string
		parent, err = filepath.EvalSymlinks(filepath.Dir(file))
		file = filepath.Join(parent, filepath.Base(file))
	}
	if err == nil {
		folder, err = filepath.Abs(folder)
	}
	if err == nil {
		file, err = filepath.Abs(file)
	}
	if err != nil {
		return false
	}
	below, err := filepath.Rel(folder, file)
	return err == nil && filepath.IsLocal(below) && rulesdir.IsRules(filepath.ToSlash(below))
}
