package cli

import (
	"cmp"
	"runtime/debug"
)

// number is the version of the program, its archives and its Python package.
const number = "0.9.0"

// Version is the version of this program for what it writes, such as 0.9.0+0123456789ab,
// with the commit where it is known.
func Version() string { return versionOf(buildInfo()) }

// Build says in lines what the program was built from: its version, Go, the commit and its date,
// and the libraries.
func Build() string { return buildText(buildInfo()) }

// buildInfo returns what the Go toolchain has recorded in this program; nothing if it has not.
func buildInfo() *debug.BuildInfo {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info
	}
	return &debug.BuildInfo{}
}

// setting returns the value that info records for a setting of the build, such as GOOS; "" if it
// records none.
func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// versionOf returns the version, with a + and the commit if info has it, and .changed if that
// had changes that were not committed.
func versionOf(info *debug.BuildInfo) string {
	commit := setting(info, "vcs.revision")
	if commit == "" {
		return number
	}
	version := number + "+" + commit[:min(12, len(commit))]
	if setting(info, "vcs.modified") == "true" {
		version += ".changed"
	}
	return version
}

// buildText is [Build] for a program in which Go recorded info.
func buildText(info *debug.BuildInfo) string {
	var t text
	t.add("robotsbatch %s %s %s/%s\n", number, info.GoVersion, setting(info, "GOOS"), setting(info, "GOARCH"))
	commit := cmp.Or(setting(info, "vcs.revision"), "unknown: go run records none, go build and go run -buildvcs=true do")
	if setting(info, "vcs.modified") == "true" {
		commit += ", with changes that are not committed"
	}
	t.add("commit     %s\n", commit)
	if date := setting(info, "vcs.time"); date != "" {
		t.add("date       %s\n", date)
	}
	what := "libraries"
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		t.add("%-10s %s %s\n", what, m.Path, m.Version)
		what = "" // only the first line has the word
	}
	return t.String()
}
