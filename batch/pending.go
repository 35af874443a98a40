package batch

import "robotsbatch/matcher"

// pending is what is known of rows whose verdicts are not set yet, for a block of
// them: what takes less time for many paths than for one is done for all of them.
type pending struct {
	data []byte // of the column

	n         int // the number of stretches
	stretches [maxStretches]stretch
	fresh     [maxStretches]knowledge // of those of which nothing is recalled
	paths     matcher.Paths           // of those that are open

	start []byte   // what a URL has to begin with for a stretch to go on; nil for none
	like  *stretch // that one
}

// maxStretches is how many stretches a block has at most: one may come from the
// block before.
const maxStretches = blockRows + 1

// stretch is rows, one after the other, of whose URLs the same is known.
type stretch struct {
	low, high int // the rows
	paths     int // the first one's in pending.paths, if open
	known     *knowledge
}

// knowledge is what is known of all URLs that have some beginning in common.
type knowledge struct {
	standings []matcher.Standing // one an agent
	tries     []matcher.Trie     // that they are of, if open
	path      int                // how many octets precede the path
	open      bool               // only Settle knows the verdict of some agent
	null      bool               // there is no verdict
	reason    matcher.Reason     // why not
}

// set copies what is known.
func (k *knowledge) set(from *knowledge) {
	standings := append(k.standings[:0], from.standings...)
	*k = *from
	k.standings = standings
}

// unanimity is the verdict of all agents.
type unanimity uint8

const (
	notUnanimous unanimity = iota // or not known, or none
	allAllowed
	allDenied
)

// unanimity is what is known of all agents.
func (k *knowledge) unanimity() unanimity {
	if k.open || k.null {
		return notUnanimous
	}
	denied := k.standings[0].Denied
	for i := range k.standings {
		if k.standings[i].Denied != denied {
			return notUnanimous
		}
	}
	if denied {
		return allDenied
	}
	return allAllowed
}

// init gives each stretch of a block its standings.
func (p *pending) init(agents int) {
	standings := make([]matcher.Standing, maxStretches*agents)
	for i := range p.fresh {
		p.fresh[i].standings = standings[i*agents : (i+1)*agents : (i+1)*agents]
	}
}

// reset forgets everything before a batch.
func (p *pending) reset(data []byte) {
	for i := range p.fresh {
		p.fresh[i].tries = nil // they are not to be kept in memory
	}
	p.data, p.start, p.n = data, nil, 0
	p.paths.Reset(data)
}

// add adds a row of which this is known.
func (p *pending) add(row int, known *knowledge) *stretch {
	s := &p.stretches[p.n]
	s.low, s.high, s.paths, s.known = row, row+1, p.paths.Len(), known
	p.n++
	return s
}

// addFresh adds a row of which nothing is known yet. Its standings have to be
// written.
func (p *pending) addFresh(row int) *stretch {
	k := &p.fresh[p.n]
	k.tries, k.path, k.open, k.null = nil, 0, false, false
	return p.add(row, k)
}

// addNull adds a row without verdict.
func (p *pending) addNull(row int, reason matcher.Reason) {
	k := p.addFresh(row).known
	k.null, k.reason = true, reason
}

// addPath adds the path of a row of which this is known, if that is open. Its URL
// lies from octet start of the column on, and before end.
func (p *pending) addPath(known *knowledge, start, end int) {
	if known.open {
		p.paths.Add(start+known.path, end)
	}
}

// startWith has a stretch go on with rows whose URLs begin with start.
func (p *pending) startWith(start []byte, s *stretch) { p.start, p.like = start, s }

// resume adds a row whose URL begins with p.start. If it is open, its path is to be
// added by the caller.
func (p *pending) resume(row int) *stretch {
	if p.like.high == row {
		p.like.high++
	} else { // rows without verdict lie between
		p.like = p.add(row, p.like.known)
	}
	return p.like
}

