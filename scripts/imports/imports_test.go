package imports_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/scripts/imports"
)

const top = "../.."

func TestImports(t *testing.T) {
	var packages []imports.Package
	// Files for one system only import, too.
	for _, system := range []string{"linux", "darwin", "windows"} {
		packages = append(packages, list(t, system)...)
	}
	report(t, imports.CheckImports(packages))
}

func TestPackageComments(t *testing.T) {
	report(t, imports.CheckDocs(list(t, "linux")))
}

func TestTopLevel(t *testing.T) {
	report(t, imports.CheckTopLevel(trackedFiles(t)))
}

func TestWords(t *testing.T) {
	for _, path := range trackedFiles(t) {
		source, err := os.ReadFile(filepath.Join(top, path))
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue // it is about to be removed
			}
			t.Fatal(err)
		}
		report(t, imports.CheckWords(path, source))
	}
	for _, text := range []string{`option.Usagef("-out is missing")`, `fmt.Errorf("-out %s: " + "%w", a, b)`} {
		got := imports.CheckWords("cmd/a/a.go", []byte("package a; var err = "+text+"; var help = `-in FILE`"))
		must.Be(t, len(got) == 1, "%s: %q, want 1", text, got)
	}
	for text, want := range map[string]int{`"raise -memory, or not"`: 1, `"-out: %w"`: 1, "`see (-as-of)`": 1, `"a: damaged"`: 1, `"a-b, - and -1"`: 0, `"the --"`: 0} {
		got := imports.CheckWords("io/a.go", []byte("package a; var text = "+text))
		must.Be(t, len(got) == want, "%s: %q, want %d", text, got, want)
	}
}

// TestFileLength warns only: a longer file may hold one idea all the same.
func TestFileLength(t *testing.T) {
	const most = 600
	for _, file := range trackedFiles(t) {
		if !strings.HasSuffix(file, ".go") {
			continue
		}
		content, err := os.ReadFile(filepath.Join(top, file))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, not yet committed
		}
		must.Do(t, err)
		if lines := bytes.Count(content, []byte("\n")); lines > most {
			t.Logf("%s has %d lines, more than %d: does it hold one idea?", file, lines, most)
		}
	}
}

func report(t *testing.T, violations []string) {
	t.Helper()
	for _, violation := range violations {
		t.Error(violation)
	}
}

// watchTree reads every folder, for go test takes a result from its cache
// unless a file that the test itself looked at has changed, and go list looks
// on its own.
func watchTree(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == ".git" {
			return filepath.SkipDir
		}
		return err
	})
	must.Do(t, err)
}

// list returns the repository's packages as they are built for a system.
func list(t *testing.T, system string) []imports.Package {
	t.Helper()
	watchTree(t)
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Doc,GoFiles,CgoFiles,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = top
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	output, err := cmd.Output()
	must.Need(t, err == nil, "go list: %v", err)
	var packages []imports.Package
	decoder := json.NewDecoder(bytes.NewReader(output))
	for {
		var p imports.Package
		if err := decoder.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		packages = append(packages, p)
	}
	must.Need(t, len(packages) != 0, "go list: no packages")
	return packages
}

func trackedFiles(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-files")
	cmd.Dir = top
	output, err := cmd.Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	return strings.Split(strings.TrimSpace(string(output)), "\n")
}

