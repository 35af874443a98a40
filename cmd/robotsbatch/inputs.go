package main

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

	"robotsbatch/io/blob"
)

// input is one thing to read.
type input struct {
	// path is a file's name, an object's URL, or "-" for stdin.
	path string
	// stem is the input's name below an output folder: the file's or object's
	// name, or its path below the folder that was asked for or that a pattern
	// starts from.
	stem string
}

// name is the input's name for people.
func (in input) name() string {
	if in.path == "-" {
		return "stdin"
	}
	return blob.Shown(in.path)
}

// resolveInputs turns what -in and -files-from say into the job's inputs, in
// the order in which they were named; those of a folder or a pattern by name.
func resolveInputs(ctx context.Context, c *jobConfig, stdin io.Reader) ([]input, error) {
	names := c.in
	if c.filesFrom != "" {
		listed, err := readNames(ctx, c.filesFrom, stdin)
		if err != nil {
			return nil, err
		}
		names = append(names[:len(names):len(names)], listed...)
	}
	var inputs []input
	fromStdin := c.filesFrom == "-"
	for _, name := range names {
		if name == "-" {
			if fromStdin {
				return nil, usageErrorf("stdin is read twice: name - only once")
			}
			fromStdin = true
		}
		found, err := expand(ctx, name)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, found...)
	}
	if len(inputs) == 0 {
		return nil, fmt.Errorf("-files-from %s names no input", c.filesFrom)
	}
	return inputs, nil
}

// readNames reads the lines of a list of inputs, without blank ones. ctx ends a
// wait for a pipe.
func readNames(ctx context.Context, list string, stdin io.Reader) ([]string, error) {
	r := interruptible(ctx, func() (io.ReadCloser, error) {
		if list == blob.Stdio {
			return io.NopCloser(stdin), nil
		}
		return blob.Open(ctx, list)
	})
	var names []string
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if name := strings.TrimSuffix(lines.Text(), "\r"); name != "" {
			names = append(names, name)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("-files-from: %w", err)
	}
	return names, resolveNames("files-from", pointers(names)...)
}

// expand finds the inputs that a name stands for: stdin, a file, the files of
// a folder, or those that a pattern matches; objects likewise.
func expand(ctx context.Context, name string) ([]input, error) {
	if name == "-" {
		return []input{{"-", "stdin"}}, nil
	}
	if blob.IsURL(name) {
		return expandURL(ctx, name)
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return walk(name)
	case err == nil:
		return []input{{name, filepath.Base(name)}}, nil
	case !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(name, "*?["):
		return nil, atName("-in "+name, err)
	}
	return matching(ctx, name)
}

// matching finds the inputs that a pattern matches.
func matching(ctx context.Context, pattern string) ([]input, error) {
	matches, err := blob.Glob(pattern)
	if err != nil {
		return nil, usageErrorf("-in %s: %w", pattern, err)
	}
	root := blob.PatternRoot(pattern)
	var inputs []input
	for _, match := range matches {
		found, err := expand(ctx, match)
		if err != nil {
			return nil, err
		}
		for _, in := range found {
			if stem, ok := strings.CutPrefix(in.path, root); ok {
				in.stem = stem
			}
			inputs = append(inputs, in)
		}
	}
	if len(inputs) == 0 {
		return nil, fmt.Errorf("-in %s: no file matches", pattern)
	}
	return inputs, nil
}

// walk lists the files in and below a folder by name. Names that start with a
// dot or an underscore are left out: they are hidden, or notes that other
// programs keep beside their data (_SUCCESS).
func walk(root string) ([]input, error) {
	var inputs []input
	top := root + string(filepath.Separator) // the folder, also where root is a link to it
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == top:
			return nil
		case strings.HasPrefix(entry.Name(), ".") || strings.HasPrefix(entry.Name(), "_"):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := os.Stat(path) // follows a symbolic link
		if err != nil {
			return err
		}
		if info.Mode().IsRegular() {
			stem, _ := filepath.Rel(root, path) // cannot fail: path is below root
			inputs = append(inputs, input{path, stem})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("-in %s: %w", root, err)
	}
	if len(inputs) == 0 {
		return nil, fmt.Errorf("-in %s: the folder has no files", root)
	}
	return inputs, nil
}

// expandURL finds the objects that a URL stands for.
func expandURL(ctx context.Context, name string) ([]input, error) {
	u, err := blob.ParseURL(name)
	if err != nil {
		return nil, err
	}
	objects, err := blob.Expand(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("-in: %w", err)
	}
	inputs := make([]input, len(objects))
	for i, object := range objects {
		inputs[i] = input{object.URL.String(), object.Stem}
	}
	return inputs, nil
}
