package export

import (
	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/frontier/tables"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/extent"
	"robotsbatch/matcher/usage"
)

// historyColumns are those that a survey has of a history.
var historyColumns = []arrow.Field{
	optional("first_seen", arrow.FixedWidthTypes.Timestamp_ms), optional("last_seen", arrow.FixedWidthTypes.Timestamp_ms),
	optional("since", arrow.FixedWidthTypes.Timestamp_ms), optional("since_after", arrow.FixedWidthTypes.Timestamp_ms), number("changes"),
}

// other is the kind of a change that is no Opened and no Closed: as much is denied, but by
// rules for another, or because of another access.
const other = "other"

// SurveyChanges returns the table that has a row for each change in what an agent is denied
// of an authority, and in what the authority states of one of the uses, in the order of
// their times. It needs a listing with a history.
func SurveyChanges(chains []matcher.Chain, uses []usage.Use) *Table {
	s := newSurveyor(chains, uses)
	columns := []arrow.Field{
		text("agent"), text("change"), optionalText("old_blocked"), optionalText("new_blocked"), optionalText("old_by"), optionalText("new_by"),
		text("old_access"), text("new_access"), optional("old_status", arrow.PrimitiveTypes.Int32), optional("new_status", arrow.PrimitiveTypes.Int32),
		optional("old_fetched_at", arrow.FixedWidthTypes.Timestamp_ms), optional("changed_at", arrow.FixedWidthTypes.Timestamp_ms),
	}
	if len(uses) > 0 {
		columns = append(columns, useChangeColumns...)
	}
	return &Table{Name: "changes", Schema: schema(columns...), fill: s.fillChanges, history: true}
}

// policy is what an agent is denied in a span.
type policy struct {
	blocked extent.Extent
	by      string
	access  access.Outcome
}

// past is what came of an agent in the spans of an authority.
type past struct {
	policy
	// since is when the policy began, 0 where that is not known, and after the time of
	// the last fetch that said something else, 0 for none.
	since, after int64
	changes      int
	uses         []pastUse
}

// pastUse is what is said of a use in a span.
type pastUse struct {
	said  usage.Values
	since int64 // as of past
}

// change is a change from one span to the next.
type change struct {
	older, newer policy
	spans        [2]*matcher.Span
	after        int64 // as of past
	// A change of what is said of a use; else the use is -1.
	use          int
	before, said usage.Values
}

// replay goes through the spans of an authority, oldest first. It calls changed for each
// change, which is valid until that returns, and s.past is what came of it. A span may
// change an agent's access and what is said of several uses.
func (s *surveyor) replay(a *authority, changed func(agent int, c *change)) error {
	for n := range a.spans {
		span := &a.spans[n]
		var read *surveyedBody
		if span.Access == access.Rules {
			var err error
			if read, err = s.read(a.listing.SpanPack(span), span.Body); err != nil {
				return err
			}
		}
		for agent := range s.past {
			now := surveyed{blocked: extentOf(span.Access)}
			if read != nil {
				now = read.each[agent]
			}
			p := &s.past[agent]
			if n == 0 {
				p.begin(&now, span)
				continue
			}
			if err := p.next(a, n, &now, func(c *change) { changed(agent, c) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin takes what holds in the first span.
func (p *past) begin(now *surveyed, span *matcher.Span) {
	*p = past{policy: policy{now.blocked, now.by, span.Access}, since: span.From, uses: p.uses}
	for use := range p.uses {
		p.uses[use] = pastUse{now.of(use), span.From}
	}
}

// next goes on with span n of an authority.
func (p *past) next(a *authority, n int, now *surveyed, changed func(*change)) error {
	before, span := &a.spans[n-1], &a.spans[n]
	c := change{older: p.policy, newer: policy{now.blocked, now.by, span.Access}, spans: [2]*matcher.Span{before, span}, use: -1}
	other := c.older != c.newer
	for use := range p.uses {
		other = other || p.uses[use].said != now.of(use)
	}
	if !other {
		return nil
	}
	var err error
	if c.after, err = a.listing.FetchedAt(a.Key, before, span.From-1); err != nil {
		return err
	}
	if c.older != c.newer {
		changed(&c)
		p.policy, p.since, p.after = c.newer, span.From, c.after
		p.changes++
	}
	for use := range p.uses {
		u := &p.uses[use]
		if said := now.of(use); said != u.said {
			c.use, c.before, c.said = use, u.said, said
			changed(&c)
			*u = pastUse{said, span.From}
		}
	}
	return nil
}

// write appends the values of historyColumns.
func (p *past) write(w *tables.Writer, a *authority) {
	w.Time(a.spans[0].From)
	w.Time(a.Fetched)
	w.Time(p.since)
	w.Time(p.after)
	w.Number(p.changes)
	for _, u := range p.uses {
		w.Time(u.since)
	}
}

func (s *surveyor) fillChanges(w *tables.Writer, a *authority, _ *body) {
	err := s.replay(a, func(agent int, c *change) {
		if w.Err() == nil {
			c.write(w, a, s.names[agent], s.uses)
		}
	})
	if err != nil {
		w.Fail(err)
	}
}

func (c *change) write(w *tables.Writer, a *authority, agent string, uses []usage.Use) {
	a.begin(w)
	w.Text([]byte(agent))
	w.Text([]byte(c.kind()))
	w.OptionalText([]byte(c.older.blocked.String()))
	w.OptionalText([]byte(c.newer.blocked.String()))
	w.OptionalText([]byte(c.older.by))
	w.OptionalText([]byte(c.newer.by))
	w.Text([]byte(outcomes[c.older.access]))
	w.Text([]byte(outcomes[c.newer.access]))
	w.Optional(c.spans[0].Status)
	w.Optional(c.spans[1].Status)
	w.Time(c.after)
	w.Time(c.spans[1].From)
	if len(uses) > 0 {
		writeUseChange(w, uses, c.use, c.before, c.said)
	}
	w.End()
}

// kind is Opened, Closed, useChanged or other.
func (c *change) kind() string {
	before, after := c.older.blocked, c.newer.blocked
	switch {
	case c.use >= 0:
		return useChanged
	case before == after || before == extent.Undecided || after == extent.Undecided:
		return other
	case after > before:
		return Closed
	}
	return Opened
}
