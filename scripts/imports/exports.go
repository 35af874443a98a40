package imports

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// File is a Go file of the repository, at a path from the top level.
type File struct {
	Path   string
	Syntax *ast.File
}

func (f File) folder() string { return path.Dir(f.Path) }

// isTest tells whether the file is one of a package's tests.
func (f File) isTest() bool { return strings.HasSuffix(f.Path, "_test.go") }

// CheckExports returns a line for each exported name that no other package uses. Functions,
// types, variables and constants are told apart by their packages, methods by their names
// alone. A type is used with what shows it, and an enumeration as a whole. Tests are no
// users, except of packages that are for tests. Names in allowed, such as matcher.Table or
// matcher.Table.Len, are left out; there is a line for each of those that is used or gone.
func CheckExports(files []File, allowed map[string]string) []string {
	used := usedNames(files)
	for range 2 { // constants come after their types
		addShown(files, used)
	}
	var unused []string
	found := make(map[string]bool)
	for _, f := range files {
		if f.isTest() || f.Syntax.Name.Name == "main" {
			continue
		}
		folder := f.folder()
		for _, name := range exportedNames(f.Syntax) {
			key := folder + "." + name
			if used[key] || used[member(folder, name)] {
				continue
			}
			found[key] = true
			if _, ok := allowed[key]; !ok {
				unused = append(unused, fmt.Sprintf("%s: no other package uses it: make it the package's own, delete it, or name it in AllowedExports with a reason", key))
			}
		}
	}
	for key := range allowed {
		if !found[key] {
			unused = append(unused, fmt.Sprintf("%s is allowed to be unused, and is used or gone: take it out of AllowedExports", key))
		}
	}
	slices.Sort(unused)
	return slices.Compact(unused)
}

// addShown adds what comes with names that are exported: types in their declarations, which
// a user gets without naming them, and the constants of an enumeration of which one is used.
func addShown(files []File, used map[string]bool) {
	for _, f := range files {
		if f.isTest() {
			continue
		}
		show := func(n ast.Node) {
			ast.Inspect(n, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BlockStmt:
					return false
				case *ast.Ident:
					used[f.folder()+"."+n.Name] = used[f.folder()+"."+n.Name] || ast.IsExported(n.Name)
				}
				return true
			})
		}
		for _, d := range f.Syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() {
					show(d.Type)
				}
			case *ast.GenDecl:
				showSpecs(d, f.folder(), used, show)
			}
		}
	}
}

// showSpecs shows the types of a declaration's exported names.
func showSpecs(d *ast.GenDecl, folder string, used map[string]bool, show func(ast.Node)) {
	enumeration, some := false, false
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() {
				show(s.Type)
			}
		case *ast.ValueSpec:
			if s.Type != nil && s.Names[0].IsExported() {
				show(s.Type)
			}
			enumeration = enumeration || d.Tok == token.CONST && isEnumerated(s)
			if of, ok := s.Type.(*ast.Ident); ok && used[folder+"."+of.Name] {
				some = true
			}
			for _, name := range s.Names {
				some = some || used[folder+"."+name.Name]
			}
		}
	}
	for _, s := range d.Specs {
		if s, ok := s.(*ast.ValueSpec); ok && enumeration && some {
			for _, name := range s.Names {
				used[folder+"."+name.Name] = true
			}
		}
	}
}

// isEnumerated tells whether a constant is one of an enumeration's: it has a type, or is one
// that the package has of another.
func isEnumerated(s *ast.ValueSpec) bool {
	if len(s.Values) == 0 {
		return s.Type != nil
	}
	_, other := s.Values[0].(*ast.SelectorExpr)
	return s.Type != nil || other
}

// member is the key of a method in the set of used names; empty for other names.
func member(folder, name string) string {
	_, member, ok := strings.Cut(name, ".")
	if !ok {
		return ""
	}
	return folder + " " + member
}

