package captures

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"robotsbatch/io/store/runs"
	"robotsbatch/matcher/access"
)

// Kept are the captures of a URL, encoded for a pack: all that may still matter when other
// captures are added. Rows is nil if the captures can be inferred from the Decision. It has for
// each capture, oldest first,
//
//	u8       flags: those of a captureRecord, and the keptX below
//	uvarint  source, with keptSource
//	uvarint  status
//	uvarint  index of the body in Bodies, with keptBody
//	16       key of the target, with flagTarget
//	varint   seconds since the capture before, without keptTimeless
//	uvarint  nanoseconds within the second, with keptFraction
//
// With flagFailed the status is keptUnread for Capture.Unread, else 0. With keptAgain all
// between flags and seconds is left out. Two flags mean something else together with keptGone:
// flagFailed stands for flagDropped, and flagTarget for flagRevisit. A revisit has the names of
// record and payload where others have a target, and after them the name of the fetch, a uvarint.
type Kept struct {
	Rows   []byte
	Bodies []uint64
}

const (
	keptBody = 1 << (iota + 2)
	keptTimeless
	keptFraction
	keptSource // the source is not that of the capture before
	keptAgain  // only the time differs from the capture before
	keptGone   // its body is gone, or it is a revisit whose body nobody has
)

// keptUnread is the status of a failed capture whose answer cannot be read; see Kept.
const keptUnread = 1

// keptHead is what a row of Kept.Rows says of a capture, without its time.
type keptHead struct {
	flags  byte
	source int
	status int
	body   uint64
	target key
}

// keptHeadOf returns all of capture x but its time, as Kept.Rows has it. target is the key of
// the URL that x redirects to, if it does.
func keptHeadOf(x captureRecord, target key) keptHead {
	h := keptHead{source: x.source(), status: x.status()}
	if x.isRevisit() {
		h.flags, h.body, h.target = keptGone|flagTarget, x.body(), x.target()
		return h
	}
	if x.failed() || x.status() < 0 {
		h.flags, h.status = flagFailed, int(ones(x.isUnread())*keptUnread)
	}
	switch {
	case !x.isBody():
	case x.body() != gone:
		h.flags |= keptBody
		h.body = x.body()
	case x.isDropped():
		h.flags |= keptGone | flagFailed
	default:
		h.flags |= keptGone
	}
	if x.hasTarget() {
		h.flags |= flagTarget
		h.target = target
	}
	return h
}

// decode sets x to the capture that keptHeadOf encoded, with the flags of its row and its time.
func (h *keptHead) decode(x captureRecord, flags byte, nanoseconds int64) {
	clear(x)
	failed := flags&(flagFailed|keptGone) == flagFailed // with keptGone it stands for flagDropped
	x.setFetch(nanoseconds, h.source, int16(h.status), failed)
	if x.failed() && h.status == keptUnread {
		x[flagsAt] |= flagUnread
	}
	if flags&keptBody != 0 {
		x.setBody(h.body)
	}
	if flags&flagTarget != 0 {
		x.setTarget(h.target)
	}
	switch flags & (keptGone | flagFailed | flagTarget) {
	case keptGone:
		x.setBody(gone)
	case keptGone | flagFailed: // flagFailed stands for flagDropped
		x.setBody(gone)
		x[flagsAt] |= flagDropped
	case keptGone | flagTarget: // flagTarget stands for flagRevisit, and h.body is the name of a fetch
		x.setBody(h.body)
		x[flagsAt] = flagRevisit
	}
}

// keptEncoder encodes captures, which must come oldest first, as a Kept.
type keptEncoder struct {
	Kept
	last     keptHead
	second   int64 // of the last capture with a time, since 1970
	lastTime int64 // of the last capture, in nanoseconds
}

func (k *keptEncoder) reset() { *k = keptEncoder{Kept: Kept{Rows: k.Rows[:0], Bodies: k.Bodies[:0]}} }

