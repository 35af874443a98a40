package rulepack

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"

	"robotsbatch/io/runs"
	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
)

// A body's row in the section bodies:
//
//	 0  u64  where its rules start in their section; they end where those of the
//	         next row start
//	 8  u64  likewise its notes
//	16  u64  likewise its records
//	24  u32  checksum of the row, the body's number and its rules; see sum
//	28  u32  flags
//
// The last row belongs to no body and has only the ends.
const rowSize = 32

// Flags of a body.
const (
	// bodySource: the body is kept as its source, because its groups overlap too much
	// to be compiled for all agents, or because this pack compiles none.
	bodySource = 1 << iota
	// bodyUnused: no authority has the body, so its rules are not in the pack.
	bodyUnused
	// The next bits are the robotstxt.BodyKind.
	bodyKindBit = iota
)

// kindOf returns a body's kind from its flags.
func kindOf(flags uint32) robotstxt.BodyKind { return robotstxt.BodyKind(flags >> bodyKindBit) }

// row is a body's row, with the ends taken from the next row.
type row struct {
	rules, notes, records [2]uint64 // start and end
	checksum, flags       uint32
}

func readRow(rows []byte, number uint32) row {
	b := rows[rowSize*int64(number):]
	next := b[rowSize:]
	return row{
		rules:    [2]uint64{le64(b), le64(next)},
		notes:    [2]uint64{le64(b[8:]), le64(next[8:])},
		records:  [2]uint64{le64(b[16:]), le64(next[16:])},
		checksum: le32(b[24:]),
		flags:    le32(b[28:]),
	}
}

// append writes the row without its ends.
func (r row) append(b []byte, checksum uint32) []byte {
	for _, start := range [...]uint64{r.rules[0], r.notes[0], r.records[0]} {
		b = binary.LittleEndian.AppendUint64(b, start)
	}
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, checksum), r.flags)
}

// sum returns the checksum of a row. It covers the number and the offsets, so that one
// body's data cannot pass for another's.
func (r row) sum(number uint32, rules []byte) uint32 {
	b := make([]byte, 0, 8+3*16)
	b = binary.LittleEndian.AppendUint32(b, number)
	b = binary.LittleEndian.AppendUint32(b, r.flags)
	for _, bounds := range [...][2]uint64{r.rules, r.notes, r.records} {
		b = binary.LittleEndian.AppendUint64(b, bounds[0])
		b = binary.LittleEndian.AppendUint64(b, bounds[1])
	}
	return updateChecksum(checksum(b), rules)
}

// digest is the SHA-256 of the part of a body that counts. A weaker hash would not do,
// because hosts choose their bodies and could make two collide.
type digest = [sha256.Size]byte

// Compiled bodies are collected in parts, by the first byte of their digests, each as
//
//	 0  32   digest
//	32  u32  flags
//	36  u32  length of the rules
//	40  u32  length of the notes, a blob
//	44  u32  length of the records, a blob
//	48       rules, notes, records
//
// When the parts' memory is full, all are written to a temporary file. At the end each
// part is read, sorted and written to the pack.
const (
	bodyParts   = 256
	storedSize  = sha256.Size + 16
	largeBody   = 64 << 10 // bytes; larger ones are compiled one at a time
	firstPart   = 4 << 10  // initial bytes of a part's memory
	copyingSize = 256 << 10
)

// bodies collects the distinct bodies.
type bodies struct {
	profile matcher.Profile
	limit   int64 // the most bytes of memory for the parts
	sources bool  // compile none

	mu      sync.Mutex
	numbers map[digest]uint32 // numbered in the order in which they came
	known   []known           // by number
	parts   [bodyParts]part
	size    int64 // bytes in the parts' memory
	spill   runs.Spill

	large      sync.Mutex
	workspaces sync.Pool // of *workspace, for bodies that are not large
}

// workspace is reused memory in which bodies are parsed and compiled.
type workspace struct {
	parser   robotstxt.Parser
	compiler matcher.Compiler
}

// known is what stays in memory for each body.
type known struct {
	length uint32 // of the source
	flags  uint8
}

type part struct {
	memory  []byte
	written []runs.Extent
}

// add returns the number of a body and compiles it if it is new.
func (b *bodies) add(counted []byte) (number uint32, err error) {
	d := digest(sha256.Sum256(counted))
	b.mu.Lock()
	number, old := b.numbers[d]
	if !old {
		number = uint32(len(b.known))
		if number == noBody {
			b.mu.Unlock()
			return 0, fmt.Errorf("more than %d distinct bodies", uint32(noBody))
		}
		b.numbers[d] = number
		b.known = append(b.known, known{length: uint32(len(counted))})
	}
	b.mu.Unlock()
	if old {
		return number, nil
	}
	return number, b.keep(number, b.compile(d, counted))
}

// compile returns a body in its stored form.
func (b *bodies) compile(d digest, counted []byte) []byte {
	w, _ := b.workspaces.Get().(*workspace)
	if w == nil {
		w = new(workspace)
	}
	if len(counted) <= largeBody {
		defer b.workspaces.Put(w)
	} else { // its workspace is too large to keep
		b.large.Lock()
		defer b.large.Unlock()
	}
	f := w.parser.Parse(counted, robotstxt.Options{Profile: b.profile, Limit: len(counted)})
	flags := uint32(f.Kind) << bodyKindBit
	stored := make([]byte, storedSize, storedSize+2*len(counted))
	copy(stored, d[:])
	var notes []byte
	var compiled *matcher.Body
	ok := false
	if !b.sources {
		compiled, ok = w.compiler.CompileBody(f)
	}
	if ok {
		stored = compiled.AppendRules(stored)
		notes = compiled.AppendNotes(nil)
	} else {
		flags |= bodySource
		stored = append(stored, counted...)
	}
	put := func(at int, v uint32) { binary.LittleEndian.PutUint32(stored[sha256.Size+at:], v) }
	put(0, flags)
	put(4, uint32(len(stored)-storedSize))
	before := len(stored)
	stored = appendBlob(stored, notes)
	put(8, uint32(len(stored)-before))
	before = len(stored)
	stored = appendBlob(stored, recordsOf(f).append(nil))
	put(12, uint32(len(stored)-before))
	return stored
}

