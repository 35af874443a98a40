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
}

// outcome is what the captures of a URL mean.
type outcome struct {
	kept       uint64
	access     access.Outcome
	stale      bool
	unresolved bool // access is the policy's for a redirect to nowhere
}

// resolver decides about URLs.
type resolver struct {
	ctx    context.Context
	set    *Set
	asOf   time.Time
	policy access.Policy
	emit   func(*Decision) error

	// wanted are the targets of redirects, sorted; known has the outcome of each.
	wanted []key
	known  []outcome
	next   int // the first of wanted that is not before the group

	group   []byte         // the captures of a URL that may decide, records
	fetches []access.Fetch // reused
	// moved are groups with redirects: u32 length, u32 index in wanted or
	// notWanted, records; their targets are indices in wanted.
	moved  runs.Spill
	writer *bufio.Writer
}

const (
	notWanted   = 1<<32 - 1
	movedHeader = 8
	movedBuffer = 64 << 10
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
	slices.SortFunc(s.wanted, key.compare)
	r := &resolver{ctx: ctx, set: s, asOf: asOf, policy: p, emit: emit, wanted: slices.Compact(s.wanted)}
	s.wanted = nil
	r.known = make([]outcome, len(r.wanted))
	r.moved.Folder = s.options.Folder
	r.writer = bufio.NewWriterSize(&r.moved, movedBuffer)
	defer r.moved.Close()

	err := s.sorter.Merge(func(data []byte) error { return r.visit(record(data)) })
	if err == nil {
		err = r.endGroup()
	}
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
	if timeOf(x.time()).After(r.asOf) {
		return nil
	}
	if len(r.group) > 0 && record(r.group).source() != x.source() {
		return nil // a source before has it
	}
	if !x.hasTarget() && r.policy.Outcome(x.fetch()) != access.DisallowAll {
		r.group = r.group[:0] // whatever comes, none before will count
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
	for r.next < len(r.wanted) && r.wanted[r.next].compare(node) < 0 {
		r.next++
	}
	wanted := uint32(notWanted)
	if r.next < len(r.wanted) && r.wanted[r.next] == node {
		wanted = uint32(r.next)
	}
	moved := r.indexTargets()
	said, deciding := r.decide(r.group, nil)
	if wanted != notWanted {
		r.known[wanted] = said
	}
	if !moved {
		return r.finish(said, deciding)
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
	before := slices.Clone(r.known)
	from := bufio.NewReaderSize(r.moved.All(), movedBuffer)
	for {
		if err := context.Cause(r.ctx); err != nil {
			return err
		}
		var header [movedHeader]byte
		if _, err := io.ReadFull(from, header[:]); errors.Is(err, io.EOF) {
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
		said, deciding := r.decide(r.group, before)
		if wanted != notWanted {
			r.known[wanted] = said
		}
		if last {
			if err := r.finish(said, deciding); err != nil {
				return err
			}
		}
	}
}

// decide returns what a group means, given the outcomes of redirects' targets (nil for
// none known), and the record that decides.
func (r *resolver) decide(group []byte, targets []outcome) (said outcome, deciding record) {
	r.fetches = r.fetches[:0]
	target := func(x record) *outcome { return &targets[binary.LittleEndian.Uint32(x[40:])] }
	for x := record(group); len(x) > 0; x = x[x.size():] {
		fetch := x.fetch()
		if targets != nil && x.hasTarget() && !target(x).unresolved {
			fetch.Target = target(x).access
		}
		r.fetches = append(r.fetches, fetch)
	}
	decision := r.policy.Decide(r.fetches, r.asOf)
	deciding = record(group)
	for range decision.Fetch {
		deciding = deciding[deciding.size():]
	}
	said = outcome{access: decision.Outcome, stale: decision.Stale, unresolved: r.fetches[decision.Fetch].Unresolved()}
	if said.access == access.Rules {
		said.kept = deciding.kept()
		if deciding.hasTarget() {
			said.kept = target(deciding).kept
			said.stale = said.stale || target(deciding).stale
		}
	}
	return said, deciding
}

// finish counts and emits a decision if it is about an authority.
func (r *resolver) finish(said outcome, deciding record) error {
	if len(deciding.authority()) == 0 {
		return nil
	}
	r.set.count(said, deciding)
	status := 0
	if !deciding.failed() {
		status = max(deciding.status(), 0)
	}
	return r.emit(&Decision{
		Authority: deciding.authority(), Access: said.access, Kept: said.kept, Stale: said.stale,
		Status: status, Fetched: timeOf(deciding.time()), Source: deciding.source(),
	})
}
