package corpus

// Captured is what a fetch of an origin's robots.txt gave.
type Captured struct {
	// Status is 200, 404 or 503.
	Status int
	// Body is the number of the body with status 200. It may be above Bodies.
	Body int
}

// mostCaptures is how many captures of an origin there may be.
const mostCaptures = 64

// Capture returns what capture number k of an origin gave, from 0 to 63. Capture 0 gave
// the origin's body, or a 404 without one. With each further one, of a tenth of the
// origins something else came out: mostly a body that no capture had before, else a 404
// or a 503.
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
