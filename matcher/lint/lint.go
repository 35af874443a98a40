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

// Report has the findings of a body.
type Report struct {
	// Findings are at most MaxFindings, the most serious ones, by line and column.
	Findings []Finding
	// More is the number of other findings. It may be too low: of findings that were dropped under
	// both profiles nobody knows which are the same, so it counts those under one profile.
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
	var found [2]bySeverity
	for _, profile := range []robotstxt.Profile{robotstxt.RFC9309, robotstxt.Google} {
		c := &checker{profile: profile, limited: limited, isText: true, ignore: o.Ignore, packed: o.Packed}
		c.parse(counted)
		if !c.isText {
			return c.found.report() // findings about lines mean nothing here
		}
		c.checkBody(body, options)
		c.checkLines()
		c.checkGroups()
		c.checkStatements()
		found[profile] = c.found
	}
	merged := merge(found, o)
	return merged.report()
}

// findings are findings of one severity.
type findings struct {
	kept []Finding // the first MaxFindings by place, and up to as many others, in any order
	more int       // the number of those that were dropped; they come after MaxFindings others
}

// comparePlaces orders findings by place, and those at one place by all else, so that the order does
// not depend on which was found first.
func comparePlaces(a, b Finding) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Code, b.Code),
		cmp.Compare(a.Profile, b.Profile), cmp.Compare(a.Message, b.Message))
}

// isBeyond reports whether a finding in a line would be dropped, so that it need not be made.
func (f *findings) isBeyond(line int) bool {
	return f.more > 0 && line > f.kept[MaxFindings-1].Line // trim has sorted up to there
}

// add adds a finding. It may drop others, so that at most 2 × MaxFindings are kept.
func (f *findings) add(found Finding) {
	if len(f.kept) == 2*MaxFindings {
		f.trim()
	}
	f.kept = append(f.kept, found)
}

// trim drops all but the first MaxFindings by place.
func (f *findings) trim() {
	slices.SortFunc(f.kept, comparePlaces)
	if len(f.kept) > MaxFindings {
		f.more += len(f.kept) - MaxFindings
		f.kept = f.kept[:MaxFindings]
	}
}

// bySeverity are the findings of each severity. Each is bounded by itself, so that those of less
// importance, in whatever number, take no place of others.
type bySeverity [Error + 1]findings

// merge combines the findings under both profiles, indexed by profile, and sets Profile of those
// under one only. For a pack it keeps those under the pack's profile.
//
// A finding that only one profile kept may have been dropped under the other. MaxFindings others
// come before it there, so report drops it, unless those were left out for a pack.
func merge(found [2]bySeverity, o Options) (merged bySeverity) {
	for severity := range merged {
		all := &merged[severity]
		for profile := range found {
			others := make(map[Finding]bool)
			for _, f := range found[1-profile][severity].kept {
				others[f] = true
			}
			for _, f := range found[profile][severity].kept {
				if both := others[f]; !both {
					f.Profile = robotstxt.Profile(profile).String()
				} else if profile == int(robotstxt.Google) {
					continue // added already
				}
				if !o.Packed || f.Profile == "" || f.Profile == o.Profile.String() {
					all.add(f)
				}
			}
		}
		all.more += max(found[0][severity].more, found[1][severity].more)
	}
	return merged
}

// report returns the MaxFindings most serious findings, by place. It drops the others.
func (b *bySeverity) report() (r Report) {
	for severity := range slices.Backward(b[:]) {
		found := &b[severity]
		found.trim()
		n := min(len(found.kept), MaxFindings-len(r.Findings))
		r.Findings = append(r.Findings, found.kept[:n]...)
		r.More += found.more + len(found.kept) - n
	}
	slices.SortFunc(r.Findings, comparePlaces)
	return r
}
