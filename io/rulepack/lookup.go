package rulepack

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"slices"

	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

// errClosed is for lookups in a pack that is closed.
var errClosed = errors.New("the rule pack is closed")

// Lookup implements [matcher.Origins]. An error means that the pack is damaged,
// and names the body where it is one. It allocates nothing for a body that is
// open already.
func (p *Pack) Lookup(authority []byte, o *matcher.Origin) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer p.guard(&err)
	found, err := p.find(authority, p.way(authority))
	if err != nil {
		return err
	}
	return p.tell(found, o)
}

// tell sets *o to what the pack knows, for which it opens the body.
func (p *Pack) tell(found origin, o *matcher.Origin) (err error) {
	*o = matcher.Origin{}
	if access.Outcome(found.outcome) == access.Rules {
		b := p.cache.get(found.body)
		if b == nil {
			if b, err = p.load(found.body); err != nil {
				return err
			}
		}
		o.Tries, o.Facts.Records = b.tries, b.records
	}
	o.Facts.Status, o.Facts.Fetched = int(found.status), int64(found.fetched)
	o.Access, o.Stale = access.Outcome(found.outcome), found.flags&flagStale != 0
	return nil
}

// way is where an authority is to be looked for.
type way struct {
	hash  uint64
	group uint32
	page  uint32 // where the group begins
}

// way is the way to an authority, the zero way in a pack that is closed.
func (p *Pack) way(authority []byte) way {
	if p.file == nil {
		return way{}
	}
	hash := hashOf(authority)
	group := groupOf(hash, p.groups)
	return way{hash: hash, group: group, page: p.pageOf(group)}
}

// damaged is the error for something in the pack.
func (p *Pack) damaged(format string, args ...any) error {
	return fmt.Errorf("rulepack: %s: %w: %w", p.name, ErrDamaged, fmt.Errorf(format, args...))
}

// find finds what the pack has on an authority; unknown for nothing.
func (p *Pack) find(authority []byte, w way) (origin, error) {
	if len(authority) > MaxAuthority {
		return unknown, nil
	}
	if p.file == nil {
		return unknown, fmt.Errorf("rulepack: %s: %w", p.name, errClosed)
	}
	first, err := p.page(w.page, w.group, 0)
	if err != nil {
		return unknown, err
	}
	o, known := first.find(w.hash, authority)
	if !known && first.goesOn() {
		o, known, err = p.findFurther(w.page, w.group, w.hash, authority)
	}
	if err != nil || !known {
		return unknown, err
	}
	if !p.sound(o) {
		return unknown, p.damaged("what it says of %q", authority)
	}
	return o, nil
}

// sound tells whether an authority's outcome and body are such as there are.
func (p *Pack) sound(o origin) bool {
	switch access.Outcome(o.outcome) {
	case access.Rules:
		return o.body < p.bodies
	case access.AllowAll, access.DisallowAll:
		return true
	}
	return false
}

// pageOf is the page in which a group begins.
func (p *Pack) pageOf(group uint32) uint32 { return le32(p.directory[4*uint64(group):]) }

// page is a page of a group, after looking at it when it is first used.
func (p *Pack) page(number, group, sequence uint32) (page, error) {
	if number >= p.pageCount {
		return nil, p.damaged("directory: page %d of %d", number, p.pageCount)
	}
	start := uint64(number) * pageSize
	found := page(p.pages[start : start+pageSize])
	if !p.checkedPages.has(number) {
		if err := checkPage(found); err != nil {
			return nil, p.damaged("page %d: %w", number, err)
		}
		p.checkedPages.set(number)
	}
	if found.first() > group || found.last() < group || found.sequence() != sequence {
		return nil, p.damaged("page %d is not that of group %d", number, group)
	}
	return found, nil
}

