package evaluate

import (
	"math"

	"robotsbatch/batch"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// columns are the indices in Verdicts.Columns of the columns that describe hosts or URLs.
type columns struct {
	known       bool // sort has set the others
	byAuthority []int
	byFacts     []int      // of robots.txt
	byUse       []int      // set row by row
	byURL       []int      // of single rows
	host        batch.Host // passed to ColumnKind.Value; a local one would be allocated
}

// sort sets c for the columns of the verdicts, in the first batch: they are the same in all.
func (c *columns) sort(v *batch.Verdicts) {
	if c.known {
		return
	}
	c.known = true
	for i := range v.Columns {
		switch kind := v.Columns[i].Kind; {
		case kind.Use != nil:
			c.byUse = append(c.byUse, i)
		case kind.OfURL != nil:
			c.byURL = append(c.byURL, i)
		case kind.Value == nil: // it is set row by row
		case kind.ByAuthority:
			c.byAuthority = append(c.byAuthority, i)
		default:
			c.byFacts = append(c.byFacts, i)
		}
	}
}

// describeAuthorities sets, for the rows of all groups, the columns that the authority alone
// decides. Call it before cutGroups, which removes rows without a time.
func (e *Evaluator) describeAuthorities(v *batch.Verdicts) {
	e.columns.sort(v)
	for _, column := range e.columns.byAuthority {
		for number := range e.groups.all {
			e.columns.host = batch.Host{Authority: e.groups.keys[number].Text}
			e.setColumn(&v.Columns[column], number)
		}
	}
}

// describeURLs sets, for the rows of all groups, the columns that the URLs themselves decide.
func describeURLs[O int32 | int64](e *Evaluator, r *rows[O], v *batch.Verdicts) {
	for _, column := range e.columns.byURL {
		c := &v.Columns[column]
		for number := range e.groups.all {
			key, authority := e.groups.keys[number].Text, len(e.groups.all[number].written)
			w := e.groups.walk(number)
			for w.next() {
				for row := w.low; row < w.high; row++ {
					c.Of[row] = c.Add(c.Kind.OfURL(key, r.url(row)[authority:]))
				}
			}
		}
	}
}

// describe sets, for the rows of a group, the columns that robots.txt decides, and counts
// Outdated and SitemapsCut. o is the group's origin, given that its authority is known.
func (e *Evaluator) describe(v *batch.Verdicts, number int, o *matcher.Origin) {
	if e.options.Timelines != nil {
		e.describeTimed(v, number, o)
	} else {
		e.columns.host = batch.Host{Authority: e.groups.keys[number].Text, Facts: &o.Facts, HasRules: o.Access == access.Rules, Time: e.options.AsOf}
		for _, column := range e.columns.byFacts {
			e.setColumn(&v.Columns[column], number)
		}
		if age, ok := o.Facts.Age(e.options.AsOf); ok && age > e.options.MaxAge {
			v.Outdated += int64(e.groups.count(number))
		}
	}
	if len(e.columns.byFacts) > 0 && o.Facts.Records != nil && o.Facts.Records.MoreSitemaps {
		v.SitemapsCut += int64(e.groups.count(number))
	}
}

// setColumn sets a column of a group's rows to the value of e.columns.host.
func (e *Evaluator) setColumn(c *batch.Values, number int) {
	of := c.Add(c.Kind.Value(&e.columns.host, c.Agent))
	if of < 0 {
		return
	}
	w := e.groups.walk(number)
	for w.next() {
		rows := c.Of[w.low:w.high]
		for i := range rows {
			rows[i] = of
		}
	}
}

// describeTimed sets the columns for a group of a span: each row is described by the newest
// fetch at its own time. It changes o.Facts.Fetched. countOutdated counts the outdated rows.
func (e *Evaluator) describeTimed(v *batch.Verdicts, number int, o *matcher.Origin) {
	one := [1]int64{e.history.held[number].span.Seen}
	times := e.history.times[number%lookupSize]
	if times == nil { // no row is from before the last fetch
		times = one[:]
	}
	e.columns.host = batch.Host{Authority: e.groups.keys[number].Text, Facts: &o.Facts, HasRules: o.Access == access.Rules}
	for _, column := range e.columns.byFacts {
		e.setTimedColumn(&v.Columns[column], v.Times, times, number)
	}
}

// setTimedColumn sets a column of a group's rows to the value of e.columns.host at their
// times.
func (e *Evaluator) setTimedColumn(c *batch.Values, rowTimes, times []int64, number int) {
	host := &e.columns.host
	f, fetched, of := fetches{times: times}, int64(math.MinInt64), int32(-1)
	w := e.groups.walk(number)
	for w.next() {
		for row := w.low; row < w.high; row++ {
			t := rowTimes[row]
			at := f.newestAt(t)
			if at != fetched || c.Kind.ByTime && t != host.Time {
				fetched, host.Facts.Fetched, host.Time = at, at, t
				of = c.Add(c.Kind.Value(host, c.Agent))
			}
			c.Of[row] = of
		}
	}
}

// fetches finds the newest of some fetches at the time of a row, without a search where it is
// that of the row before.
type fetches struct {
	times     []int64 // in order, at least one
	fetched   int64   // the newest one from low on and before high
	low, high int64
}

// newestAt returns the time of the newest fetch at a row's time; that of the first one for a
// row from before it.
func (f *fetches) newestAt(t int64) int64 {
	if len(f.times) <= few { // no branch depends on the times, which may be in no order
		i := 0
		for _, x := range f.times[1:] {
			if x <= t {
				i++
			}
		}
		return f.times[i]
	}
	if t < f.low || t >= f.high {
		i := matcher.FetchedAt(f.times, t)
		f.fetched, f.low, f.high = f.times[i], f.times[i], math.MaxInt64
		if i == 0 {
			f.low = math.MinInt64
		}
		if i+1 < len(f.times) {
			f.high = f.times[i+1]
		}
	}
	return f.fetched
}
