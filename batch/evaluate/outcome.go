package evaluate

import (
	"robotsbatch/batch"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// applyOutcome sets the verdicts of rows [low, high), whose origin has no rules to ask, and
// counts them: all get the same verdict, but /robots.txt is allowed. pathStart is where their URLs'
// paths start: the length of scheme and authority.
func applyOutcome[O int32 | int64](e *Evaluator, r *rows[O], v *batch.Verdicts, o *matcher.Origin, low, high, pathStart int) {
	allowed, known, reason := e.outcome(o.Access)
	counter := outcomeCounter(&v.Counters, reason)
	if counter != nil {
		*counter += int64(high - low) // and less one for each /robots.txt
	}
	if allowed && known {
		for agent := range e.allowed {
			matcher.SetBits(e.allowed[agent], low, high)
		}
		if counter == nil {
			return // nothing differs for /robots.txt
		}
	}
	for row := low; row < high; row++ { // up to each /robots.txt, then that
		robotsTxt := nextRobotsTxt(e, r, row, high, pathStart)
		for ; row < robotsTxt && !known; row++ {
			v.SetNull(row, reason)
		}
		if row = robotsTxt; row == high {
			return
		}
		if counter != nil {
			*counter--
		}
		for agent := range v.Agents {
			v.Agents[agent].Set(row, true) // allowed
		}
	}
}

// outcomeCounter returns the counter of the rows with a reason that outcome returns; nil for one
// that is not counted.
func outcomeCounter(c *batch.Counters, reason matcher.Reason) *int64 {
	switch reason {
	case matcher.NoRobots:
		return &c.NoRobots
	case matcher.NoCaptureYet:
		return &c.NoCaptureYet
	case matcher.Unreachable30Days:
		return &c.Unreachable30Days
	case matcher.HistoryCut:
		return &c.HistoryCut
	}
	return nil
}

// nextRobotsTxt returns the first row in [low, high) with the path /robots.txt; high if there is
// none. pathStart is where paths start in the URLs. Nearly all rows are excluded, 5 % of a job's time, by
// the byte after the path's slash, which must be an r, or the % of an escaped one. It decides nothing if blanks come
// before the URL. In a URL without a path it is a byte of the next one, which may cost a comparison.
func nextRobotsTxt[O int32 | int64](e *Evaluator, r *rows[O], low, high, pathStart int) int {
	data := r.data
	for i, offset := range r.offsets[low-r.first : high-r.first] {
		if second := int(offset) + pathStart + 1; second < len(data) {
			if c := data[second]; c != 'r' && c != '%' && data[offset] > ' ' {
				continue
			}
		}
		if e.isRobotsTxt(r.url(low + i)[pathStart:]) {
			return low + i
		}
	}
	return high
}

// outcome returns the verdict and the reason for an authority without rules to ask, by its
// access. If known is false, the verdict is null. For access.Unknown the options decide, and
// e.early says which of them.
func (e *Evaluator) outcome(a access.Outcome) (allowed, known bool, reason matcher.Reason) {
	switch a {
	case access.AllowAll, access.NoFile, access.Refused:
		return true, true, matcher.Unavailable
	case access.DisallowAll:
		return false, true, matcher.Unreachable
	case access.AllowAfterOutage:
		return true, true, matcher.Unreachable30Days
	case access.Cut:
		return false, false, matcher.HistoryCut
	}
	missing, reason := e.options.Missing, matcher.NoRobots
	if e.early {
		missing, reason = e.options.BeforeFirst.Verdict(missing), matcher.NoCaptureYet
	}
	return missing == access.MissingAllow, missing != access.MissingNull, reason
}

// isRobotsTxt reports whether a path is that of a /robots.txt that the profile always allows.
func (e *Evaluator) isRobotsTxt(path []byte) bool {
	is, _ := matcher.IsRobotsTxt(path, e.options.Profile)
	return is
}
