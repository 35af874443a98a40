package robotstxt_test

import (
	"fmt"
	"strings"

	"robotsbatch/matcher/robotstxt"
)

// dump formats a parsed body as text, one record a line. Text from the body is quoted.
func dump(f *robotstxt.File) string {
	return dumpRecords(f) + dumpWarnings(f)
}

func dumpRecords(f *robotstxt.File) string {
	var b strings.Builder
	for _, g := range f.Groups {
		b.WriteString("group\n")
		for _, a := range g.Agents {
			fmt.Fprintf(&b, "  %d: agent %s%s\n", a.Line, quote(a.Value), names(a, f.Profile))
		}
		for _, r := range g.Rules {
			kind := "disallow"
			if r.Allow {
				kind = "allow"
			}
			fmt.Fprintf(&b, "  %d: %s %s from %s\n", r.Line, kind, quote(r.Pattern), quote(r.Text))
		}
		for _, r := range g.CrawlDelays {
			fmt.Fprintf(&b, "  %d: crawl-delay %s\n", r.Line, quote(r.Value))
		}
	}
	for _, r := range f.Sitemaps {
		fmt.Fprintf(&b, "%d: sitemap %s\n", r.Line, quote(r.Value))
	}
	fmt.Fprintf(&b, "lines %d, limited %v\n", f.Lines, f.Limited)
	return b.String()
}

func dumpWarnings(f *robotstxt.File) string {
	var b strings.Builder
	for _, w := range f.Warnings {
		fmt.Fprintf(&b, "%d: warning %s\n", w.Line, w.Kind)
	}
	if f.WarningCount != len(f.Warnings) {
		fmt.Fprintf(&b, "warnings %d\n", f.WarningCount)
	}
	return b.String()
}

// names formats the names of a user-agent line.
func names(a robotstxt.Agent, p robotstxt.Profile) string {
	token, word := a.Names(p)
	switch {
	case a.Everyone():
		return " (everyone)"
	case len(token)+len(word) == 0:
		return " (nobody)"
	case len(word) == 0 || string(token) == string(word):
		return fmt.Sprintf(" (%s)", token)
	}
	return fmt.Sprintf(" (%q or %q)", token, word)
}

// quote quotes a value and cuts it if it is long.
func quote(b []byte) string {
	const shown = 60
	if len(b) > shown {
		return fmt.Sprintf("%q and %d bytes", b[:shown], len(b)-shown)
	}
	return fmt.Sprintf("%q", b)
}
