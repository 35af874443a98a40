package rulepack

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime/debug"

	"robotsbatch/batch"
	"robotsbatch/io/store/cache"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

// Lookup implements [matcher.Origins]. An error means that the pack is damaged. Lookup
// allocates nothing in the common case.
func (p *Pack) Lookup(authority []byte, o *matcher.Origin) (err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	l := p.locate(authority)
	found, err := p.find(authority, &l)
	if err != nil {
		return err
	}
	return p.setOrigin(found, o)
}

// setOrigin fills o from what the pack knows, found, and opens the body if there is one. It
// reuses the memory of o's slices.
func (p *Pack) setOrigin(found origin, o *matcher.Origin) error {
	one := [1]matcher.Origin{*o} // not new, for its slices
	_, err := p.setOrigins([]origin{found}, one[:])
	*o = one[0]
	return err
}

// location is where an authority is, if the pack has it.
type location struct {
	hash   uint64
	bucket uint32
	start  uint64 // of the bucket
	// record is the first one in the bucket with the authority's fingerprint, most likely its own, and
	// index is the record's index there. It is nil if findLikely has not found one.
	record bucketEntry
	index  int
}

// locate returns the bucket of an authority. It reads the directory alone.
func (p *Pack) locate(authority []byte) location {
	hash := hashOf(authority)
	bucket := bucketOf(hash, p.buckets)
	return location{hash: hash, bucket: bucket, start: p.start(bucket)}
}

// start returns where a bucket starts in its section.
func (p *Pack) start(bucket uint32) uint64 { return le64(p.directory[8*uint64(bucket):]) }

// findIndex returns an authority's bucket and its index there. known is false if the pack does
// not have the authority. l is its location.
func (p *Pack) findIndex(authority []byte, l *location) (b bucket, index int, known bool, err error) {
	switch {
	case l.record != nil && l.record.is(authority):
		return p.authorities[l.start:], l.index, true, nil
	case len(authority) > MaxAuthority:
		return nil, 0, false, nil
	}
	if b, err = p.bucket(l.bucket, l.start); err != nil {
		return nil, 0, false, err
	}
	index, known = b.find(l.hash, authority)
	return b, index, known, nil
}

// find returns an authority's origin at Options.AsOf, or unknown if the pack does not have it.
// l is its location.
func (p *Pack) find(authority []byte, l *location) (origin, error) {
	b, index, known, err := p.findIndex(authority, l)
	if err != nil || !known {
		return unknown, err
	}
	return p.decidingOrigin(authority, l.bucket, b, index)
}

// decidingOrigin returns the origin of an authority, given by its bucket, the bucket's number and the
// authority's index in it. It is the origin at Options.AsOf, or notYet if nothing was known by then;
// without AsOf or a history p.asOf is 0, and it is the newest. The text of the authority is for errors.
func (p *Pack) decidingOrigin(authority []byte, number uint32, b bucket, index int) (origin, error) {
	if p.asOf != 0 {
		return p.originAt(number, b, index)
	}
	o := b.origin(index)
	if o.isNotYet() {
		return notYet, nil // not o, which has flags for the scheme: callers compare with notYet
	}
	if !p.isValid(o) {
		return unknown, p.damaged("what it says of %q", authority)
	}
	return o, nil
}

// bucket returns the bucket with an index, number, which starts at an offset of the section
// authorities. The first call for a bucket checks it. It points into the mapped file, and may
// extend past its end.
func (p *Pack) bucket(number uint32, start uint64) (bucket, error) {
	if start > uint64(len(p.authorities)) {
		return nil, p.damaged("directory: bucket %d", number)
	}
	b := bucket(p.authorities[start:])
	if p.checkedBuckets.has(number) {
		return b, nil
	}
	end := p.start(number + 1)
	if end < start || end > uint64(len(p.authorities)) {
		return nil, p.damaged("directory: bucket %d", number+1)
	}
	if err := b[:end-start].check(number); err != nil {
		return nil, p.damaged("bucket %d: %w", number, err)
	}
	p.checkedBuckets.set(number)
	return b, nil
}

// isValid reports whether an origin has a valid outcome and, if that is access.Rules, a body
// that starts within the rules.
func (p *Pack) isValid(o origin) bool {
	switch access.Outcome(o.outcome) {
	case access.Rules:
		return uint64(o.body)*matcher.BodyAlignment < uint64(len(p.rules))
	case access.Unknown:
		return false
	}
	return o.outcome < uint8(access.Outcomes)
}

// damaged returns an error that wraps ErrDamaged and says what is wrong.
func (p *Pack) damaged(format string, args ...any) error {
	return fmt.Errorf("%s: %w: %w", p.name, ErrDamaged, fmt.Errorf(format, args...))
}

