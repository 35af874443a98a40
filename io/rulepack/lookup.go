package rulepack

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"slices"

	"robotsbatch/io/cache"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

// errClosed is returned by lookups in a closed pack.
var errClosed = errors.New("the rule pack is closed")

// Lookup implements [matcher.Origins]. An error means that the pack is damaged, and
// names the damaged body if there is one. Lookup allocates nothing for a body that is
// already open.
func (p *Pack) Lookup(authority []byte, o *matcher.Origin) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer p.guard(&err)
	found, err := p.find(authority, p.locate(authority))
	if err != nil {
		return err
	}
	return p.tell(found, o)
}

// tell sets *o to what the pack knows, and opens the body if there is one.
func (p *Pack) tell(found origin, o *matcher.Origin) error {
	*o = matcher.Origin{}
	if access.Outcome(found.outcome) == access.Rules {
		b, err := p.opened.Get(found.body)
		if err != nil {
			return err
		}
		o.Tries, o.Of, o.Facts.Records, o.Facts.Kind = b.tries, b.of, b.records, b.kind
	}
	o.Facts.Status, o.Facts.Fetched = int(found.status), int64(found.fetched)
	o.Access, o.Stale = access.Outcome(found.outcome), found.flags&flagStale != 0
	return nil
}

// location is where to look for an authority.
type location struct {
	hash   uint64
	bucket uint32
	start  uint64 // of the bucket
}

// locate returns where to look for an authority; the zero location if the pack is
// closed.
func (p *Pack) locate(authority []byte) location {
	if p.file == nil {
		return location{}
	}
	hash := hashOf(authority)
	bucket := bucketOf(hash, p.buckets)
	return location{hash: hash, bucket: bucket, start: p.start(bucket)}
}

// start returns where a bucket starts in its section.
func (p *Pack) start(bucket uint32) uint64 { return le64(p.directory[8*uint64(bucket):]) }

// place finds an authority in its bucket.
func (p *Pack) place(authority []byte, l location) (b bucket, place int, known bool, err error) {
	if len(authority) > MaxAuthority {
		return nil, 0, false, nil
	}
	if p.file == nil {
		return nil, 0, false, fmt.Errorf("rulepack: %s: %w", p.name, errClosed)
	}
	if b, err = p.bucket(l.bucket, l.start); err != nil {
		return nil, 0, false, err
	}
	place, known = b.find(l.hash, authority)
	return b, place, known, nil
}

// find returns an authority's origin, or unknown.
func (p *Pack) find(authority []byte, l location) (origin, error) {
	b, place, known, err := p.place(authority, l)
	if err != nil || !known {
		return unknown, err
	}
	return p.deciding(authority, l.bucket, b, place)
}

// deciding returns the origin that decides at Options.AsOf about an authority, given by
// its bucket and index there; unknown if there is none.
func (p *Pack) deciding(authority []byte, number uint32, b bucket, place int) (origin, error) {
	if p.asOf != 0 {
		return p.findAt(number, b, place)
	}
	o := b.origin(place)
	if !p.sound(o) {
		return unknown, p.damaged("what it says of %q", authority)
	}
	return o, nil
}

// bucket returns a bucket, which it checks at its first use.
func (p *Pack) bucket(number uint32, start uint64) (bucket, error) {
	if start > uint64(len(p.authorities)) {
		return nil, p.damaged("directory: bucket %d", number)
	}
	b := bucket(p.authorities[start:])
	if p.checkedBuckets.has(number) {
		return b, nil
	}
	if end := p.start(number + 1); end < start || end > uint64(len(p.authorities)) {
		return nil, p.damaged("directory: bucket %d", number+1)
	} else if err := b[:end-start].check(number); err != nil {
		return nil, p.damaged("bucket %d: %w", number, err)
	}
	p.checkedBuckets.set(number)
	return b, nil
}

// sound reports whether an origin has a valid outcome and an existing body.
func (p *Pack) sound(o origin) bool {
	switch access.Outcome(o.outcome) {
	case access.Rules:
		return o.body < p.bodies
	case access.AllowAll, access.DisallowAll:
		return true
	}
	return false
}

// damaged returns an error that wraps ErrDamaged and says what is wrong.
func (p *Pack) damaged(format string, args ...any) error {
	return fmt.Errorf("rulepack: %s: %w: %w", p.name, ErrDamaged, fmt.Errorf(format, args...))
}

// opened is an open body with the tries of the pack's agents, in the form of
// matcher.Origin.
type opened struct {
	tries   []matcher.Trie
	of      []uint32
	records *matcher.Records // nil unless Options.Records is set
	kind    robotstxt.BodyKind
}

