package ruleset

import (
	"cmp"
	"math"
	"slices"
	"time"

	"robotsbatch/batch/option"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher"
)

// Historical returns the sources for lookups by time. The set must have been opened with
// Options.History. At any time the first source that knows an authority then decides; a
// folder's rules hold at all times. A rule pack without a history, or of one partition, is a
// [option.UsageError].
func (s *Set) Historical() (matcher.Historical, error) {
	var all timelines
	for _, source := range s.sources {
		if source.dir != nil {
			all = append(all, matcher.Always(source.dir))
			continue
		}
		if err := checkHistory(source); err != nil {
			return nil, err
		}
		if source.pack.Partitions() > 1 {
			return nil, option.Usagef("%s is a rule pack of one partition, which cannot tell what held at other times: compile one of all hosts", option.Rules.With(blob.Shown(source.name)))
		}
		all = append(all, source.pack)
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return all, nil
}

// Timeless names the sources that know no times, so that their rules hold at all times.
type Timeless struct {
	Names []string
	// All says that there are no other sources.
	All bool
}

// String names the sources for people; there must be some.
func (t Timeless) String() string {
	if len(t.Names) > 1 {
		return SomeOf(t.Names) + " have no times: their rules hold at all times"
	}
	return SomeOf(t.Names) + " has no times: its rules hold at all times"
}

// timeless finds the sources that know no times.
func (f *Found) timeless(states []state) (t Timeless) {
	for i, s := range f.sources {
		if states[i].newest.IsZero() {
			t.Names = append(t.Names, shownFile(s.name))
		}
	}
	t.All = len(t.Names) == len(f.sources)
	return t
}

// checkHistory refuses a pack without a history.
func checkHistory(o *opened) error {
	if o.pack.Info().History {
		return nil
	}
	return option.Usagef("%s is a rule pack without a history, so it knows no other time than its own: compile it with %s", option.Rules.With(blob.Shown(o.name)), option.History)
}

// timelines are several sources in order of precedence.
type timelines []matcher.Historical

// Fault implements [matcher.Mapped].
func (t timelines) Fault(recovered any) (err error) {
	for _, source := range t {
		if mapped, ok := source.(matcher.Mapped); ok {
			err = cmp.Or(err, mapped.Fault(recovered))
		}
	}
	return err
}

// AppendSpans appends the spans of the first source, preceded by the earlier spans of
// the second one, and so on.
func (t timelines) AppendSpans(spans []matcher.Span, authority []byte) ([]matcher.Span, error) {
	start := len(spans)
	for number, source := range t {
		end := len(spans) // of the spans of the sources before
		var err error
		if spans, err = source.AppendSpans(spans, authority); err != nil {
			return spans, err
		}
		for i := end; i < len(spans); i++ {
			spans[i].Source = uint16(number)
		}
		if end > start {
			earlier := matcher.SpanAt(spans[end:], spans[start].From-1) + 1 // how many begin before those
			older := slices.Clone(spans[end : end+earlier])
			spans = slices.Insert(spans[:end], start, older...)
		}
		if len(spans) > start && spans[start].From == 0 {
			break // nothing is older
		}
	}
	return spans, nil
}

func (t timelines) OpenSpan(authority []byte, s *matcher.Span, o *matcher.Origin) error {
	return t[s.Source].OpenSpan(authority, s, o)
}

func (t timelines) AppendTimes(times []int64, authority []byte, s *matcher.Span) ([]int64, error) {
	return t[s.Source].AppendTimes(times, authority, s)
}

// packSecond converts a time for lookups in packs; the zero time becomes 0, which means none. Any
// other is at least 1, and less than the greatest number, because lookups add 1 to it.
func packSecond(t time.Time) uint32 {
	if t.IsZero() {
		return 0
	}
	return uint32(min(max(t.Unix(), 1), math.MaxUint32-1))
}
