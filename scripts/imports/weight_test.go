package imports_test

import (
	"os/exec"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

// heavy are modules that made most of the program, for what it never does: the
// gRPC of Google's and of Arrow's clients. One that comes back comes with a
// library, whose lighter half is to be found, or another library.
var heavy = []string{
	"github.com/envoyproxy/", "github.com/cncf/xds", "cel.dev/", "go.opentelemetry.io/", "google.golang.org/grpc", "cloud.google.com/go/storage", "gocloud.dev",
}

// TestWeight is on what the program links, which decides about its size, how
// long the first build takes, and how long the program takes to start. The tests of the command
// start theirs a thousand times.
func TestWeight(t *testing.T) {
	for _, target := range []string{"./cmd/robotsbatch", "./io/store/blob/stores"} {
		watchTree(t)
		cmd := exec.Command("go", "list", "-deps", "-test", target)
		cmd.Dir = top
		output, err := cmd.Output()
		must.Need(t, err == nil, "go list -deps %s: %v", target, err)
		packages := strings.Fields(string(output))
		t.Logf("%s has %d packages", target, len(packages))
		for _, p := range packages {
			for _, module := range heavy {
				if strings.HasPrefix(p, module) {
					t.Errorf("%s links %s: see with go mod why -m which import brings it", target, p)
				}
			}
		}
	}
}
