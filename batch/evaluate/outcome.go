package evaluate

import (
	"robotsbatch/batch"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// applyOutcome sets the verdicts of rows [low, high), whose origin has no rules to ask, and
// counts them: all get the same verdict, but /robots.txt is allowed. authority is the length of
// scheme and authority in their URLs.
func applyOutcome[O int32 | int64](e *Evaluator, r *rows[O], v *batch.Verdicts, o *matcher.Origin, low, high, authority int) {
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
	for row := low; row < high; row++ {
		robotsTxt := nextRobotsTxt(r, row, high, authority, e.options.Profile)
		for ; row < robotsTxt && !known; row++ {
			v.SetNull(row, reason)
		}
		row = robotsTxt
		if row == high {
			return
		}
		if counter != nil {
			*counter--
		}
		for agent := range v.Agents {
			v.Agents[agent].Set(row, true)
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
// none. The byte after the slash, which in a URL without a path is one of the next URL, excludes
// nearly all rows.
func nextRobotsTxt[O int32 | int64](r *rows[O], low, high, authority int, profile matcher.Profile) int {
	data := r.data
	for i, offset := range r.offsets[low-r.first : high-r.first] {
		if second := int(offset) + authority + 1; second < len(data) {
			if c := data[second]; c != 'r' && c != '%' && data[offset] > ' ' {
				continue
			}
		}
		if isRobotsTxt, _ := matcher.IsRobotsTxt(r.url(low + i)[authority:], profile); isRobotsTxt {
			return low + i
		}
	}
	return high
}

// outcome returns the verdict and the reason for an authority without rules to ask, by its
// access. If known is false, the verdict is null. For access.Unknown the options decide, by
// e.unknown.
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
	// Nothing is known of the authority, so the options decide; evaluateGroup set the reason.
	missing := e.options.Missing
	if e.unknown == matcher.NoCaptureYet {
		missing = e.options.BeforeFirst.Verdict(missing)
	}
	return missing == access.MissingAllow, missing != access.MissingNull, e.unknown
}
