package blob

import (
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// anyDepth is the part of a pattern that matches any number of folders, including none.
const anyDepth = "**"

// isPattern reports whether a part of a path is a pattern.
func isPattern(part string) bool { return strings.ContainsAny(part, `*?[`) }

// Glob finds the files and folders that a pattern matches, in the order of their
// names. Each part of the path is a pattern of [filepath.Match], or ** for any
// number of folders. Names that begin with a dot match only parts that do too, and **
// skips folders that begin with a dot or an underscore.
func Glob(pattern string) ([]string, error) {
	root, parts := splitPattern(pattern)
	for _, part := range parts {
		if _, err := filepath.Match(part, ""); err != nil {
			return nil, err
		}
	}
	found, err := glob(nil, root, parts)
	slices.Sort(found)
	return slices.Compact(found), err
}

// Partitions yields the names and values of folders written as NAME=VALUE in a file's path,
// such as dt=2026-03-01/part-0.parquet.
func Partitions(name string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for folder := range strings.SplitSeq(filepath.ToSlash(filepath.Dir(name)), "/") {
			if name, value, ok := strings.Cut(folder, "="); ok && !yield(name, value) {
				return
			}
		}
	}
}

// PatternRoot returns the folder where a pattern starts: the text before its first part
// with a pattern character. It is empty or ends with a separator.
func PatternRoot(pattern string) string {
	root, _ := splitPattern(pattern)
	return root
}

// splitPattern splits a path before its first part that is a pattern. root is empty or ends
// with a separator; parts has no empty ones.
func splitPattern(pattern string) (root string, parts []string) {
	const separator = string(filepath.Separator)
	parts = strings.Split(filepath.FromSlash(pattern), separator)
	plain := 0
	for plain < len(parts)-1 && !isPattern(parts[plain]) {
		plain++
	}
	if plain > 0 {
		root = strings.Join(parts[:plain], separator) + separator
	}
	return root, slices.DeleteFunc(parts[plain:], func(part string) bool { return part == "" })
}

// glob appends to found the paths that a pattern, split into parts, matches below a folder.
// folder is empty or ends with a separator.
func glob(found []string, folder string, parts []string) ([]string, error) {
	if len(parts) == 0 {
		return append(found, filepath.Clean(folder)), nil
	}
	part, rest := parts[0], parts[1:]
	if !isPattern(part) {
		name := folder + part
		if _, err := os.Lstat(name); err != nil {
			return found, ignoreMissing(err)
		}
		if len(rest) > 0 {
			name += string(filepath.Separator)
		}
		return glob(found, name, rest)
	}
	deep := part == anyDepth
	if deep && len(rest) > 0 { // ** as no folder
		var err error
		if found, err = glob(found, folder, rest); err != nil {
			return found, err
		}
	}
	entries, err := os.ReadDir(filepath.Clean(folder))
	if err != nil {
		return found, ignoreMissing(err)
	}
	for _, entry := range entries {
		name := entry.Name()
		matches, _ := filepath.Match(part, name) // always for **
		isHidden := deep && IsHidden(name) || strings.HasPrefix(name, ".") && !strings.HasPrefix(part, ".")
		switch {
		case !matches || isHidden:
		case deep && entry.IsDir(): // ** goes on below; a link to a folder is not followed
			found, err = glob(found, folder+name+string(filepath.Separator), parts)
		case len(rest) == 0:
			found = append(found, folder+name)
		case deep: // the glob of rest above has found it, if it matches
		case entry.IsDir() || entry.Type()&fs.ModeSymlink != 0:
			found, err = glob(found, folder+name+string(filepath.Separator), rest)
		}
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// ignoreMissing returns nil if err says that a file is missing or not a folder, which a
// pattern then does not match. It returns other errors as they are.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return err
}
