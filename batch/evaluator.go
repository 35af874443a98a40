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
	first   []int // for each agent the first one that has the same trie

	// What is known of a URL that starts like one before.
	start     []byte // the octets that it has to share with that; nil for none
	path      int    // where in it the path begins
	open      bool   // only Settle knows the verdict of some agent
	standings []matcher.Standing
	paths     matcher.Paths // of the rows looked at last

	// The verdicts of the rows from run on, an agent each. Only when they change
	// they are written.
	allowed []bool
	run     int

	facts     factsRuns // of the batch, if anybody asks
	explainer explainer
	counts    Stats

	authorities, withoutRobots distinct
	recent                     [4096]uint64 // hashes of authorities counted lately
}

// NewEvaluator returns an evaluator that asks origins.
func NewEvaluator(origins matcher.Origins, o Options) *Evaluator {
	o = o.withDefaults()
	bulk, _ := origins.(matcher.BulkOrigins)
	return &Evaluator{
		origins: origins, options: o, ahead: ahead{origins: bulk}, origin: new(matcher.Origin),
		first: make([]int, o.Agents), standings: make([]matcher.Standing, o.Agents), allowed: make([]bool, o.Agents),
	}
}

// Evaluate sets v to the verdicts for the rows of b, whose URLs must be valid
// (Column.Validate). It reuses v's memory. An error means that the rules could
// not be had; it names the row.
func (e *Evaluator) Evaluate(b *Batch, v *Verdicts) error {
	rows := b.URLs.Len()
	v.reset(rows, e.options)
	e.written, e.start, e.run = nil, nil, 0 // they are of the batch before
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
		default:
			row, err = evaluatePlain(e, c, offsets, v, low, high)
		}
		if err != nil {
			return fmt.Errorf("row %d: %w", b.FirstRow+int64(row), err)
		}
	}
	e.flush(v, v.Rows)
	return nil
}

// evaluateBlock is the row loop. It returns the row of an error.
func evaluateBlock[O int32 | int64](e *Evaluator, c *Column, offsets []O, v *Verdicts, low, high int, lineOctets bool) (int, error) {
	for row := low; row < high; row++ {
		if c.Validity != nil && c.Null(row) {
			e.null(v, row, matcher.InvalidURL)
			continue
		}
		value := row
		if c.Indices != nil {
			value = int(c.Indices[row])
		}
		url := matcher.TrimURL(c.Data[offsets[value]:offsets[value+1]])
		switch {
		case lineOctets && matcher.HasLineOctet(url):
			e.null(v, row, matcher.InvalidURL)
		case len(e.start) == 0 || !bytes.HasPrefix(url, e.start):
			if err := e.evaluate(v, row, url); err != nil {
				return row, err
			}
		case e.open:
			e.settleOne(v, row, url[e.path:])
		}
	}
	return 0, nil
}

// evaluatePlain is evaluateBlock for a column without nulls, dictionary and line
// octets: there it sees many rows that start alike at once.
func evaluatePlain[O int32 | int64](e *Evaluator, c *Column, offsets []O, v *Verdicts, low, high int) (int, error) {
	for row := low; row < high; row++ {
		url := c.Data[offsets[row]:offsets[row+1]]
		if mayStartLike(url, e.start) {
			if row += evaluateLike(e, c, offsets[row:high+1], v, row); row == high {
				break
			}
			url = c.Data[offsets[row]:offsets[row+1]]
		}
		if err := e.evaluate(v, row, matcher.TrimURL(url)); err != nil {
			return row, err
		}
	}
	return 0, nil
}

// evaluate decides a row whose URL does not start like the one before.
func (e *Evaluator) evaluate(v *Verdicts, row int, url []byte) error {
	e.start = nil
	hash := uint64(0)
	if !e.ahead.many {
		hash = placeOf(url)
		if e.recall(row, url, hash) {
			if e.open {
				e.settleOne(v, row, url[e.path:])
			} else {
				e.stand(v, row)
			}
			return nil
		}
	}
	rest, reason, err := e.find(row, url)
	if err != nil {
		return err
	}
	if reason != matcher.NoReason {
		e.null(v, row, reason)
		return nil
	}
	if len(rest) == 0 || rest[0] != '/' {
		e.decide(v, row, e.scratch.Path(rest))
		return nil
	}
	if depth := e.decide(v, row, rest); depth <= len(rest) {
		e.path = len(url) - len(rest)
		e.start = url[:e.path+depth]
		e.remember(hash)
	}
	return nil
}

// find sets e.origin to that of a row's URL, and returns the URL's path, query and
// fragment as written.
func (e *Evaluator) find(row int, url []byte) (rest []byte, reason matcher.Reason, err error) {
	if run, ok := e.ahead.take(row); ok {
		n := e.ahead.runs[run].written
		if origin := &e.ahead.found[run]; e.origin != origin {
			e.origin = origin
			if !bytes.Equal(e.written, url[:n]) {
				e.begin(row, url[:n], e.ahead.keys[run].Hash)
			}
		}
		return url[n:], matcher.NoReason, nil
	}
	if hasAuthority(url, e.written) {
		return url[len(e.written):], matcher.NoReason, nil
	}
	key, rest, reason := e.scratch.SplitAuthority(url)
	if reason != matcher.NoReason {
		return nil, reason, nil
	}
	e.written, e.origin = nil, &e.found
	if err := e.origins.Lookup(key, e.origin); err != nil {
		return nil, matcher.NoReason, err
	}
	e.begin(row, url[:len(url)-len(rest)], matcher.HashOf(key))
	return rest, matcher.NoReason, nil
}

