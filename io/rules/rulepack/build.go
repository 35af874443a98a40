package rulepack

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"

	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/runs"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

const (
	// DefaultBuildMemory is the default of BuildOptions.Memory: 512 MiB.
	DefaultBuildMemory = 512 << 20
	// Sorting authorities takes 1/authorityShare of the memory, compiled bodies 1/bodyShare,
	// their bodyMeta 1/metaShare, finding them by digest and then sorting them 1/slotShare
	// each, and the names of agents 1/nameShare, but at least leastNames bytes: a body with
	// names beyond that is kept as its source. The rest is for compiling.
	authorityShare = 3
	bodyShare      = 8
	metaShare      = 4
	slotShare      = 16
	nameShare      = 16
	leastNames     = 4 << 20
)

// BuildOptions say how a pack is made. The zero value is the default.
type BuildOptions struct {
	// Name is what errors call the pack; empty for the name of its file.
	Name string
	// Profile is the profile to compile for; default robotstxt.RFC9309.
	Profile matcher.Profile
	// Limit is how many bytes of a body count (RFC 9309 §2.5). Values below
	// robotstxt.DefaultLimit mean robotstxt.DefaultLimit. The Google profile has no
	// limit.
	Limit int
	// Memory is about how many bytes of memory to use; 0 means DefaultBuildMemory. What
	// does not fit goes to temporary files next to the pack.
	Memory int64
	// History makes a pack with a history, see Entry.History.
	History bool
	// Maker is the program's version; the pack records it.
	Maker string
	// Partition is one of Partitions, which divide the authorities by hash (package
	// partition). The pack gets only this partition's authorities; 0 of 0 takes all.
	Partition, Partitions int
	// Sources keeps the source of all bodies instead of compiling them.
	Sources bool
	// Asked, if not nil, makes a pack for verdicts of these agents alone, which is opened for
	// them and without Explain, Records and Usage: it keeps neither other agents' groups nor
	// notes nor records.
	Asked []matcher.Chain
}

// Entry is what a rules source knows about an authority.
type Entry struct {
	// Authority is a key as urls.Scratch.Split returns it, of at most
	// MaxAuthority bytes.
	Authority []byte
	// Access is the outcome of the fetch of robots.txt (RFC 9309 §2.3.1). access.Unknown
	// stands for an authority that was fetched only after the time that decides: an entry of another
	// source counts instead, and History has what was fetched later.
	Access access.Outcome
	// Body is the body of robots.txt when Access is access.Rules.
	Body []byte
	// Cut: Body is only the beginning of what the server sent.
	Cut bool
	// Kept is Keep's result for the body, and replaces Body and Cut; 0 for none.
	Kept uint64
	// Stale: Body is the last good copy of a robots.txt that has been unreachable for
	// long (RFC 9309 §2.3.1.4).
	Stale bool
	// Status is the HTTP status of the fetch, 0 where it is not known.
	Status uint16
	// Fetched is the time of the fetch in seconds since 1970, 0 where it is not
	// known.
	Fetched uint32
	// History lists what held when, oldest first, for a pack with a history. Its bodies
	// must come from Keep. An entry without a history holds at all times.
	History []access.Interval
	// Captures are those from which the entry was decided, if they cannot be inferred from it; see
	// SetCaptured.
	Captures Captures
	// Source ranks the sources: of several entries for one authority, the one with the
	// lowest Source counts. Before the history of that one begins, the next one counts.
	// A source may add only one entry for each authority.
	Source uint32
}

// Builder makes a rule pack. Add compiles bodies, so call it from several goroutines.
type Builder struct {
	ctx  context.Context // ends the pack
	name string
	out  blob.Writer
	o    BuildOptions

	bodies bodies
	mu     sync.Mutex   // for the following
	queue  *runs.Sorter // the entries, each as queued
	record []byte       // reused for each entry
	source int64        // of the first entry; -1 before it
	mixed  bool         // there are entries of several sources
	err    error        // the first error; see fail
	asOf   uint32

	captured *Captured // nil if no captures are kept
}

