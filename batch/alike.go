package batch

import "robotsbatch/matcher"

// evaluateLike decides the rows, from row on, whose URLs start like the one
// before, and returns how many they are. offsets begin with the first one's.
func evaluateLike[O int32 | int64](e *Evaluator, c *Column, offsets []O, v *Verdicts, row int) int {
	like := likeRun(e.start, c.Data, offsets)
	if e.open {
		matcher.SetPaths(&e.paths, c.Data, offsets[:like+1], e.path)
		e.settlePaths(v, row)
	}
	return like
}

// mayStartLike is false for most URLs that do not start with start, and for all
// if that is empty.
func mayStartLike(url, start []byte) bool {
	n := len(start)
	return n > 0 && len(url) >= n && url[n-1] == start[n-1] && url[n/2] == start[n/2]
}

// settleOne decides a row for which the standings hold.
func (e *Evaluator) settleOne(v *Verdicts, row int, path []byte) {
	e.paths.SetPath(path)
	e.settlePaths(v, row)
}

// settlePaths decides the rows of e.paths, the first of which is row. The
// standings hold for all of them.
func (e *Evaluator) settlePaths(v *Verdicts, row int) {
	n := e.paths.Len()
	for i := 0; i < n; {
		if hold := e.hold(i, n); hold > i {
			e.stand(v, row+i)
			i = hold
			continue
		}
		if e.paths.Trim(i) {
			continue // without its fragment it may hold
		}
		e.target.SetOf(&e.paths, i, e.options.Profile)
		e.settle(v, row+i)
		i++
	}
}

// hold returns the first path from low on, and before high, of which it is not
// seen that it has the verdicts of the standings.
func (e *Evaluator) hold(low, high int) int {
	for agent := range e.standings {
		if s := &e.standings[agent]; s.Open {
			high = e.origin.Tries[agent].Hold(s, &e.paths, low, high)
		}
	}
	return high
}

// stand sets the verdicts from a row on to those of the standings.
func (e *Evaluator) stand(v *Verdicts, row int) {
	for agent, first := range e.first {
		e.set(v, row, agent, !e.standings[first].Denied)
	}
}
