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

// folder returns the folder of the file's package.
func (f File) folder() string { return path.Dir(f.Path) }

// isTest reports whether the file is one of a package's tests.
func (f File) isTest() bool { return strings.HasSuffix(f.Path, "_test.go") }

// CheckExports returns a line for each exported name that no other package uses. Functions,
// types, variables and constants are told apart by their packages, methods by their names
// alone. A type is used with what shows it, and an enumeration as a whole. Tests are no
// users, except of packages that are for tests. Names in allowed, such as matcher.Chain or
// matcher.Chain.Len, are left out; there is a line for each of those that is used or gone.
func CheckExports(files []File, allowed map[string]string) []string {
	used := usesOf(files)
	for range 2 { // constants come after their types
		used.addShown(files)
	}
	var unused []string
	found := make(map[string]bool)
	for _, f := range files {
		if f.isTest() || f.Syntax.Name.Name == "main" {
			continue
		}
		for _, name := range exportedNames(f.Syntax) {
			key := f.folder() + "." + name
			if used.has(f.folder(), name) {
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

// UsedNames returns what the packages in the folder by use of the packages in the folder of: names with
// their folders. Tests of by do not count.
func UsedNames(files []File, by, of string) []string {
	files = slices.DeleteFunc(slices.Clone(files), func(f File) bool { return f.isTest() || !within(f.folder(), by) })
	return slices.DeleteFunc(slices.Sorted(maps.Keys(usesOf(files).names)), func(name string) bool {
		return !within(name[:strings.LastIndexByte(name, '.')], of)
	})
}

// uses is what packages use of others.
type uses struct {
	names            map[string]bool            // folder.Name
	members, inTests map[string]map[string]bool // by the name of a method: the folders that use it
}

// usesOf returns what the files use of other packages, and methods by their names.
func usesOf(files []File) *uses {
	u := &uses{make(map[string]bool), make(map[string]map[string]bool), make(map[string]map[string]bool)}
	for _, f := range files {
		imported, members := importedFolders(f.Syntax), u.members
		if f.isTest() {
			members = u.inTests
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok {
					if folder, ok := imported[x.Name]; ok && (folder != f.folder() && !f.isTest() || f.isTest() && forTests(folder)) {
						u.names[folder+"."+n.Sel.Name] = true
					}
				}
				add(members, n.Sel, f.folder())
			case *ast.InterfaceType:
				for _, m := range n.Methods.List {
					for _, name := range m.Names {
						add(members, name, "") // who implements it has it for others
					}
				}
			}
			return true
		})
	}
	return u
}

// add notes that a folder uses a method or a field of this name, if it is exported.
func add(to map[string]map[string]bool, name *ast.Ident, folder string) {
	if !name.IsExported() {
		return
	}
	if to[name.Name] == nil {
		to[name.Name] = make(map[string]bool)
	}
	to[name.Name][folder] = true
}

// has reports whether a package in another folder uses this name, which the package in folder exports.
func (u *uses) has(folder, name string) bool {
	_, member, ok := strings.Cut(name, ".")
	byOthers := func(users map[string]bool) bool { return len(users) > 1 || len(users) == 1 && !users[folder] }
	return u.names[folder+"."+name] || ok && (byOthers(u.members[member]) || forTests(folder) && byOthers(u.inTests[member]))
}

// addShown adds what comes with names that are exported: types in their declarations, which
// a user gets without naming them, and the constants of an enumeration of which one is used.
func (u *uses) addShown(files []File) {
	for _, f := range files {
		if f.isTest() {
			continue
		}
		show := func(of *ast.Ident, t ast.Expr) {
			if t == nil || !of.IsExported() {
				return
			}
			ast.Inspect(t, func(n ast.Node) bool {
				if n, ok := n.(*ast.Ident); ok && n.IsExported() {
					u.names[f.folder()+"."+n.Name] = true
				}
				return true
			})
		}
		for _, d := range f.Syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				show(d.Name, d.Type)
			case *ast.GenDecl:
				u.addEnumeration(d, f.folder(), show)
			}
		}
	}
}

// addEnumeration shows the types of a declaration's names. If it declares an enumeration, and one of the
// constants or their type is used, it adds all of them.
func (u *uses) addEnumeration(d *ast.GenDecl, folder string, show func(*ast.Ident, ast.Expr)) {
	enumerated, used := false, false
	var names []string
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			show(s.Name, s.Type)
		case *ast.ValueSpec:
			show(s.Names[0], s.Type)
			enumerated = enumerated || d.Tok == token.CONST && isEnumerated(s)
			of, ok := s.Type.(*ast.Ident)
			used = used || ok && u.names[folder+"."+of.Name]
			for _, name := range s.Names {
				names = append(names, folder+"."+name.Name)
				used = used || u.names[folder+"."+name.Name]
			}
		}
	}
	for _, name := range names {
		u.names[name] = u.names[name] || enumerated && used
	}
}

// isEnumerated reports whether a constant belongs to an enumeration: it has a type, or stands for a
// constant of another package.
func isEnumerated(s *ast.ValueSpec) bool {
	if len(s.Values) == 0 {
		return s.Type != nil
	}
	_, other := s.Values[0].(*ast.SelectorExpr)
	return s.Type != nil || other
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
func exportedNames(f *ast.File) (names []string) {
	add := func(list ...*ast.Ident) {
		for _, name := range list {
			if name.IsExported() {
				names = append(names, name.Name)
			}
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add(d.Name)
			} else if of := receiver(d.Recv.List[0].Type); d.Name.IsExported() && ast.IsExported(of) && !slices.Contains(calledByLibrary, d.Name.Name) {
				names = append(names, of+"."+d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					add(s.Names...)
				case *ast.TypeSpec:
					add(s.Name)
				}
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

// forTests reports whether the package in a folder is for tests and measurements alone.
func forTests(folder string) bool {
	return strings.HasSuffix(folder, "test") || folder == "matcher/reference" || folder == must || within(folder, "bench") || within(folder, "scripts")
}
