package matcher

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"robotsbatch/matcher/internal/kernels"
)

// addList writes a list of the wildcard suffixes of entries, whose literal prefix has depth
// bytes: first those that allow, then those that disallow, the best rule of each kind first. It
// sorts entries. above is the nearest list above, 0 for none. It returns the list's number.
func (b *builder) addList(entries []*entry, depth int, above uint32) (list uint32) {
	slices.SortFunc(entries, func(x, y *entry) int {
		return cmp.Or(cmp.Compare(y.rule&1, x.rule&1), cmp.Compare(y.rule, x.rule))
	})
	list = uint32(len(b.lists) / listSize)
	first := uint32(len(b.suffixes) / suffixSize)
	disallow := first // the first suffix that disallows
	up := b.lists[above*listSize:]
	best := [2]uint32{le32(up[listBestAt:]), le32(up[listBestAt+4:])} // by kind, the best rule here and above
	for _, e := range entries {
		kind := kindOf(e.rule)
		if kind == allowing {
			disallow++
		}
		best[kind] = max(best[kind], e.rule)
		b.addSuffix(e, list, b.split(e.text[depth+1:]))
	}
	last := first + uint32(len(entries))
	b.lists = append32(b.lists, uint32(depth), first, disallow, last, best[0], best[1], above)
	return list
}

// split returns the literals of a suffix, the texts between stars, as a part of b.pieces. They
// alias the suffix.
func (b *builder) split(text []byte) [][]byte {
	start := len(b.pieces)
	for literal := range bytes.SplitSeq(text, []byte{star}) {
		b.pieces = append(b.pieces, literal)
	}
	return b.pieces[start:len(b.pieces):len(b.pieces)]
}

// addSuffix writes the suffix of an entry, its signature and its literals, at least one.
func (b *builder) addSuffix(e *entry, list uint32, literals [][]byte) {
	flags := uint32(len(literals)) << suffixCount
	if e.anchored {
		flags |= suffixAnchored
	}
	if e.query {
		flags |= suffixQuery
	}
	first, longest := len(b.literals)/literalSize, 0
	if len(literals) == 1 { // no record of its own: the two fields hold the offset and the length of its text
		first, longest = len(b.text), len(literals[0])
		b.text = append(b.text, literals[0]...)
	} else {
		for i, literal := range literals {
			if len(literal) > len(literals[longest]) {
				longest = i
			}
			b.literals = append32(b.literals, uint32(len(b.text)), uint32(len(literal)))
			b.text = append(b.text, literal...)
		}
		longest += first
	}
	var signature kernels.Signature
	for _, literal := range literals {
		signature |= literalSignature(literal)
	}
	b.signatures = binary.LittleEndian.AppendUint64(b.signatures, uint64(signature))
	b.suffixes = append32(b.suffixes, e.rule, flags, uint32(first), uint32(longest), list)
	b.suffixLiterals = append(b.suffixLiterals, literals)
	b.suffixRules = append(b.suffixRules, e.rule)
}

// bestSuffix returns the best rule above floor among the suffixes of a kind that match, in
// a list and the lists above it; 0 for none. The literal prefixes of these lists must match
// the path, in the spelling that a suffix asks for.
func (c *compiled) bestSuffix(target *Target, list uint32, kind suffixKind, floor uint32) (best uint32) {
	if !c.mayBeat(list, kind, floor) {
		return 0
	}
	if c.hasIndex() {
		return c.indexedSuffix(target, list, kind, floor)
	}
	target.prepare()
	missing := ^target.signature
	below := c.suffixCount() // where the suffixes of the list below begin: lists above, and their suffixes, come before it
	for c.mayBeat(list, kind, floor) {
		record := c.list(list)
		first, last := c.suffixesOf(record, kind, below)
		start := kernels.Load32(c.data, record+listAllowAt) // the list's first suffix
		if uint64(start) >= uint64(below) {
			break // it has no suffixes: the list of a forged group
		}
		below = int(start)
		for suffix := c.nextSuffix(first, last, missing); suffix < last; suffix = c.nextSuffix(suffix+1, last, missing) {
			rule := c.ruleOf(suffix)
			if rule <= floor {
				break // the best rule comes first
			}
			if c.matchSuffix(suffix, target.plain, target.query, kernels.Load32(c.data, record+listDepthAt)) {
				best, floor = rule, rule
				break
			}
		}
		list = c.above(record, list)
	}
	return best
}