// setOrigins fills origins[i] from found[i], for all i, of which there are at most matcher.AtOnce,
// and opens the bodies where there are some. It reuses the memory of the origins' slices. After an
// error, failed is the first index for which it failed, and the origins before that are set.
func (p *Pack) setOrigins(found []origin, origins []matcher.Origin) (failed int, err error) {
	var memory [matcher.AtOnce]uint32
	places, opened := memory[:len(found)], len(found)
	for i, f := range found {
		o := &origins[i]
		o.Reset()
		o.Facts.Status, o.Facts.Fetched = int(f.status), int64(f.fetched)
		o.Access, o.Stale, o.NotYet = access.Outcome(f.outcome), f.flags&flagStale != 0, f == notYet
		if places[i] = noBody; o.Access == access.Rules {
			places[i] = f.body
		}
	}
	if i, e := p.open.OpenAll(places, origins); e != nil {
		opened, err = i, p.damagedBody(places[i], e)
	}
	if i, e := p.complete(places[:opened], origins); e != nil {
		return i, e // of an earlier one
	}
	if p.paging != nil {
		p.paging.addLookups(opened)
	}
	return opened, err
}

// complete adds to origins the extras of their bodies, as far as they are asked for. places[i]
// is where the body of origins[i] starts; noBody for none. With an error it returns the index for
// which it failed.
func (p *Pack) complete(places []uint32, origins []matcher.Origin) (failed int, err error) {
	for i, place := range places {
		o := &origins[i]
		// A body that is kept as its source has its tries among the extras. Statements alone need no
		// extras if they are cached by their key.
		rulesSuffice := len(o.Tries) > 0 && !p.explain && !p.keepRecords
		if place == noBody || rulesSuffice && !p.usage.Wanted() {
			continue
		}
		info, err := p.open.Info(place)
		if err != nil {
			return i, p.damagedBody(place, err)
		}
		if rulesSuffice {
			if !info.Statements {
				continue
			}
			if usage, ok := p.statements.find(&info); ok {
				o.Facts.Usage = usage
				continue
			}
		}
		// The extras of a body are by its number, which a damaged pack may have wrong.
		if info.Number >= p.bodies {
			return i, p.damagedBody(place, errors.New("there are fewer"))
		}
		m, err := p.extras.Get(info.Number)
		if err != nil {
			return i, err
		}
		if m.place != place || m.tries == nil && info.Source {
			return i, p.damagedBody(place, errors.New("it has another's number"))
		}
		o.Facts.Records, o.Facts.Usage, o.Facts.Kind = m.records, m.usage, info.Kind
		if m.tries != nil {
			o.Tries, o.Of = m.tries, m.of
		}
	}
	return 0, nil
}

// damagedBody returns an error that wraps ErrDamaged and err, about the body that starts at place, in
// units of matcher.BodyAlignment bytes. It names the body by its index if the body's head has that.
func (p *Pack) damagedBody(place uint32, err error) error {
	if info, e := p.open.Info(place); e == nil {
		return p.damaged("body %d: %w", info.Number, err)
	}
	return p.damaged("body at %d: %w", uint64(place)*matcher.BodyAlignment, err)
}

// extras are what lookups need of a body besides its rules in the pack. They are read or
// compiled once, and cached.
type extras struct {
	place uint32 // where the body starts in the rules
	// tries and of are those of a matcher.Origin with Options.Explain, and for a body that is
	// kept as its source; nil for others, whose rules have them.
	tries   []matcher.Trie
	of      []uint32
	records *matcher.Records // nil unless Options.Records is set
	usage   *matcher.Usage   // nil without statements of what Options.Usage wants
	size    int64            // about how many bytes of memory all this takes
}

// makeExtras reads or compiles the extras of the body with that index, for the cache. Which it makes
// depends on what the pack was opened for.
func (p *Pack) makeExtras(number uint32) (made cache.Value[uint32, *extras], err error) {
	// The cache runs this once for all goroutines that wait for the body: so a fault of the
	// mapped file becomes an error here, and not only in the one that called it.
	defer p.guard(debug.SetPanicOnFault(true), &err)
	rules, r, err := p.bodyRules(number)
	if err != nil {
		return made, err
	}
	m := &extras{place: uint32(r.rules[0] / matcher.BodyAlignment)}
	if r.flags&bodySource != 0 {
		err = p.compileSource(m, number, rules)
	} else {
		err = p.openNotes(m, number, rules, r)
	}
	if err != nil {
		return made, err
	}
	if m.records != nil {
		sum, err := p.digest(number)
		if err != nil {
			return made, err
		}
		m.records.Digest = hex.EncodeToString(sum[:])
		m.size += int64(m.records.Size())
	}
	const fixed, perTrie = 96, 320 // bytes of the structs themselves, with some slack
	m.size += fixed + perTrie*int64(len(m.tries)) + 4*int64(len(m.of)) + int64(m.usage.Size())
	return cache.Value[uint32, *extras]{ID: number, V: m, Size: m.size}, nil
}