// TestCheckImports tries the checker on imports that the repository does not
// have, so that its silence above means something.
func TestCheckImports(t *testing.T) {
	for _, test := range []struct {
		from, to string
		allowed  bool
	}{
		{"matcher", "matcher/robotstxt", true},
		{"matcher", "matcher/access", true},
		{"matcher/urls", "golang.org/x/net/idna", true},
		{"matcher", "golang.org/x/net/html", false},
		{"matcher", "github.com/klauspost/compress/zstd", false},
		{"matcher", "batch", false},
		{"matcher", "matcher/reference", false},
		{"matcher", "matcher/lint", false},
		{"matcher/robotstxt", "strings", true},
		{"matcher/robotstxt", "matcher", false},
		{"matcher/robotstxt", "golang.org/x/net/idna", false},
		{"matcher/access", "matcher/robotstxt", false},
		{"matcher/lint", "matcher", true},
		{"matcher/lint", "matcher/access", false},
		{"matcher/reference", "golang.org/x/net/idna", true},
		{"matcher/reference", "matcher", false},
		{"batch", "matcher", true},
		{"batch", "matcher/access", true},
		{"batch", "github.com/alitto/pond/v2", true},
		{"batch", "github.com/apache/arrow/go/v15/arrow", false},
		{"batch", "io/frontier/text", false},
		{"batch", "matcher/reference", false},
		{"batch/manifest", "batch", true},
		{"batch", "batch/manifest", true},
		{"io/frontier/text", "batch", true},
		{"io/frontier/text", "matcher/robotstxt", true},
		{"io/frontier/text", "io/store/compress", true},
		{"io/frontier/text", "io/rules/captures", false},
		{"io/store/runs", "io/frontier/tableio", false},
		{"io/frontier/outputs", "io/rules/ruleset", false},
		{"io/rules/rulepack", "io/report/stats", false},
		{"io/rules/warc", "io/rules/captures", true},
		{"io/report/verify", "io/rules/rulepack", true},
		{"io/frontier/text", "io/frontier/delimited", false},
		{"io/frontier/text", "io/frontier/text/internal/lines", true},
		{"io/frontier/text", "github.com/klauspost/compress/zstd", true},
		{"io/frontier/text", "cmd/robotsbatch", false},
		{"io/frontier/text", "bench/corpus", false},
		{"io/frontier/text", "matcher/reference", false},
		{"io/store/blob", "golang.org/x/sys/unix", true},
		{"io/store/blob", "github.com/aws/aws-sdk-go-v2/service/s3", false},
		{"io/store/blob", "io/store/blob/stores", false},
		{"io/store/blob/stores", "github.com/aws/aws-sdk-go-v2/service/s3", true},
		{"io/frontier/text", "io/store/blob/stores", false},
		{"cmd/robotsbatch", "io/store/blob/stores", true},
		{"cmd/robotsbatch", "io/frontier/text", true},
		{"cmd/robotsbatch", "bench/corpus", false},
		{"cmd/robotsbatch", "matcher/reference", false},
		{"bench", "matcher/reference", true},
		{"bench/corpus", "io/frontier/arrowipc", true},
		{"bench", "cmd/robotsbatch", false},
		{"scripts/imports", "cmd/robotsbatch", false},
		{"io", "strings", false},
		{"util", "strings", false},
	} {
		t.Run(test.from+" imports "+test.to, func(t *testing.T) {
			from, to := "robotsbatch/"+test.from, test.to
			if folder, _, _ := strings.Cut(to, "/"); slices.Contains([]string{"matcher", "batch", "io", "cmd", "bench"}, folder) {
				to = "robotsbatch/" + to
			}
			violations := imports.CheckImports([]imports.Package{{ImportPath: from, Imports: []string{to}}})
			if test.allowed {
				report(t, violations)
				return
			}
			must.Be(t, len(violations) == 1 && strings.Contains(violations[0], from), "violations %q, want one that names %s", violations, from)
		})
	}
}

func TestCheckTestImports(t *testing.T) {
	violations := imports.CheckImports([]imports.Package{
		{ImportPath: "robotsbatch/batch", TestImports: []string{"robotsbatch/matcher/reference", "robotsbatch/cmd/robotsbatch"}},
		{ImportPath: "robotsbatch/io/frontier/text", XTestImports: []string{"robotsbatch/bench/corpus", "robotsbatch/cmd/robotsbatch"}},
		{ImportPath: "robotsbatch/cmd/robotsbatch", XTestImports: []string{"robotsbatch/cmd/robotsbatch"}},
	})
	must.Be(t, len(violations) == 2, "violations %q, want one each for batch and io/frontier/text, which import cmd", violations)
}

func TestCheckDocs(t *testing.T) {
	violations := imports.CheckDocs([]imports.Package{
		{ImportPath: "robotsbatch/good", GoFiles: []string{"a.go"}, Doc: "Package good is good."},
		{ImportPath: "robotsbatch/testsonly"},
		{ImportPath: "robotsbatch/bad", GoFiles: []string{"a.go"}},
	})
	must.Be(t, len(violations) == 1 && strings.Contains(violations[0], "robotsbatch/bad "), "violations %q, want one for bad", violations)
}

func TestCheckTopLevel(t *testing.T) {
	violations := imports.CheckTopLevel([]string{"go.mod", "matcher/doc.go", "util/a.go", "util/b.go", "NOTES.txt"})
	must.Be(t, len(violations) == 2 && strings.HasPrefix(violations[0], "NOTES.txt ") && strings.HasPrefix(violations[1], "util "),
		"violations %q, want one each for NOTES.txt and util", violations)
}

// heavy are modules that made most of the program, for what it never does: the
// gRPC of Google's and of Arrow's clients. One that comes back comes with a
// library, whose lighter half is to be found, or another library.
var heavy = []string{
	"github.com/envoyproxy/", "github.com/cncf/xds", "cel.dev/", "go.opentelemetry.io/", "google.golang.org/grpc", "cloud.google.com/go/storage", "gocloud.dev",
}

// TestWeight is on what the program links, which decides about its size, how
// long the first build takes, and how long the program takes to start. The tests of the command
// start theirs a thousand times.
func TestWeight(t *testing.T) {
	for _, target := range []string{"./cmd/robotsbatch", "./io/store/blob/stores"} {
		watchTree(t)
		cmd := exec.Command("go", "list", "-deps", "-test", target)
		cmd.Dir = top
		output, err := cmd.Output()
		must.Need(t, err == nil, "go list -deps %s: %v", target, err)
		packages := strings.Fields(string(output))
		t.Logf("%s has %d packages", target, len(packages))
		for _, p := range packages {
			for _, module := range heavy {
				must.Be(t, !strings.HasPrefix(p, module), "%s links %s: see with go mod why -m which import brings it", target, p)
			}
		}
	}
}

