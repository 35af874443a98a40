package matcher

import (
	"hash/maphash"

	"robotsbatch/matcher/access"
)

// Origin is what a rules source knows of one authority.
type Origin struct {
	// Access is the outcome of the fetch of robots.txt.
	Access access.Outcome
	// Tries are the compiled rules when Access is access.Rules, for the agents that the
	// source was opened for. Agents that obey the same groups share one.
	Tries []Trie
	// Of has for each agent the index of its trie. It is nil where all agents obey the
	// only trie, or each agent i has a trie of its own, Tries[i].
	Of []uint32
	// Stale says that the rules are the last good copy of a robots.txt that
	// has been unreachable for long (RFC 9309 §2.3.1.4).
	Stale bool
	// Facts are what is known of the fetch and of the body's other records.
	Facts Facts
}

// Trie is the trie of an agent, by its number, when Access is access.Rules.
func (o *Origin) Trie(agent int) *Trie { return &o.Tries[o.TrieOf(agent)] }

// TrieOf is the index of an agent's trie in Tries.
func (o *Origin) TrieOf(agent int) int {
	switch {
	case o.Of != nil:
		return int(o.Of[agent])
	case len(o.Tries) == 1:
		return 0
	}
	return agent
}

// Origins finds what is known of an authority. Implementations are safe for
// concurrent use.
type Origins interface {
	// Lookup sets *o to what is known of authority, a key as urls.Scratch.Split
	// returns it. What it puts into o.Tries is the source's, not to be changed,
	// and valid as long as the Origins is open. An authority that the source
	// does not know gives access.Unknown and no error; an error means that the
	// source could not be asked, and ends the job.
	Lookup(authority []byte, o *Origin) error
}

// BulkOrigins are Origins that find many authorities in less time than one after
// the other.
type BulkOrigins interface {
	Origins
	// LookupAll is Lookup for each key: it sets origins, of which there are as
	// many. With an error comes the index of the key that it is for.
	LookupAll(keys []Key, origins []Origin) (int, error)
}

// Key is an authority's key as urls.Scratch.Split returns it, and its HashOf.
type Key struct {
	Text []byte
	Hash uint64
}

// seed makes the hashes of one process comparable with each other, and nobody
// else able to make keys whose hashes are alike.
var seed = maphash.MakeSeed()

// HashOf is the hash of a key, in this process.
func HashOf(key []byte) uint64 { return maphash.Bytes(seed, key) }
