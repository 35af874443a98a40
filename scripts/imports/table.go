package imports

import (
	"slices"
	"strings"
)

// module is the module path, which every package of the repository starts with.
const module = "robotsbatch"

// must helps tests, and what all packages for tests may import.
const must = "io/store/must"

// room says what the packages of a folder may import, their tests apart. The
// standard library and the room itself always may be.
type room struct {
	// folder is the room's path from the top level, what lies below included
	// unless that is a room of its own. "io/*" makes each folder in io a room,
	// but those that come before it.
	folder string
	// rooms are the other rooms that may be imported.
	rooms []string
	// others are the third-party packages that may be imported, each with what
	// lies below it, unless it ends in "/."; "*" is any.
	others []string
}

// The floors of io, from the ground up: a floor may import the floors below it, and of
// its own floor what its rooms' lines name.
var (
	// engine is what everything above the engine may import of it.
	engine = []string{"matcher", "matcher/usage", "matcher/urls", "matcher/partition", "matcher/robotstxt", "matcher/access", "matcher/domains", "matcher/extent", "matcher/spelling", "matcher/lint", "batch/option"}
	// store is where bytes lie: files, object stores, compression, spill files, caches; and what
	// all floors need, such as panics.
	store = []string{"io/store/blob", "io/store/compress", "io/store/cache", "io/store/runs", "io/store/meter", "io/store/panics", "io/store/budget"}
	// tables are the library of tables, and the rooms of io/frontier that formats share.
	tables = slices.Concat(store, []string{"io/tables", "io/frontier/format", "io/frontier/lines", "io/frontier/tableio", "io/frontier/arrowipc"})
	// frontier is all of io/frontier: tables and lists of URLs, in and out.
	frontier = slices.Concat(tables, []string{
		"io/frontier", "io/frontier/text", "io/frontier/delimited", "io/frontier/jsonl",
		"io/frontier/parquetio", "io/frontier/outputs", "io/frontier/pipe",
	})
	// rules is all of io/rules: folders, packs and captures of robots.txt files.
	rules = []string{
		"io/rules/ruleset", "io/rules/rulesdir", "io/rules/rulepack", "io/rules/captures",
		"io/rules/warc", "io/rules/hosts", "io/rules/agentlist",
	}
	arrow = []string{"github.com/apache/arrow/go/v15/arrow"}
)

