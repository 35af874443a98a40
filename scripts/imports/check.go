package imports

import (
	"fmt"
	"slices"
	"strings"
)

// Package has the fields of go list's output that the checks need.
type Package struct {
	// ImportPath is the package's path, module included.
	ImportPath string
	// Doc is the first sentence of the package comment.
	Doc string
	// GoFiles and CgoFiles are empty when there are only tests.
	GoFiles, CgoFiles []string
	// Imports are those of the package itself.
	Imports []string
	// TestImports and XTestImports are those of its tests.
	TestImports, XTestImports []string
}

const whatToDo = "move the code to a room that may, or, when the rule itself has changed, change scripts/imports/table.go"

// CheckImports returns a line for each import that the table does not allow,
// and for each package that is in no room. Tests may import everything but cmd.
func CheckImports(packages []Package) []string {
	var violations []string
	report := func(format string, args ...any) {
		violations = append(violations, fmt.Sprintf(format, args...))
	}
	for _, p := range packages {
		path := strings.TrimPrefix(p.ImportPath, module+"/")
		if path == "io" {
			report("%s: a Go file lies in io itself: move it to a folder of its own in io", p.ImportPath)
			continue
		}
		home, ok := roomOf(path)
		if !ok {
			report("%s is in no room: move it to a folder of scripts/imports/table.go, or give it a line there", p.ImportPath)
			continue
		}
		for _, imported := range p.Imports {
			if !home.mayImport(imported) && !(imported == module+"/"+must && forTests(path)) {
				report("%s imports %s, but %s may import only %s: %s", p.ImportPath, imported, home.folder, home.allowed(), whatToDo)
			}
		}
		for _, imported := range slices.Concat(p.TestImports, p.XTestImports) {
			if within(imported, module+"/cmd") && home.folder != "cmd" {
				report("%s: a test imports %s, but nobody imports cmd: %s", p.ImportPath, imported, whatToDo)
			}
		}
	}
	slices.Sort(violations)
	return slices.Compact(violations)
}

// CheckDocs returns a line for each package without a package comment.
func CheckDocs(packages []Package) []string {
	var violations []string
	for _, p := range packages {
		if p.Doc == "" && len(p.GoFiles)+len(p.CgoFiles) > 0 {
			violations = append(violations, fmt.Sprintf("%s has no package comment: say in its doc.go what it is for", p.ImportPath))
		}
	}
	return violations
}

// CheckTopLevel returns a line for each of the files, paths from the top level,
// that lies in or is an entry that does not belong there.
func CheckTopLevel(files []string) []string {
	var violations []string
	for _, file := range files {
		entry, _, _ := strings.Cut(file, "/")
		if !slices.Contains(topLevel, entry) {
			violations = append(violations, fmt.Sprintf("%s does not belong at the top level: move it to one of %s", entry, strings.Join(topLevel, " ")))
		}
	}
	slices.Sort(violations)
	return slices.Compact(violations)
}
