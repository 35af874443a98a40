package matcher

import (
	"errors"

	"robotsbatch/matcher/urls"
)

// Reason says why a URL has the verdict that it has, or why it has none.
type Reason uint8

const (
	// NoReason is the zero value; no decided URL has it.
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
	// Unavailable: robots.txt was not there (RFC 9309 §2.3.1.3).
	Unavailable
	// Unreachable: robots.txt could not be had (RFC 9309 §2.3.1.4).
	Unreachable
	// StaleRules: the last good copy stands in, and none of its rules decides.
	StaleRules
	// NoRobots: nothing is known of the authority.
	NoRobots
	// NoCaptureYet: nothing is known of the authority at the row's time, but later.
	NoCaptureYet
	// NoTime: the row has no time, and so no verdict.
	NoTime
	// InvalidURL: the URL is not one, or the row is null; no verdict.
	InvalidURL
	// UnsupportedScheme: neither http, https nor ftp; no verdict.
	UnsupportedScheme

	reasonCount
)

var reasonNames = [reasonCount]string{
	"", "allow_rule", "disallow_rule", "no_rule_matched", "no_group", "robots_txt",
	"unavailable", "unreachable", "stale_rules", "no_robots", "no_capture_yet", "no_time", "invalid_url", "unsupported_scheme",
}

// String returns the reason as the outputs write it, such as "allow_rule".
func (r Reason) String() string {
	if r < reasonCount {
		return reasonNames[r]
	}
	return "reason(?)"
}

// ReasonOf is the reason why a URL that urls.Scratch does not split has no verdict.
func ReasonOf(err error) Reason {
	switch {
	case err == nil:
		return NoReason
	case errors.Is(err, urls.ErrUnsupportedScheme):
		return UnsupportedScheme
	}
	return InvalidURL
}

// HasRule tells whether a rule comes with the reason.
func (r Reason) HasRule() bool { return r == AllowRule || r == DisallowRule }

// Decision is the outcome for one agent and one path.
type Decision struct {
	// Allowed is the verdict.
	Allowed bool
	// Reason is AllowRule, DisallowRule, NoRuleMatched or NoGroup.
	Reason Reason
	// Rule identifies the rule within its Trie when Reason.HasRule; see
	// Trie.Rule.
	Rule uint32
}

// RuleInfo describes a rule for people.
type RuleInfo struct {
	// Allow is true for allow, false for disallow.
	Allow bool
	// Text is the rule's line as written (robotstxt.Rule.Text), with bytes
	// that are not UTF-8 as %XX.
	Text []byte
	// Agent is the value of the user-agent line that makes the rule concern
	// the agent, as written, with bytes that are not UTF-8 as %XX.
	Agent []byte
	// Line is the rule's line number, from 1.
	Line int
}
