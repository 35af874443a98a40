package rulepack

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"robotsbatch/io/store/runs"
	"robotsbatch/matcher"
	"robotsbatch/matcher/domains"
	"robotsbatch/matcher/robotstxt"
)

// A body's row in the section bodies:
//
//	 0  u64  where its rules start in their section, a multiple of
//	         matcher.BodyAlignment; they end where those of the next row start
//	 8  u64  likewise its notes
//	16  u64  likewise its records
//	24  u32  checksum of the row, the body's number and its rules; see sum
//	28  u32  flags
//
// The last row belongs to no body and has only the ends. Lookups need no row: an authority's
// origin has the place of the rules. Bodies are in the order of the authorities that use
// them, by reversed host, so that a list in this order reads the rules from front to back.
const rowSize = 32

// Flags of a body.
const (
	// bodySource: the body is kept as its source, because its groups overlap too much
	// to be compiled for all agents, or because this pack compiles none.
	bodySource = 1 << iota
	// bodyStatements: the body's records have statements.
	bodyStatements
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

// Compiled bodies are collected as they come, each as
//
//	 0  u32  number in the builder
//	 4  u32  length of the rules
//	 8  u32  length of the notes, a blob
//	12  u32  length of the records, a blob
//	16       rules, notes, records
//
// in memory, and when that is full in a temporary file. At the end, when the order of bodies
// is known, that file is divided into parts of neighbours that fit the memory, each of which
// is put in order and written to the pack.
const (
	storedSize  = 16
	mostParts   = 1 << 10
	largeBody   = 64 << 10 // bytes; larger ones are compiled one at a time
	copyingSize = 256 << 10
)

// bodies collects the distinct bodies.
type bodies struct {
	profile matcher.Profile
	limit   int64           // the most bytes of memory for bodies
	sources bool            // compile none
	asked   *matcher.Agents // nil for all, with all that is known of them
	names   dictionary

	mu      sync.Mutex
	numbers map[digest]uint32 // numbered in the order in which they came
	known   []known           // by number
	digests []digest          // likewise; only order sets it
	memory  []byte
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
	units  uint32 // of its rules in the pack, in matcher.BodyAlignment bytes
	flags  uint8
	used   bool // an authority of the pack has it
	// first is the beginning of the least reversed host that has it.
	first surtStart
}

// surtStart is the beginning of a reversed host. Bodies of hosts that are alike so far are
// neighbours, and that is all that the order is for.
type surtStart [24]byte

// noSURT is behind all hosts.
var noSURT = surtStart(bytes.Repeat([]byte{0xFF}, len(surtStart{})))

// surtOf returns the beginning of an authority's reversed host.
func surtOf(authority []byte) (s surtStart) {
	var memory [MaxAuthority + 8]byte
	copy(s[:], domains.AppendSURT(memory[:0], domains.Host(authority)))
	return s
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
		b.known = append(b.known, known{length: uint32(len(counted)), first: noSURT})
	}
	b.mu.Unlock()
	if old {
		return number, nil
	}
	return number, b.keep(number, b.compile(number, counted))
}

// usedBy says that an authority has a body.
func (b *bodies) usedBy(number uint32, s *surtStart) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if k := &b.known[number]; bytes.Compare(s[:], k.first[:]) < 0 {
		k.first = *s
	}
}

// compile returns a body in its stored form.
func (b *bodies) compile(number uint32, counted []byte) []byte {
	w, _ := b.workspaces.Get().(*workspace)
	if w == nil {
		w = &workspace{compiler: matcher.Compiler{Asked: b.asked}}
	}
	if len(counted) <= largeBody {
		defer b.workspaces.Put(w)
	} else { // its workspace is too large to keep
		b.large.Lock()
		defer b.large.Unlock()
	}
	f := w.parser.Parse(counted, robotstxt.Options{Profile: b.profile, Limit: len(counted)})
	flags := uint8(f.Kind) << bodyKindBit
	stored := make([]byte, storedSize, storedSize+2*len(counted))
	var notes []byte
	if compiled, numbers := b.compileAll(w, f); compiled != nil {
		stored = compiled.AppendRules(stored)
		matcher.RenumberBody(stored[storedSize:], 0, func(name uint32) uint32 { return numbers[name] })
		notes = compiled.AppendNotes(nil)
	} else {
		flags |= bodySource
		stored = matcher.AppendSource(stored, f, counted)
	}
	if len(f.Statements) > 0 {
		flags |= bodyStatements
	}
	for (len(stored)-storedSize)%matcher.BodyAlignment != 0 {
		stored = append(stored, 0)
	}
	put := func(at int, v uint32) { binary.LittleEndian.PutUint32(stored[at:], v) }
	put(0, number)
	put(4, uint32(len(stored)-storedSize))
	before := len(stored)
	stored = appendBlob(stored, notes)
	put(8, uint32(len(stored)-before))
	before = len(stored)
	if b.asked == nil {
		stored = appendBlob(stored, recordsOf(f).append(nil))
	}
	put(12, uint32(len(stored)-before))
	b.mu.Lock()
	b.known[number].flags = flags
	b.mu.Unlock()
	return stored
}