// Create starts a pack in the file or object of that name. Until Finish succeeds, an older pack of
// that name remains. When ctx ends, Finish fails with its error.
func Create(ctx context.Context, name string, o BuildOptions) (*Builder, error) {
	if o.Memory <= 0 {
		o.Memory = DefaultBuildMemory
	}
	o.Limit = max(o.Limit, robotstxt.DefaultLimit)
	if o.Profile == robotstxt.Google {
		o.Limit = 0
	}
	var asked *matcher.Agents
	if o.Asked != nil {
		asked = matcher.NewAgents(o.Asked)
	}
	out, err := blob.Create(ctx, name)
	if err != nil {
		return nil, err
	}
	folder := spillFolder(name)
	b := &Builder{ctx: ctx, name: cmp.Or(o.Name, blob.Shown(name)), out: out, o: o, source: -1}
	b.queue = runs.NewSorter(queuedForm, o.Memory/authorityShare, folder)
	b.bodies = bodies{
		profile: o.Profile, budget: budget.New(o.Memory), sources: o.Sources, asked: asked,
		table:   newBodyTable(o.Memory/metaShare, o.Memory/slotShare, folder),
		store:   bodyStore{limit: o.Memory / bodyShare, spill: runs.Spill{Folder: folder}},
		ordered: runs.NewSorter(bodyMetaForm, o.Memory/slotShare, folder),
		names:   dictionary{limit: max(o.Memory/nameShare, leastNames), numbers: make(map[string]uint32)},
	}
	return b, nil
}

// SetAsOf records the time after which no fetch counted, in seconds since 1970. The
// default, 0, means the newest fetch.
func (b *Builder) SetAsOf(seconds uint32) { b.asOf = seconds }

// Folder returns the folder of the builder's temporary files.
func (b *Builder) Folder() string { return b.bodies.store.spill.Folder }

// spillFolder returns the folder for temporary files. It is the pack's own folder, which needs
// room for the pack anyway; for an object or a pipe, the system's temporary folder.
func spillFolder(name string) string {
	if info, err := os.Stat(name); name == blob.Stdio || blob.IsURL(name) || err == nil && !info.Mode().IsRegular() {
		return os.TempDir() // the last is for a pipe or a device
	}
	return filepath.Dir(name)
}

// nameError puts the pack's name before *err if that is not nil.
func (b *Builder) nameError(err *error) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", b.name, *err)
	}
}

// Add adds what is known about an authority; it ignores those of other partitions. It does not
// retain e. After an error for an invalid entry, building may go on without it; after any
// other error Finish fails. Add must not be called after Finish or Abort.
func (b *Builder) Add(e Entry) (err error) {
	defer b.nameError(&err)
	if n := len(e.Authority); n == 0 || n > MaxAuthority {
		return fmt.Errorf("%.80q is not a valid authority: it has %d bytes, and may have %d", e.Authority, n, MaxAuthority)
	}
	if !inPartition(b.o.Partition, b.o.Partitions, e.Authority) {
		return nil
	}
	kept := e.Kept
	if e.Access == access.Rules && kept == 0 {
		if kept, err = b.addBody(e.Body, e.Cut); err != nil {
			return fmt.Errorf("%s: %w", e.Authority, err)
		}
	}
	o := notYet // of an authority that was fetched only later; in a pack with a history, originOf refuses it without one
	if e.Access != access.Unknown || b.o.History && len(e.History) == 0 {
		if o, err = b.originOf(e.Access, kept, e.Stale, e.Status, e.Fetched); err != nil {
			return fmt.Errorf("%s: %w", e.Authority, err)
		}
	}
	var history intervals
	if b.o.History {
		if history, err = b.encodeHistory(&e, o); err != nil {
			return err
		}
	}
	b.mu.Lock()
	if b.source < 0 {
		b.source = int64(e.Source)
	}
	b.mixed = b.mixed || int64(e.Source) != b.source
	b.mu.Unlock()
	return b.enqueue(e.Authority, surtOf(e.Authority), e.Source, o, history, e.Captures)
}

// enqueue queues the entry of an authority, or of another URL (see isElsewhere), for the sort, and marks the
// bodies that it has as used. surt is the start of its reversed host, source as Entry.Source.
func (b *Builder) enqueue(authority []byte, surt surtStart, source uint32, o origin, history intervals, c Captures) error {
	b.mu.Lock()
	b.record = appendQueued(b.record[:0], authority, source, o, history, c)
	q := queued(b.record)
	err := b.queue.Add(q)
	if err == nil {
		err = eachBody(o, history, q.captures(), func(body uint32) error { return b.bodies.usedBy(body, surt) })
	}
	b.mu.Unlock() // fail locks it
	return b.fail(err)
}