// begin starts a run of rows with one authority, which is written like this and
// whose key has this hash. e.origin is known.
func (e *Evaluator) begin(row int, written []byte, hash uint64) {
	e.written = written
	if e.wantsFacts() {
		e.facts.begin(row, e.origin)
	}
	e.countAuthority(hash)
	tries := e.origin.Tries
	for agent := range tries {
		e.first[agent] = agent
		for earlier := range agent {
			if tries[earlier].Same(&tries[agent]) {
				e.first[agent] = earlier
				break
			}
		}
	}
}

// wantsFacts tells whether anybody asks for what is known of robots.txt.
func (e *Evaluator) wantsFacts() bool { return e.options.Facts || e.options.AsOf != 0 }

// decide finds a row's verdicts. Every path that agrees with this one in its
// first depth octets has the same ones, but for what settle finds.
func (e *Evaluator) decide(v *Verdicts, row int, path []byte) (depth int) {
	e.open = false
	switch {
	case e.origin.Access != access.Rules:
		return e.constant(v, row, path)
	case e.options.Explain:
		e.explainRules(v, row, path)
		return matcher.Whole
	}
	e.target.Set(path, e.options.Profile)
	denied := false
	for agent, first := range e.first {
		s := &e.standings[agent]
		if first < agent {
			*s = matcher.Standing{} // the first one's is enough
			continue
		}
		*s = e.origin.Tries[agent].Stand(&e.target)
		depth = max(depth, s.Depth)
		denied = denied || s.Denied
		e.open = e.open || s.Open
	}
	if denied {
		is, settled := matcher.IsRobotsTxt(path, e.options.Profile)
		if is {
			e.allow(v, row)
			return matcher.Whole
		}
		depth = max(depth, settled)
	}
	if e.open {
		e.settleOne(v, row, path)
	} else {
		e.stand(v, row)
	}
	return depth
}

// allow sets all verdicts from a row on to allowed.
func (e *Evaluator) allow(v *Verdicts, row int) {
	for agent := range e.first {
		e.set(v, row, agent, true)
	}
}

// settle finds a row's verdicts when the standings are known and the target is
// set.
func (e *Evaluator) settle(v *Verdicts, row int) {
	isRobotsTxt, _ := matcher.IsRobotsTxt(e.target.Path(), e.options.Profile)
	for agent, first := range e.first {
		if first < agent {
			e.set(v, row, agent, e.allowed[first])
			continue
		}
		s := &e.standings[agent]
		denied := s.Denied
		if s.Open && e.origin.Tries[agent].Settle(s, &e.target) {
			denied = !denied
		}
		e.set(v, row, agent, !denied || isRobotsTxt)
	}
}

// set sets an agent's verdict from a row on.
func (e *Evaluator) set(v *Verdicts, row, agent int, allowed bool) {
	if e.allowed[agent] != allowed {
		e.flush(v, row)
		e.allowed[agent] = allowed
	}
}

// flush writes the verdicts of the rows before row that are not written yet.
func (e *Evaluator) flush(v *Verdicts, row int) {
	for agent, allowed := range e.allowed {
		if allowed {
			v.Agents[agent].allow(e.run, row)
		}
	}
	e.run = row
}

// explainRules writes a row's verdicts with the rules that decide them.
func (e *Evaluator) explainRules(v *Verdicts, row int, path []byte) {
	e.target.Set(path, e.options.Profile)
	isRobotsTxt, _ := matcher.IsRobotsTxt(path, e.options.Profile)
	for agent := range e.options.Agents {
		trie := &e.origin.Tries[agent]
		d := trie.Match(&e.target)
		switch {
		case isRobotsTxt:
			d = matcher.Decision{Allowed: true, Reason: matcher.RobotsTxt}
		case e.origin.Stale && !d.Reason.HasRule():
			d.Reason = matcher.StaleRules
		}
		e.set(v, row, agent, d.Allowed)
		e.explainer.explain(v, agent, row, trie, d)
	}
}

// constant writes the verdict of an origin whose rules are not to be asked, and
// returns its depth as decide does.
func (e *Evaluator) constant(v *Verdicts, row int, path []byte) (depth int) {
	allowed, known, reason := outcome(e.origin.Access, e.options.Missing)
	depth = 1
	if !allowed || e.options.Explain {
		var is bool
		if is, depth = matcher.IsRobotsTxt(path, e.options.Profile); is {
			allowed, known, reason = true, true, matcher.RobotsTxt
		}
	}
	if !known {
		e.null(v, row, reason)
		return matcher.Whole
	}
	for agent := range v.Agents {
		e.standings[agent] = matcher.Standing{Denied: !allowed}
		e.set(v, row, agent, allowed)
		if e.options.Explain {
			v.Agents[agent].Reasons[row] = reason
			depth = matcher.Whole
		}
	}
	return depth
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
	e.authorities.add(hash)
	if e.origin.Access == access.Unknown {
		e.withoutRobots.add(hash)
	}
}

// null leaves a row without verdict.
func (e *Evaluator) null(v *Verdicts, row int, reason matcher.Reason) {
	e.flush(v, row)
	e.run = row + 1
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
