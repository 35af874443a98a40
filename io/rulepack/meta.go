package rulepack

import (
	"encoding/binary"
	"fmt"
	"math"

	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

// Info is what a pack says of itself.
type Info struct {
	// Version is the version of the format.
	Version int
	// Maker is BuildOptions.Maker, the version of the program that made the pack.
	Maker string
	// Profile is the profile that it was compiled for.
	Profile matcher.Profile
	// Limit is how many bytes of a body counted (RFC 9309 §2.5); 0 under the
	// Google profile, which has no limit.
	Limit int
	// AsOf is the time of Builder.SetAsOf in seconds since 1970, or else the newest
	// fetch; 0 if none is known.
	AsOf int64
	// Authorities counts the authorities, and Rules, AllowAll and DisallowAll
	// those of each outcome (RFC 9309 §2.3.1).
	Authorities, Rules, AllowAll, DisallowAll int64
	// Limited counts the authorities whose body was cut.
	Limited int64
	// HTML counts the authorities whose body begins as HTML does.
	HTML int64
	// Bodies counts the distinct bodies, and Uncompiled those that are kept as their
	// source because their groups overlap too much to be compiled for all agents.
	Bodies, Uncompiled int64
	// SourceBytes is the length of the distinct bodies, as far as they count.
	SourceBytes int64
	// History says that the pack has what held at any time, and Intervals counts how
	// often that is another thing.
	History   bool
	Intervals int64
	// Partition says which of Partitions parts of the authorities are in the pack, from
	// 0, by their hash (package partition); 0 of 0 for a pack of all.
	Partition, Partitions int
	// Size is the length of the pack in bytes.
	Size int64
	// Checksum covers everything in the pack, in hexadecimal: XXH3 of 128 bits over the
	// table of sections, which has the checksum of each.
	Checksum string
	// Sections are the parts of the file, in their order.
	Sections []Section
}

// Section is a part of a pack.
type Section struct {
	// Name is the name in the package comment.
	Name string
	// Offset and Length are where it lies in the file, in bytes.
	Offset, Length int64
}

// The section meta is
//
//	 0  u32  profile
//	 4  u32  Info.AsOf
//	 8  u64  limit
//	16  u64  authorities, rules, allow all, disallow all, limited, HTML, bodies,
//	         uncompiled, source bytes
//	88       the maker
const (
	metaSize   = 88
	metaCounts = 9
)

func (i *Info) counts() [metaCounts]*int64 {
	return [...]*int64{
		&i.Authorities, &i.Rules, &i.AllowAll, &i.DisallowAll, &i.Limited, &i.HTML,
		&i.Bodies, &i.Uncompiled, &i.SourceBytes,
	}
}

func (i *Info) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(i.Profile))
	b = binary.LittleEndian.AppendUint32(b, uint32(i.AsOf))
	b = binary.LittleEndian.AppendUint64(b, uint64(i.Limit))
	for _, count := range i.counts() {
		b = binary.LittleEndian.AppendUint64(b, uint64(*count))
	}
	return append(b, i.Maker...)
}

func readMeta(data []byte, version int) (*Info, error) {
	if len(data) < metaSize || le32(data) > uint32(robotstxt.Google) || le64(data[8:]) > math.MaxInt {
		return nil, fmt.Errorf("%w: meta", ErrDamaged)
	}
	i := &Info{
		Version: version, Profile: matcher.Profile(le32(data)), AsOf: int64(le32(data[4:])),
		Limit: int(le64(data[8:])), Maker: string(data[metaSize:]),
	}
	for n, count := range i.counts() {
		*count = int64(le64(data[16+8*n:]))
	}
	return i, nil
}

// countIntervals counts the intervals of a pack by the size of their section.
func (i *Info) countIntervals(size, buckets int64) {
	if i.History = i.Version == historyVersion; i.History {
		i.Intervals = max(0, size-intervalHeaderSize*buckets-4*i.Authorities) / intervalSize
	}
}

// add counts an authority.
func (i *Info) add(o origin, bodyFlags uint8) {
	i.Authorities++
	i.AsOf = max(i.AsOf, int64(o.fetched))
	switch access.Outcome(o.outcome) {
	case access.Rules:
		i.Rules++
	case access.AllowAll:
		i.AllowAll++
	case access.DisallowAll:
		i.DisallowAll++
	}
	if o.flags&flagLimited != 0 {
		i.Limited++
	}
	if kindOf(uint32(bodyFlags)) == robotstxt.HTMLKind {
		i.HTML++
	}
}

// addBody counts a body.
func (i *Info) addBody(b known) {
	i.Bodies++
	i.SourceBytes += int64(b.length)
	if b.flags&bodySource != 0 {
		i.Uncompiled++
	}
}
