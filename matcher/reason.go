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
	// NoRobots: the source does not know the authority.
	NoRobots
	// NoCaptureYet: the authority's first capture is later than the row's time.
	NoCaptureYet
	// NoTime: the row has no time; no verdict.
	NoTime
	// InvalidURL: the value is not a URL, or is null; no verdict.
	InvalidURL
	// UnsupportedScheme: the scheme is not http, https or ftp; no verdict.
	UnsupportedScheme

	reasonCount
)

var reasonNames = [reasonCount]string{
	"", "allow_rule", "disallow_rule", "no_rule_matched", "no_group", "robots_txt",
	"unavailable", "unreachable", "stale_rules", "no_robots", "no_capture_yet", "no_time", "invalid_url", "unsupported_scheme",
}

// String returns the reason as outputs write it, such as "allow_rule".
func (r Reason) String() string {
	if r < reasonCount {
		return reasonNames[r]
	}
	return "reason(?)"
}

// ReasonOf returns the reason for an error of urls.Scratch.Split.
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
