package rulepack

import (
	"bytes"
	"cmp"
	"fmt"
	"runtime/debug"

	"robotsbatch/matcher/access"
)

// Verify reads the whole pack: it checks the checksum of each section, and then
// that everything in them is as a Builder makes it. It takes time in proportion
// to the pack's size. The error says what is wrong first.
func (p *Pack) Verify() (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer p.guard(&err)
	if p.file == nil {
		return fmt.Errorf("rulepack: %s: %w", p.name, errClosed)
	}
	advise(p.file.data, inOrder)
	for kind := metaSection; kind < sectionKinds; kind++ {
		if s := p.file.table[kind]; checksum(s.data) != s.checksum {
			return p.damaged("checksum of the section %s", sectionNames[kind])
		}
	}
	counted := Info{}
	used, err := p.verifyPages(&counted)
	if err != nil {
		return err
	}
	for number := range p.bodies {
		if err := p.verifyBody(number, used.has(number), &counted); err != nil {
			return err
		}
	}
	for i, count := range counted.counts() {
		// How long the sources were cannot be counted any more.
		if said := p.info.counts()[i]; *said != *count && said != &p.info.SourceOctets {
			return p.damaged("it has %d of what it says to have %d", *count, *said)
		}
	}
	return p.Unchanged()
}

// verifyPages goes through all pages and counts. It returns which bodies the
// authorities have.
func (p *Pack) verifyPages(counted *Info) (used bitmap, err error) {
	used = newBitmap(p.bodies)
	v := pageVerifier{pack: p}
	for number := range p.pageCount {
		start := uint64(number) * pageSize
		pg := page(p.pages[start : start+pageSize])
		if err := v.page(number, pg); err != nil {
			return nil, p.damaged("page %d: %w", number, err)
		}
		for i := range pg.count() {
			o := pg.origin(i)
			var flags uint8
			if access.Outcome(o.outcome) == access.Rules {
				used.set(o.body)
				flags = uint8(readRow(p.rows, o.body).flags)
			}
			counted.add(o, flags)
		}
	}
	if v.next != p.groups || v.goesOn {
		return nil, p.damaged("the pages end with group %d of %d", v.next, p.groups)
	}
	if p.pageOf(p.groups) != p.pageCount {
		return nil, p.damaged("directory: end")
	}
	return used, nil
}

// pageVerifier goes from page to page.
type pageVerifier struct {
	pack   *Pack
	next   uint32 // the group that the next page begins with
	goesOn bool   // but if the one before goes on there
	chain  uint32 // the page in which that one begins

	before, now []byte // the last two authorities
	hash        uint64 // of the last
}

func (v *pageVerifier) page(number uint32, p page) error {
	if err := checkPage(p); err != nil {
		return err
	}
	if v.goesOn {
		if p.first() != v.next-1 || p.sequence() != number-v.chain {
			return fmt.Errorf("group %d does not go on", v.next-1)
		}
	} else {
		if p.first() != v.next || p.last() >= v.pack.groups || p.sequence() != 0 {
			return fmt.Errorf("group %d does not begin", v.next)
		}
		for group := uint64(p.first()); group <= uint64(p.last()); group++ {
			if v.pack.pageOf(uint32(group)) != number {
				return fmt.Errorf("directory: group %d", group)
			}
		}
		v.next, v.chain = p.last()+1, number
	}
	v.goesOn = p.goesOn()
	return v.authorities(p)
}

// authorities checks that those of a page are in order, and where they belong.
func (v *pageVerifier) authorities(p page) error {
	for i := range p.count() {
		v.before, v.now = v.now, p.appendAuthority(v.before[:0], i)
		hash := hashOf(v.now)
		group := groupOf(hash, v.pack.groups)
		switch order := cmp.Or(cmp.Compare(v.hash, hash), bytes.Compare(v.before, v.now)); {
		case order >= 0 && len(v.before) > 0:
			return fmt.Errorf("%q is out of order", v.now)
		case group < p.first() || group > p.last() || le16(p.fingerprints()[2*i:]) != uint16(hash):
			return fmt.Errorf("%q belongs elsewhere", v.now)
		case !v.pack.sound(p.origin(i)):
			return fmt.Errorf("what it says of %q", v.now)
		}
		v.hash = hash
	}
	return nil
}

// verifyBody checks a body with all that belongs to it.
func (p *Pack) verifyBody(number uint32, used bool, counted *Info) error {
	r := readRow(p.rows, number)
	rules, ok := within(p.rules, r.rules)
	if !ok || r.sum(number, rules) != r.checksum {
		return p.damaged("body %d: checksum", number)
	}
	if !used {
		if r.flags != bodyUnused {
			return p.damaged("body %d: no authority has it", number)
		}
		return nil
	}
	if _, err := p.Body(number); err != nil {
		return err
	}
	counted.addBody(known{flags: uint8(r.flags)})
	return nil
}
