package matcher

import "encoding/binary"

// For tests outside the package: prefixVerdict and resolve.

type PrefixVerdict = prefixVerdict

func (t *Trie) PrefixVerdict(p *Target) PrefixVerdict { return t.prefixVerdict(p) }

func (t *Trie) Resolve(v *PrefixVerdict, p *Target) (changed bool) { return t.resolve(v, p) }

func (v PrefixVerdict) Denied() bool { return v.denied }

func (v PrefixVerdict) Undecided() bool { return v.undecided }

func (v PrefixVerdict) Depth() int { return v.depth }

// Reseal makes the checksums of a body right, where its head lets it find what they are of.
func Reseal(data []byte) {
	h, ok := readHead(data)
	if !ok {
		return
	}
	for i := range h.groups {
		if low, high, ok := h.group(data, i); ok {
			put32(data[bodyHeadSize+groupSize*int(i)+4:], bodySum(data[low:high]))
		}
	}
	put32(data, h.headSum(data))
}

// WithMore returns the rules of a body with another table after those of its names.
func WithMore(data, more []byte) []byte {
	h, _ := readHead(data)
	at := h.numbersAt() + 2*nameSize*uint64(h.names)
	b := append([]byte(nil), data[:at]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(more)))
	b = padded(append(b, more...))
	b = append(b, data[h.start:]...)
	put32(b[4:], uint32(len(b)))
	b[14] |= markMore
	Reseal(b)
	return b
}