// compileAll compiles a body for all agents, and returns the numbers of its names, as the
// dictionary has them now; nil for a body that is kept as its source.
func (b *bodies) compileAll(w *workspace, f *robotstxt.File) (*matcher.Body, []uint32) {
	if b.sources {
		return nil, nil
	}
	compiled, ok := w.compiler.CompileBody(f)
	if !ok {
		b.names.add(namesIn(f)) // for those who look for similar names
		return nil, nil
	}
	numbers, ok := b.names.add(slices.Collect(compiled.Names()))
	if !ok {
		return nil, nil
	}
	return compiled, numbers
}

// namesIn returns the distinct names in a body, in lower case.
func namesIn(f *robotstxt.File) (all [][]byte) {
	seen := make(map[string]bool)
	for name := range f.AgentNames() {
		if s := lower(name); !seen[s] {
			seen[s] = true
			all = append(all, []byte(s))
		}
	}
	return all
}

// keep stores a body.
func (b *bodies) keep(number uint32, stored []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known[number].units = le32(stored[4:]) / matcher.BodyAlignment
	b.memory = append(b.memory, stored...)
	if int64(len(b.memory)) <= b.limit {
		return nil
	}
	_, err := b.spill.Write(b.memory)
	b.memory = b.memory[:0]
	return err
}

// order is where the bodies that are used go in the pack.
type order struct {
	ranks  []uint32 // by number in the builder; noBody for one that is not used
	places []uint32 // likewise, in matcher.BodyAlignment bytes
	count  uint32
}

// order puts the bodies that are used in order. Nothing can be added afterwards.
func (b *bodies) order() (order, error) {
	type numbered struct {
		key    uint64 // the first bytes of known.first
		number uint32
	}
	digests := make([]digest, len(b.known))
	for d, number := range b.numbers {
		digests[number] = d
	}
	b.numbers = nil
	all := make([]numbered, 0, len(b.known))
	for number := range b.known {
		if k := &b.known[number]; k.used {
			all = append(all, numbered{binary.BigEndian.Uint64(k.first[:]), uint32(number)})
		}
	}
	slices.SortFunc(all, func(x, y numbered) int {
		return cmp.Or(cmp.Compare(x.key, y.key), bytes.Compare(b.known[x.number].first[:], b.known[y.number].first[:]),
			bytes.Compare(digests[x.number][:], digests[y.number][:]))
	})
	o := order{ranks: make([]uint32, len(b.known)), places: make([]uint32, len(b.known)), count: uint32(len(all))}
	for i := range o.ranks {
		o.ranks[i], o.places[i] = noBody, noBody
	}
	place := uint64(0)
	for rank := range all {
		number := all[rank].number
		if place >= noBody {
			return o, fmt.Errorf("the bodies have more than %d bytes", uint64(math.MaxUint32)*matcher.BodyAlignment)
		}
		o.ranks[number], o.places[number] = uint32(rank), uint32(place)
		place += uint64(b.known[number].units)
	}
	b.digests = digests
	return o, nil
}

// bodyOutputs are where bodies are written to.
type bodyOutputs struct {
	rules, notes, records, rows, digests io.Writer
}

// write writes all bodies that are used, in order.
func (b *bodies) write(out bodyOutputs, o *order, names []uint32, goOn func() bool) error {
	w := bodyWriter{out: out, bodies: b, order: o, names: names}
	if b.spill.Size() == 0 {
		if err := w.writePart(b.memory); err != nil {
			return err
		}
	} else if err := b.writeParts(&w, goOn); err != nil {
		return err
	}
	_, err := out.rows.Write(w.at().append(nil, 0))
	return err
}

// part is what was collected of neighbours.
type part struct {
	memory  []byte
	written []runs.Extent
}

