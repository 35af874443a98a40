package rulepack

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"runtime/debug"
	"slices"
	"sort"

	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// The section captures has what a pack with more captures is made of:
//
//	 0  u32  flags: the two bits of access.Policy, capturesLater, capturesPayloads, capturesWhole
//	 4  u32  Captured.Newest
//	 8  u32  number of sources
//	12  u8   for each: its SourceKind
//	    u64  with capturesPayloads, for each body: Builder.Payload, 0 for none
//	         the captures, in the order of the authorities, numbers as varints: how many
//	         authorities there are since the last entry; 0 for a URL that is no robots.txt,
//	         whose key of keySize bytes follows. Then the rows, after their length, and the
//	         bodies, after their number: each as twice its place, plus 1 if it was cut
//
// With a single source, an authority without an entry has the captures that its origin or its
// intervals tell; see Known.
const (
	capturesAllow429 = 1 << iota
	capturesDenyUnresolved
	capturesLater
	capturesPayloads
	capturesWhole

	capturesHeaderSize = 12
	keySize            = 16
)

// Captured describes the captures that a pack was made of.
type Captured struct {
	// Policy is what they were judged by.
	Policy access.Policy
	// Later says that some captures are after the time that decides, and were left out.
	Later bool
	// Dropped says that the pack does not keep the captures of some URLs that are no robots.txt.
	// It is true for a pack without the flag capturesWhole.
	Dropped bool
	// Newest is the time of the newest one in seconds since 1970; 0 if unknown.
	Newest uint32
	// Sources are the sources, the first of which has precedence.
	Sources []SourceKind
}

// SourceKind is what a source of a pack is.
type SourceKind byte

// The kinds of sources: files of captures, a folder of robots.txt files, and fetches that were
// asked for, which are treated like captures.
const (
	CapturesSource SourceKind = iota
	FolderSource
	AskedSource
	sourceKinds
)

// Captures are some captures of a URL in a form that only those who add them know.
type Captures struct {
	Rows []byte
	// Bodies are those that the rows name by their index here, as Keep returned them.
	Bodies []uint64
}

// Known is what a pack keeps of a URL's captures.
type Known struct {
	// Authority is set for a robots.txt, and Key, as AddElsewhere got it, for another URL.
	Authority, Key []byte
	Captures
	// Intervals stand for captures that have no Rows: those of a pack with a history, or one
	// with the fetch that decides.
	Intervals []access.Interval
}

// SetCaptured makes the pack keep Entry.Captures.
func (b *Builder) SetCaptured(c Captured) { b.captured = &c }

// AddElsewhere adds the captures of a URL that is no robots.txt, such as a redirect's target.
// key identifies the URL for the caller.
func (b *Builder) AddElsewhere(key [keySize]byte, c Captures) error {
	return b.enqueue(append([]byte{0}, key[:]...), noSURT, 0, unknown, intervals{}, c)
}

// isElsewhere reports whether the text of a queued entry is the key of a URL added by
// AddElsewhere, and not an authority.
func isElsewhere(authority []byte) bool { return authority[0] == 0 }

// Payload records that a body has the payload name. Of several names it keeps the least. kept
// is Keep's result for the body. Finish reports errors.
func (b *Builder) Payload(kept, name uint64) {
	b.bodies.mu.Lock()
	err := b.bodies.table.update(bodyNumber(kept), func(k *bodyMeta) {
		if k.payload == 0 || name < k.payload {
			k.payload = name
		}
	})
	b.bodies.mu.Unlock()
	_ = b.fail(err) // an error shows at Finish
}

// captureWriter writes the captures to a temporary file. It is nil for a pack that keeps none.
type captureWriter struct {
	*pending
	passed uint64 // authorities since the last entry
	record []byte // reused for each entry
}

