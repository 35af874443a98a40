package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"robotsbatch/io/blob"
	"robotsbatch/io/format"
	"robotsbatch/io/rulesdir"
)

// findObjects finds out what a URL of -rules names, as findRules does of files.
func findObjects(ctx context.Context, name string) (foundRules, error) {
	found := foundRules{name: name}
	u, err := blob.ParseURL(name)
	if err != nil {
		return found, err
	}
	isPattern := strings.ContainsAny(u.Key, "*?[")
	if !isPattern && !u.IsFolder() {
		return findObject(ctx, name)
	}
	if !isPattern {
		if is, err := isCaptureKeys(ctx, u); err != nil || !is {
			return found, err
		}
	}
	objects, err := blob.Expand(ctx, u)
	if err != nil {
		return found, fmt.Errorf("-rules: %w", err)
	}
	found.kind = captureRules
	for _, object := range objects {
		if named, _ := format.ByName(object.URL.Key); isCaptures(named) {
			found.files = append(found.files, object.URL.String())
		} else if isPattern {
			return found, usageErrorf("-rules %s: %s has no captures, by its name: a pattern is for captures; name all others one by one", u.Name(), object.URL.Name())
		}
	}
	return found, nil
}

// findObject finds out what one object is.
func findObject(ctx context.Context, name string) (foundRules, error) {
	found := foundRules{name: name}
	detected, err := detectRules(ctx, name)
	switch {
	case err != nil:
		return found, fmt.Errorf("-rules: %w", err)
	case isCaptures(detected):
		found.kind, found.files = captureRules, []string{name}
	case detected == format.RulePack:
		found.kind = packRules
	default:
		return found, usageErrorf("-rules %s is neither a rule pack nor captures; a folder's name ends with a slash", blob.Shown(name))
	}
	return found, nil
}

// triedKeys is how many names of a folder tell what it has.
const triedKeys = 1000

// isCaptureKeys tells a folder of captures from one of robots.txt files, by the
// name of one WARC file, or the names of all files if they are of tables, among
// the first ones.
func isCaptureKeys(ctx context.Context, u blob.URL) (bool, error) {
	folder, err := blob.OpenFolder(ctx, u)
	if err != nil {
		return false, err
	}
	enough := errors.New("enough")
	files, tables, isWARC := 0, true, false
	err = folder.List(func(key string, _ blob.Info) error {
		if isHidden(path.Base(key)) || strings.HasSuffix(key, "/") {
			return nil
		}
		files++
		named, _ := format.ByName(key)
		tables, isWARC = tables && isCaptures(named), named == format.WARC
		if isWARC || files == triedKeys {
			return enough
		}
		return nil
	})
	switch {
	case err != nil && !errors.Is(err, enough):
		return false, fmt.Errorf("-rules: %w", err)
	case files == 0:
		return false, fmt.Errorf("-rules %s: the folder has no objects", u.Name())
	}
	return isWARC || tables, nil
}

// openFolder opens a folder of robots.txt files, or of such objects.
func openFolder(ctx context.Context, name string, o rulesdir.Options) (*rulesdir.Dir, error) {
	if !blob.IsURL(name) {
		return rulesdir.Open(name, o)
	}
	u, err := blob.ParseURL(name)
	if err != nil {
		return nil, err
	}
	folder, err := blob.OpenFolder(ctx, u)
	if err != nil {
		return nil, err
	}
	return rulesdir.OpenObjects(folder, o)
}

// fetchPack opens a rule pack in a store: a copy of it in the folder for
// temporary files, for packs are mapped.
func fetchPack(ctx context.Context, name string, c *rulesConfig, use ruleUse) (*packSource, error) {
	folder, err := os.MkdirTemp("", "robotsbatch-")
	if err != nil {
		return nil, fmt.Errorf("a copy of %s: %w", blob.Shown(name), err)
	}
	file := filepath.Join(folder, "copy.rules")
	if err := fetch(ctx, name, file); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	pack, err := openPack(file, blob.Shown(name), c, use)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("-rules %s: %w", blob.Shown(name), err), os.RemoveAll(folder))
	}
	pack.folder = folder
	_ = os.RemoveAll(folder) // as openCaptures does
	return pack, nil
}

// fetch copies an object to a file.
func fetch(ctx context.Context, name, file string) error {
	in, err := blob.Open(ctx, name)
	if err != nil {
		return err
	}
	defer in.Close() // it was only read from
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		return fmt.Errorf("a copy of %s in %s: %w", in.Name(), os.TempDir(), err)
	}
	return out.Close()
}
