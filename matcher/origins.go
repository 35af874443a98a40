package matcher

import (
	"hash/maphash"

	"robotsbatch/matcher/access"
)

// Origin is what a rules source knows of one authority.
type Origin struct {
	// Access is the outcome of the fetch of robots.txt.
	Access access.Outcome
	// Tries are the compiled rules if Access is access.Rules, for the agents that the
	// source was opened for. Agents that obey the same groups share a trie.
	Tries []Trie
	// Of has for each agent the index of its trie. It is nil if all agents obey one trie,
	// or if agent i has Tries[i].
	Of []uint32
	// Stale means that robots.txt has been unreachable for long and that the rules are its
	// last good copy (RFC 9309 §2.3.1.4).
	Stale bool
	// NotYet means that Access is access.Unknown because nothing is known from before the
	// time that the source was opened for, and something from after it.
	NotYet bool
	// Facts describe the fetch and the body's other records.
	Facts Facts

	room *room // of its own; nil for none
}

// room is memory of an Origin for what a source makes at each lookup, kept for the next one.
type room struct {
	tries   []Trie
	groups  []uint32 // by trie
	of      []uint32
	groupOf []uint32 // see Bodies.findGroups
}

// Reset makes an Origin empty. It keeps its memory.
func (o *Origin) Reset() { *o = Origin{room: o.room} }

// clearTries makes Tries an empty slice of the Origin's own memory, for addTrie, and Of nil.
func (o *Origin) clearTries() {
	if o.room == nil {
		o.room = new(room)
	}
	o.Tries, o.Of = o.room.tries[:0], nil
}

// addTrie adds a trie without notes to Tries. clearTries must come before the first one.
func (o *Origin) addTrie(rules compiled) {
	o.Tries = append(o.Tries, Trie{rules: rules})
	o.room.tries = o.Tries
}

// Trie returns the trie of an agent, given by its index. Access must be access.Rules.
func (o *Origin) Trie(agent int) *Trie { return &o.Tries[o.TrieOf(agent)] }

// TrieOf returns the index in Tries of an agent's trie.
func (o *Origin) TrieOf(agent int) int {
	switch {
	case o.Of != nil:
		return int(o.Of[agent])
	case len(o.Tries) == 1:
		return 0
	}
	return agent
}

// Origins finds the Origin of an authority. Implementations are safe for concurrent use.
type Origins interface {
	// Lookup sets *o to the Origin of authority, a key as urls.Scratch.Split returns it.
	// The tries belong to the source or to o: they must not be changed, and are valid while
	// the Origins is open and until the next lookup that sets *o. For an unknown authority
	// Access is access.Unknown and there is no error. An error means that the source could
	// not be read, and ends the job.
	Lookup(authority []byte, o *Origin) error
}

// BulkOrigins are Origins that look up many authorities at a time faster than one by one.
type BulkOrigins interface {
	Origins
	// LookupAll looks up each key as Lookup does and sets the element of origins with the
	// same index. With an error it returns the index of the key that failed.
	LookupAll(keys []Key, origins []Origin) (int, error)
}

// Mapped are Origins whose rules lie in a mapped file. Matching them reads the file, and a
// read fails where the file was cut or its disk broke: that is a panic, if
// debug.SetPanicOnFault is set, and else the end of the process.
type Mapped interface {
	// Fault returns the error that a recovered panic stands for, nil for a panic that has
	// nothing to do with the file.
	Fault(recovered any) error
}

// Key is an authority's key as urls.Scratch.Split returns it, with its HashOf.
type Key struct {
	Text []byte
	Hash uint64
}

// seed is secret, so nobody can make keys whose hashes collide.
var seed = maphash.MakeSeed()

// HashOf returns the hash of a key. It differs from process to process.
func HashOf(key []byte) uint64 { return maphash.Bytes(seed, key) }
