package main

import (
	"flag"
	"regexp"
	"strings"
	"testing"
)

// The flags that the program takes and those that the help lists are the same.
func TestHelpListsFlags(t *testing.T) {
	job, explain, compile, inspect := &jobConfig{}, &rulesConfig{}, &compileConfig{}, &inspectConfig{}
	for _, command := range []struct {
		name, help string
		define     []func(*flag.FlagSet)
	}{
		{"robotsbatch", jobHelp, []func(*flag.FlagSet){job.rulesConfig.define, job.defineInput, job.defineOutput, job.defineRunning}},
		{"explain", explainHelp, []func(*flag.FlagSet){explain.define}},
		{"compile", compileHelp, []func(*flag.FlagSet){compile.define}},
		{"inspect", inspectHelp, []func(*flag.FlagSet){inspect.define}},
		{"verify", verifyHelp, []func(*flag.FlagSet){(&verifier{}).define}},
	} {
		fs := newFlagSet(command.name)
		for _, define := range command.define {
			define(fs)
		}
		listed := make(map[string]bool)
		for _, match := range regexp.MustCompile(`(?m)^  -([a-z0-9-]+)`).FindAllStringSubmatch(command.help, -1) {
			listed[match[1]] = true
		}
		fs.VisitAll(func(f *flag.Flag) {
			_, later := f.Value.(*laterFlag)
			if listed[f.Name] == later {
				t.Errorf("%s: -%s: listed in the help: %v, for a later version: %v", command.name, f.Name, listed[f.Name], later)
			}
			delete(listed, f.Name)
		})
		for name := range listed {
			t.Errorf("%s: -%s is listed in the help, but no flag", command.name, name)
		}
	}
}

func TestHelpFitsTerminal(t *testing.T) {
	for _, text := range []string{jobHelp, explainHelp, compileHelp, inspectHelp, verifyHelp} {
		for _, line := range strings.Split(text, "\n") {
			if len(line) > 80 {
				t.Errorf("%d characters: %s", len(line), line)
			}
		}
	}
}
