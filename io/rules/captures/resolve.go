package captures

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"time"

	"robotsbatch/io/store/runs"
	"robotsbatch/matcher/access"
)

// Decision says what decides about an authority.
type Decision struct {
	// Authority is a key as urls.Scratch.Split returns it.
	Authority []byte
	// Access is the outcome. It is access.Unknown for an authority whose captures are all after the
	// time that decides. Fetched is then the time of the first one, and History has that one alone,
	// as access.Cut if it is a redirect.
	Access access.Outcome
	// Kept is the body's number from Bodies, if Access is access.Rules.
	Kept uint64
	// Stale says that the body is a last good copy (RFC 9309 §2.3.1.4).
	Stale bool
	// Status and Fetched are those of the deciding capture, which may be a redirect; 0
	// and the zero time if unknown.
	Status  uint16
	Fetched time.Time
	// Source is the source of this capture.
	Source int
	// History is what decided when, oldest first; nil without a history. It is valid
	// until emit returns.
	History []access.Interval
	// Captures are those to keep for a later Set, if Options.Keep is set. A decision about a URL that
	// is no robots.txt has nothing but these and URL, its key.
	Captures Kept
	URL      [16]byte
}

// change is the outcome of a URL's captures from a second on.
type change struct {
	kept       uint64
	from       uint32 // as access.Interval.From
	access     access.Outcome
	stale      bool
	dropped    bool // access is DisallowAll, because what decides is gone
	unresolved bool // access is the policy's for a redirect without a known target
}

// targetChanges holds the changes of each redirect target by the target's index in wanted.
type targetChanges struct {
	changes []change
	places  []changesPlace
}

// changesPlace says where the changes of a target are in targetChanges.changes.
type changesPlace struct{ start, count uint32 }

// of returns the changes of the URL with an index in Set.wanted, oldest first; none for a URL
// without captures.
func (k *targetChanges) of(wanted int) []change {
	p := k.places[wanted]
	return k.changes[p.start:][:p.count]
}

// set sets the changes of the URL with an index in Set.wanted.
func (k *targetChanges) set(wanted int, changes []change) {
	p := &k.places[wanted]
	p.start, p.count = uint32(len(k.changes)), uint32(len(changes))
	k.changes = append(k.changes, changes...)
}

// resolver decides about URLs, in the rounds that Resolve describes. It collects the captures of one URL
// after the other for its judge.
type resolver struct {
	ctx   context.Context
	set   *Set
	judge *judge

	// known holds the changes of each of Set.wanted, which is sorted.
	known targetChanges

	group  captureRecord // the captures of a URL that may decide and are not handed to the judge yet
	newest captureRecord // memory of the capture that is visited
	last   captureRecord // the one before it, as it was added
	// Of the URL whose captures are handed to the judge: its index in wanted or notWanted,
	// whether it has redirects, and where its captures are in moved, -1 for not there.
	wanted    uint32
	redirects bool
	movedAt   int64
	// url is the URL whose captures are visited, source their source, and renewable the body
	// of the newest 2xx of it, 0 for none.
	url       key
	source    int
	renewable uint64
	// moved has the captures of URLs with redirects for the later rounds, in parts: u32 length, u32
	// index in wanted or notWanted, captureRecords, whose targets are indices in wanted. partContinues
	// is added to the length of a part if another part of the same URL follows.
	moved  runs.Spill
	writer *bufio.Writer
}

const (
	notWanted     = 1<<32 - 1
	movedHeader   = 8
	partContinues = 1 << 31
	movedBuffer   = 64 << 10

	changeSize = 16
)

