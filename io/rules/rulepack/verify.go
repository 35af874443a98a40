package rulepack

import (
	"bytes"
	"cmp"
	"errors"
	"runtime/debug"

	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// Verify reads the whole pack. It compares the checksum of each section, and then checks that
// the contents and the padding are as a Builder writes them. It returns the first error.
func (p *Pack) Verify() (err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	advise(p.file.data, inOrder)
	if err := p.verifyChecksums(); err != nil {
		return err
	}
	if err := p.verifyPadding(); err != nil {
		return err
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

// verifyChecksums compares the checksum of each section with the one in the table.
func (p *Pack) verifyChecksums() error {
	for kind, s := range p.file.table {
		sum, rest := uint32(0), s.data
		for len(rest) > 0 {
			n := min(len(rest), dropSize)
			sum, rest = updateChecksum(sum, rest[:n]), rest[n:]
			p.file.dropPages()
		}
		if s.found && sum != s.checksum {
			return p.damaged("checksum of the section %s", sectionNames[kind])
		}
	}
	return nil
}

// verifyPadding checks the bytes that no checksum covers: sections lie in the order of the
// table, each after fewer zeros than its alignment, and reserved bytes are 0.
func (p *Pack) verifyPadding() error {
	data := p.file.data
	table := uint64(len(data)) - trailerSize - uint64(len(p.file.sections))*sectionSize
	if !isZero(data[headerUsed:headerSize]) {
		return p.damaged("the header has more than it should")
	}
	end := uint64(headerSize) // of the section before
	for i, s := range p.file.sections {
		entry := data[table+uint64(i)*sectionSize:][:sectionSize]
		start := uint64(s.Offset)
		if start < end || start-end >= uint64(alignmentOf(int(le32(entry)))) || !isZero(data[end:start]) || !isZero(entry[sectionUsed:]) {
			return p.damaged("what lies before the section %s, or its entry in the table", s.Name)
		}
		end = start + uint64(s.Length)
	}
	if end != table {
		return p.damaged("something lies between the last section and the table")
	}
	return nil
}

func isZero(data []byte) bool { return len(bytes.TrimLeft(data, "\x00")) == 0 }

// verifyBuckets checks all authorities, counts them in counted, and returns the set of the
// bodies that they have, by the bodies' indices.
func (p *Pack) verifyBuckets(counted *Info) (used bitmap, err error) {
	used = newBitmap(p.bodies)
	lost := uint32(0) // the first place other than 0 that should have a body and has none
	use := func(o origin) (bodyFlags uint8) {
		if access.Outcome(o.outcome) != access.Rules {
			return 0
		}
		info, err := p.open.Info(o.body)
		if err != nil || info.Number >= p.bodies {
			lost = cmp.Or(lost, o.body)
			return 0
		}
		used.set(info.Number)
		return uint8(readRow(p.rows, info.Number).flags)
	}
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
		if p.info.History {
			if err := p.verifyIntervals(number, b); err != nil {
				return nil, err
			}
		}
		for i := range b.count() {
			o := b.origin(i)
			counted.addAuthority(o, use(o))
			if !p.info.History {
				continue
			}
			all, err := p.intervalsOf(number, b, i)
			if err != nil {
				return nil, err
			}
			for n := range all.len() {
				use(all.get(n).origin)
			}
		}
	}
	if lost != 0 { // a lost body at place 0 is found by verifyBody
		return nil, p.damagedBody(lost, errors.New("it does not exist"))
	}
	if p.start(p.buckets) != uint64(len(p.authorities)) {
		return nil, p.damaged("directory: end")
	}
	return used, p.eachCaptureEntry(func(e *captureEntry) error {
		for _, body := range e.Bodies {
			number, err := p.numberOf(uint32(body))
			if err != nil {
				return err
			}
			used.set(number)
		}
		return nil
	})
}

// verifyAuthorities checks that the authorities of bucket b are in order, belong to it by
// their hashes, and have valid origins. number is the bucket's index.
func (p *Pack) verifyAuthorities(number uint32, b bucket) error {
	var before, now []byte
	last := uint64(0) // the hash before
	for i := range b.count() {
		before, now = now, b.appendAuthority(before[:0], i)
		hash := hashOf(now)
		switch {
		case le16(b.fingerprints()[2*i:]) != uint16(hash) || bucketOf(hash, p.buckets) != number:
			return p.damaged("bucket %d: %q belongs elsewhere", number, now)
		case i > 0 && cmp.Or(cmp.Compare(last, hash), compareAuthorities(before, now)) >= 0:
			return p.damaged("bucket %d: %q is out of order", number, now)
		case !p.isValid(b.origin(i)) && (p.info.History || !b.origin(i).isNotYet()):
			return p.damaged("what it says of %q", now)
		}
		last = hash
	}
	return nil
}

// verifyIntervals checks the intervals of bucket b: each authority has some, in order, with
// valid origins and times. number is the bucket's index.
func (p *Pack) verifyIntervals(number uint32, b bucket) error {
	data, err := p.intervalBucket(number, b)
	if err != nil {
		return err
	}
	all, ok := openIntervals(data, b.count())
	end := 0 // of the authority's intervals
	for i := 0; ok && i < b.count(); i++ {
		start := end
		end = int(le32(data[intervalHeaderSize+4*i:]))
		ok = start < end && end <= all.len()
		for n := start; ok && n < end; n++ {
			ok = (n == start || all.from(n-1) < all.from(n)) && p.isValid(all.get(n).origin) && all.hasValidTimes(n)
		}
	}
	timesEnd := uint64(0)
	if ok && end > 0 {
		timesEnd = all.timesOf(end - 1)[1]
	}
	if !ok || end != all.len() || timesEnd != uint64(len(all.times)) {
		return p.damaged("intervals of bucket %d: %w", number, errBucketLayout)
	}
	return nil
}

// hasValidTimes reports whether the times of interval n lie within the bucket's times and
// ascend between those of its first and its last fetch.
func (i intervals) hasValidTimes(n int) bool {
	times, ok := within(i.times, i.timesOf(n))
	x, valid := i.get(n), 0 // bytes of times
	for time := range eachTime(times, x.fetched) {
		if time < x.seen {
			valid += timeSize
		}
	}
	return ok && valid == len(times)
}

// verifyBody checks the body with that index, its notes, records and digest, and counts it in
// counted. used says that an authority has it.
func (p *Pack) verifyBody(number uint32, used bool, counted *Info) error {
	b, err := p.describeBody(number)
	if err != nil {
		return err
	}
	if !used {
		return p.damaged("body %d: no authority has it", number)
	}
	flags := readRow(p.rows, number).flags
	place := readRow(p.rows, number).rules[0] / matcher.BodyAlignment
	if info, err := p.open.Info(uint32(place)); err != nil || info.Number != number || info.Kind != b.Kind || info.Source != (b.Source != nil) {
		return p.damaged("body %d: its head says something else than its row", number)
	}
	counted.addBody(&bodyMeta{flags: uint8(flags)})
	return nil
}
