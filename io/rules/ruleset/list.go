package ruleset

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"

	"robotsbatch/batch/option"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/store/meter"
	"robotsbatch/io/store/runs"
	"robotsbatch/matcher"
	"robotsbatch/matcher/domains"
)

// Listing holds all that rule sources know, authority by authority. Sources other than
// rule packs are in a temporary pack that keeps the original bodies.
type Listing struct {
	openSources
	sorter    *runs.Sorter    // of all authorities, each once, by SURT
	timelines timelines       // of the packs, in their order, with Options.History; else nil
	end       int64           // Options.AsOf in seconds, 0 for none
	ctx       context.Context // that of List, for progress
}

// Listed is what a source knows about an authority.
type Listed struct {
	// Key is the authority as urls.Scratch.Split returns it, and SURT its host as
	// domains.AppendSURT writes it.
	Key, SURT []byte
	rulepack.Authority
	source *opened
}

// Pack returns the rule pack with the authority's body.
func (l *Listed) Pack() *rulepack.Pack { return l.source.pack }

// List opens all sources to iterate over their authorities. Folders, captures and a
// single robots.txt go into a temporary pack of sources. Rule packs must come before or
// after all of them, because captures are one set.
func (f *Found) List(ctx context.Context) (*Listing, error) {
	l := &Listing{ctx: ctx, sorter: runs.NewSorter(runs.TextForm(listedHead), f.options.Memory/listShare, os.TempDir())}
	if err := f.openListing(ctx, l); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

const (
	// listShare divides the memory: sorting authorities may take 1/listShare of it.
	listShare = 8
	// listedHead is the size of the u16 before an authority that waits to be sorted: the length of all.
	// Its SURT, a NUL and the authority follow.
	listedHead = 2
)

// openListing opens the sources into l, and sorts their authorities. l is closed by the caller, also after an error.
func (f *Found) openListing(ctx context.Context, l *Listing) error {
	if f.packBetween(func(s *source) bool { return s.kind != packKind }) != nil {
		return option.Usagef("%s: name rule packs before or after all others", option.Rules)
	}
	if err := f.open(ctx, &l.openSources, rulepack.BuildOptions{Sources: true}); err != nil {
		return err
	}
	l.end = int64(packSecond(f.options.AsOf))
	for number, source := range l.packs { // all other sources are in the temporary one
		if f.options.History {
			if err := checkHistory(source); err != nil {
				return err
			}
			l.timelines = append(l.timelines, source.pack)
		}
		if err := l.addAuthorities(ctx, number); err != nil {
			return err
		}
	}
	return f.checkUsable(l.states)
}

// addAuthorities adds to the sorter those authorities of l.packs[number] that no earlier pack has.
func (l *Listing) addAuthorities(ctx context.Context, number int) error {
	var record []byte
	return l.packs[number].pack.Each(func(authority []byte, _ rulepack.Authority) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if before, _, err := l.sources[:number].find(authority); before != nil {
			return err
		}
		record = append(domains.AppendSURT(append(record[:0], 0, 0), domains.Host(authority)), 0) // with room for the length
		record = append(record, authority...)
		binary.LittleEndian.PutUint16(record, uint16(len(record)))
		return l.sorter.Add(record)
	})
}

// Len returns the number of authorities.
func (l *Listing) Len() int64 { return l.sorter.Len() }

// Find returns what is known about an authority; known is false if nothing is.
func (l *Listing) Find(authority []byte) (found Listed, known bool, err error) {
	source, a, err := l.sources.find(authority)
	if source == nil || err != nil {
		return found, false, err
	}
	return Listed{Key: authority, SURT: domains.AppendSURT(nil, domains.Host(authority)), Authority: a, source: source}, true, nil
}

// Each calls visit for each authority, ordered by SURT and then Key, until visit
// returns an error. The argument is valid until visit returns.
func (l *Listing) Each(visit func(*Listed) error) error {
	step := meter.Start(l.ctx, "reading rules", meter.Hosts, l.Len())
	return l.sorter.Merge(func(record []byte) error {
		_, authority, _ := bytes.Cut(record[listedHead:], []byte{0})
		listed, known, err := l.Find(authority)
		switch {
		case err == nil && known:
			err = visit(&listed)
		case err == nil:
			err = fmt.Errorf("%w: %s is listed, and not found", rulepack.ErrDamaged, authority)
		}
		step.Add(1)
		return err
	})
}

// AppendSpans appends the spans of a listed authority up to the one that decides, oldest
// first. It needs a listing with Options.History. Each span comes from the first source
// that knew the authority then; see SpanPack.
func (l *Listing) AppendSpans(spans []matcher.Span, x *Listed) ([]matcher.Span, error) {
	start := len(spans)
	spans, err := l.timelines.AppendSpans(spans, x.Key)
	if err != nil {
		return spans, err
	}
	end := cmp.Or(l.end, x.source.pack.Info().AsOf, math.MaxInt64) // the second that decides; all spans if none is known
	return spans[:start+matcher.SpanAt(spans[start:], end)+1], nil
}

// FetchedAt returns the time of the newest fetch in a span of an authority that is not
// after a second.
func (l *Listing) FetchedAt(authority []byte, s *matcher.Span, second int64) (int64, error) {
	if s.Seen <= second {
		return s.Seen, nil
	}
	times, err := l.timelines.AppendTimes(nil, authority, s)
	if err != nil {
		return 0, err
	}
	return times[max(0, matcher.LastAt(times, second))], nil
}

// FetchTimes returns the times of the fetches in a span of an authority, oldest first.
func (l *Listing) FetchTimes(authority []byte, s *matcher.Span) ([]int64, error) {
	return l.timelines.AppendTimes(nil, authority, s)
}

// SpanPack returns the rule pack with a span's body.
func (l *Listing) SpanPack(s *matcher.Span) *rulepack.Pack { return l.packs[s.Source].pack }

// SpanSource returns the name of that rule pack.
func (l *Listing) SpanSource(s *matcher.Span) string { return l.packs[s.Source].name }

// Close closes all sources.
func (l *Listing) Close() error {
	l.sorter.Close()
	return l.openSources.Close()
}