// suffixKind is the verdict of a suffix.
type suffixKind int

const (
	allowing suffixKind = iota
	disallowing
)

// kindOf returns the verdict of a rule, given by its number, whose lowest bit is set for allow.
func kindOf(rule uint32) suffixKind { return suffixKind(1 - rule&1) }

// above returns the nearest list above one, given by the offset of its record and its number; 0
// for none. A list above has a smaller number, so that no forged group leads in a circle.
func (c *compiled) above(record int, number uint32) uint32 {
	if up := kernels.Load32(c.data, record+listAboveAt); up < number {
		return up
	}
	return 0
}

// depthOf returns the length of the literal prefix of a list.
func (c *compiled) depthOf(list uint32) uint32 { return kernels.Load32(c.data, c.list(list)) }

// suffix returns the offset of the record of a suffix, which must exist, here and below.
func (c *compiled) suffix(number int) int { return int(c.suffixes) + number*suffixSize }

// ruleOf returns the rule of a suffix.
func (c *compiled) ruleOf(suffix int) uint32 { return kernels.Load32(c.data, c.suffix(suffix)) }

// listOf returns the list that a suffix belongs to, which may not exist.
func (c *compiled) listOf(suffix int) uint32 {
	return kernels.Load32(c.data, c.suffix(suffix)+suffixListAt)
}

// signatureOf returns the signature of a suffix.
func (c *compiled) signatureOf(suffix int) kernels.Signature {
	return kernels.Signature(kernels.Load64(c.data, int(c.signatures)+suffix*kernels.SignatureSize))
}

// mayBeat reports whether a list, or one above it, has a suffix of a kind with a rule above
// floor. It returns false for list 0.
func (c *compiled) mayBeat(list uint32, kind suffixKind, floor uint32) bool {
	return list != 0 && kernels.Load32(c.data, c.list(list)+listBestAt+4*int(kind)) > floor
}

// suffixesOf returns the range [first, last) of the suffixes of a kind in a list, given by the offset
// of its record, cut to those before limit.
func (c *compiled) suffixesOf(record int, kind suffixKind, limit int) (first, last int) {
	at := record + listAllowAt + 4*int(kind) // of the first one; after it is that of the next kind, or the list's end
	last = int(min(kernels.Load32(c.data, at+4), uint32(limit)))
	return int(min(kernels.Load32(c.data, at), uint32(last))), last
}

// nextSuffix returns the first suffix in [suffix, last) whose signature has none of the
// missing bits; last if there is none.
func (c *compiled) nextSuffix(suffix, last int, missing kernels.Signature) int {
	return suffix + kernels.FirstWithout(c.data, int(c.signatures)+suffix*kernels.SignatureSize, last-suffix, missing)
}

