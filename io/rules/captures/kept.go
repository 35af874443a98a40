package captures

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"robotsbatch/matcher/access"
)

// Kept are captures of a URL in a form for later: all that may count when others are added. It
// is nil where the Decision tells them.
//
// Rows has for each capture a byte of flags (as those of a waiting capture, and the keptX
// below), then as far as flags say: the source, the status, the index of the body in Bodies, and
// the key of the target; then the time. Numbers are varints.
type Kept struct {
	Rows   []byte
	Bodies []uint64
}

const (
	keptBody = 1 << (iota + 2)
	keptTimeless
	keptFraction
	keptSource // the source is another one than that of the capture before
	keptAgain  // all but the time is as of the capture before
)

// keptHead is what captures have in common until something changes.
type keptHead struct {
	flags  byte
	source int
	status int
	body   uint64
	target key
	second int64
}

// keeper makes a Kept of captures, oldest first.
type keeper struct {
	Kept
	last keptHead
	at   int64 // the last one's time
}

func (k *keeper) reset() { *k = keeper{Kept: Kept{Rows: k.Rows[:0], Bodies: k.Bodies[:0]}} }

// add adds a capture; target is the key of its target, if it has one.
func (k *keeper) add(x waiting, target key) {
	h := keptHead{source: x.source(), status: x.status()}
	if x.failed() || x.status() < 0 {
		h.flags, h.status = flagFailed, 0
	}
	if x.isBody() {
		h.flags |= keptBody
		h.body = x.kept()
	}
	if x.hasTarget() {
		h.flags |= flagTarget
		h.target = target
	}
	h.second = k.last.second
	again, source := len(k.Rows) > 0 && h == k.last, h.source != k.last.source
	if again && x.time() == k.at {
		return // it tells nothing more
	}
	k.at = x.time()
	flags, fraction := h.flags, int64(0)
	if x.time() == unknownTime {
		flags |= keptTimeless
	} else {
		h.second = time.Unix(0, x.time()).Unix()
		if fraction = x.time() - h.second*int64(time.Second); fraction != 0 {
			flags |= keptFraction
		}
	}
	switch {
	case again:
		flags |= keptAgain
	case source:
		flags |= keptSource
	}
	k.Rows = append(k.Rows, flags)
	if !again {
		if source {
			k.Rows = binary.AppendUvarint(k.Rows, uint64(h.source))
		}
		k.Rows = binary.AppendUvarint(k.Rows, uint64(h.status))
		if h.flags&keptBody != 0 {
			k.Rows = binary.AppendUvarint(k.Rows, uint64(k.index(h.body)))
		}
		if h.flags&flagTarget != 0 {
			k.Rows = append(k.Rows, h.target[:]...)
		}
	}
	if flags&keptTimeless == 0 {
		k.Rows = binary.AppendVarint(k.Rows, h.second-k.last.second)
	}
	if fraction != 0 {
		k.Rows = binary.AppendUvarint(k.Rows, uint64(fraction))
	}
	k.last = h
}

// index returns the index of a body; of many, only the last ones are looked through.
func (k *keeper) index(body uint64) int {
	const looked = 8
	first := max(len(k.Bodies)-looked, 0)
	if i := slices.Index(k.Bodies[first:], body); i >= 0 {
		return first + i
	}
	k.Bodies = append(k.Bodies, body)
	return len(k.Bodies) - 1
}

// ErrKept is about rows that are not as keeper makes them.
var ErrKept = errors.New("captures that were kept are as nothing writes them")

