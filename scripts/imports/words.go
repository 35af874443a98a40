package imports

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// flagWord matches what reads as a flag in a text.
var flagWord = regexp.MustCompile(`(?:^|[ "(;])(-[a-z]{2,}[a-z0-9-]*)(?:[ ":,;.)/]|$)`)

// CheckWords returns a violation for each text in a file of a library that names a flag of the
// command line: libraries name options by robotsbatch/batch/option, and who shows a message
// puts flags in.
func CheckWords(path string, source []byte) []string {
	library := strings.HasPrefix(path, "io/") || strings.HasPrefix(path, "batch/") || strings.HasPrefix(path, "matcher/")
	if !library || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
		return nil
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
	if err != nil {
		return []string{err.Error()}
	}
	var violations []string
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		text, _ := strconv.Unquote(literal.Value)
		if found := flagWord.FindStringSubmatch(text); found != nil {
			violations = append(violations, fmt.Sprintf("%s names the flag %s: name the option of package option", files.Position(literal.Pos()), found[1]))
		}
		return true
	})
	return violations
}