// eachBody calls visit with the number of each body of an authority: those of its captures, of
// its origin and of its intervals. A body may be visited twice. The first error of visit ends
// it and is returned.
func eachBody(o origin, history intervals, c queuedCaptures, visit func(body uint32) error) (err error) {
	last := uint32(noBody)          // the body visited before
	visitNew := func(body uint32) { // visits what is a body, and not last again
		if body != noBody && body != last && err == nil {
			err, last = visit(body), body
		}
	}
	for i := range c.count() {
		visitNew(bodyNumber(c.body(i)))
	}
	visitNew(o.body)
	for n := range history.len() {
		visitNew(history.get(n).body)
	}
	return err
}

// originOf returns the origin for the outcome of a fetch. kept is Keep's result for its body, or 0 without
// one. In the origin the body has its number in the builder, in place of where it is in the pack. It refuses
// rules without a body, and an outcome that no fetch has.
func (b *Builder) originOf(a access.Outcome, kept uint64, stale bool, status uint16, fetched uint32) (origin, error) {
	o := origin{body: noBody, fetched: fetched, status: status, outcome: uint8(a)}
	if stale {
		o.flags |= flagStale
	}
	switch {
	case a == access.Rules:
		if kept == 0 {
			return o, errors.New("rules without a body")
		}
		o.body = bodyNumber(kept)
		if kept&keptLimited != 0 {
			o.flags |= flagLimited
		}
	case a == access.Unknown, a == access.Outcomes:
		return o, fmt.Errorf("access %d is no outcome of a fetch", a)
	}
	return o, nil
}

// keptLimited is set in Keep's result if only part of the body counts. The bits below
// it are 1 + the body's number in the builder.
const keptLimited = 1 << 32

func bodyNumber(kept uint64) uint32 { return uint32(kept) - 1 }

// Keep compiles a body before its authority is known; cut says that it is only the
// beginning of what the server sent. It does not retain the body, and is safe for
// concurrent use. A body that no Entry names is left out of the pack.
func (b *Builder) Keep(body []byte, cut bool) (kept uint64, err error) {
	defer b.nameError(&err)
	return b.addBody(body, cut)
}

// addBody compiles the part of a body that counts, unless a body before had the same. kept is
// as Keep returns it.
func (b *Builder) addBody(body []byte, cut bool) (kept uint64, err error) {
	counted, limited := robotstxt.Counted(body, robotstxt.Options{Profile: b.o.Profile, Limit: b.o.Limit, Cut: cut})
	if uint64(len(counted)) > math.MaxUint32 {
		return 0, fmt.Errorf("the body has %d bytes", len(counted))
	}
	number, err := b.bodies.add(counted)
	if err != nil {
		return 0, b.fail(err)
	}
	kept = uint64(number) + 1
	if limited {
		kept |= keptLimited
	}
	return kept, nil
}

// fail records the first error, which Finish returns because the pack would be incomplete, and
// returns err. err may be nil.
func (b *Builder) fail(err error) error {
	if err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.err = cmp.Or(b.err, err)
	}
	return err
}

// Abort discards the pack. It does nothing after Finish.
func (b *Builder) Abort() {
	b.out.Abort()
	b.queue.Close()
	b.bodies.close()
}

// Finish completes the pack and returns its description. After an error, the pack of that name
// is unchanged.
func (b *Builder) Finish() (_ *Info, err error) {
	defer b.Abort()
	defer b.nameError(&err)
	if b.err != nil {
		return nil, b.err
	}
	info := &Info{Version: version, Maker: b.o.Maker, Profile: b.o.Profile, Limit: b.o.Limit, Partition: b.o.Partition, Partitions: b.o.Partitions}
	if b.o.History {
		info.Version = historyVersion
	}
	w := newPackWriter(b.ctx, b.out, info)
	err = b.writeSections(w, info)
	if err == nil {
		err = w.finish()
	}
	if err == nil {
		err = b.out.Close() // the new pack replaces that of the name
	}
	if err != nil {
		return nil, err
	}
	return info, nil
}

// writeSections writes all sections, and sets the counts of info, which the last one has. A body's place
// in the pack must be known before the authorities that have it are written.
func (b *Builder) writeSections(w *packWriter, info *Info) error {
	if b.mixed { // with one source all entries stay, and enqueue has marked their bodies
		if err := b.findUsed(); err != nil {
			return err
		}
	}
	err := b.bodies.store.finish(&b.bodies.table)
	if err == nil {
		err = b.bodies.order(info.addBody)
	}
	if err == nil {
		err = b.writeAuthorities(w, info)
	}
	if err == nil {
		err = b.writeBodies(w)
	}
	if err != nil {
		return err
	}
	if b.asOf != 0 { // else it is the time of the newest fetch, by info.addAuthority
		info.AsOf = int64(b.asOf)
	}
	w.beginSection(metaSection)
	_, err = w.Write(info.append(nil))
	return err
}

