package blob_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/must"
)

// lake has a table of each format with a log, each with a folder of files, and what only looks
// like one.
var lake = []string{
	"delta/_delta_log/00000000000000000000.json", "delta/d=1/a.parquet", "delta/d=2/b.parquet",
	"ice/metadata/00009-a.metadata.json", "ice/metadata/00010-b.metadata.json", "ice/data/a.parquet", "ice/data/d=1/b.parquet",
	"hudi/.hoodie/hoodie.properties", "hudi/p/a.parquet",
	"x.lance/_versions/1.manifest", "x.lance/data/a.lance",
	"saved/state.json", "saved/dataset_info.json", "saved/data-0.arrow",
	"plain/metadata/about.json", "plain/data/a.parquet",
	"other/metadata/v1.metadata.json", "other/a.parquet",
	"logs/_delta_logs/a.json", "logs/a.parquet",
	"state/state.json", "state/a.arrow",
}

// tableCases are what a folder or a pattern names, and the table that it is, by the name of its
// folder and of what its command is about; empty for none.
var tableCases = []struct{ name, table, about string }{
	{"", "delta/", "delta"},
	{"delta/", "delta/", "delta"},
	{"delta/d=1/", "delta/", "delta"},
	{"delta/*/*.parquet", "delta/", "delta"},
	{"delta/d=1/a*", "delta/", "delta"},
	{"d*/d=*/a.parquet", "delta/", "delta"},
	{"ice/", "ice/", "ice/metadata/00010-b.metadata.json"},
	{"ice/data/", "ice/", "ice/metadata/00010-b.metadata.json"},
	{"ice/data/d=1/*", "ice/", "ice/metadata/00010-b.metadata.json"},
	{"i*/data/a*", "ice/", "ice/metadata/00010-b.metadata.json"},
	{"hudi/p/", "hudi/", "hudi"},
	{"hudi/*/*", "hudi/", "hudi"},
	{"x.lance/", "x.lance/", "x.lance"},
	{"saved/", "saved/", "saved"},
	{"saved/data-*", "", ""},
	{"plain/", "", ""},
	{"plain/data/", "", ""},
	{"other/*.parquet", "", ""},
	{"logs/", "", ""},
	{"state/*", "", ""},
}

func checkTable(t *testing.T, name string, err error, folder, about string) {
	t.Helper()
	table := (*blob.TableError)(nil)
	switch is := errors.As(err, &table); {
	case folder == "":
		must.Be(t, err == nil, "%s: %v", name, err)
	case !is:
		t.Errorf("%s: %v, want the table in %s", name, err, folder)
	case strings.TrimSuffix(table.Folder, "/") != strings.TrimSuffix(folder, "/") || !strings.Contains(table.Command, "'"+about+"'") && !strings.Contains(table.Command, "'"+about+"/"):
		t.Errorf("%s: %s, %s; want %s, %s", name, table.Folder, table.Command, folder, about)
	}
}

func TestObjectsOfTablesWithALog(t *testing.T) {
	s := newServer(t)
	for _, key := range lake {
		s.Put(key, []byte("x"))
	}
	for _, test := range tableCases {
		u := must.Get(blob.ParseURL(s.Name(test.name)))(t)
		u.Key = test.name
		_, err := blob.Expand(context.Background(), u)
		root := strings.TrimSuffix(u.Name(), test.name)
		folder := test.table
		if folder != "" {
			folder = root + folder
		}
		checkTable(t, test.name, err, folder, root+test.about)
	}
	for _, key := range lake {
		u, _ := blob.ParseURL(s.Name(key))
		found, err := blob.Expand(context.Background(), u)
		must.Be(t, len(found) == 1 && err == nil, "%s alone: %v", key, err)
	}
}

func TestFilesOfTablesWithALog(t *testing.T) {
	root := t.TempDir()
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	t.Chdir(root)
	for _, name := range lake {
		must.WriteFile(t, name, "")
	}
	for _, test := range tableCases[1:] {
		var files []string
		if strings.HasSuffix(test.name, "/") {
			_ = filepath.WalkDir(test.name, func(path string, entry os.DirEntry, _ error) error {
				if hidden := strings.HasPrefix(entry.Name(), "_") || strings.HasPrefix(entry.Name(), "."); hidden && entry.IsDir() {
					return filepath.SkipDir
				}
				if !entry.IsDir() {
					files = append(files, path)
				}
				return nil
			})
		} else {
			files, _ = filepath.Glob(test.name)
		}
		folder, about := test.table, filepath.ToSlash(root)+"/"+test.about
		switch folder {
		case "saved/":
			about = test.about
		case "hudi/":
			about = "file://" + about
			fallthrough
		default:
			if folder != "" {
				folder = filepath.Join(root, folder)
			}
		}
		checkTable(t, test.name, blob.CheckTables(files), folder, about)
		for i := range files {
			files[i] = filepath.Join(root, files[i])
		}
		if test.table == "saved/" { // its command names the folder as the file does
			folder, about = filepath.Join(root, folder), filepath.ToSlash(root)+"/"+test.about
		}
		checkTable(t, "absolute "+test.name, blob.CheckTables(files), folder, about)
	}
	if err := os.Symlink(filepath.Join(root, "delta", "d=1"), "link"); err == nil {
		checkTable(t, "link", blob.CheckTables([]string{filepath.Join("link", "a.parquet")}), filepath.Join(root, "delta"), filepath.ToSlash(root)+"/delta")
	}
}