// source returns the text of a body that is kept as its source. It points into rules, the
// body's bytes in the pack. number is for errors.
func (p *Pack) source(rules []byte, number uint32) ([]byte, error) {
	// A body is read by matcher.Bodies alone: here from a section that has nothing else, and for no agents.
	one, err := matcher.NewBodies(rules, 0, p.info.Profile, matcher.NewAgents(nil), nil)
	if err == nil {
		if info, err := one.Info(0); err == nil && info.Source {
			return info.Text, nil
		}
	}
	return nil, p.damaged("body %d is no source", number)
}

// compileSource sets m from a body that is kept as its source, compiled for the agents that were
// asked for, and m.size to what its tries take. rules are the body's bytes in the pack.
func (p *Pack) compileSource(m *extras, number uint32, rules []byte) error {
	source, err := p.source(rules, number)
	if err != nil {
		return err
	}
	done, err := batch.Compiling(p.budget, source)
	if err != nil {
		return fmt.Errorf("%s: body %d: %w", p.name, number, err)
	}
	defer done()
	f := robotstxt.Parse(source, robotstxt.Options{Profile: p.info.Profile, Limit: len(source)})
	compiler := matcher.Compiler{Explain: p.explain}
	m.tries, m.of = compiler.Compile(f, p.agents)
	if p.keepRecords {
		m.records = matcher.CollectRecords(f, p.agents)
	}
	m.usage, m.size = compiler.CompileUsage(f, p.agents, p.usage), matcher.SizeOf(m.tries)
	return nil
}

// openNotes sets m from a compiled body: tries with notes if explanations are asked for, else none, and
// records and statements if those are. It sets m.size to what the tries keep in memory. rules and r are the
// body's bytes and row.
func (p *Pack) openNotes(m *extras, number uint32, rules []byte, r bodyRow) (err error) {
	var notes []byte
	if p.explain {
		if notes, err = p.bodyNotes(number, r); err != nil {
			return err
		}
	}
	compiled, err := p.openBody(number, rules, notes)
	if err != nil {
		return err
	}
	if p.explain {
		m.tries, m.of = compiled.For(p.agents)
		m.size = int64(len(rules) + len(notes))
	}
	return p.readExtraRecords(m, number, compiled, r)
}

// readExtraRecords sets m's records and statements about use, each if it is asked for. r is
// the body's row.
func (p *Pack) readExtraRecords(m *extras, number uint32, compiled *matcher.Body, r bodyRow) error {
	wantsUsage := p.usage.Wanted() && r.flags&bodyStatements != 0
	if !p.keepRecords && !wantsUsage {
		return nil
	}
	records, err := p.bodyRecords(number, r)
	if err != nil {
		return err
	}
	if p.keepRecords {
		m.records = records.ForChains(p.agents.Chains(), compiled.Chosen)
	}
	if wantsUsage {
		info, err := p.open.Info(m.place)
		if err != nil || info.HasSaid && info.Said != matcher.KeyOfStatements(records.Statements) {
			return p.damaged("body %d: it has another's statements", number)
		}
		m.usage = p.statements.compile(p, &records)
	}
	return nil
}

// bodyRules returns a copy of a body's rules, or of its source if the pack keeps that instead, and
// the body's row. It compares the checksum.
func (p *Pack) bodyRules(number uint32) ([]byte, bodyRow, error) {
	if number >= p.bodies {
		return nil, bodyRow{}, p.damaged("body %d of %d", number, p.bodies)
	}
	r := readRow(p.rows, number)
	rules, ok := within(p.rules, r.rules)
	if !ok || r.rules[0]%matcher.BodyAlignment != 0 {
		return nil, r, p.damaged("body %d lies outside", number)
	}
	// A source has a head and padding besides its text.
	if most := p.limit + 2*matcher.BodyAlignment; r.flags&bodySource != 0 && int64(len(rules)) > most {
		return nil, r, p.damaged("body %d: its source has %d bytes, and %d count", number, len(rules), p.limit)
	}
	rules = bytes.Clone(rules) // stay as checked if the file is written to
	if r.sum(number, rules) != r.checksum {
		return nil, r, p.damaged("body %d: checksum", number)
	}
	return rules, r, nil
}