// matchSuffix reports whether a suffix matches the rest of a path, given in both spellings,
// from byte start on: its literals must occur in order, the last one at the very end if it
// is anchored. The caller has compared its signature with the path's. The first occurrence of each
// literal is as good as any other, so nothing is tried twice and the time is linear in the
// path's length.
func (c *compiled) matchSuffix(suffix int, plain, query []byte, start uint32) bool {
	record := c.suffix(suffix)
	flags := kernels.Load32(c.data, record+suffixFlagsAt)
	path := plain
	if flags&suffixQuery != 0 {
		path = query
	}
	if uint64(start) > uint64(len(path)) {
		return false // of a forged group
	}
	rest := path[start:]
	first, longest := kernels.Load32(c.data, record+suffixFirstAt), kernels.Load32(c.data, record+suffixLongestAt)
	count := flags >> suffixCount
	var final []byte // the last literal
	var ok bool
	switch {
	case count == 1: // then the two fields hold the offset and the length of its text
		if final, ok = c.textAt(first, longest); !ok {
			return false
		}
	case uint64(count) > uint64(len(rest)):
		return false // no literal is empty
	default:
		// Most paths lack the longest literal, so look for it before the order matters.
		literal, ok := c.literal(longest)
		if !ok || findLiteral(rest, literal) < 0 {
			return false
		}
		last := first + count - 1 // if this overflows, there are no such literals
		if final, ok = c.literal(last); !ok || last < first {
			return false
		}
		at := c.pastLiterals(rest, first, last)
		if at < 0 {
			return false
		}
		rest = rest[at:]
	}
	if flags&suffixAnchored != 0 {
		return bytes.HasSuffix(rest, final)
	}
	return findLiteral(rest, final) >= 0
}

// pastLiterals returns the end in s of the last of the literals [first, last), each at its
// first occurrence after the one before; -1 if one is missing. A rule that consists mostly
// of stars has thousands of literals of one byte. In the slowest paths each is near the one
// before, and endIn4 finds it without a call.
//
// Literal last must exist.
func (c *compiled) pastLiterals(s []byte, first, last uint32) (at int) {
	data, text, size := c.data, int(c.text), uint64(c.index-c.text)
	end := int(c.literals) + int(last)*literalSize
	for record := int(c.literals) + int(first)*literalSize; record < end; record += literalSize {
		literal := kernels.Load64(data, record) // its offset in text, and above that its length
		if uint64(uint32(literal))+literal>>32 > size {
			return -1 // of a forged group
		}
		offset, length := text+int(uint32(literal)), int(literal>>32)
		if length == 1 && at+4 <= len(s) {
			if n := endIn4(s[at:at+4], kernels.Load8(data, offset)); n > 0 {
				at += n
				continue
			}
		}
		skipped := findLiteral(s[at:], data[offset:offset+length])
		if skipped < 0 {
			return -1
		}
		at += skipped + length
	}
	return at
}

// endIn4 returns the end of the first occurrence of a byte in four bytes, 0 for none.
func endIn4(s []byte, char byte) int {
	switch char {
	case s[0]:
		return 1
	case s[1]:
		return 2
	case s[2]:
		return 3
	case s[3]:
		return 4
	}
	return 0
}

// literal returns a literal; ok is false if there is none with this number, or if it lies
// outside the text.
func (c *compiled) literal(number uint32) (literal []byte, ok bool) {
	record := uint64(c.literals) + uint64(number)*literalSize
	if record >= uint64(c.text) {
		return nil, false
	}
	return c.textAt(kernels.Load32(c.data, int(record)), kernels.Load32(c.data, int(record)+4))
}

// maxStrays is the number of false positions, with the first and the last byte of the literal,
// findLiteral checks before it falls back to bytes.Index. Hostile paths have many.
const maxStrays = 16

// findLiteral does what bytes.Index does, faster for literals of rules. These often start
// with a slash, and so do many places in a path. So it looks for two bytes of the literal
// at once, which saves 16 % of a match with 100 rules.
func findLiteral(s, literal []byte) int {
	gap := len(literal) - 1
	if gap < 1 {
		return bytes.Index(s, literal)
	}
	low := 0
	for range maxStrays {
		if len(s)-low-gap < kernels.MinPairs {
			break
		}
		at := kernels.IndexPair(s[low:], gap, literal[0], literal[gap])
		if at < 0 {
			return -1
		}
		if low += at; string(s[low+1:low+gap]) == string(literal[1:gap]) {
			return low
		}
		low++
	}
	if at := bytes.Index(s[low:], literal); at >= 0 {
		return low + at
	}
	return -1
}