// Resolve calls emit with the decision about each authority that has a capture not after
// asOf, in no particular order. The zero time means Newest. Times are rounded down to
// seconds. The argument is valid until emit returns. Nothing can be added afterwards.
// Resolve returns early when ctx ends.
//
// With a history each decision has all that held up to asOf. Resolve then calls emit once for
// each source with captures of an authority, because a lower-ranked source decides about the
// time before the first capture of a higher-ranked one.
func (s *Set) Resolve(ctx context.Context, asOf time.Time, p access.Policy, history bool, emit func(*Decision) error) error {
	// The first round decides about each URL as if no redirect led anywhere. Each further round,
	// one for each allowed hop, decides about redirects again, with the previous round's outcomes
	// of their targets. So the work is bounded, even if redirects cross and loop.
	if asOf.IsZero() {
		asOf = s.Newest()
	}
	s.wanted.compact()
	r := &resolver{ctx: ctx, set: s, judge: &judge{
		set: s, asOf: asOf.Truncate(time.Second), policy: p, emit: emit, history: history,
		pages: s.old.dropped || s.isMostlyPages(), // so that what a pack has of a URL is all
	}}
	r.moved.Folder = s.options.Folder
	r.writer = bufio.NewWriterSize(&r.moved, movedBuffer)
	defer r.moved.Close()
	if err := r.firstRound(); err != nil {
		return err
	}
	s.revisited = nil
	s.sorter.Close() // makes room for the next steps
	for hop := 1; hop <= access.MaxHops; hop++ {
		if err := r.followRedirects(hop == access.MaxHops); err != nil {
			return err
		}
	}
	return nil
}

// firstRound decides about each URL as if no redirect led anywhere, and stores the captures of
// URLs with redirects for the next rounds.
func (r *resolver) firstRound() error {
	s := r.set
	r.known.places = make([]changesPlace, len(s.wanted))
	if err := s.addDropped(); err != nil {
		return err
	}
	if err := s.findRevisited(r.ctx); err != nil {
		return err
	}
	if err := s.sorter.Merge(func(data []byte) error { return r.visit(captureRecord(data)) }); err != nil {
		return err
	}
	if err := r.endURL(); err != nil {
		return err
	}
	return r.writer.Flush()
}

// visit adds a copy of a capture to group, unless it repeats another or cannot decide, and passes group to
// the judge when the URL ends, or earlier if it is large. Captures must come in the order of captureForm.
// A revisit first gets its body, and a 304 the body of the 2xx before it.
func (r *resolver) visit(x captureRecord) error {
	if err := context.Cause(r.ctx); err != nil {
		return err
	}
	r.newest = append(r.newest[:0], x...)
	x = r.newest
	if r.url != x.key() {
		if err := r.endURL(); err != nil {
			return err
		}
		r.url, r.renewable, r.source = x.key(), 0, x.source()
	}
	if x.isRevisit() {
		if r.last.isSameRevisit(x) {
			return nil // the pack has it already, and nothing has its body
		}
		r.set.resolveRevisit(x)
	}
	r.renew(x)
	if len(r.last) > 0 && x.equals(r.last) { // a file was read twice, or read again for a pack that has it
		return nil
	}
	r.last = append(r.last[:0], x...)
	keep := r.judge.bytesToKeep(r.group, x)
	if keep < 0 { // x cannot decide
		return nil
	}
	r.group = append(r.group[:keep], x...)
	if len(r.group) > 2*r.set.part && !r.set.fits(int64(len(r.group))) { // a smaller group is not counted
		return errMemory("more than %d captures of %s", len(r.group)/recordHead, x.authority())
	}
	if r.judge.history && len(r.group) >= r.set.part && !r.judge.isLater(r.group) {
		return r.passGroup(true) // more of the URL may follow
	}
	return nil
}

// renew sets the body of x, if it is a 304, to that of the newest 2xx of its URL before it from its own
// source; without one it has none. It remembers the body of a 2xx for the next 304.
func (r *resolver) renew(x captureRecord) {
	if x.source() != r.source {
		r.renewable, r.source = 0, x.source()
	}
	switch {
	case x.failed():
	case x.status() == access.NotModified:
		if r.renewable != 0 {
			x.setBody(r.renewable)
			x[flagsAt] |= flagRenewed
		}
	case x.body() != 0:
		r.renewable = x.body()
	}
}

// passGroup passes the captures in group to the judge and empties group. continues says that more
// captures of the URL may follow. If they may, or if the URL has redirects, passGroup also writes the
// captures to moved for the next rounds; endURL removes them again if no redirect follows.
func (r *resolver) passGroup(continues bool) error {
	if !r.judge.begun { // the first part of the URL
		r.redirects, r.movedAt, r.wanted = false, -1, notWanted
		if index, found := r.set.wanted.find(r.group.key()); found {
			r.wanted = uint32(index)
		}
		r.judge.begin(nil)
	}
	r.redirects = r.indexTargets() || r.redirects
	if err := r.judge.add(r.group); err != nil {
		return err
	}
	defer func() { r.group = r.group[:0] }()
	if !continues && !r.redirects {
		return nil
	}
	if r.movedAt < 0 {
		r.movedAt = r.moved.Size() + int64(r.writer.Buffered())
	}
	return r.writePart(continues)
}

