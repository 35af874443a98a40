package lint

import (
	"cmp"
	"slices"

	"robotsbatch/matcher/robotstxt"
)

// Severity is how grave a finding is.
type Severity uint8

const (
	// Note: worth knowing; nothing is lost.
	Note Severity = iota
	// Warning: some crawlers do something else than was meant.
	Warning
	// Error: what was written has no effect, or another than it says.
	Error
)

var severityNames = [...]string{"note", "warning", "error"}

// String returns the severity as outputs write it, which is SARIF's level, too.
func (s Severity) String() string { return severityNames[s] }

// Finding is something in a body that its author likely did not mean.
type Finding struct {
	// Line and Column are where it is, from 1; columns count characters. What concerns the
	// whole body is at 1 and 1.
	Line, Column int
	// Code names what it is; see Codes.
	Code string
	// Severity is that of the code.
	Severity Severity
	// Message says what it is, in one line. It may quote the body.
	Message string
	// Profile is rfc9309 or google where it is true under that profile alone; else empty.
	Profile string
	// Related is the line that beats or repeats this one; 0 for none.
	Related int
}

// MaxFindings is how many findings a Report has, so that a hostile body cannot make each
// of its bytes one.
const MaxFindings = 1000

// maxFound is how many are found under each profile, of which the gravest are kept.
const maxFound = 16 * MaxFindings

// Report is what was found in a body.
type Report struct {
	// Findings by line and column: at most MaxFindings, the gravest.
	Findings []Finding
	// More counts those beyond, as far as the parser counts them.
	More int
}

// Options say how a body is read. The zero value is the default.
type Options struct {
	// Limit is how many bytes of the body count; see robotstxt.Options.
	Limit int
	// Cut says that the body is only the beginning of what the server sent.
	Cut bool
	// Packed says that the body is what a rule pack keeps that was compiled under Profile:
	// rules at their lines. Then only findings on rules under that profile are told.
	Packed  bool
	Profile robotstxt.Profile
}

// onRules are the codes of findings that need no more than the rules of a body, and whose
// they are.
var onRules = []string{
	"dead-rule", "redundant-rule", "duplicate-rule", "blank-in-pattern", "dollar-inside", "broken-escape", "double-escape", "escape-as-written", "unescaped-character",
}

// IsOnRule reports whether the finding needs no more than the rules of the body, and whose
// they are, so that it is found in what a rule pack keeps, too.
func (f *Finding) IsOnRule() bool { return slices.Contains(onRules, f.Code) }

// Body finds what is wrong with a body, of which robotstxt.Options.ReadSize bytes are
// enough. It takes time in proportion to its length, but for sorting and matching its
// rules.
func Body(body []byte, o Options) Report {
	options := robotstxt.Options{Limit: o.Limit, Cut: o.Cut}
	if o.Packed {
		options.Limit = len(body)
	}
	counted, limited := robotstxt.Counted(body, options)
	var found [2]Report
	for _, profile := range []robotstxt.Profile{robotstxt.RFC9309, robotstxt.Google} {
		c := newChecker(counted, profile, limited)
		c.checkBody(body, options)
		if !c.isText {
			return c.report.capped() // what lines mean is not worth telling
		}
		c.checkLines()
		c.checkGroups()
		found[profile] = c.report
	}
	report := merge(found)
	if o.Packed {
		report.Findings = slices.DeleteFunc(report.Findings, func(f Finding) bool {
			return !f.IsOnRule() || f.Profile != "" && f.Profile != profileNames[o.Profile]
		})
	}
	return report.capped()
}

var profileNames = [...]string{robotstxt.RFC9309: "rfc9309", robotstxt.Google: "google"}

// merge puts together what was found under both profiles, and marks what was found under
// one alone. Where there was too much to keep, that is not known: only what was found
// under both is told.
func merge(found [2]Report) (r Report) {
	r.More = max(found[0].More, found[1].More)
	for profile, report := range found {
		others := make(map[Finding]bool)
		for _, f := range found[1-profile].Findings {
			others[f] = true
		}
		for _, f := range report.Findings {
			switch both := others[f]; {
			case both && profile == int(robotstxt.Google): // told already
				continue
			case !both && r.More > 0:
				r.More++
				continue
			case !both:
				f.Profile = profileNames[profile]
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

// capped keeps the gravest findings.
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
