package batch

import (
	"bytes"
	"fmt"

	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// Evaluator is one goroutine's state: it turns batches of URLs into verdicts.
type Evaluator struct {
	origins matcher.Origins
	options Options

	scratch matcher.Scratch
	target  matcher.Target

	// The origin of the row before, kept while the authority is written the
	// same: most frontiers are grouped by host.
	written []byte // the authority as written, with its scheme; nil at first
	origin  *matcher.Origin
	found   matcher.Origin // for Lookup
	ahead   ahead
	memory  recall
	pending pending

	facts     factsRuns // of the batch, if anybody asks
	explainer explainer
	counts    Stats

	authorities authorities
	recent      [4096]uint64 // hashes of authorities counted lately
}

// NewEvaluator returns an evaluator that asks origins.
func NewEvaluator(origins matcher.Origins, o Options) *Evaluator {
	o = o.withDefaults()
	bulk, _ := origins.(matcher.BulkOrigins)
	e := &Evaluator{origins: origins, options: o, ahead: ahead{origins: bulk}, origin: new(matcher.Origin)}
	e.pending.init(o.Agents)
	return e
}

// Evaluate sets v to the verdicts for the rows of b, whose URLs must be valid
// (Column.Validate). It reuses v's memory. An error means that the rules could
// not be had; it names the row.
func (e *Evaluator) Evaluate(b *Batch, v *Verdicts) error {
	rows := b.URLs.Len()
	v.reset(rows, e.options)
	defer e.forget()
	e.pending.reset(b.URLs.Data)
	e.facts.reset()
	e.explainer.reset(v)
	var err error
	if b.URLs.Offsets64 != nil {
		err = evaluateRows(e, b, b.URLs.Offsets64, v)
	} else {
		err = evaluateRows(e, b, b.URLs.Offsets32, v)
	}
	if err != nil {
		return err
	}
	v.finish(e.options.Emit)
	e.finishFacts(v)
	e.count(v)
	return nil
}

// forget lets go of a batch: what is kept of it until the next one comes must not keep
// its octets in memory.
func (e *Evaluator) forget() {
	e.written = nil
	e.pending.reset(nil)
	e.target.Forget()
	e.memory.forget()
	clear(e.ahead.keys[:cap(e.ahead.keys)])
}

// blockRows is how many rows are looked over for octets that make a URL invalid
// before they are evaluated: as much as stays in the nearest cache.
const blockRows = 256

// evaluateRows goes through the rows, once for each width of offsets.
func evaluateRows[O int32 | int64](e *Evaluator, b *Batch, offsets []O, v *Verdicts) error {
	c := &b.URLs
	// Hardly any column has an octet that makes a URL invalid wherever it is:
	// one look over many rows saves one at each. A dictionary's values are
	// looked over once.
	lineOctets := false
	if c.Indices != nil && len(offsets) > 0 {
		lineOctets = matcher.HasLineOctet(c.Data[offsets[0]:offsets[len(offsets)-1]])
	}
	for low := 0; low < v.Rows; low += blockRows {
		high := min(low+blockRows, v.Rows)
		if c.Indices == nil {
			lineOctets = matcher.HasLineOctet(c.Data[offsets[low]:offsets[high]])
		}
		row, err := lookAhead(e, c, offsets, low, high)
		switch {
		case err != nil:
		case lineOctets || c.Indices != nil || c.Validity != nil:
			row, err = evaluateBlock(e, c, offsets, v, low, high, lineOctets)
		case e.mayScatter():
			row, err = evaluateScattered(e, c, offsets, v, low, high)
		case len(e.ahead.runs) > 0:
			row, err = evaluateAhead(e, c, offsets, v, low, high)
		default:
			row, err = evaluatePlain(e, c, offsets, v, low, high)
		}
		if err != nil {
			return fmt.Errorf("row %d: %w", b.FirstRow+int64(row), err)
		}
		e.memory.endBlock(high - low)
	}
	return nil
}

// evaluateBlock is the row loop. It returns the row of an error.
func evaluateBlock[O int32 | int64](e *Evaluator, c *Column, offsets []O, v *Verdicts, low, high int, lineOctets bool) (int, error) {
	p := &e.pending
	for row := low; row < high; row++ {
		if c.Validity != nil && c.Null(row) {
			p.addNull(row, matcher.InvalidURL)
			continue
		}
		value := row
		if c.Indices != nil {
			value = int(c.Indices[row])
		}
		start, end := trimmed(c.Data, int(offsets[value]), int(offsets[value+1]))
		switch url := c.Data[start:end]; {
		case lineOctets && matcher.HasLineOctet(url):
			p.addNull(row, matcher.InvalidURL)
		case len(p.start) > 0 && bytes.HasPrefix(url, p.start):
			p.addPath(p.resume(row).known, start, end)
		default:
			if err := e.evaluate(v, row, url, start, 0); err != nil {
				return row, err
			}
		}
	}
	e.settle(v, high)
	return 0, nil
}

// trimmed are the bounds of a URL without blanks at its ends.
func trimmed(data []byte, low, high int) (start, end int) {
	url := data[low:high]
	trimmed := matcher.TrimURL(url)
	start = low + cap(url) - cap(trimmed)
	return start, start + len(trimmed)
}

// evaluatePlain is evaluateBlock for a column without nulls, dictionary and line
// octets: there it sees many rows that start alike at once.
func evaluatePlain[O int32 | int64](e *Evaluator, c *Column, offsets []O, v *Verdicts, low, high int) (int, error) {
	for row := low; row < high; row++ {
		if row += addLike(&e.pending, offsets[row:high+1], row); row == high {
			break
		}
		start, end := trimmed(c.Data, int(offsets[row]), int(offsets[row+1]))
		if err := e.evaluate(v, row, c.Data[start:end], start, 0); err != nil {
			return row, err
		}
	}
	e.settle(v, high)
	return 0, nil
}

// evaluateAhead is evaluatePlain for rows whose authorities are looked up.
func evaluateAhead[O int32 | int64](e *Evaluator, c *Column, offsets []O, v *Verdicts, low, high int) (int, error) {
	row := low
	for i := range e.ahead.runs {
		r := &e.ahead.runs[i]
		if err := evaluateEach(e, c, offsets, v, row, r.row); err != nil {
			return row, err
		}
		start, end := trimmed(c.Data, int(offsets[r.row]), int(offsets[r.row+1]))
		e.beginAhead(r.row, c.Data[start:end], i)
		e.pending.start = nil // it is of another authority
		if e.allowsAll() {
			for agent := range v.Agents {
				v.Agents[agent].allow(r.row, r.end)
			}
		} else {
			evaluateRun(e, c, offsets, v, r)
		}
		row = r.end
	}
	if err := evaluateEach(e, c, offsets, v, row, high); err != nil {
		return row, err
	}
	e.settle(v, high)
	return 0, nil
}

// evaluateRun evaluates the rows of a run, whose origin is e.origin.
func evaluateRun[O int32 | int64](e *Evaluator, c *Column, offsets []O, v *Verdicts, r *authorityRun) {
	for row := r.row; row < r.end; row++ {
		if row += addLike(&e.pending, offsets[row:r.end+1], row); row == r.end {
			return
		}
		start, end := trimmed(c.Data, int(offsets[row]), int(offsets[row+1]))
		e.decideRow(v, row, c.Data[start:end], start, r.written, 0)
	}
}

// evaluateEach evaluates the rows between runs, which have no authority.
func evaluateEach[O int32 | int64](e *Evaluator, c *Column, offsets []O, v *Verdicts, low, high int) error {
	for row := low; row < high; row++ {
		start, end := trimmed(c.Data, int(offsets[row]), int(offsets[row+1]))
		if err := e.evaluate(v, row, c.Data[start:end], start, 0); err != nil {
			return err
		}
	}
	return nil
}

// evaluate decides a row whose URL, which begins at octet start of the column, does
// not start like the one before. hash is its placeOf one octet, or 0 for it not to be
// kept.
func (e *Evaluator) evaluate(v *Verdicts, row int, url []byte, start int, hash uint64) error {
	e.memory.strangers++
	written, reason, err := e.find(row, url)
	switch {
	case err != nil:
		return err
	case reason != matcher.NoReason:
		e.pending.addNull(row, reason)
	default:
		e.decideRow(v, row, url, start, written, hash)
	}
	return nil
}

// decideRow is evaluate when the origin is known, and how many octets of the URL
// are its authority with the scheme.
func (e *Evaluator) decideRow(v *Verdicts, row int, url []byte, start, written int, hash uint64) {
	p, rest := &e.pending, url[written:]
	p.start = nil
	switch {
	case e.options.Explain:
		e.settle(v, row)
		e.explain(v, row, e.scratch.Path(rest))
		return
	case len(rest) == 0 || rest[0] != '/':
		e.decideAlone(v, row, e.scratch.Path(rest))
		return
	}
	s := p.addFresh(row)
	depth := e.decide(s.known, rest)
	s.known.path = written
	p.addPath(s.known, start, start+len(url))
	if depth <= len(rest) {
		p.startWith(url[:written+depth], s)
		if hash != 0 {
			e.remember(url, hash)
		}
	}
}

// decideAlone decides a row whose path is not in the column, where the others lie that
// are settled together.
func (e *Evaluator) decideAlone(v *Verdicts, row int, path []byte) {
	s := e.pending.addFresh(row)
	if e.decide(s.known, path); s.known.open {
		e.settleRow(v, row, s.known)
		s.high = row // nothing of it is left
	}
}

// find sets e.origin to that of a row's URL, and returns how many octets of the URL
// are its authority with the scheme.
func (e *Evaluator) find(row int, url []byte) (written int, reason matcher.Reason, err error) {
	if run, ok := e.ahead.take(row); ok {
		e.beginAhead(row, url, run)
		return e.ahead.runs[run].written, matcher.NoReason, nil
	}
	if hasAuthority(url, e.written) {
		return len(e.written), matcher.NoReason, nil
	}
	key, rest, reason := e.scratch.SplitAuthority(url)
	if reason != matcher.NoReason {
		return 0, reason, nil
	}
	e.written, e.origin = nil, &e.found
	if err := e.origins.Lookup(key, e.origin); err != nil {
		return 0, matcher.NoReason, err
	}
	written = len(url) - len(rest)
	e.begin(row, url[:written], matcher.HashOf(key))
	return written, matcher.NoReason, nil
}

// beginAhead sets e.origin to that of a run which was looked up and has this row.
func (e *Evaluator) beginAhead(row int, url []byte, run int) {
	origin := &e.ahead.found[run]
	if e.origin == origin {
		return
	}
	e.origin = origin
	if written := url[:e.ahead.runs[run].written]; !bytes.Equal(e.written, written) {
		e.begin(row, written, e.ahead.keys[run].Hash)
	}
}

// begin starts a run of rows with one authority, which is written like this and
// whose key has this hash. e.origin is known.
func (e *Evaluator) begin(row int, written []byte, hash uint64) {
	e.written = written
	if e.wantsFacts() {
		e.facts.begin(row, e.origin)
	}
	e.countAuthority(hash)
}

// wantsFacts tells whether anybody asks for what is known of robots.txt.
func (e *Evaluator) wantsFacts() bool { return e.options.Facts || e.options.AsOf != 0 }

// decide finds what is known of a row's path, and of every path that agrees with
// it in its first depth octets.
func (e *Evaluator) decide(known *knowledge, path []byte) (depth int) {
	if e.origin.Access != access.Rules {
		return e.constant(known, path)
	}
	e.target.Set(path, e.options.Profile)
	tries, standings, denied := e.origin.Tries, known.standings, false
	for agent := range standings {
		s := &standings[agent]
		if first := firstWith(tries, agent); first < agent {
			*s = matcher.Standing{Denied: standings[first].Denied}
			continue
		}
		*s = tries[agent].Stand(&e.target)
		depth = max(depth, s.Depth)
		denied = denied || s.Denied
		known.open = known.open || s.Open
	}
	if denied {
		is, settled := matcher.IsRobotsTxt(path, e.options.Profile)
		if is {
			clear(standings) // that allows it
			known.open = false
			return matcher.Whole
		}
		depth = max(depth, settled)
	}
	if known.open {
		known.tries = tries
	}
	return depth
}

// firstWith returns the first agent that has the same trie as one.
func firstWith(tries []matcher.Trie, agent int) int {
	for earlier := range agent {
		if tries[earlier].Same(&tries[agent]) {
			return earlier
		}
	}
	return agent
}

// constant is decide for an origin whose rules are not to be asked.
func (e *Evaluator) constant(known *knowledge, path []byte) (depth int) {
	allowed, hasVerdict, reason := outcome(e.origin.Access, e.options.Missing)
	depth = 1
	if !allowed {
		var is bool
		if is, depth = matcher.IsRobotsTxt(path, e.options.Profile); is {
			allowed, hasVerdict = true, true
		}
	}
	known.null, known.reason = !hasVerdict, reason
	for agent := range known.standings {
		known.standings[agent] = matcher.Standing{Denied: !allowed}
	}
	return depth
}

// allowsAll tells whether the origin allows everything, and nobody asks why.
func (e *Evaluator) allowsAll() bool {
	if e.origin.Access == access.Rules || e.options.Explain {
		return false
	}
	allowed, known, _ := outcome(e.origin.Access, e.options.Missing)
	return allowed && known
}

// outcome is the verdict where no rules are asked; known is false for none.
func outcome(a access.Outcome, missing access.Missing) (allowed, known bool, reason matcher.Reason) {
	switch a {
	case access.AllowAll:
		return true, true, matcher.Unavailable
	case access.DisallowAll:
		return false, true, matcher.Unreachable
	}
	return missing == access.MissingAllow, missing != access.MissingNull, matcher.NoRobots
}

// countAuthority counts an authority unless it was counted lately: in a
// frontier without order the same few come up all the time.
func (e *Evaluator) countAuthority(hash uint64) {
	recent := &e.recent[hash%uint64(len(e.recent))]
	if *recent == hash {
		return
	}
	*recent = hash
	e.ahead.unmet++
	e.authorities.of(e.origin).add(hash)
}

// null leaves a row without verdict.
func (e *Evaluator) null(v *Verdicts, row int, reason matcher.Reason) {
	switch reason {
	case matcher.InvalidURL:
		e.counts.Invalid++
	case matcher.UnsupportedScheme:
		e.counts.UnsupportedScheme++
	}
	for agent := range v.Agents {
		v.Agents[agent].Valid[row>>3] &^= 1 << (row & 7)
		v.Agents[agent].Nulls++
		if e.options.Explain {
			v.Agents[agent].Reasons[row] = reason
		}
	}
}

// count adds a batch to the evaluator's statistics.
func (e *Evaluator) count(v *Verdicts) {
	e.counts.Rows += int64(v.Rows)
	e.counts.Selected += int64(v.SelectedRows)
	if e.counts.Agents == nil {
		e.counts.Agents = make([]Counts, len(v.Agents))
	}
	for i := range v.Agents {
		allowed := countBits(v.Agents[i].Allowed)
		e.counts.Agents[i].Allowed += int64(allowed)
		e.counts.Agents[i].Unknown += int64(v.Agents[i].Nulls)
		e.counts.Agents[i].Denied += int64(v.Rows - v.Agents[i].Nulls - allowed)
	}
}

// take returns the counts since the last call.
func (e *Evaluator) take() Stats {
	counts := e.counts
	e.counts = Stats{}
	return counts
}
