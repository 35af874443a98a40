package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"robotsbatch/io/format"
)

// warcFiles finds the WARC files that a -rules stands for: a file, those of a
// folder, or those that a pattern matches. There are none when it stands for
// something else.
func warcFiles(name string) ([]string, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		if is, err := isWARCFolder(name); err != nil || !is {
			return nil, err
		}
		return filesBelow(name)
	case err == nil:
		found, err := detectRules(name)
		if err != nil {
			return nil, atName("-rules "+name, err)
		}
		if found == format.WARC {
			return []string{name}, nil
		}
		return nil, nil
	case !strings.ContainsAny(name, "*?["):
		return nil, nil // who opens it says what is wrong
	}
	return matchingWARC(name)
}

// matchingWARC finds what a pattern of WARC files and folders matches.
func matchingWARC(pattern string) ([]string, error) {
	matches, err := filepath.Glob(pattern)
	if err != nil {
		return nil, usageErrorf("-rules %s: %w", pattern, err)
	}
	if len(matches) == 0 {
		return nil, fmt.Errorf("-rules %s: no file matches", pattern)
	}
	var files []string
	for _, match := range matches {
		found, err := warcFiles(match)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, usageErrorf("-rules %s: %s is not WARC: a pattern is for captures; name all others one by one", pattern, match)
		}
		files = append(files, found...)
	}
	return files, nil
}

// isWARCFolder tells a folder of WARC files from one of robots.txt files: the
// names of its files say so, or the beginning of the first of them, or, where it
// has only folders, those of the first folder.
func isWARCFolder(folder string) (bool, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return false, atName("-rules "+folder, err)
	}
	firstFile, firstFolder := "", ""
	for _, entry := range entries {
		switch {
		case isHidden(entry.Name()):
		case isWARCName(entry.Name()) && !entry.IsDir():
			return true, nil
		case entry.IsDir() && firstFolder == "":
			firstFolder = entry.Name()
		case entry.Type().IsRegular() && firstFile == "":
			firstFile = entry.Name()
		}
	}
	switch {
	case firstFile != "":
		found, err := detectRules(filepath.Join(folder, firstFile))
		return found == format.WARC && err == nil, nil // what cannot be read here is named when it is needed
	case firstFolder != "":
		return isWARCFolder(filepath.Join(folder, firstFolder))
	}
	return false, nil
}

// filesBelow lists the WARC files in and below a folder by name; where no name
// says that it is one, all files.
func filesBelow(folder string) ([]string, error) {
	var named, all []string
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
			if isWARCName(path) {
				named = append(named, path)
			}
		}
		return nil
	})
	if err != nil {
		return nil, atName("-rules "+folder, err)
	}
	if len(named) > 0 {
		return named, nil
	}
	return all, nil
}

func isHidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") }

func isWARCName(name string) bool {
	found, _ := format.ByName(name)
	return found == format.WARC
}