// add encodes capture x. target is the key of the URL that x redirects to, if it does. A
// capture that repeats the last one adds nothing.
func (k *keptEncoder) add(x captureRecord, target key) {
	h := keptHeadOf(x, target)
	sameHead := len(k.Rows) > 0 && h == k.last
	if sameHead && x.time() == k.lastTime {
		return
	}
	k.lastTime = x.time()
	flags, second, fraction := h.flags, k.second, int64(0)
	if x.time() == unknownTime {
		flags |= keptTimeless
	} else {
		second = time.Unix(0, x.time()).Unix()
		if fraction = x.time() - second*int64(time.Second); fraction != 0 {
			flags |= keptFraction
		}
	}
	switch {
	case sameHead:
		flags |= keptAgain
	case h.source != k.last.source:
		flags |= keptSource
	}
	k.Rows = append(k.Rows, flags)
	if !sameHead {
		k.addHead(&h)
	}
	if flags&keptTimeless == 0 {
		k.Rows = binary.AppendVarint(k.Rows, second-k.second)
	}
	if fraction != 0 {
		k.Rows = binary.AppendUvarint(k.Rows, uint64(fraction))
	}
	k.second = second
}

// addHead encodes what a row has between its flags and its time.
func (k *keptEncoder) addHead(h *keptHead) {
	if h.source != k.last.source {
		k.Rows = binary.AppendUvarint(k.Rows, uint64(h.source))
	}
	k.Rows = binary.AppendUvarint(k.Rows, uint64(h.status))
	if h.flags&keptBody != 0 {
		k.Rows = binary.AppendUvarint(k.Rows, uint64(k.bodyIndex(h.body)))
	}
	if h.flags&flagTarget != 0 {
		k.Rows = append(k.Rows, h.target[:]...)
		if h.flags&keptGone != 0 {
			k.Rows = binary.AppendUvarint(k.Rows, h.body)
		}
	}
	k.last = *h
}

// bodyIndex returns the index of a body in Bodies, and adds it if it is new. It searches only
// the last few, so that a body may be there several times.
func (k *keptEncoder) bodyIndex(body uint64) int {
	const searched = 8
	first := max(len(k.Bodies)-searched, 0)
	if i := slices.Index(k.Bodies[first:], body); i >= 0 {
		return first + i
	}
	k.Bodies = append(k.Bodies, body)
	return len(k.Bodies) - 1
}

// ErrKept is the error for rows that keptEncoder does not write.
var ErrKept = errors.New("captures that were kept are as nothing writes them")

// each decodes the captures and calls visit with each, until visit returns an error. A
// redirect has its target's key. The capture is valid until visit returns. It returns ErrKept
// for rows that keptEncoder does not write.
func (k Kept) each(visit func(captureRecord) error) error {
	var h keptHead
	second := int64(0)
	x := captureRecord(make([]byte, recordHead))
	r := keptReader{rows: k.Rows}
	for len(r.rows) > 0 {
		flags := r.rows[0]
		r.rows = r.rows[1:]
		if flags&keptAgain == 0 {
			r.head(&h, flags, k.Bodies)
		}
		nanoseconds := int64(unknownTime)
		if flags&keptTimeless == 0 {
			second += r.signed()
			nanoseconds = second * int64(time.Second)
		}
		if flags&keptFraction != 0 {
			nanoseconds += int64(r.number() % uint64(time.Second))
		}
		h.decode(x, flags, nanoseconds)
		if r.broken || h.source >= MaxSources || !x.isConsistent() {
			return ErrKept
		}
		if err := visit(x); err != nil {
			return err
		}
	}
	return nil
}

// keptReader decodes the rows of a Kept. After a damaged value, broken is set and all others
// are 0.
type keptReader struct {
	rows   []byte // not yet read
	broken bool
}

