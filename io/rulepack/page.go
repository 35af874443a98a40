package rulepack

import (
	"bytes"
	"encoding/binary"
	"errors"

	"robotsbatch/matcher/access"
)

// A page holds the authorities of some groups, in the order of their hashes, of
// equal ones by their texts:
//
//	 0  u32  checksum of the other octets
//	 4  u16  number of authorities
//	 6  u16  1: the last group goes on in the next page
//	 8  u32  first group
//	12  u32  last group; each group between the two is here, maybe with nobody
//	16  u32  which page of its group it is, 0 but where one group has several
//	20  u32  0
//	24  u16  for each authority: the lowest bits of its hash
//	    u16  for each authority: where its text ends
//	    12   octets for each authority, see origin
//	    the texts, without those of schemes
//	    zeros
const (
	pageHeaderSize = 24
	originSize     = 12
	entrySize      = 2 + 2 + originSize
	pageRoom       = pageSize - pageHeaderSize

	// MaxAuthority is the longest authority that a pack can have, in octets.
	// A name in the DNS has at most 255 (RFC 1035 §2.3.4).
	MaxAuthority = 2048
)

// noBody is the number of no body.
const noBody = 1<<32 - 1

// origin is what a pack knows of an authority:
//
//	 0  u32  number of its body, noBody for none
//	 4  u32  when it was fetched, in seconds since 1970; 0: unknown
//	 8  u16  status of the fetch, 0: unknown
//	10  u8   access.Outcome
//	11  u8   the scheme, see schemes, and the flags below
type origin struct {
	body    uint32
	fetched uint32
	status  uint16
	outcome uint8
	flags   uint8
}

// unknown is what is known of an authority that is not in the pack: no authority in
// one has this outcome.
var unknown = origin{body: noBody, outcome: uint8(access.Unknown)}

const (
	schemeMask = 3
	// flagLimited: the size limit, or who fetched it, cut the body.
	flagLimited = 4
	// flagStale: its rules are the last good copy.
	flagStale = 8
)

func (o origin) appendTo(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, o.body)
	b = binary.LittleEndian.AppendUint32(b, o.fetched)
	b = binary.LittleEndian.AppendUint16(b, o.status)
	return append(b, o.outcome, o.flags)
}

func readOrigin(b []byte) origin {
	return origin{body: le32(b), fetched: le32(b[4:]), status: le16(b[8:]), outcome: b[10], flags: b[11]}
}

// The numbers of schemes.
const (
	noScheme = iota
	httpScheme
	httpsScheme
	ftpScheme
)

const (
	http  = "http://"
	https = "https://"
	ftp   = "ftp://"
)

// schemes are those that texts lack, by their numbers.
var schemes = [...]string{httpScheme: http, httpsScheme: https, ftpScheme: ftp}

// cutScheme separates an authority from a scheme that texts lack. It compares with
// constants, which takes a fraction of the time of going through schemes.
func cutScheme(authority []byte) (scheme uint8, text []byte) {
	switch n := len(authority); {
	case n > len(https) && string(authority[:len(https)]) == https:
		return httpsScheme, authority[len(https):]
	case n > len(http) && string(authority[:len(http)]) == http:
		return httpScheme, authority[len(http):]
	case n > len(ftp) && string(authority[:len(ftp)]) == ftp:
		return ftpScheme, authority[len(ftp):]
	}
	return noScheme, authority
}

// page is a page that was checked.
type page []byte

var errPage = errors.New("page")

// checkPage checks everything about a page but what it says of authorities.
func checkPage(p page) error {
	count := p.count()
	switch {
	case checksum(p[4:]) != le32(p):
		return errors.New("checksum")
	case entrySize*count > pageRoom || p.first() > p.last():
		return errPage
	case (p.sequence() > 0 || p.goesOn()) && (p.first() != p.last() || count == 0):
		return errPage
	}
	end, room := 0, pageRoom-entrySize*count
	for i := range count {
		next := p.end(i)
		if next < end || next > room {
			return errPage
		}
		end = next
	}
	return nil
}

