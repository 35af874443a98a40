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
		var o OddBodies
		if d, is := source.(openedFolder); is {
			stats := d.Stats()
			o = OddBodies{d.name, stats.HTML, stats.Binary, true}
		} else if p := source.pack(); !p.captured {
			info := p.Info()
			o = OddBodies{p.name, info.HTML, info.Binary, false}
		}
		if o.HTML+o.Binary > 0 {
			odd = append(odd, o)
		}
	}
	return odd
}

// Odd returns the counts of each rule pack, and of all other sources together, that have such
// bodies.
func (l *Listing) Odd() (odd []OddBodies) {
	for _, p := range l.packs {
		if info := p.Info(); info.HTML+info.Binary > 0 {
			odd = append(odd, OddBodies{p.name, info.HTML, info.Binary, false})
		}
	}
	return odd
}