// head decodes what a row has between its flags and its time into h. What the flags leave out
// stays as it was in h.
func (r *keptReader) head(h *keptHead, flags byte, bodies []uint64) {
	if flags&keptSource != 0 {
		h.source = int(min(r.number(), MaxSources))
	}
	h.status = int(min(r.number(), math.MaxInt16))
	if flags&keptBody != 0 {
		if i := r.number(); i < uint64(len(bodies)) {
			h.body = bodies[i]
		} else {
			r.fail()
		}
	}
	if flags&flagTarget == 0 {
		return
	}
	if len(r.rows) < len(h.target) {
		r.fail() // and leaves no rows to copy
	}
	r.rows = r.rows[copy(h.target[:], r.rows):]
	if flags&keptGone != 0 {
		h.body = r.number()
	}
}

// number decodes an unsigned varint.
func (r *keptReader) number() uint64 {
	v, n := binary.Uvarint(r.rows)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.rows = r.rows[n:]
	return v
}

// signed reads a number as binary.AppendVarint writes it.
func (r *keptReader) signed() int64 {
	v := r.number()
	return int64(v>>1) ^ -int64(v&1)
}

func (r *keptReader) fail() { r.broken, r.rows = true, nil }

// Check returns ErrKept for captures that AddKept would refuse.
func (k Kept) Check() error { return k.each(func(captureRecord) error { return nil }) }

// isConsistent reports whether a capture that was decoded has a body if and only if it is a
// 2xx, and a target only if it is a redirect. A 2xx without a body would count as an empty
// robots.txt.
func (r captureRecord) isConsistent() bool {
	fetch := r.fetch()
	isBody := !fetch.Failed && (fetch.Status == 0 || fetch.Status/100 == 2)
	return (r.isBody() || r.isRevisit()) == isBody && (!r.hasTarget() || fetch.IsRedirect())
}

// encodeIntervals replaces the captures by those that intervals of one source imply: one for
// each time. It leaves none if an interval is stale, cut or unknown, because its captures
// cannot be inferred.
func (k *keptEncoder) encodeIntervals(list []access.Interval) {
	k.reset()
	x := captureRecord(make([]byte, recordHead))
	for n := range list {
		i := &list[n]
		if i.Stale || i.Access == access.Cut || i.Access == access.Unknown {
			k.reset()
			return
		}
		last := int64(-1)
		for _, second := range i.Times {
			if int64(second) <= last || second < i.Fetched || second > i.Seen {
				continue // a pack keeps only times that ascend from Fetched to Seen
			}
			last = int64(second)
			clear(x)
			failed := i.Status == 0 && i.Access != access.Rules
			x.setFetch(nanosecondsOf(second), 0, int16(i.Status), failed) // the only source is number 0
			if i.Access == access.Rules && i.Status != access.NotModified {
				x.setBody(i.Kept)
			}
			k.add(x, key{})
		}
	}
}

// AddKept adds captures that a pack kept: those of an authority's robots.txt or, if authority
// is empty, of the URL with the key urlKey. If k has no rows, it infers the captures from the
// intervals. Of captures in the same second, those that Read adds count as newer.
func (s *Set) AddKept(authority, urlKey []byte, k Kept, intervals []access.Interval) error {
	hash := key{}
	copy(hash[:], urlKey)
	if len(authority) > 0 {
		sum := sha256.Sum256(append(bytes.Clone(authority), "/robots.txt"...))
		copy(hash[:], sum[:])
	}
	if len(k.Rows) == 0 {
		var implied keptEncoder
		implied.encodeIntervals(intervals)
		k = implied.Kept
	}
	if s.old.dropped && len(authority) == 0 {
		s.old.known.add(hash)
	}
	order, x := uint64(0), captureRecord(nil) // orders below those of Read; see fileShift
	return k.each(func(one captureRecord) error {
		binary.LittleEndian.PutUint64(one[orderAt:], order)
		order++
		x = append(x[:0], one...).withURL(hash, authority)
		if s.old.dropped && x.hasTarget() {
			s.old.known.add(x.target())
		}
		return s.add(x, false) // a redirect of it was known to the pack
	})
}

// SetPayload sets the body of a payload, to which a revisit may refer. All captures must have
// been read.
func (s *Set) SetPayload(name, kept uint64) {
	if _, wanted := s.revisited[Name(name)]; wanted {
		s.revisited[Name(name)] = kept
	}
}