// TestExports finds exported names that nobody but their own package uses.
func TestExports(t *testing.T) {
	report(t, imports.CheckExports(goFiles(t), imports.AllowedExports))
}

// TestLinks finds names in brackets, in comments, that do not exist.
func TestLinks(t *testing.T) {
	report(t, imports.CheckLinks(goFiles(t)))
}

// TestTables holds the library of tables apart: what it links of the repository is its own and
// io/store's, and what io/frontier uses of it are few names.
func TestTables(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./io/tables/...")
	cmd.Dir = top
	output := must.Get(cmd.Output())(t)
	for p := range strings.FieldsSeq(string(output)) {
		own, ok := strings.CutPrefix(p, "robotsbatch/")
		must.Be(t, !ok || strings.HasPrefix(own, "io/tables") || strings.HasPrefix(own, "io/store/"), "io/tables links %s: it is to know nothing of a job", own)
	}
	const most = 54
	names := imports.UsedNames(goFiles(t), "io/frontier", "io/tables")
	must.Be(t, len(names) != 0 && len(names) <= most,
		"io/frontier uses %d names of io/tables, at most %d are allowed: give it one call in the place of several\n%s", len(names), most, strings.Join(names, "\n"))
}

// goFiles parses the repository's Go files.
func goFiles(t *testing.T) []imports.File {
	t.Helper()
	var files []imports.File
	for _, name := range trackedFiles(t) {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(top, name))
		if os.IsNotExist(err) {
			continue // deleted, not yet committed
		}
		must.Do(t, err)
		files = append(files, parse(t, name, string(text)))
	}
	return files
}

func parse(t *testing.T, path, text string) imports.File {
	t.Helper()
	syntax := must.Get(parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution|parser.ParseComments))(t)
	return imports.File{Path: path, Syntax: syntax}
}

// TestCheckExports tries the check on a small repository.
func TestCheckExports(t *testing.T) {
	files := []imports.File{
		parse(t, "io/a/a.go", `package a
			type Shown struct{}
			type Hidden struct{}
			func (Shown) Called() {}
			func (Shown) Uncalled() {}
			func (Shown) String() string { return "" }
			func Used() *Shown { return Unused() }
			func Unused() *Shown { return nil }
			func Tested() {}
			type kind int
			const ( First kind = iota; Second )`),
		parse(t, "io/a/a_test.go", "package a_test\nimport \"robotsbatch/io/a\"\nfunc f() { a.Tested() }"),
		parse(t, "io/b/b.go", "package b\nimport other \"robotsbatch/io/a\"\nfunc f() { other.Used().Called(); _ = other.First }"),
		parse(t, "io/b/b_test.go", "package b\nimport \"robotsbatch/io/a\"\nfunc g() { a.Tested() }"),
		parse(t, "io/btest/btest.go", "package btest\nfunc Helper() {}"),
		parse(t, "io/c/c_test.go", "package c\nimport \"robotsbatch/io/btest\"\nfunc f() { btest.Helper() }"),
		parse(t, "cmd/x/main.go", "package main\nfunc Exported() {}"),
	}
	unused := imports.CheckExports(files, map[string]string{"io/a.Hidden": "", "io/a.Used": "", "io/a.Gone": ""})
	want := []string{"io/a.Gone is allowed", "io/a.Shown.Uncalled:", "io/a.Tested:", "io/a.Unused:", "io/a.Used is allowed"}
	must.Need(t, len(unused) == len(want), "%q, want %q", unused, want)
	for i, begin := range want {
		must.Be(t, strings.HasPrefix(unused[i], begin), "%q, want %q", unused[i], begin)
	}
}

// TestCheckLinks tries the check on links that exist and links that do not.
func TestCheckLinks(t *testing.T) {
	broken := imports.CheckLinks([]imports.File{
		parse(t, "io/a/a.go", `// Package a links to [T], [T.Field], [T.Method], [*T], [Gone], [T.Gone] and [io.Reader].
package a
// T has fields, as [b.Used] says and [b.Gone] does not. See b[Index] and [word].
type T struct { Field int }
func (T) Method() {}`),
		parse(t, "io/b/b.go", "package b\nconst Used = 1"),
	})
	want := []string{"[Gone]", "[T.Gone]", "[b.Gone]"}
	must.Need(t, len(broken) == len(want), "%q, want %q", broken, want)
	for i, name := range want {
		must.Be(t, strings.Contains(broken[i], name), "%q, want %q", broken[i], name)
	}
}
