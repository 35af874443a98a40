package export

import (
	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/frontier/tables"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/extent"
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
// of an authority, in the order of their times. It needs a listing with a history.
func SurveyChanges(chains []matcher.Chain) *Table {
	s := newSurveyor(chains)
	return &Table{Name: "changes", Schema: schema(
		text("agent"), text("change"), optionalText("old_blocked"), optionalText("new_blocked"), optionalText("old_by"), optionalText("new_by"),
		text("old_access"), text("new_access"), optional("old_status", arrow.PrimitiveTypes.Int32), optional("new_status", arrow.PrimitiveTypes.Int32),
		optional("old_fetched_at", arrow.FixedWidthTypes.Timestamp_ms), optional("changed_at", arrow.FixedWidthTypes.Timestamp_ms),
	), fill: s.fillChanges, history: true}
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
}

// change is a change from one span to the next.
type change struct {
	older, newer policy
	spans        [2]*matcher.Span
	after        int64 // as of past
}

// replay goes through the spans of an authority, oldest first. It calls changed for each
// change, which is valid until that returns, and s.past is what came of it.
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
			now := policy{blocked: extentOf(span.Access), access: span.Access}
			if read != nil {
				now.blocked, now.by = read.each[agent].blocked, read.each[agent].by
			}
			p := &s.past[agent]
			if n == 0 {
				*p = past{policy: now, since: span.From}
				continue
			}
			if p.policy == now {
				continue
			}
			before := &a.spans[n-1]
			after, err := a.listing.FetchedAt(a.Key, before, span.From-1)
			if err != nil {
				return err
			}
			changed(agent, &change{older: p.policy, newer: now, spans: [2]*matcher.Span{before, span}, after: after})
			*p = past{policy: now, since: span.From, after: after, changes: p.changes + 1}
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
}

func (s *surveyor) fillChanges(w *tables.Writer, a *authority, _ *body) {
	err := s.replay(a, func(agent int, c *change) {
		if w.Err() == nil {
			c.write(w, a, s.names[agent])
		}
	})
	if err != nil {
		w.Fail(err)
	}
}

func (c *change) write(w *tables.Writer, a *authority, agent string) {
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
	w.End()
}

// kind is Opened, Closed or other.
func (c *change) kind() string {
	before, after := c.older.blocked, c.newer.blocked
	switch {
	case before == after || before == extent.Undecided || after == extent.Undecided:
		return other
	case after > before:
		return Closed
	}
	return Opened
}
