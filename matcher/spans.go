package matcher

import (
	"sort"

	"robotsbatch/matcher/access"
)

// Span is what a rules source knows of an authority from a second on, until the From of
// the next one. Times are in seconds since 1970.
type Span struct {
	// From is the first second; 0 means that nothing is known of a time before.
	From int64
	// Fetched is the time of the fetch that decides at From, and Seen that of the last
	// fetch in the span that said the same; 0 where it is not known.
	Fetched, Seen int64
	// Access and Stale are as in Origin, Status as in Facts.
	Access access.Outcome
	Stale  bool
	Status int
	// Body and Source are for the source that made the span.
	Body   uint32
	Source uint16
}

// FetchedAt is the time of the newest fetch that is known of and not after a second in
// the span: of fetches that say the same, the first and the last are.
func (s *Span) FetchedAt(second int64) int64 {
	if s.Seen <= second {
		return s.Seen
	}
	return s.Fetched
}

// Historical are Origins that know what held at any time.
type Historical interface {
	Origins
	// AppendSpans appends what is known of an authority, a key as
	// urls.Scratch.Split returns it, oldest first; nothing for one that the source does
	// not know. Its errors are those of Lookup.
	AppendSpans(spans []Span, authority []byte) ([]Span, error)
	// OpenSpan sets *o to what a span of an authority says, as Lookup does, with the
	// time of its first fetch.
	OpenSpan(authority []byte, s *Span, o *Origin) error
}

// SpanAt returns the index of the span that holds at a second; -1 for a second before
// the first.
func SpanAt(spans []Span, second int64) int {
	return sort.Search(len(spans), func(i int) bool { return spans[i].From > second }) - 1
}

// always is Origins whose knowledge holds at all times.
type always struct{ Origins }

// Always returns Origins that know nothing of times as Historical: what they know of an
// authority holds at any time.
func Always(o Origins) Historical { return always{o} }

func (a always) AppendSpans(spans []Span, authority []byte) ([]Span, error) {
	var o Origin
	if err := a.Lookup(authority, &o); err != nil || o.Access == access.Unknown {
		return spans, err
	}
	return append(spans, Span{
		Fetched: o.Facts.Fetched, Seen: o.Facts.Fetched, Access: o.Access, Stale: o.Stale, Status: o.Facts.Status,
	}), nil
}

func (a always) OpenSpan(authority []byte, _ *Span, o *Origin) error { return a.Lookup(authority, o) }
