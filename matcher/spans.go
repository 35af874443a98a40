package matcher

import (
	"sort"

	"robotsbatch/matcher/access"
)

// Span is what a rules source says of an authority in an interval of time, from From until
// the From of the next span. Times are in seconds since 1970.
type Span struct {
	// From is the first second; 0 if the source knows no earlier state.
	From int64
	// Fetched is the time of the fetch that decides at From, Seen that of the last fetch in
	// the span with the same outcome; 0 if unknown. There may be others between them, whose
	// times AppendTimes has.
	Fetched, Seen int64
	// Access and Stale are those of Origin, Status that of Facts.
	Access access.Outcome
	Stale  bool
	Status int
	// Body, Times and Source are for use by the source that made the span.
	Body   uint32
	Times  [2]uint64
	Source uint16
}

// LastAt returns the index of the last of some times that is not after a second; -1 if all are.
// The times must be in order.
func LastAt(times []int64, second int64) int {
	return sort.Search(len(times), func(i int) bool { return times[i] > second }) - 1
}

// Historical are Origins that keep history.
type Historical interface {
	// AppendSpans appends the spans of an authority, a key as urls.Scratch.Split returns
	// it, oldest first; none for an unknown authority. Its errors are as those of Origins.Lookup.
	AppendSpans(spans []Span, authority []byte) ([]Span, error)
	// OpenSpan sets *o to the Origin of an authority in a span. Its time is that of the
	// span's first fetch.
	OpenSpan(authority []byte, s *Span, o *Origin) error
	// AppendTimes appends the times of the fetches in a span, oldest first: Fetched, those
	// between, and Seen if that differs from Fetched.
	AppendTimes(times []int64, authority []byte, s *Span) ([]int64, error)
}

// BulkHistorical are Historical that take many authorities at a time faster than one by one: by 6 % of
// a job on a shuffled list of many hosts.
type BulkHistorical interface {
	Historical
	// AppendAllSpans appends the spans of each key as AppendSpans does, and sets the element
	// of ends with the same index to the length of spans after that. With an error it returns
	// the index of the key that failed.
	AppendAllSpans(spans []Span, keys []Key, ends []int) ([]Span, int, error)
	// OpenAllSpans opens spans as OpenSpan does, each of the key with the same index; a nil
	// span resets its origin. With an error it returns the index of the span that failed.
	OpenAllSpans(keys []Key, spans []*Span, origins []Origin) (int, error)
}

// SpanAt returns the index of the span that holds at a second; -1 for a time before the
// first span.
func SpanAt(spans []Span, second int64) int {
	return sort.Search(len(spans), func(i int) bool { return spans[i].From > second }) - 1
}

// always is Origins without history, as Historical.
type always struct{ Origins }

// Always makes Historical of Origins that keep no history: each Origin holds at any time.
func Always(o Origins) Historical { return always{o} }

// AppendSpans implements Historical: what is known has always held.
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

func (a always) AppendTimes(times []int64, _ []byte, s *Span) ([]int64, error) {
	return append(times, s.Fetched), nil
}
