package ruleset

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"robotsbatch/batch/option"
	"robotsbatch/io/rules/captures"
	"robotsbatch/io/rules/rulesdir"
	"robotsbatch/io/store/blob"
)

// checkUsable returns an error if no source has rules, because everything would be allowed, unless
// Options.AllowNone is set. Otherwise it warns of each source without rules. states are those of
// f.sources.
func (f *Found) checkUsable(states []state) error {
	usable := slices.ContainsFunc(states, func(s state) bool { return s.none.Empty() })
	var lines []option.Message
	for i := range states {
		if s := &f.sources[i]; !states[i].none.Empty() && s.kind != askedKind { // a list of fetches decides nothing if all were answered
			lines = append(lines, option.Messagef("%s %s", option.Rules.With(s.shown()), states[i].none))
		}
	}
	if !usable && !f.options.AllowNone {
		return option.Errorf("no usable rules: %s. Without rules everything is allowed: %s goes on", option.Join(lines, "; "), option.AllowNoRules)
	}
	for _, line := range lines {
		f.options.Warn(line)
	}
	return nil
}

// whyNoNames says why a folder has no rules; empty if it has some.
func whyNoNames(d *rulesdir.Dir) (none option.Message) {
	switch s := d.Stats(); {
	case s.Listed > 0:
		return none
	case s.Ignored == 0:
		return option.Messagef("is an empty folder")
	}
	return option.Messagef("has no file that is named by its host, such as example.com or example.com.txt; give a single robots.txt itself, with %s", option.For.With("example.com"))
}

// whyNone says why a source of captures has no rules; empty if it has some. several says that it is one
// of several sources, and late that captures may be later than asOf.
func whyNone(s *captures.Stats, asOf time.Time, several, late bool) (none option.Message) {
	switch {
	case s.Authorities > 0:
		return none
	case s.Captures == 0:
		return option.Messagef("has no capture of a robots.txt that can be read")
	case s.Captures == s.Elsewhere:
		return option.Messagef("has captures of other URLs than robots.txt alone")
	case several && !late:
		return option.Messagef("decides nothing, because those before it know all its hosts: to take the newest capture of each host, name the files with one pattern")
	}
	none = noneBefore(asOf)
	if several {
		none = option.Messagef("%s, or another %s has them all", none, option.Rules)
	}
	return none
}

// noneBefore says that a source knows nothing of a time.
func noneBefore(asOf time.Time) option.Message {
	return option.Messagef("has no capture of a robots.txt from %s or before (%s)", asOf.UTC().Format(time.RFC3339), option.AsOf)
}

// shownIgnored is the most ignored names that are listed, and loggedIgnored the most with Options.MoreIgnored:
// a folder in a store may have millions.
const shownIgnored, loggedIgnored = 10, 1000

// ignoredNames holds the names in a folder that are not host names.
type ignoredNames struct {
	more  bool // Options.MoreIgnored
	names []string
	count int
}

// add counts a name, and keeps it if it is one of the first.
func (n *ignoredNames) add(name string) {
	if n.count++; n.count <= shownIgnored || n.more && n.count <= loggedIgnored {
		n.names = append(n.names, name)
	}
}

// note tells about the names in a folder, if there are any.
func (n *ignoredNames) note(folder string, f *Found) {
	if n.count == 0 {
		return
	}
	what := fmt.Sprintf("%d names", n.count)
	if n.count == 1 {
		what = "1 name"
	}
	names := strings.Join(n.names, ", ")
	if more := n.count - len(n.names); more > 0 {
		names += fmt.Sprintf(", and %d more", more)
	}
	f.options.Note(option.Messagef("%s: ignored %s that no host has: %s", option.Rules.With(blob.Shown(folder)), what, names))
}
