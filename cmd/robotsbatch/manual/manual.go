// Package manual holds the pages of the manual.
package manual

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed *.md
var pages embed.FS

// Topics are the names of the pages.
func Topics() []string {
	names, err := fs.Glob(pages, "*.md")
	if err != nil {
		panic(err) // the pattern is right
	}
	for i, name := range names {
		names[i] = strings.TrimSuffix(path.Base(name), ".md")
	}
	return names
}

// Page is the page of that name.
func Page(topic string) ([]byte, error) { return pages.ReadFile(topic + ".md") }
