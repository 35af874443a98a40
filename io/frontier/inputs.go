package frontier

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"robotsbatch/batch/option"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
)

// Input is one file, object or stream to read.
type Input struct {
	// Path is a file's name, an object's URL, or "-" for stdin.
	Path string
	// Stem is the input's name in an output folder: the base name of a file, or its
	// path relative to the named folder or pattern.
	Stem string
}

// Name is the input's name for people.
func (in Input) Name() string {
	if in.Path == blob.Stdio {
		return "stdin"
	}
	return blob.Shown(in.Path)
}

// ReadNames returns the names in a list of inputs, a line each, without empty lines. The list
// is a file, an object or "-" for stdin; ctx ends a wait for a pipe.
func ReadNames(ctx context.Context, list string, stdin io.Reader) ([]string, error) {
	r := Interruptible(ctx, func() (io.ReadCloser, error) {
		if list == blob.Stdio {
			return io.NopCloser(stdin), nil
		}
		return blob.Open(ctx, list)
	})
	text, err := compress.OpenText(r)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	var names []string
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		if name := lines.Text(); name != "" {
			names = append(names, name)
		}
	}
	return names, lines.Err()
}

// Expand returns the inputs that a name stands for: stdin, a file, the files of a folder, or
// those that match a pattern; objects in the same way. A name of an existing file is no pattern.
func Expand(ctx context.Context, name string) ([]Input, error) {
	if name == "-" {
		return []Input{{"-", "stdin"}}, nil
	}
	if blob.IsURL(name) {
		return expandURL(ctx, name)
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return checkTables(listFolder(name))
	case err == nil:
		return []Input{{name, filepath.Base(name)}}, nil
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(name, "*?["):
		return checkTables(matchPattern(ctx, name))
	}
	return nil, err
}

// checkTables returns files that a folder or a pattern named, or an error if they are those of
// a table with a log, of which some may not be current.
func checkTables(inputs []Input, err error) ([]Input, error) {
	if err != nil {
		return nil, err
	}
	names := make([]string, len(inputs))
	for i, in := range inputs {
		names[i] = in.Path
	}
	return inputs, withTableHint(blob.CheckTables(names))
}

// withTableHint adds to a *[blob.TableError] how to name the current files; it returns other
// errors as they are.
func withTableHint(err error) error {
	table := (*blob.TableError)(nil)
	switch {
	case !errors.As(err, &table):
		return err
	case table.IsStream:
		return option.Usagef("%w. Read it as an Arrow stream: %s | robotsbatch %s", err, table.Command, option.In.With("- …"))
	}
	return option.Usagef("%w. Name the current ones: %s | robotsbatch %s", err, table.Command, option.FilesFrom.With("- …"))
}

// matchPattern returns the files that a pattern matches, and those of the folders that it matches.
// Their stems begin where the pattern's first part with a wildcard does.
func matchPattern(ctx context.Context, pattern string) ([]Input, error) {
	matches, err := blob.Glob(pattern)
	if err != nil {
		return nil, option.Usagef("%s: %w", pattern, err)
	}
	root := blob.PatternRoot(pattern)
	var inputs []Input
	for _, match := range matches {
		found, err := Expand(ctx, match)
		if err != nil {
			return nil, err
		}
		for _, in := range found {
			if stem, ok := strings.CutPrefix(in.Path, root); ok {
				in.Stem = stem
			}
			inputs = append(inputs, in)
		}
	}
	if len(inputs) == 0 {
		return nil, fmt.Errorf("%s: no file matches", pattern)
	}
	return inputs, nil
}

// listFolder returns the files in and below a folder, in the order of their names. It leaves
// out names that start with a dot or an underscore: hidden files, and notes that other
// programs leave with their data (_SUCCESS). It follows links to files, and not those to folders
// below root.
func listFolder(root string) ([]Input, error) {
	var inputs []Input
	top := root + string(filepath.Separator) // with it, WalkDir follows root if that is a link
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == top:
			return nil
		case blob.IsHidden(entry.Name()):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := os.Stat(path) // of what a link leads to
		if err != nil {
			return err
		}
		if info.Mode().IsRegular() {
			stem, _ := filepath.Rel(root, path) // cannot fail: path is below root
			inputs = append(inputs, Input{path, stem})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", root, err)
	}
	if len(inputs) == 0 {
		return nil, fmt.Errorf("%s: the folder has no files", root)
	}
	return inputs, nil
}

// expandURL returns the objects that a URL stands for.
func expandURL(ctx context.Context, name string) ([]Input, error) {
	u, err := blob.ParseURL(name)
	if err != nil {
		return nil, err
	}
	objects, err := blob.Expand(ctx, u)
	if err != nil {
		return nil, withTableHint(err)
	}
	inputs := make([]Input, len(objects))
	for i, object := range objects {
		inputs[i] = Input{object.URL.String(), object.Stem}
	}
	return inputs, nil
}
