package rulepack

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"

	"robotsbatch/io/runs"
)

// waiting is an authority as it waits for the end:
//
//	 0  u64  hash
//	 8  u32  source, see Entry
//	12  12   origin; its body is the number that the builder gave it
//	24  u16  length of the authority
//	26       the authority
type waiting []byte

const waitingSize = 26

func (w waiting) hash() uint64      { return le64(w) }
func (w waiting) source() uint32    { return le32(w[8:]) }
func (w waiting) origin() origin    { return readOrigin(w[12:]) }
func (w waiting) authority() []byte { return w[waitingSize : waitingSize+int(le16(w[24:]))] }

func appendWaiting(dst, authority []byte, source uint32, o origin) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, hashOf(authority))
	dst = binary.LittleEndian.AppendUint32(dst, source)
	dst = o.appendTo(dst)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(authority)))
	return append(dst, authority...)
}

// waitingForm puts authorities in the order of a pack, and each one's entries in
// that of the sources.
var waitingForm = runs.Form{
	Head: waitingSize,
	Size: func(head []byte) int { return waitingSize + int(le16(head[24:])) },
	Key:  func(record []byte) uint64 { return waiting(record).hash() },
	Compare: func(a, b []byte) int {
		v, w := waiting(a), waiting(b)
		return cmp.Or(bytes.Compare(v.authority(), w.authority()), cmp.Compare(v.source(), w.source()))
	},
}

// mergeWaiting calls visit for each authority once, in order: as its first source
// has it. The argument is valid until visit returns.
func mergeWaiting(all *runs.Sorter, visit func(waiting) error) error {
	var last waiting
	return all.Merge(func(record []byte) error {
		w := waiting(record)
		if last == nil || last.hash() != w.hash() || !bytes.Equal(last.authority(), w.authority()) {
			last = append(last[:0], w...)
			return visit(w)
		}
		if last.source() == w.source() {
			return fmt.Errorf("two entries for %q", w.authority())
		}
		return nil
	})
}