// add writes the entry of a queued authority or other URL; nothing if it has no captures. It must be
// called for each authority, in the pack's order. placed is bodies.placed, which returns where a body is in
// the pack.
func (w *captureWriter) add(authority []byte, c queuedCaptures, placed func(number uint32) (bodyMeta, error)) error {
	if w == nil {
		return nil
	}
	w.passed++
	if len(c) == 0 {
		return nil
	}
	r := w.record[:0]
	if isElsewhere(authority) {
		w.passed-- // it is no authority
		r = append(append(r, 0), authority[1:]...)
	} else {
		r = binary.AppendUvarint(r, w.passed)
		w.passed = 0
	}
	rows := c.rows()
	r = append(binary.AppendUvarint(r, uint64(len(rows))), rows...)
	r = binary.AppendUvarint(r, uint64(c.count()))
	for i := range c.count() {
		kept := c.body(i)
		body, err := placed(bodyNumber(kept))
		if err != nil {
			return err
		}
		r = binary.AppendUvarint(r, uint64(body.place)<<1|kept/keptLimited) // the last bit: it was cut
	}
	w.record = r
	_, err := w.Write(r)
	return err
}

// write writes the section captures: its head, the names of payloads if any body has one, and
// the entries.
func (w *captureWriter) write(p *packWriter, c *Captured, all *bodies) error {
	if w == nil {
		return nil
	}
	flags := uint32(0) // in the order of capturesAllow429 and the flags after it
	for i, set := range [...]bool{c.Policy.Allow429, c.Policy.DenyUnresolved, c.Later, all.payloads, !c.Dropped} {
		if set {
			flags |= 1 << i
		}
	}
	head := append32(nil, flags, c.Newest, uint32(len(c.Sources)))
	for _, kind := range c.Sources {
		head = append(head, byte(kind))
	}
	p.beginSection(capturesSection)
	_, _ = p.Write(head) // an error stays
	if all.payloads {
		err := all.each(func(k *bodyMeta) error {
			_, err := p.Write(append64(head[:0], k.payload)) // head is written, so its memory is free
			return err
		})
		if err != nil {
			return err
		}
	}
	return w.copyTo(p)
}

// Captured returns the description of the captures that the pack was made of; nil for a pack
// that keeps none.
func (p *Pack) Captured() (_ *Captured, err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	c, _, _, err := p.captureSection()
	return c, err
}

// captureSection splits the section captures, whose layout is at the top of this file, into its head, the
// names of payloads (8 bytes a body, nil if no body has one) and the entries. All are nil if the pack has no
// such section. The slices point into the mapped file.
func (p *Pack) captureSection() (c *Captured, payloads, entries []byte, err error) {
	s := p.file.table[capturesSection]
	if !s.found {
		return nil, nil, nil, nil
	}
	data := s.data
	if len(data) < capturesHeaderSize || uint64(le32(data[8:])) > uint64(len(data)-capturesHeaderSize) {
		return nil, nil, nil, p.damaged("captures: the head")
	}
	flags := le32(data)
	c = &Captured{
		Policy: access.Policy{Allow429: flags&capturesAllow429 != 0, DenyUnresolved: flags&capturesDenyUnresolved != 0},
		Later:  flags&capturesLater != 0, Dropped: flags&capturesWhole == 0, Newest: le32(data[4:]), Sources: make([]SourceKind, le32(data[8:])),
	}
	data = data[capturesHeaderSize:]
	for i := range c.Sources {
		if c.Sources[i] = SourceKind(data[i]); c.Sources[i] >= sourceKinds {
			return nil, nil, nil, p.damaged("captures: the sources")
		}
	}
	data = data[len(c.Sources):]
	if flags&capturesPayloads != 0 {
		if size := 8 * uint64(p.bodies); size <= uint64(len(data)) {
			return c, data[:size], data[size:], nil
		}
		return nil, nil, nil, p.damaged("captures: the payloads")
	}
	return c, nil, data, nil
}

// captureEntry is an entry of the section captures. Each of its Bodies is a body's place, plus
// keptLimited if the body was cut.
type captureEntry struct {
	passed uint64 // authorities since the last entry, this one's included; 0 with a key
	key    []byte // of a URL that is no robots.txt
	Captures
}

