package robotstxt_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher/robotstxt"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden parses testdata/*.robots.txt under both profiles. Files whose name starts with
// "cut" are parsed with Options.Cut.
func TestGolden(t *testing.T) {
	bodies, err := filepath.Glob("testdata/*.robots.txt")
	if err != nil || len(bodies) == 0 {
		t.Fatalf("no bodies: %v", err)
	}
	seen := make(map[string]bool)
	for _, name := range bodies {
		body := must.Get(os.ReadFile(name))(t)
		var got strings.Builder
		for _, profile := range profiles {
			o := robotstxt.Options{Profile: profile.profile, Cut: strings.HasPrefix(filepath.Base(name), "cut")}
			f := robotstxt.Parse(body, o)
			fmt.Fprintf(&got, "profile %s\n%s\n", profile.name, dump(f))
			for _, w := range f.Warnings {
				seen[profile.name+" "+w.Kind.String()] = true
			}
		}
		compareGolden(t, strings.TrimSuffix(name, ".robots.txt")+".golden", got.String())
	}
	for kind := robotstxt.UTF16Body; kind <= robotstxt.PatternWithoutSlash; kind++ {
		for _, profile := range profiles {
			googleOnly := kind == robotstxt.LineCut || kind == robotstxt.KeyPrefix
			want := profile.profile == robotstxt.Google || !googleOnly
			must.Equal(t, seen[profile.name+" "+kind.String()], want, "warning", kind, "under", profile.name, "in some golden file", !want)
		}
	}
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		must.Do(t, os.WriteFile(name, []byte(got), 0o644))
		return
	}
	want := must.Get(os.ReadFile(name))(t)
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s\n(go test -update rewrites it)", name, got, want)
	}
}
