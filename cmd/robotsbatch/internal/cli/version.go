package cli

import (
	"fmt"
	"io"
	"runtime/debug"
)

// number is the version of the program, its archives and its Python package.
const number = "0.9.0"

// PrintVersion prints the version, and what the Go toolchain has recorded in this program: Go,
// the commit and its date, and the libraries.
func PrintVersion(w io.Writer) { printVersion(w, buildInfo()) }

// buildInfo returns what the Go toolchain has recorded in this program; nothing if it has not.
func buildInfo() *debug.BuildInfo {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info
	}
	return &debug.BuildInfo{}
}

// printVersion prints the version and what info has: Go, the commit and its date, and the
// libraries.
func printVersion(w io.Writer, info *debug.BuildInfo) {
	settings := buildSettings(info)
	fmt.Fprintf(w, "robotsbatch %s %s %s/%s\n", number, info.GoVersion, settings["GOOS"], settings["GOARCH"])
	commit := "unknown: go run records none, go build and go run -buildvcs=true do"
	if revision := settings["vcs.revision"]; revision != "" {
		commit = revision
		if settings["vcs.modified"] == "true" {
			commit += ", with changes that are not committed"
		}
	}
	fmt.Fprintf(w, "commit     %s\n", commit)
	if date := settings["vcs.time"]; date != "" {
		fmt.Fprintf(w, "date       %s\n", date)
	}
	what := "libraries"
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		fmt.Fprintf(w, "%-10s %s %s\n", what, m.Path, m.Version)
		what = ""
	}
}

func buildSettings(info *debug.BuildInfo) map[string]string {
	settings := make(map[string]string)
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	return settings
}

// Version is the version of this program for what it writes, such as 0.9.0+0123456789ab,
// with the commit where it is known.
func Version() string { return versionOf(buildInfo()) }

// versionOf returns the version, with a + and the commit if info has it, and .changed if that
// had changes that were not committed.
func versionOf(info *debug.BuildInfo) string {
	settings := buildSettings(info)
	commit := settings["vcs.revision"]
	if commit == "" {
		return number
	}
	changed := ""
	if settings["vcs.modified"] == "true" {
		changed = ".changed"
	}
	return number + "+" + commit[:min(12, len(commit))] + changed
}
