package rulepack

import (
	"bytes"
	"cmp"
	"fmt"
	"runtime/debug"

	"robotsbatch/matcher/access"
)

// Verify reads the whole pack: it compares the checksum of each section, and then
// checks that the contents are as a Builder makes them. Its time is proportional to the
// pack's size. It returns the first error.
func (p *Pack) Verify() (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer p.guard(&err)
	if p.file == nil {
		return fmt.Errorf("rulepack: %s: %w", p.name, errClosed)
	}
	advise(p.file.data, inOrder)
	for kind := uint32(metaSection); kind < p.file.kinds(); kind++ {
		if s := p.file.table[kind]; checksum(s.data) != s.checksum {
			return p.damaged("checksum of the section %s", sectionNames[kind])
		}
	}
	counted := Info{}
	used, err := p.verifyBuckets(&counted)
	if err != nil {
		return err
	}
	for number := range p.bodies {
		if err := p.verifyBody(number, used.has(number), &counted); err != nil {
			return err
		}
	}
	for i, count := range counted.counts() {
		// The lengths of the sources are not in the pack.
		if said := p.info.counts()[i]; *said != *count && said != &p.info.SourceBytes {
			return p.damaged("meta counts %d of something of which there are %d", *said, *count)
		}
	}
	return p.Unchanged()
}

// verifyBuckets checks and counts all authorities, and returns the set of their bodies.
func (p *Pack) verifyBuckets(counted *Info) (used bitmap, err error) {
	used = newBitmap(p.bodies)
	end := uint64(0) // of the bucket before
	for number := range p.buckets {
		start := p.start(number)
		b, err := p.bucket(number, start)
		if err != nil {
			return nil, err
		}
		if start < end {
			return nil, p.damaged("directory: bucket %d overlaps the one before", number)
		}
		end = start + uint64(b.size())
		if err := p.verifyAuthorities(number, b); err != nil {
			return nil, err
		}
		use := func(o origin) (flags uint8) {
			if access.Outcome(o.outcome) != access.Rules {
				return 0
			}
			used.set(o.body)
			return uint8(readRow(p.rows, o.body).flags)
		}
		for i := range b.count() {
			o := b.origin(i)
			counted.add(o, use(o))
			if !p.info.History {
				continue
			}
			all, err := p.intervalsOf(number, b, i)
			if err != nil {
				return nil, err
			}
			for n := range all.len() {
				use(all.at(n).origin)
			}
		}
	}
	if p.start(p.buckets) != uint64(len(p.authorities)) {
		return nil, p.damaged("directory: end")
	}
	return used, nil
}

// verifyAuthorities checks that a bucket's authorities are in order, belong to it, and
// have sound origins.
func (p *Pack) verifyAuthorities(number uint32, b bucket) error {
	var before, now []byte
	last := uint64(0) // the hash before
	for i := range b.count() {
		before, now = now, b.appendAuthority(before[:0], i)
		hash := hashOf(now)
		switch {
		case le16(b.prints()[2*i:]) != uint16(hash) || bucketOf(hash, p.buckets) != number:
			return p.damaged("bucket %d: %q belongs elsewhere", number, now)
		case i > 0 && cmp.Or(cmp.Compare(last, hash), compareAuthorities(before, now)) >= 0:
			return p.damaged("bucket %d: %q is out of order", number, now)
		case !p.sound(b.origin(i)):
			return p.damaged("what it says of %q", now)
		}
		last = hash
	}
	return nil
}

// verifyBody checks a body with its notes, records and digest.
func (p *Pack) verifyBody(number uint32, used bool, counted *Info) error {
	if digest := p.digest(number); number > 0 {
		if before := p.digest(number - 1); bytes.Compare(before[:], digest[:]) >= 0 {
			return p.damaged("body %d: its digest is out of order", number)
		}
	}
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
