package rulepack

import (
	"crypto/sha256"
	"fmt"
	"runtime/debug"

	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

// Authority is what a pack knows about an authority.
type Authority struct {
	// Access is the outcome of the fetch of robots.txt (RFC 9309 §2.3.1).
	Access access.Outcome
	// Body is the number of its body, if Access is access.Rules.
	Body uint32
	// Status is the HTTP status of the fetch, 0 where it is not known.
	Status int
	// Fetched is the time of the fetch in seconds since 1970, 0 where it is not
	// known.
	Fetched int64
	// Limited: the size limit, or the crawler, cut the body.
	Limited bool
	// Stale: the body is the last good copy of a robots.txt that has been unreachable
	// for long (RFC 9309 §2.3.1.4).
	Stale bool
}

// Authority returns what the pack knows about an authority, a key as urls.Scratch.Split
// returns it. known is false if the pack does not have it.
func (p *Pack) Authority(authority []byte) (a Authority, known bool, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer p.guard(&err)
	o, err := p.find(authority, p.locate(authority))
	if err != nil || o == unknown {
		return a, false, err
	}
	return o.describe(), true, nil
}

func (o origin) describe() Authority {
	return Authority{
		Access: access.Outcome(o.outcome), Body: o.body, Status: int(o.status), Fetched: int64(o.fetched),
		Limited: o.flags&flagLimited != 0, Stale: o.flags&flagStale != 0,
	}
}

// Each calls visit for each authority that the pack knows at Options.AsOf, in the pack's
// order, until visit returns an error. The key is valid until visit returns.
func (p *Pack) Each(visit func(authority []byte, a Authority) error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer p.guard(&err)
	if p.file == nil {
		return fmt.Errorf("rulepack: %s: %w", p.name, errClosed)
	}
	var authority []byte
	for number := range p.buckets {
		b, err := p.bucket(number, p.start(number))
		if err != nil {
			return err
		}
		for i := range b.count() {
			authority = b.appendAuthority(authority[:0], i)
			o, err := p.deciding(authority, number, b, i)
			if err == nil && o != unknown {
				err = visit(authority, o.describe())
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// BodyFacts returns a body's kind and digest by its number (Authority.Body), without
// reading the body.
func (p *Pack) BodyFacts(number uint32) (kind robotstxt.BodyKind, digest [sha256.Size]byte, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer p.guard(&err)
	switch {
	case p.file == nil:
		return 0, digest, fmt.Errorf("rulepack: %s: %w", p.name, errClosed)
	case number >= p.bodies:
		return 0, digest, p.damaged("body %d of %d", number, p.bodies)
	}
	return kindOf(readRow(p.rows, number).flags), p.digest(number), nil
}

// Body is a body in a pack, described.
type Body struct {
	// Compiled is the body for all agents, with notes; nil where Source is set.
	Compiled *matcher.Body
	// Source is the original body, if it could not be compiled for all agents.
	Source []byte
	// Kind is what it looks like.
	Kind robotstxt.BodyKind
	// Digest is the SHA-256 of the part of the body that counts.
	Digest [sha256.Size]byte
	// Records are its other records.
	Records Records
	// Bytes is the size of its rules in the pack.
	Bytes int
}

// Body describes a body by its number (Authority.Body). It checks all of the body and
// bypasses the cache.
func (p *Pack) Body(number uint32) (b *Body, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer p.guard(&err)
	if p.file == nil {
		return nil, fmt.Errorf("rulepack: %s: %w", p.name, errClosed)
	}
	rules, r, err := p.bodyRules(number)
	if err != nil {
		return nil, err
	}
	b = &Body{Kind: kindOf(r.flags), Digest: p.digest(number), Bytes: len(rules)}
	if r.flags&bodySource != 0 {
		b.Source = rules
	} else if b.Compiled, err = p.describeBody(number, rules, r); err != nil {
		return nil, err
	}
	if b.Records, err = p.bodyRecords(number, r); err != nil {
		return nil, err
	}
	return b, nil
}

// digest returns the digest of a body that exists.
func (p *Pack) digest(number uint32) [sha256.Size]byte {
	return [sha256.Size]byte(p.digests[sha256.Size*int64(number):])
}

// bodyRecords returns a body's other records.
func (p *Pack) bodyRecords(number uint32, r row) (records Records, err error) {
	blob, ok := within(p.records, r.records)
	if !ok {
		return records, p.damaged("records of body %d lie outside", number)
	}
	data, err := openBlob(blob)
	if err == nil {
		records, err = readRecords(data)
	}
	if err != nil {
		err = fmt.Errorf("rulepack: %s: records of body %d: %w", p.name, number, err)
	}
	return records, err
}
