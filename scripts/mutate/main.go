// Mutate changes a package in one place at a time and runs its tests. A change that no test
// notices survives: a test lacks, or the code does not need what was changed.
//
//	go run ./scripts/mutate -n 100 ./matcher match.go trie.go
//
// The files of the project stay as they are: go test gets a changed copy (-overlay). It
// prints each survivor and, at the end, how many of the changes were noticed. Without files
// it changes all but tests; -n takes a sample, the same for the same -seed.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// mutant is a change of a file.
type mutant struct {
	file   string
	line   int
	what   string
	source []byte // of the whole file
}

func main() {
	n := flag.Int("n", 0, "try this number, chosen by chance; 0 tries all")
	seed := flag.Uint64("seed", 1, "of the choice")
	run := flag.String("run", ".", "the tests, as go test has it")
	limit := flag.Duration("timeout", 5*time.Minute, "of the tests; a change that takes longer is noticed")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := mutate(flag.Arg(0), flag.Args()[1:], *n, *seed, *run, *limit); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// mutate tries n mutants of files in a folder, all for 0, and prints those that no test notices.
func mutate(folder string, files []string, n int, seed uint64, run string, limit time.Duration) error {
	if len(files) == 0 {
		names, _ := filepath.Glob(filepath.Join(folder, "*.go")) // a pattern without faults
		for _, name := range names {
			if !strings.HasSuffix(name, "_test.go") {
				files = append(files, filepath.Base(name))
			}
		}
	}
	var all []mutant
	for _, name := range files {
		more, err := mutantsOf(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		all = append(all, more...)
	}
	if n > 0 && n < len(all) {
		g := rand.New(rand.NewPCG(seed, 0))
		g.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:n]
	}
	scratch, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	tried, noticed := 0, 0
	for _, m := range all {
		built, survived, err := m.try(scratch, folder, run, limit)
		switch {
		case err != nil:
			return err
		case !built:
			continue
		case survived:
			fmt.Printf("%s:%d: %s\n", m.file, m.line, m.what)
		default:
			noticed++
		}
		tried++
	}
	fmt.Printf("%s: %d of %d changes were noticed (%.1f %%)\n", folder, noticed, tried, 100*float64(noticed)/float64(max(1, tried)))
	return nil
}

// try runs the tests of a package with a mutant, if it compiles.
func (m *mutant) try(scratch, folder, run string, limit time.Duration) (built, survived bool, err error) {
	changed, overlay, binary := filepath.Join(scratch, "changed.go"), filepath.Join(scratch, "overlay.json"), filepath.Join(scratch, "test")
	whole, err := filepath.Abs(m.file)
	if err != nil {
		return false, false, err
	}
	text := fmt.Sprintf(`{"Replace": {%q: %q}}`, whole, changed)
	if err := errors.Join(os.WriteFile(changed, m.source, 0o666), os.WriteFile(overlay, []byte(text), 0o666)); err != nil {
		return false, false, err
	}
	if exec.Command("go", "test", "-c", "-vet=off", "-overlay="+overlay, "-o", binary, folder).Run() != nil {
		return false, false, nil
	}
	ctx, stop := context.WithTimeout(context.Background(), limit)
	defer stop()
	test := exec.CommandContext(ctx, binary, "-test.short", "-test.failfast", "-test.run="+run)
	test.Dir = folder
	return true, test.Run() == nil, nil
}

// mutantsOf returns all changes of a file.
func mutantsOf(name string) (all []mutant, err error) {
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, name, nil, 0)
	if err != nil {
		return nil, err
	}
	// add adds the mutant that a change makes, which it takes back.
	add := func(at token.Pos, what string, change, back func()) {
		change()
		defer back()
		var text bytes.Buffer
		if err = errors.Join(err, printer.Fprint(&text, positions, file)); err == nil {
			all = append(all, mutant{file: name, line: positions.Position(at).Line, what: what, source: text.Bytes()})
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok == token.VAR // constants are named numbers, and types have no behaviour
		case *ast.BinaryExpr:
			old := n.Op
			for _, op := range others[old] {
				add(n.OpPos, fmt.Sprintf("%s for %s", op, old), func() { n.Op = op }, func() { n.Op = old })
			}
		case *ast.BasicLit:
			if v, e := strconv.Atoi(n.Value); n.Kind == token.INT && e == nil {
				old := n.Value
				add(n.Pos(), fmt.Sprintf("%d for %d", v+1, v), func() { n.Value = strconv.Itoa(v + 1) }, func() { n.Value = old })
			}
		case *ast.Ident:
			if other := opposites[n.Name]; other != "" && n.Obj == nil {
				old := n.Name
				add(n.Pos(), other+" for "+old, func() { n.Name = other }, func() { n.Name = old })
			}
		case *ast.BlockStmt:
			old := n.List
			for i, statement := range old {
				if removable(statement) {
					add(statement.Pos(), "without this statement", func() { n.List = slices.Delete(slices.Clone(old), i, i+1) }, func() { n.List = old })
				}
			}
		}
		return true
	})
	return all, err
}

var opposites = map[string]string{"true": "false", "false": "true", "min": "max", "max": "min"}

// others are the operators that replace one.
var others = map[token.Token][]token.Token{
	token.LSS: {token.LEQ}, token.LEQ: {token.LSS}, token.GTR: {token.GEQ}, token.GEQ: {token.GTR},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL}, token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.AND: {token.OR}, token.OR: {token.AND},
}

// removable reports whether a program may compile without a statement.
func removable(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.BranchStmt:
		return true
	case *ast.IfStmt:
		return s.Else == nil
	}
	return false
}
