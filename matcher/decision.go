package matcher

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
	// Text is the rule's line as written (robotstxt.Rule.Text), with octets
	// that are not UTF-8 as %XX.
	Text []byte
	// Agent is the value of the user-agent line that makes the rule concern
	// the agent, as written, with octets that are not UTF-8 as %XX.
	Agent []byte
	// Line is the rule's line number, from 1.
	Line int
}