// UsedNames returns the names of packages in the folder of that the packages in the folder by use,
// their tests apart.
func UsedNames(files []File, by, of string) []string {
	used := make(map[string]bool)
	for _, f := range files {
		if f.isTest() || !within(f.folder(), by) {
			continue
		}
		imported := importedFolders(f.Syntax)
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			if n, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := n.X.(*ast.Ident); ok && within(imported[x.Name], of) {
					used[imported[x.Name]+"."+n.Sel.Name] = true
				}
			}
			return true
		})
	}
	return slices.Sorted(maps.Keys(used))
}

// usedNames are the names that packages use of others: "folder.Name" and, of methods,
// "folder Name" for each folder but the user's own.
func usedNames(files []File) map[string]bool {
	used := make(map[string]bool)
	members := make(map[string]map[string]bool) // the folders that use a method
	inTests := make(map[string]map[string]bool)
	folders := make(map[string]bool)
	for _, f := range files {
		folders[f.folder()] = true
		imported := importedFolders(f.Syntax)
		to := members
		if f.isTest() {
			to = inTests
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok {
					if folder, ok := imported[x.Name]; ok && (folder != f.folder() && !f.isTest() || f.isTest() && forTests(folder)) {
						used[folder+"."+n.Sel.Name] = true
					}
				}
				add(to, n.Sel.Name, f.folder())
			case *ast.InterfaceType:
				for _, m := range n.Methods.List {
					for _, name := range m.Names {
						add(to, name.Name, "") // who implements it has it for others
					}
				}
			}
			return true
		})
	}
	for folder := range folders {
		for name, users := range members {
			if len(users) > 1 || !users[folder] {
				used[folder+" "+name] = true
			}
		}
		for name, users := range inTests {
			if forTests(folder) && (len(users) > 1 || !users[folder]) {
				used[folder+" "+name] = true
			}
		}
	}
	return used
}

func add(to map[string]map[string]bool, name, folder string) {
	if !ast.IsExported(name) {
		return
	}
	if to[name] == nil {
		to[name] = make(map[string]bool)
	}
	to[name][folder] = true
}

// importedFolders are the repository's folders that a file imports, by the names it has for
// them.
func importedFolders(f *ast.File) map[string]string {
	folders := make(map[string]string)
	for _, i := range f.Imports {
		full, _ := strconv.Unquote(i.Path.Value)
		folder, own := strings.CutPrefix(full, module+"/")
		if !own {
			continue
		}
		name := path.Base(folder)
		if i.Name != nil {
			name = i.Name.Name
		}
		folders[name] = folder
	}
	return folders
}

// exportedNames are the exported names that a file declares: Name, and Type.Name of the
// methods of exported types, without those that the standard library calls.
func exportedNames(f *ast.File) []string {
	var names []string
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if !d.Name.IsExported() {
				continue
			}
			if d.Recv == nil {
				names = append(names, d.Name.Name)
			} else if of := receiver(d.Recv.List[0].Type); ast.IsExported(of) && !slices.Contains(calledByLibrary, d.Name.Name) {
				names = append(names, of+"."+d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				names = append(names, specNames(s)...)
			}
		}
	}
	return names
}

// calledByLibrary are methods that the standard library calls through its interfaces.
var calledByLibrary = []string{
	"Close", "Error", "Format", "GoString", "Is", "Len", "Less", "LogValue", "MarshalJSON", "MarshalText", "Pop", "Push", "Read", "ReadAt", "ReadByte", "ReadFrom",
	"RoundTrip", "Seek", "Set", "String", "Swap", "Temporary", "Timeout", "UnmarshalJSON", "UnmarshalText", "Unwrap", "Visit", "Write", "WriteTo", "IsBoolFlag",
}

// specNames are the exported names of a type, or of variables and constants.
func specNames(s ast.Spec) []string {
	var names []string
	switch s := s.(type) {
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() {
				names = append(names, name.Name)
			}
		}
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return nil
		}
		names = append(names, s.Name.Name)
	}
	return names
}

// receiver is the name of a method's type.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

// forTests tells whether the package in a folder is for tests and measurements alone.
func forTests(folder string) bool {
	return strings.HasSuffix(folder, "test") || folder == "matcher/reference" || folder == must || within(folder, "bench") || within(folder, "scripts")
}