// read decodes the first entry of data and returns what follows it. Rows and the key point
// into data. ok is false for a damaged entry.
func (e *captureEntry) read(data []byte) (rest []byte, ok bool) {
	x := recordReader{data: data}
	e.key = nil
	if e.passed = x.varint(); e.passed == 0 {
		e.key = x.bytes(keySize)
	}
	e.Rows, e.Bodies = x.bytes(x.length()), e.Bodies[:0]
	for range x.length() {
		body := x.varint() // twice the place, plus 1 if it was cut
		e.Bodies = append(e.Bodies, uint64(uint32(body>>1))|body&1*keptLimited)
	}
	return x.data, !x.broken && len(e.Rows) > 0
}

// eachCaptureEntry calls visit with each entry of the section captures, until visit returns an
// error. The entry is valid until visit returns.
func (p *Pack) eachCaptureEntry(visit func(e *captureEntry) error) error {
	_, _, data, err := p.captureSection()
	var e captureEntry
	for ok := true; err == nil && len(data) > 0; {
		if data, ok = e.read(data); !ok {
			return p.damaged("captures")
		}
		err = visit(&e)
	}
	return err
}

// AddPack adds the bodies of pack p, and no authorities: it calls visit for each URL of which p keeps
// captures, whose bodies are numbered as Keep numbers them. Before that it calls payload for each body
// that has a payload name. What visit gets is valid until it returns.
func (b *Builder) AddPack(p *Pack, payload func(kept, name uint64), visit func(*Known) error) (err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	if err := p.verifyChecksums(); err != nil {
		return err
	}
	advise(p.file.data, inOrder)
	c, payloads, entries, err := p.captureSection()
	if err != nil {
		return err
	}
	if err := b.addBodiesOf(p); err != nil {
		return err
	}
	for i := 0; i < len(payloads); i += 8 { // a u64 for each body
		if name := le64(payloads[i:]); name != 0 {
			kept, err := b.keptOf(p, uint32(i/8))
			if err != nil {
				return err
			}
			payload(kept, name)
		}
	}
	return p.eachKnown(b.ctx, b, c, entries, visit)
}

// EachKnown calls visit for each URL of which the pack keeps captures. Bodies have numbers
// that no builder knows. It returns an error if an authority's status contradicts its outcome.
func (p *Pack) EachKnown(ctx context.Context, visit func(*Known) error) (err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	c, _, entries, err := p.captureSection()
	if c == nil || err != nil {
		return err
	}
	return p.eachKnown(ctx, nil, c, entries, visit)
}

// eachKnown calls visit for each URL of which the pack keeps captures. Bodies get their
// numbers in b, to which they were added; if b is nil, those in the pack. c is the head of the
// section captures and entries its entries.
func (p *Pack) eachKnown(ctx context.Context, b *Builder, c *Captured, entries []byte, visit func(*Known) error) error {
	// Of several sources it is not known whose fetch an interval is of.
	t := captureWalk{builder: b, pack: p, rest: entries, visit: visit, policy: c.Policy, inferred: len(c.Sources) == 1}
	dropped := uint64(0) // see dropPagesAt
	for number := range p.buckets {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		p.file.dropPagesAt(p.start(number), &dropped)
		bucket, err := p.bucket(number, p.start(number))
		for i := 0; err == nil && i < bucket.count(); i++ {
			err = t.visitAuthority(number, bucket, i)
		}
		if err != nil {
			return err
		}
	}
	err := t.loadEntry() // visits what follows the last authority
	if err == nil && t.loaded {
		err = p.damaged("captures: some are of no authority")
	}
	return err
}

// captureWalk visits the authorities of a pack together with the entries that the section
// captures has for some of them.
type captureWalk struct {
	builder  *Builder // numbers the bodies; nil: they keep their numbers
	pack     *Pack
	policy   access.Policy
	inferred bool // an authority without an entry has the captures that its intervals imply
	visit    func(*Known) error

	rest    []byte       // entries that are not decoded yet
	entry   captureEntry // of the next authority that has one, if loaded
	loaded  bool
	passed  uint64   // authorities since the last one with an entry
	known   Known    // what visit gets; reused
	fetches []uint32 // memory of known's Intervals' Times
	// lastKept is the body, as Keep numbers it, of the last fetch with rules so far of the
	// authority that is visited; 0 for none.
	lastKept uint64
}

