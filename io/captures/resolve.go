package captures

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"robotsbatch/io/runs"
	"robotsbatch/matcher/access"
)

// Decision says what decides about an authority.
type Decision struct {
	// Authority is a key as urls.Scratch.Split returns it.
	Authority []byte
	// Access is the outcome, and not access.Unknown.
	Access access.Outcome
	// Kept is the number that Bodies gave the body, when Access is access.Rules.
	Kept uint64
	// Stale says that the body is a last good copy (RFC 9309 §2.3.1.4).
	Stale bool
	// Status and Fetched are those of the capture that decides, which may be a
	// redirect; 0 and the zero time where they are not known.
	Status  int
	Fetched time.Time
	// Source is the source that has this capture.
	Source int
	// History is what decided at any time, oldest first; nil unless it was asked for.
	History []Interval
}

// change is what the captures of a URL mean from a second on.
type change struct {
	kept       uint64
	from       uint32 // as Interval.From
	access     access.Outcome
	stale      bool
	unresolved bool // access is the policy's for a redirect to nowhere
	cut        bool // what was before was too much to be kept
}

// knowledge has what is known of the targets of redirects: the changes of each, by its
// index in wanted. They are added in order.
type knowledge struct {
	changes []change
	starts  []uint64
}

// of returns the changes of a URL, oldest first; none for one without captures.
func (k *knowledge) of(wanted int) []change { return k.changes[k.starts[wanted]:k.starts[wanted+1]] }

// start begins with the changes of the first URL, of which there will be so many.
func (k *knowledge) start(urls int) { k.starts = append(make([]uint64, 0, urls+1), 0) }

// next is the index of the URL whose changes are added next.
func (k *knowledge) next() int { return len(k.starts) - 1 }

// add adds the changes of the next URL.
func (k *knowledge) add(changes []change) {
	k.changes = append(k.changes, changes...)
	k.starts = append(k.starts, uint64(len(k.changes)))
}

// addUpTo adds the changes of the URLs before one, which other has, or which have none.
func (k *knowledge) addUpTo(wanted int, other *knowledge) {
	for k.next() < wanted {
		if other == nil {
			k.add(nil)
		} else {
			k.add(other.of(k.next()))
		}
	}
}

// judge decides about a URL by its captures.
type judge interface {
	// may reports whether a capture may count beside those of its URL that came
	// before, and whether it makes these count no more.
	may(group record, x record) (counts, alone bool)
	// decide returns what a group of captures means, given what is known of the
	// targets of redirects, nil for nothing. The result is valid until the next call.
	decide(group []byte, targets *knowledge) []change
	// finish counts and emits what was decided last.
	finish() error
}

// resolver decides about URLs.
type resolver struct {
	ctx   context.Context
	set   *Set
	judge judge

	// wanted are the targets of redirects, sorted; known has what each means.
	wanted []key
	known  knowledge

	group []byte // the captures of a URL that may decide, records
	// moved are groups with redirects: u32 length, u32 index in wanted or
	// notWanted, records; their targets are indices in wanted.
	moved  runs.Spill
	writer *bufio.Writer
}

const (
	notWanted   = 1<<32 - 1
	movedHeader = 8
	movedBuffer = 64 << 10

	// What is known of targets may take so many times the memory of waiting records.
	targetsShare = 4
	changeSize   = 16
	leastChanges = 1024
)

// Resolve calls emit once for each authority that has a capture not after asOf, in no
// particular order, with what decides about it. The zero time stands for Newest. The
// argument is valid until emit returns. Nothing can be added afterwards. Resolve returns
// early when ctx ends.
//
// The first round decides each URL as if no redirect led anywhere. Each further round,
// one for each hop that is allowed, decides the redirects again by what the round before
// said of their targets. So the work is bounded, however redirects cross and loop.
func (s *Set) Resolve(ctx context.Context, asOf time.Time, p access.Policy, emit func(*Decision) error) error {
	if asOf.IsZero() {
		asOf = s.Newest()
	}
	return s.resolve(ctx, &newest{set: s, asOf: asOf, policy: p, emit: emit})
}

