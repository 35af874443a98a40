package ruleset

import (
	"context"
	"errors"
	"slices"
	"strings"

	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/store/blob"
)

// peekObjects tells what the URL of a folder in a store, or of a pattern, means.
func peekObjects(ctx context.Context, name string, u blob.URL, isPattern bool) (source, error) {
	found := source{kind: folderKind, name: name}
	if !isPattern {
		if is, err := isCaptureKeys(ctx, u); err != nil || !is {
			return found, err
		}
	}
	found.kind = capturesKind
	objects, err := blob.Expand(ctx, u)
	if table := (*blob.TableError)(nil); errors.As(err, &table) {
		return found, withTableCommand(err)
	} else if err != nil {
		return found, atName(name, err)
	}
	for _, object := range objects {
		switch named, _ := format.ByName(object.URL.Key); {
		case named.HasCaptures():
			found.files = append(found.files, object.URL.String())
		case isPattern:
			return found, option.Usagef("%s: %s has no captures, by its name: a pattern is for captures; name all others one by one", option.Rules.With(u.Name()), object.URL.Name())
		case isHostsFile(object.Stem):
			found.unread = append(found.unread, object.URL.Name())
		}
	}
	return found, nil
}

// triedKeys is the most names that are read to find out what a folder in a store holds.
const triedKeys = 1000

// isCaptureKeys reports whether a folder holds captures, and not robots.txt files. It does if one of its first
// names is a WARC file's, or all are tables'. Files of a table's log do not count.
func isCaptureKeys(ctx context.Context, u blob.URL) (bool, error) {
	folder, err := blob.OpenFolder(ctx, u)
	if err != nil {
		return false, err
	}
	enough := errors.New("enough")
	files, tables, isWARC := 0, true, false
	err = folder.List(func(key string, _ blob.Info) error {
		if slices.ContainsFunc(strings.Split(key, "/"), blob.IsHidden) || strings.HasSuffix(key, "/") || blob.IsTableMetadata(key) {
			return nil
		}
		files++
		named, _ := format.ByName(key)
		tables, isWARC = tables && named.HasCaptures(), named == format.WARC
		if isWARC || files == triedKeys {
			return enough
		}
		return nil
	})
	switch {
	case err != nil && !errors.Is(err, enough):
		return false, option.Errorf("%s: %w", option.Rules, err)
	case files == 0:
		return false, option.Errorf("%s: the folder has no objects", option.Rules.With(u.Name()))
	}
	return isWARC || tables, nil
}
