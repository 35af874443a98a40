package rulepack

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"

	"robotsbatch/io/store/runs"
)

// queued is the form of an authority that waits in a sorter until all have come:
//
//	 0  u64  hash
//	 8  u32  source, see Entry
//	12  12   origin; its body is the number that the builder gave it
//	24  u16  length of the authority
//	26  u16  number of intervals
//	28  u32  length of their times
//	32  u32  length of the captures
//	36       the authority, then the intervals, with bodies as in the origin, their times,
//	         and the captures
type queued []byte

const queuedSize = 36

func (q queued) hash() uint64      { return le64(q) }
func (q queued) source() uint32    { return le32(q[8:]) }
func (q queued) origin() origin    { return readOrigin(q[12:]) }
func (q queued) authority() []byte { return q[queuedSize : queuedSize+int(le16(q[24:]))] }

// history returns the intervals of the entry. They point into it.
func (q queued) history() intervals {
	rows := q[queuedSize+int(le16(q[24:])) : q.size()-int(le32(q[32:]))]
	n := intervalSize * int(le16(q[26:]))
	return intervals{rows: rows[:n:n], times: rows[n:]}
}

func (q queued) size() int {
	return queuedSize + int(le16(q[24:])) + intervalSize*int(le16(q[26:])) + int(le32(q[28:])) + int(le32(q[32:]))
}

func (q queued) captures() queuedCaptures {
	return queuedCaptures(q[q.size()-int(le32(q[32:])) : q.size()])
}

// queuedCaptures are the captures of a queued authority: u32 number of bodies, a u64 for each as
// Keep returned it, and the rows. It is empty if there are none.
type queuedCaptures []byte

// count returns the number of bodies.
func (c queuedCaptures) count() int {
	if len(c) == 0 {
		return 0
	}
	return int(le32(c))
}
func (c queuedCaptures) body(i int) uint64 { return le64(c[4+8*i:]) }
func (c queuedCaptures) rows() []byte      { return c[4+8*c.count():] }

// appendQueued appends to dst an entry encoded as queued and queuedCaptures describe.
func appendQueued(dst, authority []byte, source uint32, o origin, history intervals, c Captures) []byte {
	capturesSize := 0
	if len(c.Rows) > 0 {
		capturesSize = 4 + 8*len(c.Bodies) + len(c.Rows)
	}
	dst = o.appendTo(append32(append64(dst, hashOf(authority)), source))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(authority)))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(history.len()))
	dst = append32(dst, uint32(len(history.times)), uint32(capturesSize))
	dst = append(append(append(dst, authority...), history.rows...), history.times...)
	if capturesSize == 0 {
		return dst
	}
	return append(append64(append32(dst, uint32(len(c.Bodies))), c.Bodies...), c.Rows...)
}

// queuedForm sorts authorities in the pack's order, and the entries of one authority by
// source.
var queuedForm = runs.Form{
	Head: queuedSize,
	Size: func(head []byte) int { return queued(head).size() },
	Key:  func(record []byte) uint64 { return queued(record).hash() },
	Compare: func(a, b []byte) int {
		x, y := queued(a), queued(b)
		return cmp.Or(compareAuthorities(x.authority(), y.authority()), cmp.Compare(x.source(), y.source()))
	},
}

// mergeQueued calls visit once for each authority, in the pack's order. It merges the entries
// of several sources: the origin is that of the first source; where its history begins later
// than the next source's, the next source's intervals come before it. The captures are those
// of the first entry that has some. The arguments are valid until visit returns, and visit may
// change them.
func mergeQueued(all *runs.Sorter, visit func(queued, intervals, queuedCaptures) error) error {
	var m merged
	err := all.Merge(func(record []byte) (err error) {
		q := queued(record)
		switch {
		case len(m.first) == 0:
		case m.first.hash() != q.hash() || !bytes.Equal(m.first.authority(), q.authority()):
			err = visit(m.first, m.history, m.captures)
			m.first, m.captures = m.first[:0], m.captures[:0]
			m.history.reset()
		case m.source == q.source():
			err = fmt.Errorf("two entries for %q", q.authority())
		}
		m.add(q)
		return err
	})
	if err != nil || len(m.first) == 0 {
		return err
	}
	return visit(m.first, m.history, m.captures)
}

// merged collects what the entries of one authority say together.
type merged struct {
	first           queued // the entry with the origin; empty before the first add
	source          uint32 // of the last entry
	captures        queuedCaptures
	history, reused intervals // reused is the memory of the next history
}

// add adds a copy of the authority's next entry. What earlier ones say goes before it.
func (m *merged) add(q queued) {
	if len(m.first) == 0 || m.first.origin().isNotYet() {
		m.first = append(m.first[:0], q...)
	}
	m.source = q.source()
	if len(m.captures) == 0 {
		m.captures = append(m.captures, q.captures()...)
	}
	older := q.history()
	count := older.len() // of the intervals of q that begin before all of m
	if m.history.len() > 0 {
		count = older.countBefore(m.history.from(0))
	}
	m.reused.reset()
	m.reused.addFirst(count, older)
	m.reused.addFirst(m.history.len(), m.history)
	m.history, m.reused = m.reused, m.history
}