// openBody opens the compiled body in rules and notes, which it points into, and checks all of
// it. number is its index.
func (p *Pack) openBody(number uint32, rules, notes []byte) (*matcher.Body, error) {
	compiled, err := matcher.OpenBody(unpadded(rules), notes, p.names.name)
	if err != nil {
		return nil, p.damaged("body %d: %w", number, err)
	}
	if compiled.Profile() != p.info.Profile {
		return nil, p.damaged("body %d is of another profile", number)
	}
	return compiled, nil
}

// unpadded returns the rules of a body without the zeros that pad them to
// matcher.BodyAlignment.
func unpadded(rules []byte) []byte {
	if len(rules) < 8 {
		return rules
	}
	if length := uint64(le32(rules[4:])); length < uint64(len(rules)) && isZero(rules[length:]) { // the body's head has its length at 4
		return rules[:length]
	}
	return rules
}

// bodyNotes returns a decompressed copy of a body's notes. r is its row. A body without notes
// is damaged.
func (p *Pack) bodyNotes(number uint32, r bodyRow) ([]byte, error) {
	notes, err := p.blob(p.notes, r.notes, maxNotes, "notes", number)
	if err == nil && notes == nil {
		err = p.damaged("body %d has no notes", number)
	}
	return notes, err
}

// within returns the bytes of a section from bounds[0] to bounds[1]. ok is false if those are
// out of range.
func within(section []byte, bounds [2]uint64) (data []byte, ok bool) {
	if bounds[0] > bounds[1] || bounds[1] > uint64(len(section)) {
		return nil, false
	}
	return section[bounds[0]:bounds[1]:bounds[1]], true
}

var _ matcher.BulkOrigins = (*Pack)(nil)

// LookupAll implements [matcher.BulkOrigins] with the same results as Lookup for each key. After an error,
// i is the index of the first key that has no result. It does each step of the lookup for matcher.AtOnce
// keys before the next step, so that the loads of a step overlap.
func (p *Pack) LookupAll(keys []matcher.Key, origins []matcher.Origin) (i int, err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	for i < len(keys) {
		end := min(i+matcher.AtOnce, len(keys))
		n, err := p.lookupSome(keys[i:end], origins[i:end])
		if i += n; err != nil {
			return i, err
		}
	}
	return 0, nil
}

// lookupSome looks up at most matcher.AtOnce keys. It returns how many keys it looked up before an
// error.
func (p *Pack) lookupSome(keys []matcher.Key, origins []matcher.Origin) (int, error) {
	var found [matcher.AtOnce]origin
	n, err := p.findAll(keys, &found)
	if i, e := p.setOrigins(found[:n], origins); e != nil {
		return i, e // of an earlier key than err
	}
	return n, err
}

// findAll sets found[i] to the origin of keys[i]. It returns how many keys it looked up before
// an error. There are at most matcher.AtOnce keys.
func (p *Pack) findAll(keys []matcher.Key, found *[matcher.AtOnce]origin) (n int, err error) {
	var likely [matcher.AtOnce]location
	p.findLikely(keys, &likely)
	for i := range keys {
		if found[i], err = p.find(keys[i].Text, &likely[i]); err != nil {
			return i, err
		}
	}
	return len(keys), nil
}

// findLikely sets likely[i] to the location of keys[i], with its most likely record if the bucket is
// checked already. Each step is a loop over all keys that reads one part of the pack for each, so that
// the loads overlap. That saves 7 % of a job on a shuffled list of many hosts.
func (p *Pack) findLikely(keys []matcher.Key, likely *[matcher.AtOnce]location) {
	for i := range keys {
		likely[i] = p.locate(keys[i].Text)
	}
	p.touchBuckets(likely[:len(keys)])
	for i := range keys {
		l := &likely[i]
		if l.start > uint64(len(p.authorities)) || !p.checkedBuckets.has(l.bucket) {
			continue
		}
		b := bucket(p.authorities[l.start:])
		if l.index = b.likely(l.hash); l.index >= 0 {
			l.record = b.record(l.index)
		}
	}
}

// touchBuckets loads the fingerprints of buckets into the processor's cache. The sum only
// keeps the compiler from removing the loads.
//
//go:noinline
func (p *Pack) touchBuckets(likely []location) (sum uint64) {
	const size = bucketHeaderSize + 2*fingerprintBlock + 2*perBucket // what comes before the records, in most buckets
	for i := range likely {
		if start := likely[i].start; start+size <= uint64(len(p.authorities)) {
			sum += uint64(p.authorities[start]) + uint64(p.authorities[start+size-1])
		}
	}
	return sum
}
