package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"robotsbatch/io/format"
)

// captureFiles finds the files of captures, WARC files and tables, that a -rules
// stands for: a file, those of a folder, or those that a pattern matches. There
// are none when it stands for something else.
func captureFiles(ctx context.Context, name string) ([]string, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		if is, err := isCaptureFolder(ctx, name); err != nil || !is {
			return nil, err
		}
		return filesBelow(name)
	case err == nil:
		found, err := detectRules(ctx, name)
		if err != nil {
			return nil, atName("-rules "+name, err)
		}
		if isCaptures(found) {
			return []string{name}, nil
		}
		return nil, nil
	case !strings.ContainsAny(name, "*?["):
		return nil, nil // who opens it says what is wrong
	}
	return matchingCaptures(ctx, name)
}

// isCaptures tells whether a file of that format has captures.
func isCaptures(f format.Format) bool {
	switch f {
	case format.WARC, format.CSV, format.TSV, format.JSONL:
		return true
	}
	return isBinary(f)
}

// matchingCaptures finds what a pattern of files and folders of captures matches.
func matchingCaptures(ctx context.Context, pattern string) ([]string, error) {
	matches, err := filepath.Glob(pattern)
	if err != nil {
		return nil, usageErrorf("-rules %s: %w", pattern, err)
	}
	if len(matches) == 0 {
		return nil, fmt.Errorf("-rules %s: no file matches", pattern)
	}
	var files []string
	for _, match := range matches {
		found, err := captureFiles(ctx, match)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, usageErrorf("-rules %s: %s has no captures: a pattern is for captures; name all others one by one", pattern, match)
		}
		files = append(files, found...)
	}
	return files, nil
}

// isCaptureFolder tells a folder of captures from one of robots.txt files: by the
// name of one WARC file, or the names of all files if they are of tables, or by
// the beginning of the first file, or, where it has only folders, by what the
// first folder is.
func isCaptureFolder(ctx context.Context, folder string) (bool, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return false, atName("-rules "+folder, err)
	}
	firstFile, firstFolder, tables := "", "", true
	for _, entry := range entries {
		named, _ := format.ByName(entry.Name())
		switch {
		case isHidden(entry.Name()):
		case named == format.WARC && !entry.IsDir():
			return true, nil
		case entry.IsDir() && firstFolder == "":
			firstFolder = entry.Name()
		case entry.Type().IsRegular():
			tables = tables && isCaptures(named)
			if firstFile == "" {
				firstFile = entry.Name()
			}
		}
	}
	switch {
	case firstFile != "" && tables:
		return true, nil
	case firstFile != "":
		found, err := detectRules(ctx, filepath.Join(folder, firstFile))
		return isCaptures(found) && err == nil, nil // what cannot be read here is named when it is needed
	case firstFolder != "":
		return isCaptureFolder(ctx, filepath.Join(folder, firstFolder))
	}
	return false, nil
}

// filesBelow lists the files of captures in and below a folder by name; where no name
// says that it is one, all files.
func filesBelow(folder string) ([]string, error) {
	var captures, all []string
	top := folder + string(filepath.Separator) // the folder, also where it is a link
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != top && isHidden(entry.Name()):
			if entry.IsDir() {
				return fs.SkipDir
			}
		case !entry.IsDir():
			all = append(all, path)
			if named, _ := format.ByName(path); isCaptures(named) {
				captures = append(captures, path)
			}
		}
		return nil
	})
	if err != nil {
		return nil, atName("-rules "+folder, err)
	}
	if len(captures) > 0 {
		return captures, nil
	}
	return all, nil
}

func isHidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") }
