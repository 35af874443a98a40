package ruleset

// OddBodies counts bodies of a source that are not a text, though they are read as one.
type OddBodies struct {
	// Name is that of the source.
	Name string
	// HTML and Binary count what is of these kinds (robotstxt.BodyKind): the files that were
	// read so far if Read is set, else all hosts of a rule pack.
	HTML, Binary int64
	Read         bool
}

// Odd returns the counts of each folder and each rule pack that has such bodies. Those of
// captures are in Captured.
func (s *Set) Odd() (odd []OddBodies) {
	for _, source := range s.sources {
		if o := source.odd(); o.HTML+o.Binary > 0 {
			odd = append(odd, o)
		}
	}
	return odd
}

// Odd returns the counts of each rule pack, and of all other sources together, that have such
// bodies.
func (l *Listing) Odd() (odd []OddBodies) {
	for _, p := range l.packs {
		if o := p.odd(); o.HTML+o.Binary > 0 {
			odd = append(odd, o)
		}
	}
	return odd
}