// findFurther looks for an authority in the further pages of a group that begins
// in page number: by halves, for each page starts with a greater one.
func (p *Pack) findFurther(number, group uint32, hash uint64, authority []byte) (origin, bool, error) {
	low, high := number+1, p.pageOf(group+1)
	if high <= number || high > p.pageCount {
		return origin{}, false, p.damaged("directory: group %d has no end", group)
	}
	var memory [MaxAuthority + 8]byte
	for low < high {
		middle := low + (high-low)/2
		next, err := p.page(middle, group, middle-number)
		if err != nil {
			return origin{}, false, err
		}
		start := next.appendAuthority(memory[:0], 0)
		if order := cmp.Or(cmp.Compare(hashOf(start), hash), bytes.Compare(start, authority)); order <= 0 {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low--; low == number {
		return origin{}, false, nil
	}
	last, err := p.page(low, group, low-number)
	if err != nil {
		return origin{}, false, err
	}
	o, known := last.find(hash, authority)
	return o, known, nil
}

// opened is a body that is open, with the tries of the pack's chains.
type opened struct {
	tries   []matcher.Trie
	records *matcher.Records // nil unless they were asked for
	body    uint32
	size    int64 // octets of memory
	kept
}

// load opens a body and keeps it in the cache.
func (p *Pack) load(number uint32) (*opened, error) {
	rules, r, err := p.bodyRules(number)
	if err != nil {
		return nil, err
	}
	b := &opened{body: number, size: openedSize(len(p.chains)) + int64(len(rules))}
	if r.flags&bodySource != 0 {
		f := robotstxt.Parse(rules, robotstxt.Options{Profile: p.info.Profile, Limit: len(rules)})
		b.tries = matcher.Compile(f, p.chains)
		p.tellNames(f.AgentNames())
		if p.keepRecords {
			b.records = matcher.CollectRecords(f, p.chains)
		}
		for i := range b.tries {
			if !slices.ContainsFunc(b.tries[:i], func(t matcher.Trie) bool { return t.Same(&b.tries[i]) }) {
				b.size += int64(b.tries[i].Size())
			}
		}
	} else {
		compiled, err := p.openTries(b, rules, r)
		if err != nil {
			return nil, err
		}
		p.tellNames(compiled.Names())
		if p.keepRecords {
			records, err := p.bodyRecords(number, r)
			if err != nil {
				return nil, err
			}
			b.records = records.forChains(p.chains, compiled.Chosen)
		}
	}
	if b.records != nil {
		b.size += int64(b.records.Size())
	}
	p.checkedBodies.set(number)
	p.cache.put(b)
	return b, nil
}

// tellNames calls Options.Named.
func (p *Pack) tellNames(names iter.Seq[[]byte]) {
	if p.named != nil {
		names(p.named)
	}
}

// bodyRules are a body's rules, or its source. They are a copy, and the checksum
// is that of the copy: matching trusts what was checked, and nobody can change
// it any more by writing to the pack.
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

// openTries opens a compiled body for the pack's chains.
func (p *Pack) openTries(b *opened, rules []byte, r row) (compiled *matcher.Body, err error) {
	var notes []byte
	if p.explain {
		if notes, err = p.bodyNotes(b.body, r); err != nil {
			return nil, err
		}
		b.size += int64(len(notes))
	}
	b.tries = make([]matcher.Trie, 0, len(p.chains))
	if p.checkedBodies.has(b.body) {
		compiled = matcher.ReopenBody(rules, notes)
		b.tries = compiled.Tries(b.tries, p.chains)
		return compiled, nil
	}
	if b.tries, compiled, err = matcher.OpenTries(b.tries, rules, notes, p.chains); err != nil {
		return nil, p.damaged("body %d: %w", b.body, err)
	}
	return compiled, p.checkProfile(b.body, compiled)
}

// openBody opens a compiled body with its notes, and checks all of it.
func (p *Pack) openBody(number uint32, rules []byte, r row) (*matcher.Body, error) {
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

// bodyNotes are a body's notes.
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

// within is what lies between two offsets of a section.
func within(section []byte, bounds [2]uint64) ([]byte, bool) {
	if bounds[0] > bounds[1] || bounds[1] > uint64(len(section)) {
		return nil, false
	}
	return section[bounds[0]:bounds[1]:bounds[1]], true
}
