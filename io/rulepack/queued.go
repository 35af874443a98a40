package rulepack

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"

	"robotsbatch/io/runs"
)

// queued is an authority as it waits in a sorter until all have come:
//
//	 0  u64  hash
//	 8  u32  source, see Entry
//	12  12   origin; its body is the number that the builder gave it
//	24  u16  length of the authority
//	26       the authority
type queued []byte

const queuedSize = 26

func (q queued) hash() uint64      { return le64(q) }
func (q queued) source() uint32    { return le32(q[8:]) }
func (q queued) origin() origin    { return readOrigin(q[12:]) }
func (q queued) authority() []byte { return q[queuedSize : queuedSize+int(le16(q[24:]))] }

func appendQueued(dst, authority []byte, source uint32, o origin) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, hashOf(authority))
	dst = binary.LittleEndian.AppendUint32(dst, source)
	dst = o.appendTo(dst)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(authority)))
	return append(dst, authority...)
}

// queuedForm sorts authorities in the order of a pack, and the entries of one authority
// in the order of their sources.
var queuedForm = runs.Form{
	Head: queuedSize,
	Size: func(head []byte) int { return queuedSize + int(le16(head[24:])) },
	Key:  func(record []byte) uint64 { return queued(record).hash() },
	Compare: func(a, b []byte) int {
		x, y := queued(a), queued(b)
		return cmp.Or(compareAuthorities(x.authority(), y.authority()), cmp.Compare(x.source(), y.source()))
	},
}

// mergeQueued calls visit once for each authority, in order, with the entry of its first
// source. The argument is valid until visit returns.
func mergeQueued(all *runs.Sorter, visit func(queued) error) error {
	var last queued
	return all.Merge(func(record []byte) error {
		q := queued(record)
		if last == nil || last.hash() != q.hash() || !bytes.Equal(last.authority(), q.authority()) {
			last = append(last[:0], q...)
			return visit(q)
		}
		if last.source() == q.source() {
			return fmt.Errorf("two entries for %q", q.authority())
		}
		return nil
	})
}