// loadEntry decodes the entry of the next authority that has one, with bodies as Keep numbers them, unless it
// is loaded, and visits the entries of other URLs before it. If no authority after these has one, loaded stays
// false.
func (t *captureWalk) loadEntry() error {
	for !t.loaded && len(t.rest) > 0 {
		var ok bool
		if t.rest, ok = t.entry.read(t.rest); !ok {
			return t.pack.damaged("captures")
		}
		for i, body := range t.entry.Bodies {
			kept, err := t.bodyAt(uint32(body), body >= keptLimited)
			if err != nil {
				return err
			}
			t.entry.Bodies[i] = kept
		}
		if t.loaded = t.entry.key == nil; !t.loaded {
			if err := t.visit(&Known{Key: t.entry.key, Captures: t.entry.Captures}); err != nil {
				return err
			}
		}
	}
	return nil
}

// visitAuthority visits authority i of bucket b, whose index is number, with the captures of
// its entry or the intervals that stand for them.
func (t *captureWalk) visitAuthority(number uint32, b bucket, i int) error {
	if err := t.loadEntry(); err != nil {
		return err
	}
	k := &t.known
	*k = Known{Authority: b.appendAuthority(k.Authority[:0], i), Intervals: k.Intervals[:0]}
	t.passed++
	if t.loaded && t.passed == t.entry.passed { // the entry is this authority's
		t.passed, t.loaded = 0, false
		k.Captures = t.entry.Captures
		return t.visit(k)
	}
	if !t.inferred { // the pack keeps no captures of it
		return nil
	}
	t.lastKept, t.fetches = 0, t.fetches[:0]
	if !t.pack.info.History {
		if err := t.addInterval(interval{seen: b.origin(i).fetched, origin: b.origin(i)}, nil); err != nil {
			return err
		}
		return t.visit(k)
	}
	all, err := t.pack.intervalsOf(number, b, i)
	if err != nil {
		return err
	}
	for n := range all.len() {
		times, ok := within(all.times, all.timesOf(n))
		if !ok {
			return t.pack.damaged("intervals of bucket %d", number)
		}
		if err := t.addInterval(all.get(n), times); err != nil {
			return err
		}
	}
	return t.visit(k)
}

// addInterval adds an interval to those of the authority that is visited, with the times of all
// its fetches. times are, encoded, those between the first and the last. It returns an error if
// the captures cannot be inferred from the interval.
func (t *captureWalk) addInterval(x interval, times []byte) (err error) {
	o := x.origin
	if !t.pack.isValid(o) {
		return t.pack.damaged("what it says of %q", t.known.Authority)
	}
	i := access.Interval{
		From: x.from, Fetched: o.fetched, Seen: x.seen, Access: access.Outcome(o.outcome),
		Stale: o.flags&flagStale != 0, Status: o.status,
	}
	if i.Access == access.Rules {
		if i.Kept, err = t.bodyAt(o.body, o.flags&flagLimited != 0); err != nil {
			return err
		}
	}
	if !t.infer(&i) {
		return t.pack.damaged("what it says of %q is not what status %d means", t.known.Authority, i.Status)
	}
	start := len(t.fetches) // of the interval's times
	t.fetches = slices.AppendSeq(append(t.fetches, i.Fetched), eachTime(times, i.Fetched))
	if i.Seen != i.Fetched {
		t.fetches = append(t.fetches, i.Seen)
	}
	i.Times = t.fetches[start:]
	t.known.Intervals = append(t.known.Intervals, i)
	return nil
}

