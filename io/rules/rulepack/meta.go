package rulepack

import (
	"fmt"
	"math"

	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

// Info describes a pack.
type Info struct {
	// Version is the version of the format.
	Version int
	// Maker is BuildOptions.Maker, the version of the program that made the pack.
	Maker string
	// Profile is the profile that the pack was compiled for.
	Profile matcher.Profile
	// Limit is how many bytes of a body counted (RFC 9309 §2.5); 0 under the
	// Google profile, which has no limit.
	Limit int
	// AsOf is the time of Builder.SetAsOf in seconds since 1970, or that of the newest
	// fetch if none was set; 0 if none is known.
	AsOf int64
	// Authorities counts the authorities of which something is known, and Rules, AllowAll and DisallowAll
	// those of each outcome (RFC 9309 §2.3.1). DisallowAll are all that could not be
	// fetched, those of access.AllowAfterOutage too.
	Authorities, Rules, AllowAll, DisallowAll int64
	// Limited counts the authorities whose body was cut.
	Limited int64
	// HTML counts the authorities whose body begins like HTML.
	HTML int64
	// Binary counts the authorities whose body begins with bytes that no text has.
	Binary int64
	// Bodies counts the distinct bodies, and Uncompiled those that are kept as their source:
	// they were too large, their groups overlap too much to be compiled for all agents, the
	// names of agents did not fit into memory, or BuildOptions.Sources asked for it.
	Bodies, Uncompiled int64
	// SourceBytes is the total length of the distinct bodies, each up to the size limit.
	SourceBytes int64
	// History says that the pack has a history, and Intervals counts its intervals.
	History   bool
	Intervals int64
	// Partition is the pack's partition, from 0 on, out of Partitions, which divide the
	// authorities by hash (package partition). 0 of 0 means that the pack has all.
	Partition, Partitions int
	// Size is the length of the pack in bytes.
	Size int64
	// Checksum covers the whole pack: the 128-bit XXH3, in hexadecimal, of the table of
	// sections, which holds the checksum of each.
	Checksum string
	// Sections are the parts of the file, in their order.
	Sections []Section
}

// Section is a part of a pack.
type Section struct {
	// Name is the section's name in the package comment.
	Name string
	// Offset and Length are the section's position in the file, in bytes.
	Offset, Length int64
}

// The section meta is
//
//	 0  u32  profile
//	 4  u32  Info.AsOf
//	 8  u64  limit
//	16  u64  authorities, rules, allow all, disallow all, limited, HTML, binary,
//	         bodies, uncompiled, source bytes
//	96       the maker
const (
	metaSize   = 96
	metaCounts = 10
)

// counts returns pointers to the counts of the section meta, in its order.
func (i *Info) counts() [metaCounts]*int64 {
	return [...]*int64{
		&i.Authorities, &i.Rules, &i.AllowAll, &i.DisallowAll, &i.Limited, &i.HTML, &i.Binary,
		&i.Bodies, &i.Uncompiled, &i.SourceBytes,
	}
}

// append appends the section meta to b.
func (i *Info) append(b []byte) []byte {
	b = append64(append32(b, uint32(i.Profile), uint32(i.AsOf)), uint64(i.Limit))
	for _, count := range i.counts() {
		b = append64(b, uint64(*count))
	}
	return append(b, i.Maker...)
}

// readMeta sets what the section meta, data, has. i.Version must be set. starts is the section
// starts, empty without a history; its last number is Info.Intervals.
func (i *Info) readMeta(data, starts []byte) error {
	if len(data) < metaSize || le32(data) > uint32(robotstxt.Google) || le64(data[8:]) > math.MaxInt {
		return fmt.Errorf("%w: meta", ErrDamaged)
	}
	i.Profile, i.AsOf, i.Limit, i.Maker = matcher.Profile(le32(data)), int64(le32(data[4:])), int(le64(data[8:])), string(data[metaSize:])
	for n, count := range i.counts() {
		*count = int64(le64(data[16+8*n:]))
	}
	if i.History = i.Version == historyVersion; i.History {
		i.Intervals = int64(le64(starts[len(starts)-8:]))
	}
	return nil
}

// addAuthority counts an authority by its outcome and the flags of its body, 0 for none. It
// ignores one of which nothing is known yet. AsOf becomes the time of the newest fetch.
func (i *Info) addAuthority(o origin, bodyFlags uint8) {
	if o.isNotYet() {
		return
	}
	i.Authorities++
	i.AsOf = max(i.AsOf, int64(o.fetched))
	switch outcome := access.Outcome(o.outcome); {
	case outcome == access.Rules:
		i.Rules++
	case outcome.InOutage():
		i.DisallowAll++
	default:
		i.AllowAll++
	}
	if o.flags&flagLimited != 0 {
		i.Limited++
	}
	switch kindOf(uint32(bodyFlags)) {
	case robotstxt.HTMLKind:
		i.HTML++
	case robotstxt.BinaryKind:
		i.Binary++
	}
}

// addBody counts a distinct body.
func (i *Info) addBody(b *bodyMeta) {
	i.Bodies++
	i.SourceBytes += int64(b.length)
	if b.flags&bodySource != 0 {
		i.Uncompiled++
	}
}
