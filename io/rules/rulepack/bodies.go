package rulepack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"robotsbatch/batch"
	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/runs"
	"robotsbatch/matcher"
	"robotsbatch/matcher/domains"
	"robotsbatch/matcher/robotstxt"
)

// A body's row in the section bodies:
//
//	 0  u64  where its rules start in their section, a multiple of
//	         matcher.BodyAlignment; they end where those of the next row start
//	 8  u64  where its notes start in theirs, and end in the same way
//	16  u64  where its records start in theirs, and end in the same way
//	24  u32  checksum of the row, the body's number and its rules; see sum
//	28  u8   flags
//	29  u24  length of the source, at most maxLength
//
// The last row belongs to no body and has only the ends. Lookups need no row: an authority's
// origin has the place of the rules. Bodies are in the order of the authorities that use
// them, by reversed host, so that a list in this order reads the rules from front to back.
const rowSize = 32

// Flags of a body.
const (
	// bodySource: the body is kept as its source, because its groups overlap too much
	// to be compiled for all agents, because it is larger than largestCompiled, or because
	// this pack compiles none.
	bodySource = 1 << iota
	// bodyStatements: the body's records have statements.
	bodyStatements
	// The next bits are the robotstxt.BodyKind.
	bodyKindBit = iota
	// lengthBit is the first bit of the length, read together with the flags as a u32.
	lengthBit = 8
)

// kindOf returns a body's kind from its flags.
func kindOf(flags uint32) robotstxt.BodyKind { return robotstxt.BodyKind(uint8(flags) >> bodyKindBit) }

// maxLength is the greatest length of a source in a row.
const maxLength = 1<<24 - 1

// bodyRow is a body's row, with the ends taken from the next row.
type bodyRow struct {
	rules, notes, records [2]uint64 // start and end
	checksum              uint32
	flags                 uint32 // with the length, from lengthBit on
}

// readRow decodes the row of the body with an index, number, from the section bodies, rows. The ends
// are the starts in the next row: there is one row more than there are bodies.
func readRow(rows []byte, number uint32) bodyRow {
	b := rows[rowSize*int64(number):]
	next := b[rowSize:]
	return bodyRow{
		rules:    [2]uint64{le64(b), le64(next)},
		notes:    [2]uint64{le64(b[8:]), le64(next[8:])},
		records:  [2]uint64{le64(b[16:]), le64(next[16:])},
		checksum: le32(b[24:]),
		flags:    le32(b[28:]),
	}
}

// append appends the row to b. It writes the starts alone, because the ends are the starts in
// the next row.
func (r bodyRow) append(b []byte, checksum uint32) []byte {
	return append32(append64(b, r.rules[0], r.notes[0], r.records[0]), checksum, r.flags)
}

// sum returns the checksum of a row. It covers the number and the offsets, so that one
// body's data cannot pass for another's.
func (r bodyRow) sum(number uint32, rules []byte) uint32 {
	b := append32(make([]byte, 0, 8+3*16), number, r.flags)
	b = append64(b, r.rules[0], r.rules[1], r.notes[0], r.notes[1], r.records[0], r.records[1])
	return updateChecksum(checksum(b), rules)
}

const (
	largeBody = 64 << 10 // bytes; the workspace of a larger one is too large to keep
	// largestCompiled is the most bytes of a body that is not kept as its source alone.
	// What is decompressed of a body is bounded by it, whatever limit a pack says it has.
	largestCompiled = 1 << 20
)

// bodies collects the distinct bodies.
type bodies struct {
	profile matcher.Profile
	sources bool // compile none
	budget  *budget.Budget
	asked   *matcher.Agents // BuildOptions.Asked; nil for all agents, with notes and records
	names   dictionary

	mu       sync.Mutex // for the following
	table    bodyTable
	store    bodyStore
	ordered  *runs.Sorter // the bodyMeta of those that are used, in the pack's order; see order
	payloads bool         // a used one has a payload's name; set by order

	workspaces sync.Pool // of *workspace, for bodies that are not large
}

// workspace is reused memory in which bodies are parsed and compiled.
type workspace struct {
	parser   robotstxt.Parser
	compiler matcher.Compiler
	stored   []byte
	rules    []byte
	notes    []byte
	blobs    []byte // notes and records
}

// surtStart is the first 24 bytes of a host with its labels reversed. Bodies are sorted by it,
// so that the bodies of hosts under one domain are neighbours.
type surtStart [24]byte

// noSURT is greater than every host's.
var noSURT = surtStart(bytes.Repeat([]byte{0xFF}, len(surtStart{})))