// writeParts divides what is in the temporary file into parts, and writes one after the
// other.
func (b *bodies) writeParts(w *bodyWriter, goOn func() bool) error {
	total := b.spill.Size() + int64(len(b.memory))
	count := min(total/max(b.limit/2, 1)+1, mostParts, int64(w.order.count)+1)
	parts := make([]part, count)
	units := uint64(0) // of all rules
	for number, rank := range w.order.ranks {
		if rank != noBody {
			units += uint64(b.known[number].units)
		}
	}
	parted := runs.Spill{Folder: b.spill.Folder}
	defer parted.Close()
	size := int64(0)
	flush := func() error {
		for i := range parts {
			p := &parts[i]
			if len(p.memory) == 0 {
				continue
			}
			p.written = append(p.written, runs.Extent{Start: parted.Size(), Length: int64(len(p.memory))})
			if _, err := parted.Write(p.memory); err != nil {
				return err
			}
			p.memory = p.memory[:0]
		}
		size = 0
		return nil
	}
	err := b.each(func(stored []byte) error {
		place := w.order.places[le32(stored)]
		if place == noBody {
			return nil
		}
		if !goOn() {
			return nil // the caller knows why
		}
		p := &parts[uint64(place)*uint64(count)/(units+1)]
		p.memory = append(p.memory, stored...)
		if size += int64(len(stored)); size > b.limit {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	b.spill.Close()
	var content []byte
	for i := range parts {
		parts[i].memory = nil
		content = content[:0]
		for _, e := range parts[i].written {
			if err == nil {
				start := len(content)
				content = slices.Grow(content, int(e.Length))[:start+int(e.Length)]
				if _, err = io.ReadFull(parted.Reader(e), content[start:]); err != nil {
					err = fmt.Errorf("temporary file: %w", err)
				}
			}
		}
		if err == nil && goOn() {
			err = w.writePart(content)
		}
	}
	return err
}

// each calls visit with each stored body, in the order in which they came.
func (b *bodies) each(visit func(stored []byte) error) error {
	from := newStoredReader(io.MultiReader(b.spill.All(), bytes.NewReader(b.memory)))
	for {
		stored, err := from.next()
		if err != nil || stored == nil {
			return err
		}
		if err := visit(stored); err != nil {
			return err
		}
	}
}

// storedReader reads stored bodies.
type storedReader struct {
	from   io.Reader
	memory []byte
}

func newStoredReader(from io.Reader) *storedReader {
	return &storedReader{from: bufio.NewReaderSize(from, copyingSize), memory: make([]byte, storedSize)}
}

// next returns the next body, nil at the end.
func (r *storedReader) next() ([]byte, error) {
	r.memory = r.memory[:storedSize]
	if _, err := io.ReadFull(r.from, r.memory); err == io.EOF {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("temporary file: %w", err)
	}
	size := storedLength(r.memory)
	r.memory = slices.Grow(r.memory, size-storedSize)[:size]
	if _, err := io.ReadFull(r.from, r.memory[storedSize:]); err != nil {
		return nil, fmt.Errorf("temporary file: %w", err)
	}
	return r.memory, nil
}

// storedLength returns the length of a stored body.
func storedLength(stored []byte) int {
	return storedSize + int(le32(stored[4:])) + int(le32(stored[8:])) + int(le32(stored[12:]))
}

// bodyWriter writes bodies one after the other.
type bodyWriter struct {
	out    bodyOutputs
	bodies *bodies
	order  *order
	names  []uint32 // the numbers of names in the pack, by those in the builder

	next                  uint32
	rules, notes, records uint64 // bytes so far
}

// writePart writes the bodies of a part.
func (w *bodyWriter) writePart(content []byte) error {
	var all [][]byte
	for len(content) > 0 {
		size := storedLength(content)
		if w.order.ranks[le32(content)] != noBody {
			all = append(all, content[:size])
		}
		content = content[size:]
	}
	slices.SortFunc(all, func(x, y []byte) int { return cmp.Compare(w.order.ranks[le32(x)], w.order.ranks[le32(y)]) })
	for _, stored := range all {
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
	number := le32(stored)
	rules := stored[storedSize:][:le32(stored[4:])]
	notes := stored[storedSize+len(rules):][:le32(stored[8:])]
	records := stored[storedSize+len(rules)+len(notes):]
	matcher.RenumberBody(rules, w.next, func(name uint32) uint32 { return w.names[name] })
	r := w.at()
	r.flags = uint32(w.bodies.known[number].flags)
	r.rules[1] += uint64(len(rules))
	r.notes[1] += uint64(len(notes))
	r.records[1] += uint64(len(records))
	if _, err := w.out.rows.Write(r.append(nil, r.sum(w.next, rules))); err != nil {
		return err
	}
	for _, output := range [...]struct {
		w    io.Writer
		data []byte
	}{{w.out.rules, rules}, {w.out.notes, notes}, {w.out.records, records}, {w.out.digests, w.bodies.digests[number][:]}} {
		if _, err := output.w.Write(output.data); err != nil {
			return err
		}
	}
	w.rules, w.notes, w.records = r.rules[1], r.notes[1], r.records[1]
	w.next++
	return nil
}