// infer reports whether the captures of the next interval of an authority without an entry can be inferred,
// and sets lastKept. False means damage: the outcome is not what the status means after the intervals before.
// A stale copy and a redirect with a target depend on other captures, and so have an entry; a redirect without
// one leads nowhere.
func (t *captureWalk) infer(i *access.Interval) bool {
	hasRules := i.Access == access.Rules // with status 0: of a body without a status
	f := access.Fetch{Status: int(i.Status), Failed: i.Status == 0 && !hasRules, Renewed: t.lastKept != 0}
	switch {
	case i.Stale:
		return false
	case !t.policy.Answers(f):
		return i.Access.InOutage()
	case i.Status == access.NotModified:
		return hasRules && i.Kept == t.lastKept
	}
	if hasRules {
		t.lastKept = i.Kept
	}
	return i.Access == t.policy.Outcome(f, access.Unknown)
}

// bodyAt returns the body that starts at a place of the pack, as Keep numbers it. limited says
// that only part of the body counts.
func (t *captureWalk) bodyAt(place uint32, limited bool) (kept uint64, err error) {
	// A search in the rows, which are in the order of places. The body's own head has its
	// number too, but to read the heads of all bodies is to read most pages of the rules.
	number, ok := sort.Find(int(t.pack.bodies), func(i int) int {
		return cmp.Compare(uint64(place)*matcher.BodyAlignment, readRow(t.pack.rows, uint32(i)).rules[0])
	})
	if !ok {
		return 0, t.pack.damaged("body at %d: there is none", uint64(place)*matcher.BodyAlignment)
	}
	kept = uint64(number) + 1
	if t.builder != nil {
		kept, err = t.builder.keptOf(t.pack, uint32(number))
	}
	if limited {
		kept |= keptLimited
	}
	return kept, err
}

// keptOf returns what Keep would return for the body with that index in p. All bodies of p
// must have been added.
func (b *Builder) keptOf(p *Pack, number uint32) (kept uint64, err error) {
	d, err := p.digest(number)
	if err != nil {
		return 0, err
	}
	b.bodies.mu.Lock()
	found, _, err := b.bodies.table.find(&d)
	b.bodies.mu.Unlock()
	if err == nil && found == noBody {
		return 0, p.damaged("body %d has another digest", number)
	}
	return uint64(found) + 1, b.fail(err)
}

// addBodiesOf adds all bodies of a pack in compiled form.
func (b *Builder) addBodiesOf(p *Pack) error {
	names := make([]uint32, p.names.count()) // 1 + the number in the builder
	dropped := uint64(0)                     // see dropPagesAt
	for number := range p.bodies {
		if err := context.Cause(b.ctx); err != nil {
			return err
		}
		p.file.dropPagesAt(readRow(p.rows, number).rules[0], &dropped)
		if err := b.addBodyOf(p, number, names); err != nil {
			return err
		}
	}
	return nil
}

// addBodyOf adds the body with that index in p as p has it, compiled; one that p keeps as its source is
// compiled again. names has, for each name in p, 1 + its number in the builder, or 0 if it has none yet;
// addBodyOf sets those that it adds.
func (b *Builder) addBodyOf(p *Pack, number uint32, names []uint32) error {
	rules, r, err := p.bodyRules(number)
	if err != nil {
		return err
	}
	if r.flags&bodySource != 0 {
		source, err := p.source(rules, number)
		if err != nil {
			return err
		}
		_, err = b.bodies.add(source)
		return b.fail(err)
	}
	notes, ok := within(p.notes, r.notes)
	records, ok2 := within(p.records, r.records)
	if !ok || !ok2 || len(rules)%matcher.BodyAlignment != 0 {
		return p.damaged("body %d lies outside", number)
	}
	digest, err := p.digest(number)
	if err != nil {
		return err
	}
	taken, exists, err := b.bodies.numberOf(digest, r.flags>>lengthBit)
	if exists || err != nil {
		return b.fail(err)
	}
	stored := appendStored(nil, rules, notes, records)
	if err := b.bodies.names.addCompiled(stored[storedSize:], p.names, names); err != nil {
		return b.fail(fmt.Errorf("%s: body %d: %w", p.name, number, err))
	}
	return b.fail(b.bodies.saveCompiled(taken, stored, uint8(r.flags)))
}
