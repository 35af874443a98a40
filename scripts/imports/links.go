package imports

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// link finds a name in brackets in a comment, qualified or not, and no index such as a[i].
var link = regexp.MustCompile(`(?:^|[\s(*"'])\[\*?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\](?:[\s,.;:)?!"']|$)`)

// CheckLinks returns a line for each link in a comment to a name that does not exist. As in go
// doc, a link is an exported name in brackets, of the package itself or after the name of
// another and a dot. A field or a method counts under its own name, too. Links to other
// modules are not checked.
func CheckLinks(files []File) []string {
	names := make(map[string]map[string]bool) // a package's folder: what it and its tests declare
	folders := make(map[string][]string)      // a package's name: where packages of that name lie
	for _, f := range files {
		folder := f.folder()
		if names[folder] == nil {
			names[folder] = make(map[string]bool)
			folders[path.Base(folder)] = append(folders[path.Base(folder)], folder)
		}
		addDeclared(f.Syntax, names[folder])
	}
	var broken []string
	for _, f := range files {
		imported := importedFolders(f.Syntax)
		for _, group := range f.Syntax.Comments {
			for _, m := range link.FindAllStringSubmatch(group.Text(), -1) {
				if !resolves(m[1], f.folder(), imported, folders, names) {
					broken = append(broken, fmt.Sprintf("%s: a comment links to [%s], which does not exist: correct or remove it", f.Path, m[1]))
				}
			}
		}
	}
	slices.Sort(broken)
	return slices.Compact(broken)
}

// resolves reports whether a link of a file in folder names something that exists, or is no link. imported
// are the file's imports by name, folders those of packages by name, and names what packages declare by
// folder.
func resolves(text, folder string, imported map[string]string, folders map[string][]string, names map[string]map[string]bool) bool {
	first, rest, qualified := strings.Cut(text, ".")
	if ast.IsExported(first) {
		return allIn(text, names[folder])
	}
	if !qualified || !ast.IsExported(rest) {
		return true // a word in brackets
	}
	if in, ok := imported[first]; ok {
		return allIn(rest, names[in])
	}
	of := folders[first]
	return len(of) == 0 || slices.ContainsFunc(of, func(in string) bool { return allIn(rest, names[in]) })
}

// allIn reports whether each name between the dots of text is declared.
func allIn(text string, declared map[string]bool) bool {
	for name := range strings.SplitSeq(text, ".") {
		if !declared[name] {
			return false
		}
	}
	return true
}

// addDeclared adds the names of a file's functions, methods, types, fields, variables and
// constants.
func addDeclared(f *ast.File, to map[string]bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			to[n.Name.Name] = true
			return false
		case *ast.TypeSpec:
			to[n.Name.Name] = true
		case *ast.ValueSpec:
			for _, name := range n.Names {
				to[name.Name] = true
			}
		case *ast.Field:
			for _, name := range n.Names {
				to[name.Name] = true
			}
			if len(n.Names) == 0 {
				to[embedded(n.Type)] = true
			}
		}
		return true
	})
}

// embedded returns the name of an embedded field.
func embedded(t ast.Expr) string {
	if s, ok := t.(*ast.SelectorExpr); ok {
		return s.Sel.Name
	}
	return receiver(t)
}
