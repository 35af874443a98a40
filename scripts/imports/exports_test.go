package imports_test

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/scripts/imports"
)

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
