package matcher

import "robotsbatch/matcher/access"

// Origin is what a rules source knows of one authority.
type Origin struct {
	// Access is the outcome of the fetch of robots.txt.
	Access access.Outcome
	// Tries are the compiled rules when Access is access.Rules: one an agent,
	// in the order of the agents that the source was opened for. Agents that
	// obey the same groups have equal Tries.
	Tries []Trie
	// Stale says that the rules are the last good copy of a robots.txt that
	// has been unreachable for long (RFC 9309 §2.3.1.4).
	Stale bool
	// Facts are what is known of the fetch and of the body's other records.
	Facts Facts
}

// Origins finds what is known of an authority. Implementations are safe for
// concurrent use.
type Origins interface {
	// Lookup sets *o to what is known of authority, a key as Scratch.Split
	// returns it. What it puts into o.Tries is the source's, not to be changed,
	// and valid as long as the Origins is open. An authority that the source
	// does not know gives access.Unknown and no error; an error means that the
	// source could not be asked, and ends the job.
	Lookup(authority []byte, o *Origin) error
}
