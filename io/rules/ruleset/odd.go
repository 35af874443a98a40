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

// Odd returns the counts of each folder and each rule pack that has such bodies; a Listing
// has one pack of all other sources. Those of captures are in Captured.
func (s *openSources) Odd() (odd []OddBodies) {
	for _, source := range s.sources {
		if o := source.odd(); o.HTML+o.Binary > 0 {
			odd = append(odd, o)
		}
	}
	return odd
}
