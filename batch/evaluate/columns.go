package evaluate

import (
	"robotsbatch/batch"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// columns are the indices in Verdicts.Columns of the columns that describe hosts or URLs, by what
// their values depend on.
type columns struct {
	classified  bool // the others are set
	byAuthority []int
	byFacts     []int      // of robots.txt
	byUse       []int      // what is said of a use, see uses
	byURL       []int      // set row by row
	host        batch.Host // passed to ColumnKind.Value; a local one would be allocated
}

// classify sets c for the columns of the verdicts, in the first batch: they are the same in all.
func (c *columns) classify(v *batch.Verdicts) {
	if c.classified {
		return
	}
	c.classified = true
	for i := range v.Columns {
		switch kind := v.Columns[i].Kind; {
		case kind.Use != nil:
			c.byUse = append(c.byUse, i)
		case kind.OfURL != nil:
			c.byURL = append(c.byURL, i)
		case kind.Value == nil: // who wraps the evaluator sets it
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
	e.columns.classify(v)
	for _, column := range e.columns.byAuthority {
		for group := range e.groups.all {
			e.columns.host = batch.Host{Authority: e.groups.keys[group].Text}
			e.setColumn(&v.Columns[column], group)
		}
	}
}

// describeURLs sets, for the rows of all groups, the columns that the URLs themselves decide.
func describeURLs[O int32 | int64](e *Evaluator, r *rows[O], v *batch.Verdicts) {
	for _, column := range e.columns.byURL {
		c := &v.Columns[column]
		for group := range e.groups.all {
			key, pathStart := e.groups.keys[group].Text, len(e.groups.all[group].written)
			for row := range e.groups.rowsOf(group) {
				c.Of[row] = c.Add(c.Kind.OfURL(key, r.url(row)[pathStart:]))
			}
		}
	}
}

// describe sets, for the rows of a group, the columns that robots.txt decides, and counts
// Outdated and SitemapsCut. o is the group's origin; its Access must not be access.Unknown. Where
// rows have times, describe changes o.Facts.Fetched.
func (e *Evaluator) describe(v *batch.Verdicts, group int, o *matcher.Origin) {
	e.columns.host = batch.Host{Authority: e.groups.keys[group].Text, Facts: &o.Facts, HasRules: o.Access == access.Rules, Time: e.options.AsOf}
	timed := e.options.Timelines != nil
	for _, column := range e.columns.byFacts {
		if c := &v.Columns[column]; timed {
			// The index is that in e.found: groups are looked up lookupSize at a time.
			e.setColumnByTime(c, group, v.Times, e.history.fetches[group%lookupSize])
		} else {
			e.setColumn(c, group)
		}
	}
	if age, ok := o.Facts.Age(e.options.AsOf); ok && !timed && age > e.options.MaxAge { // else countOutdated counts them
		v.Outdated += int64(e.groups.count(group))
	}
	if len(e.columns.byFacts) > 0 && o.Facts.Records != nil && o.Facts.Records.MoreSitemaps {
		v.SitemapsCut += int64(e.groups.count(group))
	}
}

// setColumn sets a column of a group's rows to the value for e.columns.host.
func (e *Evaluator) setColumn(c *batch.Values, group int) {
	number := c.Add(c.Kind.Value(&e.columns.host, c.Agent)) // of the value in c
	if number == batch.Null {
		return // as it is
	}
	w := e.groups.walk(group)
	for w.next() {
		rows := c.Of[w.low:w.high]
		for i := range rows {
			rows[i] = number
		}
	}
}

// setColumnByTime sets a column of a group's rows to the values for e.columns.host at the times of
// the rows. times has the time of each row of the batch. fetches are the times of the fetches in the
// group's span, in order: the newest one that is not after a row describes it, or the first one if all
// are. A value is computed again only if it may differ from that of the row before.
func (e *Evaluator) setColumnByTime(c *batch.Values, group int, times, fetches []int64) {
	host, fetch, number := &e.columns.host, -1, int32(batch.Null)
	for row := range e.groups.rowsOf(group) {
		t := times[row]
		newest := max(0, matcher.LastAt(fetches, t))
		otherTime := c.Kind.ByTime && t != host.Time
		if newest != fetch || otherTime {
			fetch, host.Time, host.Facts.Fetched = newest, t, fetches[newest]
			number = c.Add(c.Kind.Value(host, c.Agent))
		}
		c.Of[row] = number
	}
}