// surtOf returns the first bytes of an authority's host with its labels reversed.
func surtOf(authority []byte) (s surtStart) {
	var memory [MaxAuthority + 8]byte
	copy(s[:], domains.AppendSURT(memory[:0], domains.Host(authority)))
	return s
}

// add returns the number of a body, and compiles and stores the body if it is new. counted is
// the part of the body that the size limit leaves.
func (b *bodies) add(counted []byte) (number uint32, err error) {
	number, exists, err := b.numberOf(sha256.Sum256(counted), uint32(len(counted)))
	if exists || err != nil {
		return number, err
	}
	return number, b.compile(number, counted)
}

// numberOf returns the number of the body with a digest. If no body has it, exists is false,
// and the body gets the next number. length is its size in bytes.
func (b *bodies) numberOf(d digest, length uint32) (number uint32, exists bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	number, slot, err := b.table.find(&d)
	switch {
	case err != nil:
		return 0, false, err
	case number != noBody:
		return number, true, nil
	case b.table.n == noBody:
		return 0, false, fmt.Errorf("more than %d distinct bodies", uint32(noBody))
	}
	number = b.table.n
	return number, false, b.table.add(slot, &d, length)
}

// usedBy records that an authority has a body, so that the pack keeps it. host is the start of
// the authority's reversed host: the least one decides where the body lies in the pack.
func (b *bodies) usedBy(number uint32, host surtStart) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.table.update(number, func(k *bodyMeta) {
		k.used = true
		if bytes.Compare(host[:], k.first[:]) < 0 {
			k.first = host
		}
	})
}

// compile compiles a body and stores it under its number with its notes and records, or stores the text
// itself if compileAll returns nil. counted is as in add. A pack for some agents alone has no records.
func (b *bodies) compile(number uint32, counted []byte) error {
	w, _ := b.workspaces.Get().(*workspace)
	if w == nil {
		w = &workspace{compiler: matcher.Compiler{Asked: b.asked}}
	}
	if len(counted) <= largeBody { // else it becomes too large to be kept
		defer b.workspaces.Put(w)
	}
	done, err := batch.Compiling(b.budget, counted)
	if err != nil {
		return err
	}
	defer done()
	f := w.parser.Parse(counted, robotstxt.Options{Profile: b.profile, Limit: len(counted)})
	flags := uint8(f.Kind) << bodyKindBit
	rules, notes := w.rules[:0], w.notes[:0]
	if compiled, numbers := b.compileAll(w, f, len(counted)); compiled != nil {
		rules = compiled.AppendRules(rules)
		// The names get their numbers in b.names. The body's own number is 0 until bodyWriter.write sets it.
		matcher.RenumberBody(rules, 0, func(name uint32) uint32 { return numbers[name] })
		notes = compiled.AppendNotes(notes)
	} else {
		flags |= bodySource
		rules = matcher.AppendSource(rules, f, counted)
	}
	if len(f.Statements) > 0 {
		flags |= bodyStatements
	}
	for len(rules)%matcher.BodyAlignment != 0 {
		rules = append(rules, 0)
	}
	blobs := appendBlob(w.blobs[:0], notes) // notes and then records
	notesSize := len(blobs)
	if b.asked == nil && len(counted) <= largestCompiled { // records of larger ones are read from their source
		blobs = appendBlob(blobs, recordsOf(f).append(nil))
	}
	w.rules, w.notes, w.blobs = rules, notes, blobs // they may have grown
	w.stored = appendStored(w.stored[:0], rules, blobs[:notesSize], blobs[notesSize:])
	return b.saveCompiled(number, w.stored, flags)
}

// compileAll compiles a body of size bytes for all agents, or for those of a pack for some agents alone.
// numbers[i] is the number, in b.names, of the i-th name of compiled. It returns nil for a body that is
// stored as text: because all are, or because it is too large, its groups overlap too much, or it has more
// names than the memory holds.
func (b *bodies) compileAll(w *workspace, f *robotstxt.File, size int) (compiled *matcher.Body, numbers []uint32) {
	if b.sources {
		return nil, nil
	}
	ok := size <= largestCompiled
	if ok {
		compiled, ok = w.compiler.CompileBody(f)
	}
	if !ok {
		b.names.add(namesIn(f)) // for Pack.Names and HasName alone, which lack them if there is no memory
		return nil, nil
	}
	numbers, ok = b.names.add(slices.Collect(compiled.Names()))
	if !ok {
		return nil, nil
	}
	return compiled, numbers
}

// namesIn returns the distinct agent names in the user-agent lines of f, in lower case and in
// file order.
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

