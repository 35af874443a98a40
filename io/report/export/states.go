package export

import (
	"fmt"
	"time"

	"robotsbatch/io/rules/ruleset"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/usage"
)

// Stated is what an agent is denied of an authority in a month.
type Stated struct {
	// Authority and Registered are as in a survey. They are valid until the next call.
	Authority, Registered []byte
	// SURT is the host as domains.AppendSURT writes it, by which authorities are ordered.
	SURT []byte
	// Agent and Month are indices.
	Agent, Month int
	// Blocked, By and Access are the values of a survey's columns; empty for null.
	Blocked, By, Access string
	// Said has, by use, what is said of it; nil if nothing is said of any.
	Said []usage.Values
}

// Of returns what is said of a use, given by its index.
func (s *Stated) Of(use int) usage.Values {
	if s.Said == nil {
		return 0
	}
	return s.Said[use]
}

// States calls visit for each authority and agent, as Survey has rows. With months, of
// which a listing with a history is needed, it calls visit for each month in which
// something was known of the authority, with what held at its end.
func States(l *ruleset.Listing, chains []matcher.Chain, uses []usage.Use, months []Month, visit func(*Stated) error) error {
	s := newSurveyor(chains, uses)
	var spans []matcher.Span
	reader := bodyReader{}
	err := l.Each(func(listed *ruleset.Listed) error {
		a, _, err := reader.read(listed, false)
		if err != nil {
			return err
		}
		now := Stated{Authority: a.Key, Registered: a.registered, SURT: a.SURT}
		if len(months) == 0 {
			return s.visit(&now, a.Access, func() (*surveyedBody, error) { return s.read(a.Pack(), a.Body) }, visit)
		}
		if spans, err = l.AppendSpans(spans[:0], listed); err != nil {
			return err
		}
		for i, month := range months {
			n := matcher.SpanAt(spans, month.last)
			if n < 0 || spans[n].Fetched == 0 {
				continue
			}
			now.Month = i
			span := &spans[n]
			err := s.visit(&now, span.Access, func() (*surveyedBody, error) { return s.read(l.SpanPack(span), span.Body) }, visit)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("export: %w", err)
	}
	return err
}

// visit calls visit for each agent of an authority, whose rules are read where it has any.
func (s *surveyor) visit(now *Stated, outcome access.Outcome, read func() (*surveyedBody, error), visit func(*Stated) error) error {
	var body *surveyedBody
	if outcome == access.Rules {
		var err error
		if body, err = read(); err != nil {
			return err
		}
	}
	now.Access = outcomes[outcome]
	for now.Agent = range s.names {
		now.Blocked, now.By, now.Said = extentOf(outcome).String(), "", nil
		if body != nil {
			agent := &body.each[now.Agent]
			now.Blocked, now.By, now.Said = agent.blocked.String(), agent.by, agent.said
		}
		if err := visit(now); err != nil {
			return err
		}
	}
	return nil
}

// Month is one of a history.
type Month struct {
	// Name is such as "2026-03".
	Name string
	// last is its last second, or that of the newest fetch.
	last int64
}

// Months returns the months from the first to the last fetch of a listing with a history;
// none if it knows no times.
func Months(l *ruleset.Listing) ([]Month, error) {
	first, last := int64(0), int64(0)
	var spans []matcher.Span
	err := l.Each(func(listed *ruleset.Listed) (err error) {
		if spans, err = l.AppendSpans(spans[:0], listed); err != nil {
			return err
		}
		for i := range spans {
			if fetched := spans[i].Fetched; fetched > 0 && (first == 0 || fetched < first) {
				first = fetched
			}
			last = max(last, spans[i].Seen, spans[i].Fetched)
		}
		return nil
	})
	if err != nil || first == 0 {
		return nil, err
	}
	var months []Month
	begin := time.Unix(first, 0).UTC()
	for m := time.Date(begin.Year(), begin.Month(), 1, 0, 0, 0, 0, time.UTC); m.Unix() <= last; m = m.AddDate(0, 1, 0) {
		months = append(months, Month{Name: m.Format("2006-01"), last: min(last, m.AddDate(0, 1, 0).Unix()-1)})
	}
	return months, nil
}