// addLike adds the rows, from row on, whose URLs begin with p.start, and returns
// how many they are. offsets begin with the first one's.
func addLike[O int32 | int64](p *pending, offsets []O, row int) int {
	if !mayStartLike(p.data[offsets[0]:offsets[1]], p.start) {
		return 0
	}
	n := likeRun(p.start, p.data, offsets)
	if n > 0 {
		s := p.resume(row)
		s.high = row + n
		if s.known.open {
			matcher.AddPaths(&p.paths, offsets[:n+1], s.known.path)
		}
	}
	return n
}

// mayStartLike is false for most URLs that do not start with start, and for all
// if that is empty.
func mayStartLike(url, start []byte) bool {
	n := len(start)
	return n > 0 && len(url) >= n && url[n-1] == start[n-1] && url[n/2] == start[n/2]
}

// settle sets the verdicts of all rows that are pending, which are those before
// next. What is known of a stretch that may go on is kept.
func (e *Evaluator) settle(v *Verdicts, next int) {
	p := &e.pending
	p.paths.Sketch()
	for i := range p.n {
		switch s := &p.stretches[i]; {
		case s.known.null:
			for row := s.low; row < s.high; row++ {
				e.null(v, row, s.known.reason)
			}
		case s.known.open:
			e.settleOpen(v, s)
		case s.low < s.high:
			s.stand(v, s.low, s.high)
		}
	}
	p.paths.Reset(p.data)
	p.n = 0
	if p.start != nil {
		first := &p.fresh[0]
		if known := p.like.known; known != first {
			first.set(known)
		}
		p.like = p.add(next, first)
		p.like.high = next // it has no row yet
	}
}

// settleOpen is settle for an open stretch.
func (e *Evaluator) settleOpen(v *Verdicts, s *stretch) {
	p := &e.pending
	high := s.paths + s.high - s.low
	trimmed := -1 // the path that was trimmed last: what it has left belongs to it
	for i := s.paths; i < high; {
		row := s.low + i - s.paths
		if hold := p.hold(s, i, high); hold > i {
			s.stand(v, row, row+hold-i)
			i = hold
			continue
		}
		if i != trimmed && p.paths.Trim(i) {
			trimmed = i
			continue // without its fragment it may hold
		}
		e.target.SetOf(&p.paths, i, e.options.Profile)
		e.settleRow(v, row, s.known)
		i++
	}
}

// hold returns the first path from low on, and before high, of which it is not
// seen that it has the verdicts of the standings.
func (p *pending) hold(s *stretch, low, high int) int {
	for agent := range s.known.standings {
		if t := &s.known.standings[agent]; t.Open {
			high = s.known.tries[agent].Hold(t, &p.paths, low, high)
		}
	}
	return high
}

// stand sets the verdicts of the rows from low on, and before high, to those of the
// standings.
func (s *stretch) stand(v *Verdicts, low, high int) {
	agents := v.Agents
	standings := s.known.standings[:len(agents)]
	for i := range agents {
		switch allowed := !standings[i].Denied; {
		case low+1 == high:
			agents[i].set(low, allowed)
		case allowed:
			agents[i].allow(low, high)
		}
	}
}

// settleRow sets the verdicts of a row whose path is the target's, of which this is
// known.
func (e *Evaluator) settleRow(v *Verdicts, row int, known *knowledge) {
	isRobotsTxt, _ := matcher.IsRobotsTxt(e.target.Path(), e.options.Profile)
	tries := known.tries
	for agent := range tries {
		if first := firstWith(tries, agent); first < agent {
			v.Agents[agent].set(row, v.Agents[first].allowed(row))
			continue
		}
		t := &known.standings[agent]
		denied := t.Denied
		if t.Open && tries[agent].Settle(t, &e.target) {
			denied = !denied
		}
		v.Agents[agent].set(row, !denied || isRobotsTxt)
	}
}