// table is the rule for imports. A package in no room is a violation.
var table = []room{
	{"matcher", []string{"matcher/robotstxt", "matcher/usage", "matcher/access", "matcher/urls", "matcher/internal/kernels"}, nil},
	{"matcher/urls", []string{"matcher/internal/kernels"}, []string{"golang.org/x/net/idna"}},
	{"matcher/domains", []string{"matcher/urls"}, []string{"golang.org/x/net/publicsuffix"}},
	{"matcher/internal/kernels", nil, []string{"golang.org/x/sys/cpu"}},
	{"matcher/partition", nil, []string{"github.com/cespare/xxhash/v2"}},
	{"matcher/robotstxt", []string{"matcher/usage"}, nil},
	{"matcher/usage", nil, nil},
	{"matcher/access", nil, nil},
	{"matcher/spelling", nil, nil},
	{"matcher/lint", []string{"matcher", "matcher/extent", "matcher/usage", "matcher/spelling", "matcher/robotstxt", "matcher/urls"}, nil},
	{"matcher/extent", []string{"matcher"}, nil},
	{"matcher/reference", nil, []string{"golang.org/x/net/idna", "github.com/dunglas/httpsfv"}},
	{"batch/option", nil, nil},
	{"batch", slices.Concat(engine, []string{"io/store/panics", "io/store/budget"}), []string{"github.com/alitto/pond/v2", "github.com/zeebo/xxh3"}},
	{"batch/internal/batchtest", slices.Concat(engine, []string{"batch", "bench"}), nil},
	{"batch/compare", []string{"batch", "batch/evaluate", "matcher", "matcher/urls"}, nil},
	{"batch/evaluate", []string{"batch", "io/store/panics", "batch/option", "matcher", "matcher/access", "matcher/domains", "matcher/partition", "matcher/urls", "matcher/usage"}, []string{"github.com/zeebo/xxh3"}},
	// Opening objects needs no driver, and only a program links those.
	{"io/store/blob", []string{"batch/option"}, []string{"golang.org/x/sys"}},
	{"io/store/blob/stores", []string{"io/store/blob"}, []string{"*"}},
	{"io/store/blob/blobtest", nil, []string{"github.com/johannesboyne/gofakes3"}},
	{"io/store/panics", nil, nil},
	{"io/store/*", slices.Concat([]string{"batch", "batch/option"}, store), []string{"*"}},
	// The library of tables knows no robots.txt.
	{"io/tables", []string{"io/store/budget", "io/store/compress", "io/store/panics"}, slices.Concat(arrow, []string{"github.com/google/flatbuffers/go", "github.com/zeebo/xxh3"})},
	{"io/frontier", slices.Concat([]string{"batch", "io/frontier/text", "io/frontier/delimited", "io/frontier/jsonl", "io/frontier/parquetio", "batch/option"}, tables), arrow},
	{"io/frontier/outputs", slices.Concat([]string{"batch", "batch/option"}, frontier), slices.Concat(arrow, []string{"golang.org/x/sync/errgroup"})},
	{"io/frontier/*", slices.Concat(engine, []string{"batch"}, tables), []string{"*"}},
	{"io/rules/ruleset", slices.Concat(engine, []string{"batch"}, rules, frontier), nil},
	{"io/rules/hosts", slices.Concat([]string{"batch", "matcher/urls"}, tables), arrow},
	{"io/rules/agentlist", []string{"matcher"}, nil},
	{"io/rules/*", slices.Concat(engine, []string{"batch", "io/rules/captures"}, tables), []string{"*"}},
	{"io/report", slices.Concat(engine, []string{"batch", "batch/compare", "io/report/stats", "io/report/export", "io/report/page"}, rules, frontier), nil},
	{"io/report/findings", slices.Concat(engine, []string{"io/report"}, rules, store), nil},
	{"io/report/verify", slices.Concat(engine, []string{"batch", "io/report"}, rules, frontier), arrow},
	{"io/report/explain", slices.Concat(engine, []string{"batch", "batch/evaluate", "io/report"}, rules, frontier), nil},
	{"io/report/stats", slices.Concat(engine, []string{"batch", "io/report/export"}, rules, frontier), arrow},
	{"io/report/*", slices.Concat(engine, []string{"batch"}, rules, frontier), arrow},
	{"cmd", slices.Concat(engine, []string{"batch", "batch/compare", "batch/evaluate", "io/*"}), []string{"*"}},
	{"bench", slices.Concat(engine, []string{"matcher/reference", "batch", "batch/evaluate", "io/*"}), []string{"*"}},
	{"scripts", slices.Concat(engine, []string{"batch", "batch/evaluate", "io/*", "bench"}), []string{"*"}},
}

// topLevel is what may lie at the top level.
var topLevel = []string{
	"go.mod", "go.sum", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", ".gitignore", ".ci", ".github",
	"cmd", "batch", "matcher", "io", "bench", "scripts",
}

// roomOf finds the room of the package at path, which is relative to the
// module. The folder of the room that it returns is the one that the package
// lies in, without a star; ok is false when there is none.
func roomOf(path string) (found room, ok bool) {
	for _, r := range table {
		folder := r.folder
		if parent, star := strings.CutSuffix(folder, "*"); star {
			name, _, _ := strings.Cut(strings.TrimPrefix(path, parent), "/")
			folder = parent + name
		}
		if within(path, folder) && len(folder) > len(found.folder) {
			found, ok = r, true
			found.folder = folder
		}
	}
	return found, ok
}

// mayImport reports whether packages of the room may import path.
func (r room) mayImport(path string) bool {
	own, isOwn := strings.CutPrefix(path, module+"/")
	if !isOwn {
		if isStandard(path) {
			return true
		}
		for _, other := range r.others {
			if other == "*" || within(path, other) || path+"/." == other {
				return true
			}
		}
		return false
	}
	target, ok := roomOf(own)
	if !ok {
		return false
	}
	if target.folder == r.folder {
		return true
	}
	for _, name := range r.rooms {
		parent, star := strings.CutSuffix(name, "/*")
		if name == target.folder || star && within(target.folder, parent) {
			return true
		}
	}
	return false
}

// allowed returns what the room may import, for a message.
func (r room) allowed() string {
	names := slices.Concat([]string{"the standard library"}, r.rooms, r.others)
	for i, name := range names {
		if name == "*" {
			names[i] = "third-party packages"
		}
	}
	return strings.Join(names, ", ")
}

// within reports whether path is folder or lies below it.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// isStandard reports whether the import is of the standard library, whose paths have no dot in their first
// element.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return first != module && !strings.Contains(first, ".")
}
