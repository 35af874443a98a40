// Package container_test parses the Dockerfile as BuildKit does.
package container_test

import (
	"os"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// The image is made from scratch, of what the first stage lays out, and runs the program
// as nobody in particular.
func TestDockerfile(t *testing.T) {
	f, err := os.Open("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	parsed, err := parser.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, warning := range parsed.Warnings {
		t.Errorf("%s: %s", warning.Short, warning.Detail)
	}
	stages, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(stages) != 2 || stages[0].Name != "build" || stages[1].BaseName != "scratch" {
		t.Fatalf("stages %v", stages)
	}
	var program, user string
	for _, command := range stages[1].Commands {
		switch c := command.(type) {
		case *instructions.CopyCommand:
			if c.From != stages[0].Name || c.DestPath != "/" || len(c.SourcePaths) != 1 || c.SourcePaths[0] != "/image/" {
				t.Errorf("%s", c)
			}
		case *instructions.EntrypointCommand:
			program = strings.Join(c.CmdLine, " ")
		case *instructions.UserCommand:
			user = c.User
		case *instructions.RunCommand:
			t.Errorf("nothing can run in an empty image: %s", c)
		}
	}
	if program != "/robotsbatch" || user != "65532:65532" {
		t.Errorf("runs %q as %q", program, user)
	}
}