// writePart writes group to r.moved as a part, which readPart reads.
func (r *resolver) writePart(continues bool) error {
	length := uint32(len(r.group))
	if continues {
		length += partContinues
	}
	header := binary.LittleEndian.AppendUint32(make([]byte, 0, movedHeader), length)
	if _, err := r.writer.Write(binary.LittleEndian.AppendUint32(header, r.wanted)); err != nil {
		return err
	}
	_, err := r.writer.Write(r.group)
	return err
}

// endURL decides about the URL whose captures were visited. The decision is final unless the
// URL has redirects: then its captures stay in moved, and the next rounds decide again.
func (r *resolver) endURL() error {
	if !r.judge.begun && len(r.group) == 0 {
		return nil // no capture of it counts, or none was visited yet
	}
	if err := r.passGroup(false); err != nil { // no more of the URL follow
		return err
	}
	r.judge.begun = false
	if !r.redirects && r.movedAt >= 0 { // passGroup has written its first parts in case redirects follow
		if err := r.writer.Flush(); err != nil {
			return err
		}
		if err := r.moved.Truncate(r.movedAt); err != nil {
			return err
		}
	}
	return r.decide(r.wanted, !r.redirects)
}

// indexTargets replaces the keys of targets in group by their indices in Set.wanted, for targetIndex.
// It reports whether a capture has a target.
func (r *resolver) indexTargets() (hasRedirects bool) {
	for x := r.group; len(x) > 0; x = x[x.size():] {
		if x.hasTarget() {
			hasRedirects = true
			index, _ := r.set.wanted.find(x.target())
			binary.LittleEndian.PutUint32(x[targetAt:], uint32(index))
		}
	}
	return hasRedirects
}

// followRedirects decides again about the URLs with redirects, whose captures it reads from moved, with
// the previous round's outcomes of their targets. last says that these decisions are final and are emitted.
func (r *resolver) followRedirects(last bool) error {
	before := r.known
	r.known = targetChanges{places: make([]changesPlace, len(before.places))}
	from := bufio.NewReaderSize(r.moved.All(), movedBuffer)
	for {
		if err := context.Cause(r.ctx); err != nil {
			return err
		}
		if _, err := from.Peek(1); err == io.EOF {
			break
		}
		wanted, continues, err := r.readPart(from)
		if err != nil {
			return fmt.Errorf("temporary file: %w", err)
		}
		if wanted == notWanted && !last {
			continue // no redirect leads to the URL: only its final decision counts
		}
		if !r.judge.begun {
			r.judge.begin(&before)
		}
		r.judge.begun = continues
		if err := r.judge.add(r.group); err != nil {
			return err
		}
		if continues {
			continue
		}
		if err := r.decide(wanted, last); err != nil {
			return err
		}
	}
	for wanted := range before.places { // those without redirects were not decided again, and stay as they are
		if r.known.places[wanted].count == 0 {
			r.known.set(wanted, before.of(wanted))
		}
	}
	return nil
}

// readPart reads the next part of r.moved from a reader. It sets r.group to the part's captures and
// returns the index of their URL in Set.wanted, or notWanted. continues says that more captures of
// the URL follow.
func (r *resolver) readPart(from io.Reader) (wanted uint32, continues bool, err error) {
	var header [movedHeader]byte
	if _, err := io.ReadFull(from, header[:]); err != nil {
		return 0, false, err
	}
	length := binary.LittleEndian.Uint32(header[:])
	size := int(length &^ partContinues)
	r.group = slices.Grow(r.group[:0], size)[:size]
	_, err = io.ReadFull(from, r.group)
	return binary.LittleEndian.Uint32(header[4:]), length&partContinues != 0, err
}

// decide decides about the URL whose captures the judge has. wanted is the URL's index in
// Set.wanted, where the outcome is stored, or notWanted. last says that the decision is final
// and is emitted.
func (r *resolver) decide(wanted uint32, last bool) error {
	changes := r.judge.decide()
	if r.judge.wanted = wanted != notWanted; r.judge.wanted {
		r.known.set(int(wanted), changes)
		if n := len(r.known.changes); !r.set.fits(changeSize * int64(n)) {
			return errMemory("%d changes of what redirects lead to", n)
		}
	}
	if last {
		return r.judge.emitDecisions()
	}
	return nil
}
