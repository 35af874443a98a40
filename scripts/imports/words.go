package imports

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// flagWord matches what reads as a flag in a text.
var flagWord = regexp.MustCompile(`(?:^|[ "(;])(-[a-z]{2,}[a-z0-9-]*)(?:[ ":,;.)/]|$)`)

// sayings are the functions whose texts people and the Python package read.
var sayings = []string{"Errorf", "Usagef", "Messagef", "Warn"}

// CheckWords returns a violation for each text that begins with the name of its package, or
// names a flag of the command line where it should name an option of robotsbatch/batch/option, which is put into the reader's words when it
// is shown: any text in a file of a library, and messages of the program.
func CheckWords(path string, source []byte) []string {
	library := strings.HasPrefix(path, "io/") || strings.HasPrefix(path, "batch/") || strings.HasPrefix(path, "matcher/")
	if !library && !strings.HasPrefix(path, "cmd/") || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
		return nil
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
	if err != nil {
		return []string{err.Error()}
	}
	var violations []string
	check := func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		text, _ := strconv.Unquote(literal.Value)
		if library && strings.HasPrefix(text, file.Name.Name+": ") {
			violations = append(violations, fmt.Sprintf("%s begins with the package's name, which says nothing to who runs the program", files.Position(literal.Pos())))
		}
		if found := flagWord.FindStringSubmatch(text); found != nil {
			violations = append(violations, fmt.Sprintf("%s names the flag %s: name the option of package option", files.Position(literal.Pos()), found[1]))
		}
		return true
	}
	if library {
		ast.Inspect(file, check)
		return violations
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if function, ok := call.Fun.(*ast.SelectorExpr); ok && slices.Contains(sayings, function.Sel.Name) {
				ast.Inspect(call.Args[0], check)
			}
		}
		return true
	})
	return violations
}