// continued is the pack to whose captures others are added; see Set.Continue. A page is here a URL that
// is no robots.txt.
type continued struct {
	pack    bool   // there is one
	newest  uint32 // the time of its newest capture, as access.Interval.From
	dropped bool   // it may lack captures of pages
	source  int    // to which those that it may lack belong
	known   keys   // the pages whose captures it has, and those to which its captures redirect
	asked   keys   // the pages to which new captures of a robots.txt redirect, by any number of links
	// links are the redirects from pages to pages in new captures: the keys of both.
	links *runs.Sorter
}

// linksShare is the part of Options.Memory that links take before they go to a file.
const linksShare = 4

// linkForm sorts links by the URL that redirects.
var linkForm = runs.Form{
	Head: 2 * len(key{}), Size: func([]byte) int { return 2 * len(key{}) },
	Key: binary.BigEndian.Uint64, Compare: bytes.Compare,
}

// addRedirect records where a new capture redirects to, which is a page.
func (c *continued) addRedirect(r captureRecord) error {
	if len(r.authority()) == 0 { // it is of a page itself
		from, to := r.key(), r.target()
		return c.links.Add(append(from[:], to[:]...))
	}
	c.asked.add(r.target())
	return nil
}

// followLinks adds to asked all URLs to which links lead from a URL in asked or known, over any number
// of links: each pass over all links follows one more, until a pass finds no new URL.
func (c *continued) followLinks() error {
	c.known.compact()
	c.asked.compact()
	for before := -1; before < len(c.asked); {
		before = len(c.asked)
		more := c.asked[:before:before] // clipped: asked stays sorted for find while more grows
		if err := c.links.Merge(func(link []byte) error {
			from, to := key(link), key(link[len(key{}):])
			_, asked := c.asked.find(from)
			_, known := c.known.find(from)
			if asked || known {
				more = append(more, to)
			}
			return nil
		}); err != nil {
			return err
		}
		c.asked = more
		c.asked.compact()
	}
	return nil
}

// Continue prepares the set for the captures that a pack kept. newest is the time of the newest one, in
// seconds since 1970. later says that captures after the pack's own time were left out of it. dropped
// says that it may lack captures of URLs that are no robots.txt: they belong to the given source, the
// first one of captures. Call it before captures are read.
func (s *Set) Continue(newest uint32, later, dropped bool, source int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.old = continued{pack: true, newest: newest, dropped: dropped, source: source}
	if dropped {
		s.old.links = runs.NewSorter(linkForm, s.options.Memory/linksShare, s.options.Folder)
	}
	s.newest, s.later, s.dropped = max(s.newest, nanosecondsOf(newest)), s.later || later, s.dropped || dropped
}

// Dropped reports, after Resolve, whether captures of URLs that are no robots.txt were not kept.
func (s *Set) Dropped() bool { return s.dropped }

// addDropped adds a capture for each page whose captures the pack may lack and to which a new redirect
// leads from a robots.txt. The capture denies. Without it such a redirect would lead nowhere, which
// allows.
func (s *Set) addDropped() error {
	if !s.old.dropped {
		return nil
	}
	if err := s.old.followLinks(); err != nil {
		return err
	}
	for _, hash := range s.old.asked {
		if _, known := s.old.known.find(hash); known {
			continue
		}
		x := captureRecord(make([]byte, recordHead)).withURL(hash, nil)
		at := nanosecondsOf(s.old.newest)
		if at != unknownTime {
			at += int64(time.Second) - 1 // after all of that second
		}
		x.setFetch(at, s.old.source, 200, false) // not failed, but its body is gone: it denies
		x.setBody(gone)
		x[flagsAt] |= flagDropped
		if err := s.sorter.Add(x); err != nil {
			return err
		}
	}
	s.old.links.Close()
	s.old.known, s.old.asked, s.old.links = nil, nil, nil
	return nil
}
