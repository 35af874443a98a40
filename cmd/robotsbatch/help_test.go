package main

import (
	"flag"
	"regexp"
	"strings"
	"testing"
)

// The flags that the program takes and those that the help lists are the same.
func TestHelpListsFlags(t *testing.T) {
	c := &jobConfig{}
	fs := newFlagSet("robotsbatch")
	c.rulesConfig.define(fs)
	c.defineInput(fs)
	c.defineOutput(fs)
	c.defineRunning(fs)
	listed := make(map[string]bool)
	for _, match := range regexp.MustCompile(`(?m)^  -([a-z-]+)`).FindAllStringSubmatch(jobHelp, -1) {
		listed[match[1]] = true
	}
	fs.VisitAll(func(f *flag.Flag) {
		_, later := f.Value.(*laterFlag)
		if listed[f.Name] == later {
			t.Errorf("-%s: listed in the help: %v, for a later version: %v", f.Name, listed[f.Name], later)
		}
		delete(listed, f.Name)
	})
	for name := range listed {
		t.Errorf("-%s is listed in the help, but no flag", name)
	}
}

func TestHelpFitsTerminal(t *testing.T) {
	for _, text := range []string{jobHelp, explainHelp} {
		for _, line := range strings.Split(text, "\n") {
			if len(line) > 80 {
				t.Errorf("%d characters: %s", len(line), line)
			}
		}
	}
}
