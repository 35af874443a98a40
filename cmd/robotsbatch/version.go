package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// runVersion prints which version this is, and how it was built.
func runVersion(args []string, s streams) int {
	if len(args) > 0 {
		return failUsage(s, usageErrorf("version takes no arguments"))
	}
	fmt.Fprintf(s.out, "robotsbatch %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return exitDone
}

// version is the module's version, else the commit that it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	commit, changed := "", ""
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			commit = setting.Value[:min(12, len(setting.Value))]
		case setting.Key == "vcs.modified" && setting.Value == "true":
			changed = "+changes"
		}
	}
	if commit == "" {
		return "devel"
	}
	return "devel-" + commit + changed
}
