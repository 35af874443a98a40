package ruleset

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"robotsbatch/io/rules/rulesdir"
	"robotsbatch/io/store/blob"
)

// checkUsable refuses sources that have no rules at all.
func (f *Found) checkUsable(s *Set) error {
	why := make([]string, len(f.sources))
	for i, source := range f.sources {
		switch source.kind {
		case captureKind:
			why[i] = s.captured.whyNone(i)
		case packKind:
			if s.sources[i].(*packSource).Info().Authorities == 0 {
				why[i] = "is a rule pack without authorities"
			}
		case folderKind:
			why[i] = whyNoNames(s.sources[i].(*rulesdir.Dir))
		}
	}
	return f.refuse(why)
}

// refuse returns an error if every source has a reason why it has no rules, because
// everything would be allowed. Otherwise it warns about each source without rules.
func (f *Found) refuse(why []string) error {
	var lines []string
	usable := false
	for i, reason := range why {
		switch {
		case reason == "":
			usable = true
		case !f.sources[i].asked: // where all that was asked for answered
			lines = append(lines, fmt.Sprintf("-rules %s %s", blob.Shown(f.sources[i].name), reason))
		}
	}
	if !usable && !f.options.AllowNone {
		return errors.New("no usable rules: " + strings.Join(lines, "; ") + ". Without rules everything is allowed: -allow-no-rules goes on")
	}
	for _, line := range lines {
		f.warner.say(line)
	}
	return nil
}

// whyNoNames says why a folder has no rules; empty if it has some.
func whyNoNames(d *rulesdir.Dir) string {
	switch s := d.Stats(); {
	case s.Listed > 0:
		return ""
	case s.Ignored == 0:
		return "is an empty folder"
	}
	return "has no file that is named by its host, such as example.com or example.com.txt; give a single robots.txt itself, with -for example.com"
}

// whyNone says why a source of captures has no rules; empty if it has some.
func (c *Captured) whyNone(source int) string {
	switch s := c.bySource[source]; {
	case s.Authorities > 0:
		return ""
	case s.Captures == 0:
		return "has no capture of a robots.txt that can be read"
	case s.Captures == s.Elsewhere:
		return "has captures of other URLs than robots.txt alone"
	}
	return "has no capture of a robots.txt from " + c.AsOf.Format(time.RFC3339) + " or before (-as-of), or another -rules has them all"
}

// shownIgnored is how many ignored names are listed.
const shownIgnored = 10

// ignoredNames holds the names in a folder that are not host names.
type ignoredNames struct {
	all   bool // list all
	names []string
	count int
}

func (n *ignoredNames) add(name string) {
	if n.count++; n.count <= shownIgnored || n.all {
		n.names = append(n.names, name)
	}
}

// tell lists the names in a folder.
func (n *ignoredNames) tell(folder string, w *warner) {
	if n.count == 0 {
		return
	}
	what := fmt.Sprintf("%d names", n.count)
	if n.count == 1 {
		what = "1 name"
	}
	text := fmt.Sprintf("-rules %s: ignored %s that no host has: %s", blob.Shown(folder), what, strings.Join(n.names, ", "))
	if more := n.count - len(n.names); more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	w.tell(text)
}
