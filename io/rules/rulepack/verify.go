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
	v := verifier{Pack: p, used: newBitmap(p.bodies)}
	if err := v.verifyBuckets(); err != nil {
		return err
	}
	for number := range p.bodies {
		if err := v.verifyBody(number); err != nil {
			return err
		}
	}
	for i, count := range v.counted.counts() {
		// SourceBytes cannot be counted: the lengths of the sources are not in the pack.
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
	table := uint64(len(data)) - trailerSize - uint64(len(p.info.Sections))*sectionSize
	if !isZero(data[headerUsed:headerSize]) {
		return p.damaged("the header has more than it should")
	}
	end := uint64(headerSize) // of the section before
	for i, s := range p.info.Sections {
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

// verifier checks the authorities and the bodies of a pack.
type verifier struct {
	*Pack
	counted Info
	used    bitmap // the bodies that authorities have, by their indices
	lost    uint32 // the first place other than 0 that should have a body and has none
}

// markUsed adds the body of an origin to v.used and returns its flags; 0 for an origin without a body. If
// there is no such body, it sets v.lost.
func (v *verifier) markUsed(o origin) (bodyFlags uint8) {
	if access.Outcome(o.outcome) != access.Rules {
		return 0
	}
	info, err := v.open.Info(o.body)
	if err != nil || info.Number >= v.bodies {
		v.lost = cmp.Or(v.lost, o.body)
		return 0
	}
	v.used.set(info.Number)
	return uint8(readRow(v.rows, info.Number).flags)
}

// verifyBuckets checks and counts all authorities, and adds their bodies and those of captures to v.used.
func (v *verifier) verifyBuckets() error {
	end := uint64(0) // of the bucket before
	for number := range v.buckets {
		start := v.start(number)
		b, err := v.bucket(number, start)
		if err == nil && start < end {
			err = v.damaged("directory: bucket %d overlaps the one before", number)
		}
		if err == nil {
			err = v.verifyAuthorities(number, b)
		}
		if err == nil && v.info.History {
			err = v.verifyIntervals(number, b)
		}
		if err != nil {
			return err
		}
		end = start + uint64(b.size())
	}
	if v.lost != 0 { // a lost body at place 0 is found by verifyBody
		return v.damagedBody(v.lost, errors.New("it does not exist"))
	}
	if v.start(v.buckets) != uint64(len(v.authorities)) {
		return v.damaged("directory: end")
	}
	return v.eachCaptureEntry(func(e *captureEntry) error {
		for _, body := range e.Bodies {
			number, err := v.numberOf(uint32(body))
			if err != nil {
				return err
			}
			v.used.set(number)
		}
		return nil
	})
}

// verifyAuthorities checks that the authorities of bucket b are in order, belong to it by
// their hashes, and have valid origins, and counts them. number is the bucket's index.
func (v *verifier) verifyAuthorities(number uint32, b bucket) error {
	var before, now []byte // the authority before, and this one, each in the memory of the one before the other
	last := uint64(0)      // the hash of the authority before
	for i := range b.count() {
		before, now = now, b.appendAuthority(before[:0], i)
		hash := hashOf(now)
		switch {
		case le16(b.fingerprints()[2*i:]) != uint16(hash) || bucketOf(hash, v.buckets) != number:
			return v.damaged("bucket %d: %q belongs elsewhere", number, now)
		case i > 0 && cmp.Or(cmp.Compare(last, hash), compareAuthorities(before, now)) >= 0:
			return v.damaged("bucket %d: %q is out of order", number, now)
		case !v.isValid(b.origin(i)) && !b.origin(i).isNotYet():
			return v.damaged("what it says of %q", now)
		}
		v.counted.addAuthority(b.origin(i), v.markUsed(b.origin(i)))
		last = hash
	}
	return nil
}

// verifyIntervals checks the intervals of bucket b: each authority has some, in order, with
// valid origins and times, and the bucket of intervals ends with the last of each. number is the bucket's
// index.
func (v *verifier) verifyIntervals(number uint32, b bucket) error {
	data, err := v.intervalBucket(number, b)
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
			v.markUsed(all.get(n).origin)
			inOrder := n == start || all.from(n-1) < all.from(n)
			ok = inOrder && v.isValid(all.get(n).origin) && all.hasValidTimes(n)
		}
	}
	timesEnd := uint64(0)
	if ok && end > 0 {
		timesEnd = all.timesOf(end - 1)[1]
	}
	if !ok || end != all.len() || timesEnd != uint64(len(all.times)) {
		return v.damaged("intervals of bucket %d: %w", number, errBucketLayout)
	}
	return nil
}

// hasValidTimes reports whether the times of interval n lie within the bucket's times and
// ascend between those of its first and its last fetch.
func (i intervals) hasValidTimes(n int) bool {
	times, ok := within(i.times, i.timesOf(n))
	x, valid := i.get(n), 0                          // bytes of times
	for second := range eachTime(times, x.fetched) { // ends where they do not ascend
		if second < x.seen {
			valid += timeSize
		}
	}
	return ok && valid == len(times)
}

// verifyBody checks and counts the body with that index, its notes, records and digest.
func (v *verifier) verifyBody(number uint32) error {
	b, err := v.describeBody(number)
	if err != nil {
		return err
	}
	if !v.used.has(number) {
		return v.damaged("body %d: no authority has it", number)
	}
	flags := readRow(v.rows, number).flags
	place := readRow(v.rows, number).rules[0] / matcher.BodyAlignment
	if info, err := v.open.Info(uint32(place)); err != nil || info.Number != number || info.Kind != b.Kind || info.Source != (b.Source != nil) {
		return v.damaged("body %d: its head says something else than its row", number)
	}
	v.counted.addBody(&bodyMeta{flags: uint8(flags)})
	return nil
}
