// Package rulesdir finds the robots.txt files of a folder, and compiles them
// when a URL first needs them.
package rulesdir

import "robotsbatch/matcher"

// Options say how bodies are read. The zero value is the default.
type Options struct {
	// Chains are the agents; each Origin gets a Trie for each.
	Chains []matcher.Chain
	// Profile is the reading of the protocol.
	Profile matcher.Profile
	// Limit is the size limit of a body, 0 for the default.
	Limit int
	// Memory bounds the compiled rules that are kept; 0: 128 MiB.
	Memory int64
}

// Dir is a folder of robots.txt files. It is a matcher.Origins.
type Dir struct{}

// Open opens the folder of that name.
func Open(name string, o Options) (*Dir, error) { panic("todo") }

// Lookup implements matcher.Origins.
func (d *Dir) Lookup(authority []byte, o *matcher.Origin) error { panic("todo") }

// Close gives back the folder.
func (d *Dir) Close() error { panic("todo") }
