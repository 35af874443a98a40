package matcher

import (
	"errors"

	"robotsbatch/matcher/urls"
)

// Reason is why a URL has its verdict, or has none.
type Reason uint8

const (
	// NoReason is the zero value. No decision has it.
	NoReason Reason = iota
	// AllowRule: an allow rule is the most specific match (RFC 9309 §2.2.2).
	AllowRule
	// DisallowRule: a disallow rule is the most specific match.
	DisallowRule
	// NoRuleMatched: the agent has a group, and none of its rules matches.
	NoRuleMatched
	// NoGroup: there is no group for the agent and none for everyone.
	NoGroup
	// RobotsTxt: the URL is /robots.txt itself, always allowed.
	RobotsTxt
	// Unavailable: there was no robots.txt (RFC 9309 §2.3.1.3).
	Unavailable
	// Unreachable: robots.txt could not be fetched (RFC 9309 §2.3.1.4).
	Unreachable
	// StaleRules: the last good copy applies, and none of its rules matches.
	StaleRules
	// Unreachable30Days: robots.txt could not be fetched for 30 days, and there is no old copy
	// of it (RFC 9309 §2.3.1.4).
	Unreachable30Days
	// NoRobots: the source does not know the authority.
	NoRobots
	// NoCaptureYet: the authority's first capture is later than the row's time.
	NoCaptureYet
	// HistoryCut: what held at the row's time was not kept; no verdict.
	HistoryCut
	// NoTime: the row has no time; no verdict.
	NoTime
	// InvalidURL: the value is not a URL, or is null; no verdict.
	InvalidURL
	// UnsupportedScheme: the scheme is not http, https or ftp; no verdict.
	UnsupportedScheme

	reasonCount
)

// reasonTable has the texts and properties of each reason.
var reasonTable = [reasonCount]struct {
	name  string // as outputs write it
	words string // for people
	help  string // more for people; mostly empty
	noURL bool   // the value is not a URL that has an authority
}{
	AllowRule:         {name: "allow_rule", words: "An allow rule matches"},
	DisallowRule:      {name: "disallow_rule", words: "A disallow rule matches"},
	NoRuleMatched:     {name: "no_rule_matched", words: "No rule matches"},
	NoGroup:           {name: "no_group", words: "robots.txt has no group for it"},
	RobotsTxt:         {name: "robots_txt", words: "It is the robots.txt itself"},
	Unavailable:       {name: "unavailable", words: "The site has no robots.txt"},
	Unreachable:       {name: "unreachable", words: "The robots.txt could not be fetched"},
	StaleRules:        {name: "stale_rules", words: "No rule of the last good copy matches"},
	Unreachable30Days: {name: "unreachable_30_days", words: "The robots.txt could not be fetched for 30 days"},
	NoRobots:          {name: "no_robots", words: "No robots.txt known"},
	NoCaptureYet:      {name: "no_capture_yet", words: "Before the first capture"},
	HistoryCut:        {name: "history_cut", words: "The history was cut after it"},
	NoTime:            {name: "no_time", words: "The row has no time"},
	InvalidURL:        {name: "invalid_url", words: "Not a URL", help: "a URL has a scheme and a host, such as https://example.com/a", noURL: true},
	UnsupportedScheme: {name: "unsupported_scheme", words: "A scheme without robots.txt", help: "it is neither http, https nor ftp", noURL: true},
}

// String returns the reason as outputs write it, such as "allow_rule".
func (r Reason) String() string {
	if r < reasonCount {
		return reasonTable[r].name
	}
	return "reason(?)"
}

// MarshalText writes the reason as outputs do.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Words returns the reason for people, such as "An allow rule matches"; r must be a constant of
// this package, here and below.
func (r Reason) Words() string { return reasonTable[r].words }

// Help returns advice for people, such as what a URL must have; mostly "".
func (r Reason) Help() string { return reasonTable[r].help }

// HasAuthority reports whether a URL with this reason has an authority.
func (r Reason) HasAuthority() bool { return !reasonTable[r].noURL }

// ReasonOf returns the reason for an error of urls.Scratch.Split; NoReason for nil.
func ReasonOf(err error) Reason {
	switch {
	case err == nil:
		return NoReason
	case errors.Is(err, urls.ErrUnsupportedScheme):
		return UnsupportedScheme
	}
	return InvalidURL
}

// HasRule reports whether a decision with this reason has a rule.
func (r Reason) HasRule() bool { return r == AllowRule || r == DisallowRule }

// Decision is the decision for one agent and one path.
type Decision struct {
	// Allowed is the verdict.
	Allowed bool
	// Reason is AllowRule, DisallowRule, NoRuleMatched or NoGroup.
	Reason Reason
	// Rule identifies the rule within its Trie if Reason.HasRule; see Trie.Rule.
	Rule uint32
}

// RuleInfo describes a rule to people.
type RuleInfo struct {
	// Allow is true for an allow rule, false for a disallow rule.
	Allow bool
	// Text is the rule's line as written (robotstxt.Rule.Text), with bytes that are not
	// UTF-8 as %XX.
	Text []byte
	// Agent is the value of the user-agent line that applies the rule to the agent, as
	// written, with bytes that are not UTF-8 as %XX.
	Agent []byte
	// Line is the rule's line number, from 1.
	Line int
}
