package ruleset

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"slices"

	"robotsbatch/batch/option"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/store/meter"
	"robotsbatch/io/store/runs"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/domains"
)

// Listing holds all that rule sources know, authority by authority. Sources other than
// rule packs are in a temporary pack that keeps the original bodies.
type Listing struct {
	openSources
	packs     []*packSource // the sources
	sorter    *runs.Sorter
	timelines timelines       // of the packs, with Options.History
	end       int64           // Options.AsOf in seconds, 0 for none
	ctx       context.Context // that of List, for progress
}

// Listed is what a source knows about an authority.
type Listed struct {
	// Key is the authority as urls.Scratch.Split returns it, and SURT its host as
	// domains.AppendSURT writes it.
	Key, SURT []byte
	rulepack.Authority
	pack *packSource
}

// Pack returns the rule pack with the authority's body.
func (l *Listed) Pack() *rulepack.Pack { return l.pack.Pack }

// List opens all sources to iterate over their authorities. Folders, captures and a
// single robots.txt go into a temporary pack of sources. Rule packs must come before or
// after all of them, because captures are one set.
func (f *Found) List(ctx context.Context) (*Listing, error) {
	l := &Listing{ctx: ctx, sorter: runs.NewSorter(listedForm, f.options.Memory/listShare, os.TempDir())}
	if err := f.list(ctx, l); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// listShare divides the memory: sorting authorities may take 1/listShare of it.
const listShare = 8

// list opens the sources, and sorts their authorities.
func (f *Found) list(ctx context.Context, l *Listing) error {
	isPack := func(s source) bool { return s.kind == packKind }
	if first := slices.IndexFunc(f.sources, func(s source) bool { return !isPack(s) }); first >= 0 {
		end := slices.IndexFunc(f.sources[first:], isPack)
		if end >= 0 && slices.ContainsFunc(f.sources[first+end:], func(s source) bool { return !isPack(s) }) {
			return option.Usagef("%s: name rule packs before or after all others", option.Rules)
		}
	}
	if err := f.open(ctx, &l.openSources, true, nil); err != nil {
		return err
	}
	l.end = int64(packSecond(f.options.AsOf))
	for number, source := range l.sources {
		pack := source.pack()
		l.packs = append(l.packs, pack)
		if f.options.History {
			if err := pack.checkHistory(); err != nil {
				return err
			}
			l.timelines = append(l.timelines, pack.Pack)
		}
		if err := l.add(ctx, number); err != nil {
			return err
		}
	}
	return f.refuse(l.states, l.sorter.Len() > 0)
}

// add gives the sorter those authorities of a pack that no earlier pack has.
func (l *Listing) add(ctx context.Context, number int) error {
	var record []byte
	return l.packs[number].Each(func(authority []byte, a rulepack.Authority) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		for _, before := range l.packs[:number] {
			if _, known, err := before.Authority(authority); known || err != nil {
				return err
			}
		}
		record = appendListed(record[:0], number, authority, a)
		return l.sorter.Add(record)
	})
}

// Len returns the number of authorities.
func (l *Listing) Len() int64 { return l.sorter.Len() }

// Find returns what is known about an authority; known is false if nothing is.
func (l *Listing) Find(authority []byte) (found Listed, known bool, err error) {
	for _, pack := range l.packs {
		if a, known, err := pack.Authority(authority); known || err != nil {
			return Listed{Key: authority, SURT: domains.AppendSURT(nil, domains.Host(authority)), Authority: a, pack: pack}, known, err
		}
	}
	return found, false, nil
}

// Each calls visit for each authority, ordered by SURT and then Key, until visit
// returns an error. The argument is valid until visit returns.
func (l *Listing) Each(visit func(*Listed) error) error {
	step := meter.Start(l.ctx, "reading rules", meter.Hosts, l.Len())
	return l.sorter.Merge(func(record []byte) error {
		listed := l.listed(record)
		err := visit(&listed)
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
	end := cmp.Or(l.end, x.pack.Info().AsOf, math.MaxInt64)
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
	return times[matcher.FetchedAt(times, second)], nil
}

// FetchTimes returns the times of the fetches in a span of an authority, oldest first.
func (l *Listing) FetchTimes(authority []byte, s *matcher.Span) ([]int64, error) {
	return l.timelines.AppendTimes(nil, authority, s)
}

// SpanPack returns the rule pack with a span's body.
func (l *Listing) SpanPack(s *matcher.Span) *rulepack.Pack { return l.packs[s.Source].Pack }

// SpanSource returns the name of that rule pack.
func (l *Listing) SpanSource(s *matcher.Span) string { return l.packs[s.Source].name }

// Close closes all sources.
func (l *Listing) Close() error {
	l.sorter.Close()
	return l.openSources.Close()
}

// A record of an authority that waits to be sorted is
//
//	 0  u16  its length
//	 2  u16  length of the SURT
//	 4  u16  number of the pack
//	 6  u16  status
//	 8  u32  body
//	12  u8   access.Outcome
//	13  u8   1 for limited, 2 for stale
//	14  i64  time of the fetch
//	22       SURT, authority
const listedHead = 22

var listedForm = runs.Form{
	Head: listedHead,
	Size: func(head []byte) int { return int(binary.LittleEndian.Uint16(head)) },
	Key: func(record []byte) uint64 {
		var start [8]byte
		copy(start[:], record[listedHead:][:binary.LittleEndian.Uint16(record[2:])])
		return binary.BigEndian.Uint64(start[:])
	},
	Compare: func(a, b []byte) int {
		surtA, authorityA := listedTexts(a)
		surtB, authorityB := listedTexts(b)
		return cmp.Or(bytes.Compare(surtA, surtB), bytes.Compare(authorityA, authorityB))
	},
}

func listedTexts(record []byte) (surt, authority []byte) {
	end := listedHead + int(binary.LittleEndian.Uint16(record[2:]))
	return record[listedHead:end:end], record[end:binary.LittleEndian.Uint16(record)]
}

func appendListed(record []byte, pack int, authority []byte, a rulepack.Authority) []byte {
	record = append(record, make([]byte, listedHead)...)
	record = domains.AppendSURT(record, domains.Host(authority))
	put16 := func(at, value int) { binary.LittleEndian.PutUint16(record[at:], uint16(value)) }
	put16(2, len(record)-listedHead)
	record = append(record, authority...)
	put16(0, len(record))
	put16(4, pack)
	put16(6, a.Status)
	binary.LittleEndian.PutUint32(record[8:], a.Body)
	record[12] = uint8(a.Access)
	if a.Limited {
		record[13] |= 1
	}
	if a.Stale {
		record[13] |= 2
	}
	binary.LittleEndian.PutUint64(record[14:], uint64(a.Fetched))
	return record
}

func (l *Listing) listed(record []byte) Listed {
	surt, authority := listedTexts(record)
	get16 := func(at int) int { return int(binary.LittleEndian.Uint16(record[at:])) }
	return Listed{
		Key: authority, SURT: surt, pack: l.packs[get16(4)],
		Authority: rulepack.Authority{
			Access: access.Outcome(record[12]), Body: binary.LittleEndian.Uint32(record[8:]), Status: get16(6),
			Fetched: int64(binary.LittleEndian.Uint64(record[14:])), Limited: record[13]&1 != 0, Stale: record[13]&2 != 0,
		},
	}
}
