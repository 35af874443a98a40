package corpus

// Captured is the result of one fetch of an origin's robots.txt.
type Captured struct {
	// Status is 200, 404 or 503.
	Status int
	// Body is the number of the body, if Status is 200. It may exceed Bodies.
	Body int
}

// mostCaptures is the most captures of an origin.
const mostCaptures = 64

// Capture returns the result of capture k of an origin, for k from 0 to 63. Capture 0 gives
// the origin's body, or a 404 if it has none. Each further capture gives another result for
// a tenth of the origins: mostly a body that no earlier capture had, else a 404 or a 503.
func (c *Corpus) Capture(o *Origin, k int) Captured {
	for ; k > 0; k-- {
		r := derive(o.seed, k)
		if !r.oneIn(10) {
			continue
		}
		switch luck := r.below(10); {
		case luck == 0:
			return Captured{Status: 503}
		case luck == 1 || o.Body < 0 && luck < 8:
			return Captured{Status: 404}
		}
		return Captured{Status: 200, Body: c.Bodies() + o.Index*mostCaptures + k}
	}
	if o.Body < 0 {
		return Captured{Status: 404}
	}
	return Captured{Status: 200, Body: o.Body}
}
