package lint

import (
	"cmp"
	"slices"

	"robotsbatch/matcher/robotstxt"
)

// Severity is how serious a finding is.
type Severity uint8

const (
	// Note: worth knowing; nothing is lost.
	Note Severity = iota
	// Warning: some crawlers will not do what was meant.
	Warning
	// Error: the text has no effect, or another effect than it says.
	Error
)

var severityNames = [...]string{"note", "warning", "error"}

// String returns the severity as outputs write it, which is also SARIF's level.
func (s Severity) String() string { return severityNames[s] }

// Finding is a probable mistake in a body.
type Finding struct {
	// Line and Column are its position, from 1; columns count characters. A finding about
	// the whole body is at 1 and 1.
	Line, Column int
	// Code is its name; see Codes.
	Code string
	// Severity is that of the code.
	Severity Severity
	// Message describes it in one line. It may quote the body.
	Message string
	// Profile is rfc9309 or google if it is true under that profile only; else empty.
	Profile string
	// Related is the line that beats or repeats this one; 0 for none.
	Related int
}

// MaxFindings is the number of findings that a Report keeps: a hostile body could give one for each
// of its bytes.
const MaxFindings = 1000

// maxFound is the number of findings that are collected under each profile; the most serious are
// kept.
const maxFound = 16 * MaxFindings

// Report has the findings of a body.
type Report struct {
	// Findings are at most MaxFindings, the most serious ones, by line and column.
	Findings []Finding
	// More is the number of other findings, as far as the parser counts them.
	More int
}

// Options control how a body is checked. The zero value is the default.
type Options struct {
	// Limit is the number of bytes of the body that count; see robotstxt.Options.
	Limit int
	// Cut means that the body is only the start of what the server sent.
	Cut bool
	// Ignore are codes that are not looked for.
	Ignore []string
	// Packed means that the body comes from a rule pack compiled under Profile: it has the
	// rules at their lines and nothing else. Then only findings about rules are reported,
	// under that profile.
	Packed  bool
	Profile robotstxt.Profile
}

// onRules are the codes of findings that depend only on the rules of a body and their
// agents.
var onRules = []string{
	"closing-never-decides", "site-closed", "html-entity", "invisible-character",
	"dead-rule", "redundant-rule", "duplicate-rule", "blank-in-pattern", "dollar-inside", "broken-escape", "double-escape", "escape-as-written", "unescaped-character",
}

// IsOnRule reports whether the finding depends only on the rules of the body and their
// agents. A rule pack has these, so it gives the same finding.
func (f *Finding) IsOnRule() bool { return slices.Contains(onRules, f.Code) }

// Body checks a body; its first robotstxt.Options.ReadSize bytes are enough. It takes time
// linear in the body, apart from sorting and matching its rules.
func Body(body []byte, o Options) Report {
	options := robotstxt.Options{Limit: o.Limit, Cut: o.Cut}
	if o.Packed {
		options.Limit = len(body)
	}
	counted, limited := robotstxt.Counted(body, options)
	var found [2]Report
	for _, profile := range []robotstxt.Profile{robotstxt.RFC9309, robotstxt.Google} {
		c := newChecker(counted, profile, limited)
		c.ignore = o.Ignore
		c.checkBody(body, options)
		if !c.isText {
			return c.report.capped() // findings about lines mean nothing here
		}
		c.checkLines()
		c.checkGroups()
		c.checkStatements()
		found[profile] = c.report
	}
	report := merge(found)
	if o.Packed {
		report.Findings = slices.DeleteFunc(report.Findings, func(f Finding) bool {
			return !f.IsOnRule() || f.Profile != "" && f.Profile != o.Profile.String()
		})
	}
	return report.capped()
}

// merge combines the findings under both profiles, indexed by profile, sorted by place, and sets
// Profile of those under one only. If too many were found to keep all, that is unknown: then it
// keeps only those found under both.
func merge(found [2]Report) (r Report) {
	r.More = max(found[0].More, found[1].More)
	for profile, report := range found {
		others := make(map[Finding]bool)
		for _, f := range found[1-profile].Findings {
			others[f] = true
		}
		for _, f := range report.Findings {
			switch both := others[f]; {
			case both && profile == int(robotstxt.Google): // added already
				continue
			case !both && r.More > 0:
				r.More++
				continue
			case !both:
				f.Profile = robotstxt.Profile(profile).String()
			}
			r.Findings = append(r.Findings, f)
		}
	}
	slices.SortFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Profile, b.Profile), cmp.Compare(a.Message, b.Message))
	})
	return r
}

// capped returns the report with the MaxFindings most serious findings, by line and column. It
// changes the order of r.Findings.
func (r Report) capped() Report {
	more := len(r.Findings) - MaxFindings
	if more <= 0 {
		return r
	}
	byLine := func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) }
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return cmp.Compare(b.Severity, a.Severity) })
	r.Findings = r.Findings[:MaxFindings]
	slices.SortStableFunc(r.Findings, byLine)
	r.More += more
	return r
}
