package matcher

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
	// InvalidURL: the URL is not one, or the row is null; no verdict.
	InvalidURL
	// UnsupportedScheme: neither http, https nor ftp; no verdict.
	UnsupportedScheme

	reasonCount
)

var reasonNames = [reasonCount]string{
	"", "allow_rule", "disallow_rule", "no_rule_matched", "no_group", "robots_txt",
	"unavailable", "unreachable", "stale_rules", "no_robots", "invalid_url", "unsupported_scheme",
}

// String returns the reason as the outputs write it, such as "allow_rule".
func (r Reason) String() string {
	if r < reasonCount {
		return reasonNames[r]
	}
	return "reason(?)"
}

// HasRule tells whether a rule comes with the reason.
func (r Reason) HasRule() bool { return r == AllowRule || r == DisallowRule }