func (p page) count() int       { return int(le16(p[4:])) }
func (p page) goesOn() bool     { return le16(p[6:]) == 1 }
func (p page) first() uint32    { return le32(p[8:]) }
func (p page) last() uint32     { return le32(p[12:]) }
func (p page) sequence() uint32 { return le32(p[16:]) }

func (p page) fingerprints() []byte { return p[pageHeaderSize : pageHeaderSize+2*p.count()] }

func (p page) end(i int) int { return int(le16(p[pageHeaderSize+2*p.count()+2*i:])) }

func (p page) origin(i int) origin {
	return readOrigin(p[pageHeaderSize+4*p.count()+originSize*i:])
}

// text is the text of authority i, without its scheme.
func (p page) text(i int) []byte {
	texts := p[pageHeaderSize+entrySize*p.count():]
	start := 0
	if i > 0 {
		start = p.end(i - 1)
	}
	return texts[start:p.end(i)]
}

// appendAuthority appends authority i to dst.
func (p page) appendAuthority(dst []byte, i int) []byte {
	return append(append(dst, schemes[p.origin(i).flags&schemeMask]...), p.text(i)...)
}

// next is the first authority from number from on that has a hash like this one,
// or the number of all. Most pages that are searched have none.
func (p page) next(hash uint64, from int) int {
	return from + firstPrint(p.fingerprints()[2*from:], uint16(hash))
}

// find finds an authority.
func (p page) find(hash uint64, authority []byte) (origin, bool) {
	scheme, text := cutScheme(authority)
	for i := p.next(hash, 0); i < p.count(); i = p.next(hash, i+1) {
		if o := p.origin(i); o.flags&schemeMask == scheme && bytes.Equal(p.text(i), text) {
			return o, true
		}
	}
	return origin{}, false
}

// pageEntries are authorities on their way into a page.
type pageEntries struct {
	count                        int
	prints, ends, origins, texts []byte
}

// fits tells whether as many octets of text, of that many authorities more,
// have room.
func (e *pageEntries) fits(count, text int) bool {
	return entrySize*(e.count+count)+len(e.texts)+text <= pageRoom
}

func (e *pageEntries) add(hash uint64, o origin, authority []byte) {
	scheme, text := cutScheme(authority)
	o.flags |= scheme
	e.count++
	e.texts = append(e.texts, text...)
	e.prints = binary.LittleEndian.AppendUint16(e.prints, uint16(hash))
	e.ends = binary.LittleEndian.AppendUint16(e.ends, uint16(len(e.texts)))
	e.origins = o.appendTo(e.origins)
}

// join adds the authorities of other, which come after.
func (e *pageEntries) join(other *pageEntries) {
	for ends := other.ends; len(ends) > 0; ends = ends[2:] {
		e.ends = binary.LittleEndian.AppendUint16(e.ends, le16(ends)+uint16(len(e.texts)))
	}
	e.count += other.count
	e.prints = append(e.prints, other.prints...)
	e.origins = append(e.origins, other.origins...)
	e.texts = append(e.texts, other.texts...)
}

func (e *pageEntries) clear() {
	e.count = 0
	e.prints, e.ends, e.origins, e.texts = e.prints[:0], e.ends[:0], e.origins[:0], e.texts[:0]
}

// pageHeader is what a page says of itself.
type pageHeader struct {
	first, last, sequence uint32
	goesOn                bool
}

// appendPage appends a page of the authorities to dst.
func (e *pageEntries) appendPage(dst []byte, h pageHeader) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(e.count))
	goesOn := uint16(0)
	if h.goesOn {
		goesOn = 1
	}
	dst = binary.LittleEndian.AppendUint16(dst, goesOn)
	for _, v := range [...]uint32{h.first, h.last, h.sequence, 0} {
		dst = binary.LittleEndian.AppendUint32(dst, v)
	}
	dst = append(append(append(append(dst, e.prints...), e.ends...), e.origins...), e.texts...)
	dst = append(dst, make([]byte, pageSize-(len(dst)-start))...)
	binary.LittleEndian.PutUint32(dst[start:], checksum(dst[start+4:]))
	return dst
}
