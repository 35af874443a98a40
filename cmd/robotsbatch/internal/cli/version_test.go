package cli

import (
	"bytes"
	"runtime/debug"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

func TestVersion(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	library := &debug.Module{Path: "example.com/library", Version: "v1.2.3"}
	settings := []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "arm64"}}
	vcs := append(settings[:2:2], debug.BuildSetting{Key: "vcs.revision", Value: commit}, debug.BuildSetting{Key: "vcs.time", Value: "2026-03-01T12:00:00Z"})
	tests := []struct {
		name    string
		info    debug.BuildInfo
		version string
		want    []string
	}{
		{"a checkout", debug.BuildInfo{GoVersion: "go1.26.1", Settings: vcs, Deps: []*debug.Module{library}}, number + "+0123456789ab", []string{
			"robotsbatch " + number + " go1.26.1 linux/arm64\n", "commit     " + commit + "\n", "date       2026-03-01T12:00:00Z\n",
			"libraries  example.com/library v1.2.3\n",
		}},
		{"changed", debug.BuildInfo{Settings: append(vcs[:4:4], debug.BuildSetting{Key: "vcs.modified", Value: "true"})}, number + "+0123456789ab.changed", []string{
			"robotsbatch " + number + " ", commit + ", with changes that are not committed\n",
		}},
		{"go run", debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: settings}, number, []string{"robotsbatch " + number + " ", "commit     unknown: "}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			printVersion(&out, &test.info)
			must.Equal(t, versionOf(&test.info), test.version, "version")
			for _, want := range test.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("want %q in\n%s", want, out.String())
				}
			}
		})
	}
}