// openBody opens a body for the cache.
func (p *Pack) openBody(number uint32) (made cache.Value[uint32, *opened], err error) {
	// Guard here, so that goroutines waiting for the same body get the error too.
	defer p.guard(&err)
	rules, r, err := p.bodyRules(number)
	if err != nil {
		return made, err
	}
	b := &opened{kind: kindOf(r.flags)}
	size := int64(len(rules))
	if r.flags&bodySource != 0 {
		size += p.openSource(b, rules)
	} else {
		notes, err := p.openCompiled(b, number, rules, r)
		if err != nil {
			return made, err
		}
		size += int64(notes)
	}
	if b.records != nil {
		size += int64(b.records.Size())
	}
	size += b.size()
	p.checkedBodies.set(number)
	return cache.Value[uint32, *opened]{ID: number, V: b, Size: size}, nil
}

// openSource compiles a body that is kept as its source, and returns the size of its
// tries in memory.
func (p *Pack) openSource(b *opened, source []byte) (size int64) {
	f := robotstxt.Parse(source, robotstxt.Options{Profile: p.info.Profile, Limit: len(source)})
	compiler := matcher.Compiler{Explain: p.explain}
	b.tries, b.of = compiler.Compile(f, p.agents)
	p.tellNames(f.AgentNames())
	if p.keepRecords {
		b.records = matcher.CollectRecords(f, p.agents)
	}
	for i := range b.tries {
		if !slices.ContainsFunc(b.tries[:i], func(t matcher.Trie) bool { return t.Same(&b.tries[i]) }) {
			size += int64(b.tries[i].Size())
		}
	}
	return size
}

// openCompiled opens a compiled body for the pack's agents, and returns the size of the
// notes it keeps.
func (p *Pack) openCompiled(b *opened, number uint32, rules []byte, r row) (kept int, err error) {
	var notes []byte
	if p.explain {
		if notes, err = p.bodyNotes(number, r); err != nil {
			return 0, err
		}
	}
	var compiled *matcher.Body
	if p.checkedBodies.has(number) {
		compiled = matcher.ReopenBody(rules, notes)
		b.tries, b.of = compiled.For(p.agents)
	} else {
		if compiled, b.tries, b.of, err = matcher.OpenFor(rules, notes, p.agents); err != nil {
			return 0, p.damaged("body %d: %w", number, err)
		}
		if err := p.checkProfile(number, compiled); err != nil {
			return 0, err
		}
	}
	p.tellNames(compiled.Names())
	if p.keepRecords {
		records, err := p.bodyRecords(number, r)
		if err != nil {
			return 0, err
		}
		b.records = records.ForChains(p.agents.Chains(), compiled.Chosen)
	}
	return len(notes), nil
}

// tellNames calls Options.Named.
func (p *Pack) tellNames(names iter.Seq[[]byte]) {
	if p.named != nil {
		names(p.named)
	}
}

// bodyRules returns a checked copy of a body's rules or source. Matching trusts checked
// bytes, and only a copy stays the same if the pack is written to.
func (p *Pack) bodyRules(number uint32) ([]byte, row, error) {
	if number >= p.bodies {
		return nil, row{}, p.damaged("body %d of %d", number, p.bodies)
	}
	r := readRow(p.rows, number)
	rules, ok := within(p.rules, r.rules)
	switch {
	case !ok:
		return nil, r, p.damaged("body %d lies outside", number)
	case r.flags&bodyUnused != 0:
		return nil, r, p.damaged("body %d is none", number)
	}
	rules = bytes.Clone(rules)
	if r.sum(number, rules) != r.checksum {
		return nil, r, p.damaged("body %d: checksum", number)
	}
	return rules, r, nil
}

// describeBody opens a compiled body with its notes, and checks all of it.
func (p *Pack) describeBody(number uint32, rules []byte, r row) (*matcher.Body, error) {
	notes, err := p.bodyNotes(number, r)
	if err != nil {
		return nil, err
	}
	compiled, err := matcher.OpenBody(rules, notes)
	if err != nil {
		return nil, p.damaged("body %d: %w", number, err)
	}
	return compiled, p.checkProfile(number, compiled)
}

func (p *Pack) checkProfile(number uint32, compiled *matcher.Body) error {
	if compiled.Profile() != p.info.Profile {
		return p.damaged("body %d is of another profile", number)
	}
	return nil
}

// bodyNotes returns a body's notes.
func (p *Pack) bodyNotes(number uint32, r row) ([]byte, error) {
	blob, ok := within(p.notes, r.notes)
	if !ok {
		return nil, p.damaged("notes of body %d lie outside", number)
	}
	notes, err := openBlob(blob)
	if err != nil {
		return nil, fmt.Errorf("rulepack: %s: notes of body %d: %w", p.name, number, err)
	}
	if notes == nil {
		return nil, p.damaged("body %d has no notes", number)
	}
	return notes, nil
}

// within returns the bytes between two offsets of a section.
func within(section []byte, bounds [2]uint64) ([]byte, bool) {
	if bounds[0] > bounds[1] || bounds[1] > uint64(len(section)) {
		return nil, false
	}
	return section[bounds[0]:bounds[1]:bounds[1]], true
}
