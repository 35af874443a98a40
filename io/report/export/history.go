package export

import (
	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/frontier/tableio"
	"robotsbatch/matcher"
	"robotsbatch/matcher/extent"
	"robotsbatch/matcher/usage"
)

// historyColumns are those that a survey has of a history.
var historyColumns = []arrow.Field{
	optional("first_seen", arrow.FixedWidthTypes.Timestamp_ms), optional("last_seen", arrow.FixedWidthTypes.Timestamp_ms),
	optional("since", arrow.FixedWidthTypes.Timestamp_ms), optional("since_after", arrow.FixedWidthTypes.Timestamp_ms), number("changes"),
}

// other is the kind of a change that is neither Opened nor Closed: as much is denied, but by
// rules for another, or in an answer of another class.
const other = "other"

// SurveyChanges returns the table that has a row for each change, from one answer to another, in
// what an agent is denied of an authority, and in what the authority states of one of the uses,
// in the order of their times. It needs a listing with a history.
func SurveyChanges(chains []matcher.Chain, uses []usage.Use) *Table {
	s := newSurveyor(chains, uses)
	columns := []arrow.Field{
		text("agent"), text("change"), optionalText("old_blocked"), optionalText("new_blocked"), optionalText("old_by"), optionalText("new_by"),
		text("old_class"), text("new_class"), optional("old_status", arrow.PrimitiveTypes.Int32), optional("new_status", arrow.PrimitiveTypes.Int32),
		optional("old_fetched_at", arrow.FixedWidthTypes.Timestamp_ms), optional("changed_at", arrow.FixedWidthTypes.Timestamp_ms),
	}
	if len(uses) > 0 {
		columns = append(columns, useChangeColumns...)
	}
	return &Table{Name: "changes", Schema: schema(columns...), fill: s.fillChanges, history: true}
}

// policy is what a site's answer denies an agent.
type policy struct {
	class   Class
	blocked extent.Extent
	by      string
}

// past is what came of an agent in the spans of an authority with an answer.
type past struct {
	policy
	// since is when the policy began, 0 where that is not known, and after the time of
	// the last answer that said something else, 0 for none.
	since, after int64
	changes      int
	uses         []pastUse
}

// pastUse is what is said of a use in a span.
type pastUse struct {
	said  usage.Values
	since int64 // as of past
}

// outage is the time since which there has been no answer, and that of the last one before, 0
// for none.
type outage struct{ since, after int64 }

// change is a change from one answer to another.
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
// change an agent's access and what is said of several uses. Spans without an answer change
// nothing: replay returns the outage in which the authority is at the end, or nil.
func (s *surveyor) replay(a *authority, changed func(agent int, c *change)) (out *outage, err error) {
	for agent := range s.past {
		s.past[agent] = past{uses: s.past[agent].uses}
	}
	answered := -1 // the last span with an answer
	for n := range a.spans {
		span := &a.spans[n]
		read, err := s.denied(span.Access, a.listing.SpanPack(span), span.Body)
		if err != nil {
			return nil, err
		}
		class := classOf(span.Access, span.Stale, read.kind)
		c := change{spans: [2]*matcher.Span{nil, span}, use: -1}
		if answered >= 0 {
			c.spans[0] = &a.spans[answered]
			if c.after, err = a.listing.FetchedAt(a.Key, c.spans[0], a.spans[answered+1].From-1); err != nil {
				return nil, err
			}
		}
		if !class.Reached() {
			if out == nil {
				out = &outage{span.From, c.after}
			}
			continue
		}
		for agent := range s.past {
			now := &read.each[agent]
			c.newer = policy{class, now.blocked, now.by}
			s.past[agent].next(c, now, func(c *change) { changed(agent, c) })
		}
		answered, out = n, nil
	}
	return out, nil
}

// next goes on with the change to a span with an answer, the first one if there is none before.
func (p *past) next(c change, now *surveyed, changed func(*change)) {
	if c.spans[0] == nil {
		p.policy, p.since = c.newer, c.spans[1].From
		for use := range p.uses {
			p.uses[use] = pastUse{now.of(use), p.since}
		}
		return
	}
	if c.older = p.policy; c.older != c.newer {
		changed(&c)
		p.policy, p.since, p.after = c.newer, c.spans[1].From, c.after
		p.changes++
	}
	for use := range p.uses {
		u := &p.uses[use]
		if said := now.of(use); said != u.said {
			c.use, c.before, c.said = use, u.said, said
			changed(&c)
			*u = pastUse{said, c.spans[1].From}
		}
	}
}

// write appends the values of historyColumns. In an outage they are of that.
func (p *past) write(w *tableio.Writer, a *authority, out *outage) {
	since, after := p.since, p.after
	if out != nil {
		since, after = out.since, out.after
	}
	w.Put(a.spans[0].From, a.Fetched, since, after, p.changes)
	for _, u := range p.uses {
		if out != nil {
			u.since = out.since
		}
		w.Put(u.since)
	}
}

func (s *surveyor) fillChanges(w *tableio.Writer, a *authority, _ *body) error {
	_, err := s.replay(a, func(agent int, c *change) {
		if w.Err() == nil {
			c.write(w, a, s.names[agent], s.uses)
		}
	})
	return err
}

func (c *change) write(w *tableio.Writer, a *authority, agent string, uses []usage.Use) {
	old, now, before, span := &c.older, &c.newer, c.spans[0], c.spans[1]
	a.begin(w)
	w.Put(agent, c.kind(), old.blocked.String(), now.blocked.String(), old.by, now.by, old.class.String(), now.class.String())
	w.Put(before.Status, span.Status, c.after, span.From)
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