// resolve decides about all URLs.
func (s *Set) resolve(ctx context.Context, j judge) error {
	slices.SortFunc(s.wanted, key.compare)
	r := &resolver{ctx: ctx, set: s, judge: j, wanted: slices.Compact(s.wanted)}
	s.wanted = nil
	r.known.start(len(r.wanted))
	r.moved.Folder = s.options.Folder
	r.writer = bufio.NewWriterSize(&r.moved, movedBuffer)
	defer r.moved.Close()

	err := s.sorter.Merge(func(data []byte) error { return r.visit(record(data)) })
	if err == nil {
		err = r.endGroup()
	}
	r.known.addUpTo(len(r.wanted), nil)
	if err == nil {
		err = r.writer.Flush()
	}
	s.sorter.Close() // room for what comes
	for hop := 1; hop <= access.MaxHops && err == nil; hop++ {
		err = r.follow(hop == access.MaxHops)
	}
	if err != nil {
		return fmt.Errorf("captures: %w", err)
	}
	return nil
}

// visit takes the next capture, in the order of recordForm.
func (r *resolver) visit(x record) error {
	if err := context.Cause(r.ctx); err != nil {
		return err
	}
	if len(r.group) > 0 && record(r.group).key() != x.key() {
		if err := r.endGroup(); err != nil {
			return err
		}
	}
	counts, alone := r.judge.may(r.group, x)
	if !counts {
		return nil
	}
	if alone {
		r.group = r.group[:0]
	}
	r.group = append(r.group, x...)
	return nil
}

// endGroup decides about the URL of the group, or puts the group aside if it has
// redirects.
func (r *resolver) endGroup() error {
	if len(r.group) == 0 {
		return nil
	}
	defer func() { r.group = r.group[:0] }()
	node := record(r.group).key()
	for next := r.known.next(); next < len(r.wanted) && r.wanted[next].compare(node) < 0; next++ {
		r.known.add(nil)
	}
	wanted := uint32(notWanted)
	if next := r.known.next(); next < len(r.wanted) && r.wanted[next] == node {
		wanted = uint32(next)
	}
	moved := r.indexTargets()
	changes := r.judge.decide(r.group, nil)
	if wanted != notWanted {
		if err := r.learn(int(wanted), changes, nil); err != nil {
			return err
		}
	}
	if !moved {
		return r.judge.finish()
	}
	var header [movedHeader]byte
	binary.LittleEndian.PutUint32(header[:], uint32(len(r.group)))
	binary.LittleEndian.PutUint32(header[4:], wanted)
	if _, err := r.writer.Write(header[:]); err != nil {
		return err
	}
	_, err := r.writer.Write(r.group)
	return err
}

// learn adds what a target means, after those before it, which before has.
func (r *resolver) learn(wanted int, changes []change, before *knowledge) error {
	r.known.addUpTo(wanted, before)
	r.known.add(changes)
	if most := max(targetsShare*r.set.options.Memory/changeSize, leastChanges); int64(len(r.known.changes)) > most {
		return fmt.Errorf("the targets of redirects change more than %d times, which must fit into memory: raise -memory", most)
	}
	return nil
}

// indexTargets replaces the keys of the group's targets by their indices in wanted. It
// reports whether there are any.
func (r *resolver) indexTargets() bool {
	any := false
	for x := record(r.group); len(x) > 0; x = x[x.size():] {
		if x.hasTarget() {
			any = true
			index, _ := slices.BinarySearchFunc(r.wanted, x.target(), key.compare)
			binary.LittleEndian.PutUint32(x[40:], uint32(index))
		}
	}
	return any
}

// follow decides about the groups with redirects by what is known of their targets. last
// says that these are the final decisions.
func (r *resolver) follow(last bool) error {
	before := r.known
	r.known = knowledge{}
	r.known.start(len(r.wanted))
	from := bufio.NewReaderSize(r.moved.All(), movedBuffer)
	for {
		if err := context.Cause(r.ctx); err != nil {
			return err
		}
		var header [movedHeader]byte
		if _, err := io.ReadFull(from, header[:]); errors.Is(err, io.EOF) {
			r.known.addUpTo(len(r.wanted), &before)
			return nil
		} else if err != nil {
			return fmt.Errorf("temporary file: %w", err)
		}
		length, wanted := int(binary.LittleEndian.Uint32(header[:])), binary.LittleEndian.Uint32(header[4:])
		if wanted == notWanted && !last {
			if _, err := from.Discard(length); err != nil {
				return fmt.Errorf("temporary file: %w", err)
			}
			continue
		}
		r.group = slices.Grow(r.group[:0], length)[:length]
		if _, err := io.ReadFull(from, r.group); err != nil {
			return fmt.Errorf("temporary file: %w", err)
		}
		changes := r.judge.decide(r.group, &before)
		if wanted != notWanted {
			if err := r.learn(int(wanted), changes, &before); err != nil {
				return err
			}
		}
		if last {
			if err := r.judge.finish(); err != nil {
				return err
			}
		}
	}
}