// saveCompiled stores a copy of a compiled body, encoded by appendStored, and its flags.
func (b *bodies) saveCompiled(number uint32, stored []byte, flags uint8) error {
	if uint64(len(stored)) > math.MaxUint32 {
		return fmt.Errorf("the compiled body has %d bytes", len(stored))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.table.update(number, func(k *bodyMeta) { k.units, k.flags = le32(stored)/matcher.BodyAlignment, flags })
	if err != nil {
		return err
	}
	return b.store.add(number, stored, &b.table)
}

// order sorts the bodies that authorities have into the pack's order and sets the place of
// each. It calls visit for each in that order. No body can be added afterwards.
func (b *bodies) order(visit func(k *bodyMeta)) error {
	b.table.slots.free() // only adding needs them
	for number := range b.table.n {
		r, err := b.table.metas.record(int(number), toRead)
		if err == nil && readBodyMeta(r).used { // the pack leaves out the others
			err = b.ordered.Add(r)
		}
		if err != nil {
			return err
		}
	}
	place := uint64(0) // of the next body, in matcher.BodyAlignment bytes
	return b.each(func(k *bodyMeta) error {
		if place >= noBody {
			return fmt.Errorf("the bodies have more than %d bytes", uint64(math.MaxUint32)*matcher.BodyAlignment)
		}
		visit(k)
		b.payloads = b.payloads || k.payload != 0
		err := b.table.update(k.number, func(k *bodyMeta) { k.place = uint32(place) })
		place += uint64(k.units)
		return err
	})
}

// each calls visit with the bodyMeta of each body that is used, in the pack's order, but without
// the place. order must have been called.
func (b *bodies) each(visit func(k *bodyMeta) error) error {
	return b.ordered.Merge(func(record []byte) error {
		k := readBodyMeta(record)
		return visit(&k)
	})
}

// placed returns the bodyMeta of a body, with its place: order must have been called. The place
// of noBody is noBody.
func (b *bodies) placed(number uint32) (bodyMeta, error) {
	if number == noBody {
		return bodyMeta{place: noBody}, nil
	}
	return b.table.get(number)
}

// placeIntervals replaces, in the intervals themselves, each body's number by its place.
func (b *bodies) placeIntervals(history intervals) error {
	rows := history.rows[:0]
	for n := range history.len() {
		i := history.get(n)
		body, err := b.placed(i.body)
		if err != nil {
			return err
		}
		i.body = body.place
		rows = i.appendTo(rows)
	}
	return nil
}

func (b *bodies) close() {
	b.table.close()
	b.ordered.Close()
	b.store.spill.Close()
}

// bodyOutputs are where bodies are written to.
type bodyOutputs struct {
	rules, notes, records, rows, digests io.Writer
}

// write writes all bodies that authorities have, in the pack's order, until ctx ends. names has
// the number of a name in the pack by its number in the builder.
func (b *bodies) write(ctx context.Context, out bodyOutputs, names []uint32) error {
	w := bodyWriter{out: out, names: names}
	err := b.store.each(b.each, func(k *bodyMeta, stored []byte) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		return w.write(k, stored)
	})
	if err != nil {
		return err
	}
	_, err = out.rows.Write(w.row.append(nil, 0)) // the last row, which has only the ends
	return err
}

// bodyWriter writes bodies one after the other.
type bodyWriter struct {
	out   bodyOutputs
	names []uint32 // the numbers of names in the pack, by those in the builder

	next uint32  // number of the next body in the pack
	row  bodyRow // its row so far: where its rules, notes and records start, as their start and end
}

// write writes one body, its row and its digest. stored is as appendStored made it; write changes it: it
// replaces the numbers of the body and of names.
func (w *bodyWriter) write(k *bodyMeta, stored []byte) error {
	rules := stored[storedSize:][:le32(stored)]
	notes := stored[storedSize+len(rules):][:le32(stored[4:])]
	records := stored[storedSize+len(rules)+len(notes):]
	matcher.RenumberBody(rules, w.next, func(name uint32) uint32 { return w.names[name] })
	r := w.row
	r.flags = uint32(k.flags) | min(k.length, maxLength)<<lengthBit
	r.rules[1] += uint64(len(rules))
	r.notes[1] += uint64(len(notes))
	r.records[1] += uint64(len(records))
	for _, output := range [...]struct {
		w    io.Writer
		data []byte
	}{{w.out.rows, r.append(nil, r.sum(w.next, rules))}, {w.out.rules, rules}, {w.out.notes, notes}, {w.out.records, records}, {w.out.digests, k.digest[:]}} {
		if _, err := output.w.Write(output.data); err != nil {
			return err
		}
	}
	// The next body starts where this one ends.
	w.row.rules, w.row.notes, w.row.records = [2]uint64{r.rules[1], r.rules[1]}, [2]uint64{r.notes[1], r.notes[1]}, [2]uint64{r.records[1], r.records[1]}
	w.next++
	return nil
}