// each calls visit with each capture, which has its target's key and is valid until visit
// returns.
func (k Kept) each(visit func(waiting) error) error {
	var h keptHead
	x := waiting(make([]byte, waitingSize))
	rows, broken := k.Rows, false
	number := func() uint64 {
		v, n := binary.Uvarint(rows)
		if n <= 0 {
			broken, rows = true, nil
			return 0
		}
		rows = rows[n:]
		return v
	}
	for len(rows) > 0 {
		flags := rows[0]
		rows = rows[1:]
		if flags&keptAgain == 0 {
			if flags&keptSource != 0 {
				h.source = int(min(number(), MaxSources))
			}
			h.status = int(min(number(), math.MaxInt16))
			if flags&keptBody != 0 {
				i := number()
				if i >= uint64(len(k.Bodies)) {
					return ErrKept
				}
				h.body = k.Bodies[i]
			}
			if flags&flagTarget != 0 {
				if len(rows) < len(h.target) {
					return ErrKept
				}
				rows = rows[copy(h.target[:], rows):]
			}
		}
		nanoseconds := int64(unknownTime)
		if flags&keptTimeless == 0 {
			delta, n := binary.Varint(rows)
			if n <= 0 {
				return ErrKept
			}
			rows = rows[n:]
			h.second += delta
			nanoseconds = h.second * int64(time.Second)
		}
		if flags&keptFraction != 0 {
			nanoseconds += int64(number() % uint64(time.Second))
		}
		clear(x)
		x.set(nanoseconds, h.source, int16(h.status), flags&flagFailed != 0)
		if flags&keptBody != 0 {
			x.setKept(h.body)
		}
		if flags&flagTarget != 0 {
			x.setTarget(h.target)
		}
		if broken || h.source >= MaxSources || !x.sound() {
			return ErrKept
		}
		if err := visit(x); err != nil {
			return err
		}
	}
	return nil
}

// Check returns ErrKept for captures that Add would refuse so.
func (k Kept) Check() error { return k.each(func(waiting) error { return nil }) }

// sound reports whether a capture that was kept has a body if it is a 2xx, which else would count
// as an empty one, and a target only if it is a redirect.
func (r waiting) sound() bool {
	fetch := r.fetch()
	isBody := !fetch.Failed && (fetch.Status == 0 || fetch.Status/100 == 2)
	return r.isBody() == isBody && (!r.hasTarget() || fetch.IsRedirect())
}

// told returns the captures that intervals of one source tell; nil if they do not.
func (k *keeper) told(list []access.Interval) {
	k.reset()
	x := waiting(make([]byte, waitingSize))
	for n := range list {
		i := &list[n]
		if i.Stale || i.Access == access.Cut || i.Access == access.Unknown {
			k.reset()
			return
		}
		last := int64(-1)
		for _, second := range i.Times {
			if int64(second) <= last || second < i.Fetched || second > i.Seen {
				continue
			}
			last = int64(second)
			clear(x)
			x.set(nanosecondsOf(second), 0, int16(i.Status), i.Status == 0 && i.Access != access.Rules)
			if i.Access == access.Rules && i.Status != access.NotModified {
				x.setKept(i.Kept)
			}
			k.add(x, key{})
		}
	}
}

// Add adds captures that were kept of the robots.txt of an authority, or without one of the URL
// with a key. Intervals tell them where there are no rows. They are older than all that are
// read afterwards, of those of a second.
func (s *Set) Add(authority, url []byte, k Kept, list []access.Interval) error {
	node := key{}
	copy(node[:], url)
	if len(authority) > 0 {
		sum := sha256.Sum256(append(append(make([]byte, 0, len(authority)+16), authority...), "/robots.txt"...))
		copy(node[:], sum[:])
	}
	if len(k.Rows) == 0 {
		var told keeper
		told.told(list)
		k = told.Kept
	}
	order, x := uint64(0), waiting(nil)
	return k.each(func(one waiting) error {
		binary.LittleEndian.PutUint64(one[24:], order)
		order++
		x = append(x[:0], one...).of(node, authority)
		return s.add(x, x.hasTarget())
	})
}

// Payload tells the body of a payload that a revisit may refer to, after all captures are read.
func (s *Set) Payload(name, kept uint64) {
	if _, wanted := s.revisited[Name(name)]; wanted {
		s.revisited[Name(name)] = kept
	}
}

// Continue says of the captures that were kept, of which some may be gone, when the newest one
// was, and whether later ones than now decide were left out.
func (s *Set) Continue(newest uint32, later bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newest, s.later = max(s.newest, nanosecondsOf(newest)), s.later || later
}