// findUsed marks the bodies that the pack's authorities have, and unmarks those of entries that an
// entry of a higher-ranked source replaces. It is a pass of its own, because a body's place depends on
// all bodies that are used, and writing an authority needs the place of its body.
func (b *Builder) findUsed() error {
	all := &b.bodies.table
	for number := range all.n {
		if err := all.update(number, func(k *bodyMeta) { k.used = false }); err != nil {
			return err
		}
	}
	return mergeQueued(b.queue, func(authority queued, history intervals, c queuedCaptures) error {
		if err := context.Cause(b.ctx); err != nil {
			return err
		}
		return eachBody(authority.origin(), history, c, func(body uint32) error {
			return all.update(body, func(k *bodyMeta) { k.used = true })
		})
	})
}

// writeAuthorities writes the buckets of authorities and their directory, and then the
// intervals and the captures if the pack has them. It counts authorities and intervals in
// info.
func (b *Builder) writeAuthorities(w *packWriter, info *Info) error {
	w.beginSection(authoritiesSection)
	buckets := newBucketWriter(w, b.queue.Len())
	if b.o.History {
		buckets.intervals = &intervalWriter{pending: newPending(b.Folder())}
		defer buckets.intervals.spill.Close()
	}
	var captures *captureWriter
	if b.captured != nil {
		captures = &captureWriter{pending: newPending(b.Folder())}
		defer captures.spill.Close()
	}
	err := mergeQueued(b.queue, func(authority queued, history intervals, c queuedCaptures) error {
		if err := context.Cause(b.ctx); err != nil {
			return err
		}
		if err := captures.add(authority.authority(), c, b.bodies.placed); err != nil || isElsewhere(authority.authority()) {
			return err // also of a URL that is no robots.txt: the pack has nothing of it but captures
		}
		o := authority.origin()
		body, err := b.bodies.placed(o.body)
		if err != nil {
			return err
		}
		o.body = body.place
		info.addAuthority(o, body.flags)
		info.Intervals += int64(history.len())
		if err := buckets.add(authority.hash(), o, authority.authority()); err != nil {
			return err
		}
		if err := b.bodies.placeIntervals(history); err != nil {
			return err
		}
		return buckets.intervals.add(history)
	})
	if err == nil {
		err = buckets.finish()
	}
	if err != nil {
		return err
	}
	b.queue.Close() // frees its memory and file for the bodies
	w.beginSection(directorySection)
	if err := binary.Write(w, binary.LittleEndian, buckets.directory); err != nil {
		return err
	}
	if err := buckets.intervals.write(w); err != nil {
		return err
	}
	return captures.write(w, b.captured, &b.bodies)
}

// writeBodies writes the rules of all bodies, their notes, records, rows and digests, and the
// names of agents, each as a section. Bodies are written in one pass, so that all sections but the rules
// wait in temporary files.
func (b *Builder) writeBodies(w *packWriter) error {
	sections := [...]int{notesSection, recordsSection, bodiesSection, digestsSection}
	var waiting [len(sections)]*pending // the contents of sections, until the rules are written
	for i := range waiting {
		waiting[i] = newPending(b.Folder())
		defer waiting[i].spill.Close()
	}
	names, numbers := b.bodies.names.sorted()
	w.beginSection(rulesSection)
	err := b.bodies.write(b.ctx, bodyOutputs{rules: w, notes: waiting[0], records: waiting[1], rows: waiting[2], digests: waiting[3]}, numbers)
	for i := range waiting {
		if err == nil {
			w.beginSection(sections[i])
			err = waiting[i].copyTo(w)
		}
	}
	if err != nil {
		return err
	}
	w.beginSection(namesSection)
	return b.bodies.names.write(w, names)
}

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
		case len(m.first) == 0: // nothing comes before it
		case m.first.hash() != q.hash() || !bytes.Equal(m.first.authority(), q.authority()): // a new authority begins
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

// add adds a copy of the authority's next entry, which is of a lower-ranked source: where earlier entries
// say something, that counts.
func (m *merged) add(q queued) {
	if len(m.first) == 0 || m.first.origin().isNotYet() { // no entry has an origin yet
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