// keep appends a stored body to its part.
func (b *bodies) keep(number uint32, stored []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known[number].flags = uint8(le32(stored[sha256.Size:]))
	p := &b.parts[stored[0]]
	if cap(p.memory) == 0 {
		p.memory = make([]byte, 0, firstPart)
	}
	p.memory = append(p.memory, stored...)
	if b.size += int64(len(stored)); b.size > b.limit {
		return b.flush()
	}
	return nil
}

// flush writes the buffered bodies of all parts to the temporary file.
func (b *bodies) flush() error {
	for i := range b.parts {
		p := &b.parts[i]
		if len(p.memory) == 0 {
			continue
		}
		p.written = append(p.written, runs.Extent{Start: b.spill.Size(), Length: int64(len(p.memory))})
		if _, err := b.spill.Write(p.memory); err != nil {
			return err
		}
		p.memory = p.memory[:0]
	}
	b.size = 0
	return nil
}

// ranks maps each body's number in the builder to its number in the pack: its rank in the
// order of digests. Nothing can be added afterwards.
func (b *bodies) ranks() []uint32 {
	type numbered struct {
		digest digest
		number uint32
	}
	order := make([]numbered, 0, len(b.numbers))
	for d, number := range b.numbers {
		order = append(order, numbered{d, number})
	}
	b.numbers = nil
	slices.SortFunc(order, func(x, y numbered) int { return bytes.Compare(x.digest[:], y.digest[:]) })
	ranks := make([]uint32, len(order))
	for rank := range order {
		ranks[order[rank].number] = uint32(rank)
	}
	return ranks
}

// bodyOutputs are where bodies are written to.
type bodyOutputs struct {
	rules, notes, records, rows, digests io.Writer
}

// write writes all bodies in order: a row for each, the rest only for those that are used.
func (b *bodies) write(out bodyOutputs, used func(rank uint32) bool) error {
	w := bodyWriter{out: out, used: used}
	for i := range b.parts {
		content, err := b.content(&b.parts[i])
		if err != nil {
			return err
		}
		if err := w.writePart(content); err != nil {
			return err
		}
	}
	_, err := out.rows.Write(w.at().append(nil, 0))
	return err
}

// content returns all stored bodies of a part.
func (b *bodies) content(p *part) ([]byte, error) {
	if len(p.written) == 0 {
		return p.memory, nil
	}
	var content []byte
	for _, e := range p.written {
		start := len(content)
		content = append(content, make([]byte, e.Length)...)
		if _, err := io.ReadFull(b.spill.Reader(e), content[start:]); err != nil {
			return nil, fmt.Errorf("temporary file: %w", err)
		}
	}
	content = append(content, p.memory...)
	p.memory = nil
	return content, nil
}

// bodyWriter writes bodies one after the other.
type bodyWriter struct {
	out  bodyOutputs
	used func(rank uint32) bool

	next                  uint32
	rules, notes, records uint64 // bytes so far
}

// writePart writes the bodies of a part.
func (w *bodyWriter) writePart(content []byte) error {
	var order [][]byte
	for len(content) > 0 {
		size := storedSize + int(le32(content[36:])) + int(le32(content[40:])) + int(le32(content[44:]))
		order = append(order, content[:size])
		content = content[size:]
	}
	slices.SortFunc(order, func(x, y []byte) int { return bytes.Compare(x[:sha256.Size], y[:sha256.Size]) })
	for _, stored := range order {
		if err := w.write(stored); err != nil {
			return err
		}
	}
	return nil
}

// at returns an empty row at the offsets of the next body.
func (w *bodyWriter) at() row {
	return row{
		rules: [2]uint64{w.rules, w.rules}, notes: [2]uint64{w.notes, w.notes}, records: [2]uint64{w.records, w.records},
	}
}

func (w *bodyWriter) write(stored []byte) error {
	flags := le32(stored[32:])
	rules := stored[storedSize:][:le32(stored[36:])]
	notes := stored[storedSize+len(rules):][:le32(stored[40:])]
	records := stored[storedSize+len(rules)+len(notes):]
	if !w.used(w.next) {
		flags, rules, notes, records = bodyUnused, nil, nil, nil
	}
	r := w.at()
	r.flags = flags
	r.rules[1] += uint64(len(rules))
	r.notes[1] += uint64(len(notes))
	r.records[1] += uint64(len(records))
	if _, err := w.out.rows.Write(r.append(nil, r.sum(w.next, rules))); err != nil {
		return err
	}
	for _, output := range [...]struct {
		w    io.Writer
		data []byte
	}{{w.out.rules, rules}, {w.out.notes, notes}, {w.out.records, records}, {w.out.digests, stored[:sha256.Size]}} {
		if _, err := output.w.Write(output.data); err != nil {
			return err
		}
	}
	w.rules, w.notes, w.records = r.rules[1], r.notes[1], r.records[1]
	w.next++
	return nil
}
