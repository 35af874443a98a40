package cli

import (
	"runtime/debug"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

func TestParse(t *testing.T) {
	for args, want := range map[string]string{
		"a -s x b":        "a b: s=x",
		"--s=x a":         "a: s=x",
		"-s -b":           ": s=-b",
		"-b a -b2":        "there is no flag -b2",
		"-s=":             "s: it is empty: give a value, or leave the flag out",
		"-l=":             "l: it is empty",
		"-l a -l b":       ": l=a l=b",
		"-b=false - c":    "- c: b=false",
		"a -- -s -- x":    "a -s -- x:",
		"-b --":           ": b=true",
		"-s":              "flag needs an argument: -s",
		"-s x -s y":       "s y: it was given before, and can be given once",
		"-=x":             "bad flag syntax: -=x",
		"---s":            "bad flag syntax: ---s",
		"-b=maybe a -s x": `b maybe: `,
	} {
		var s string
		var b bool
		var l []string
		flags := Flags{{Name: "s", Argument: "TEXT", Value: &s}, {Name: "b", Value: &b}, {Name: "l", Argument: "TEXT", Repeat: true, Value: &l}}
		given := ""
		operands, err := flags.Parse(strings.Fields(args), func(o *Flag, value string) { given += " " + o.Name + "=" + value })
		got := strings.Join(operands, " ") + ":" + given
		if err != nil {
			got = err.Error()
		}
		must.Be(t, strings.HasPrefix(got, want) && (err != nil || got == want), "%s: got %q, want %q", args, got, want)
	}
	must.Equal(t, Flags{}.errUnknown("help").Error(), "flag: help requested", "help")
}

func TestVersion(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	library := &debug.Module{Path: "example.com/library", Version: "v1.2.3"}
	settings := []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "arm64"}}
	vcs := append(settings[:2:2], debug.BuildSetting{Key: "vcs.revision", Value: commit}, debug.BuildSetting{Key: "vcs.time", Value: "2026-03-01T12:00:00Z"})
	for _, test := range []struct {
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
	} {
		t.Run(test.name, func(t *testing.T) {
			out := buildText(&test.info)
			must.Equal(t, versionOf(&test.info), test.version, "version")
			for _, want := range test.want {
				must.Be(t, strings.Contains(out, want), "want %q in\n%s", want, out)
			}
		})
	}
}

func TestSizeOf(t *testing.T) {
	for _, test := range []struct {
		text string
		want int64 // -1: refused
	}{
		{"1", 1},
		{"1B", 1},
		{"3KiB", 3 << 10},
		{"512MiB", 512 << 20},
		{"2GiB", 2 << 30},
		{"1TiB", 1 << 40},
		{"8388607TiB", 8388607 << 40},
		{"8388608TiB", -1},
		{"", -1},
		{"MiB", -1},
		{"-1", -1},
		{"200MB", 200e6},
		{"3kb", 3000},
		{"1mib", 1 << 20},
		{"512M", 512 << 20},
		{"2g", 2 << 30},
		{"7b", 7},
		{"1 GiB", -1},
		{"1iB", -1},
		{"M", -1},
		{"1.5GiB", -1},
		{"0", -1},
	} {
		got := int64(-1)
		err := Size(&got, 1)(test.text)
		must.Be(t, (err != nil) == (test.want < 0) && got == test.want, "%q: %d, %v; want %d", test.text, got, err, test.want)
	}
	var size int64
	err := Size(&size, 1<<20)("1023KiB")
	must.Be(t, err != nil && err.Error() == "want at least 1MiB", "below the least size: %v", err)
}

func TestAllowance(t *testing.T) {
	for _, test := range []struct {
		text          string
		unknown, rows int64
		want          bool
	}{
		{"0", 0, 10, true},
		{"0", 1, 10, false},
		{"5", 5, 10, true},
		{"5", 6, 10, false},
		{"0%", 0, 10, true},
		{"0%", 1, 10, false},
		{"10%", 1, 10, true},
		{"10%", 2, 10, false},
		{"0.5%", 5, 1000, true},
		{"0.5%", 6, 1000, false},
		{"100%", 10, 10, true},
		{"1%", 0, 0, true},
	} {
		var a Allowance
		must.Do(t, a.Set(test.text))
		must.Equal(t, a.Permits(test.unknown, test.rows), test.want, "-max-invalid", a, "permits", test.unknown, test.rows)
		must.Equal(t, a.String(), test.text, "written")
	}
	must.Be(t, (Allowance{}).Permits(1<<40, 1<<40), "without -max-invalid, rows without a verdict are refused")
	for _, text := range []string{"", "%", "-1", "1.5", "101%", "NaN%", "many"} {
		var a Allowance
		must.Fail(t, a.Set(text), "-max-invalid", text, "taken as", a)
	}
}
