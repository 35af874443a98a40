package batch

import "robotsbatch/matcher"

// evaluateLike decides the rows, from row on, whose URLs start like the one
// before, and returns how many they are. offsets begin with the first one's.
func evaluateLike[O int32 | int64](e *Evaluator, c *Column, offsets []O, v *Verdicts, row int) int {
	if !mayStartLike(c.Data[offsets[0]:offsets[1]], e.start) {
		return 0
	}
	like := likeRun(e.start, c.Data, offsets)
	if e.open {
		e.paths = matcher.AppendPaths(e.paths[:0], c.Data, offsets[:like+1], e.path)
		e.settlePaths(v, row, e.paths)
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
	e.paths = append(e.paths[:0], matcher.PathOf(path))
	e.settlePaths(v, row, e.paths)
}

// settlePaths decides rows, the first of which is row, for whose paths the
// standings hold.
func (e *Evaluator) settlePaths(v *Verdicts, row int, paths []matcher.Path) {
	for ; len(paths) > 0; row, paths = row+1, paths[1:] {
		if hold := e.hold(paths); hold > 0 {
			e.stand(v, row)
			row += hold
			if paths = paths[hold:]; len(paths) == 0 {
				return
			}
		}
		// No start ends in a blank that could be trimmed.
		path := matcher.TrimURL(paths[0].Text())
		e.target.Set(path, e.options.Profile)
		e.settle(v, row, path)
	}
}

// hold returns how many paths in a row have the verdicts of the standings.
func (e *Evaluator) hold(paths []matcher.Path) int {
	for agent := range e.standings {
		if s := &e.standings[agent]; s.Open {
			paths = paths[:e.origin.Tries[agent].Hold(s, paths)]
		}
	}
	return len(paths)
}

// stand sets the verdicts from a row on to those of the standings.
func (e *Evaluator) stand(v *Verdicts, row int) {
	for agent, first := range e.first {
		e.set(v, row, agent, !e.standings[first].Denied)
	}
}
