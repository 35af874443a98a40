package rulepack

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// Records are the records of a body that are not rules (RFC 9309 §2.2.4).
type Records struct {
	// Sitemaps are the values of the sitemap records, in their order.
	Sitemaps []string
	// CrawlDelays are the crawl-delays of the groups that have any.
	CrawlDelays []CrawlDelay
	// Statements are what robotstxt.File.AppendStatements makes of the body; nil if it has
	// no statements.
	Statements []byte
}

// CrawlDelay is a group's first crawl-delay record whose value is a number, or the
// first record if none is. Agents are those for which it counts (see
// matcher.CollectRecords).
type CrawlDelay struct {
	// Agents are the names of the agents in lower case; matcher.Everyone for everyone.
	Agents []string
	// Value is the text as written.
	Value string
}

// recordsOf returns the sitemaps, crawl-delays and statements about use of a body.
func recordsOf(f *robotstxt.File) Records {
	var r Records
	for _, s := range f.Sitemaps {
		r.Sitemaps = append(r.Sitemaps, string(s.Value))
	}
	for i := range f.Groups {
		r.addDelays(&f.Groups[i], f.Profile)
	}
	r.Statements = f.AppendStatements(nil)
	return r
}

// addDelays adds the crawl-delays of a group, each with the agents of the group whose
// user-agent line comes before it and after the crawl-delay before. Values that are no number
// are ignored if another is one.
func (r *Records) addDelays(g *robotstxt.Group, p matcher.Profile) {
	var delays []robotstxt.Record
	for _, d := range g.CrawlDelays {
		if _, ok := matcher.ParseCrawlDelay(d.Value); ok {
			delays = append(delays, d)
		}
	}
	if delays == nil && len(g.CrawlDelays) > 0 { // none is a number
		delays = g.CrawlDelays[:1]
	}
	agents := g.Agents // those without a crawl-delay so far
	for _, d := range delays {
		delay := CrawlDelay{Value: string(d.Value)}
		for len(agents) > 0 && agents[0].Line < d.Line {
			delay.Agents = appendNames(delay.Agents, agents[0], p)
			agents = agents[1:]
		}
		if len(delay.Agents) > 0 {
			r.CrawlDelays = append(r.CrawlDelays, delay)
		}
	}
}

// appendNames appends, in lower case, the one or two names by which rules for a user-agent
// line are found.
func appendNames(names []string, a robotstxt.Agent, p matcher.Profile) []string {
	if a.Everyone() {
		return append(names, matcher.Everyone)
	}
	token, word := a.Names(p)
	if len(token) > 0 {
		names = append(names, lower(token))
	}
	if len(word) > 0 && string(word) != string(token) {
		names = append(names, lower(word))
	}
	return names
}

// ParseStatements returns a file that has the statements about use of the body, at their line
// numbers.
func (r *Records) ParseStatements(p matcher.Profile) *robotstxt.File {
	return robotstxt.Parse(r.Statements, robotstxt.Options{Profile: p, Limit: len(r.Statements)})
}

// ForChains returns the sitemaps, and for each chain the crawl-delay in seconds that it obeys.
// chosen returns the name of the agent whose groups a chain obeys.
func (r *Records) ForChains(chains []matcher.Chain, chosen func(matcher.Chain) string) *matcher.Records {
	m := &matcher.Records{CrawlDelays: make([]float64, len(chains))}
	first := make(map[string]float64) // by agent, its first crawl-delay that is a number
	for _, d := range r.CrawlDelays {
		seconds, ok := matcher.ParseCrawlDelay(d.Value)
		if !ok {
			continue
		}
		for _, name := range d.Agents {
			if _, known := first[name]; !known {
				first[name] = seconds
			}
		}
	}
	for i, chain := range chains {
		m.CrawlDelays[i] = matcher.NoCrawlDelay
		if seconds, ok := first[chosen(chain)]; ok {
			m.CrawlDelays[i] = seconds
		}
	}
	for _, s := range r.Sitemaps {
		m.AddSitemap([]byte(s))
	}
	return m
}

// lower returns s with ASCII letters in lower case.
func lower(s []byte) string { return string(urls.AppendLower(nil, s)) }

// append appends the encoded records to b: counts and lengths as varints, each text after its
// length, and the statements. Without records it appends nothing.
func (r Records) append(b []byte) []byte {
	if len(r.Sitemaps) == 0 && len(r.CrawlDelays) == 0 && r.Statements == nil {
		return b
	}
	b = appendTexts(b, r.Sitemaps)
	b = binary.AppendUvarint(b, uint64(len(r.CrawlDelays)))
	for _, d := range r.CrawlDelays {
		b = appendTexts(appendText(b, d.Value), d.Agents)
	}
	return append(b, r.Statements...)
}

// appendTexts appends the number of texts and, for each, its length and its bytes.
func appendTexts(b []byte, texts []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(texts)))
	for _, s := range texts {
		b = appendText(b, s)
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// leastRecord is fewer bytes than a body takes for each text of its records: the two names of
// an agent, of one line, are the most texts for their bytes.
const leastRecord = 4

// readRecords decodes what append wrote. It refuses more than most texts. Statements point
// into data.
func readRecords(data []byte, most uint64) (r Records, err error) {
	if len(data) == 0 {
		return r, nil
	}
	x := recordReader{data: data, left: most}
	r.Sitemaps = readList(&x, x.text)
	r.CrawlDelays = readList(&x, func() CrawlDelay {
		value := x.text()
		return CrawlDelay{Value: value, Agents: readList(&x, x.text)}
	})
	if x.broken {
		return Records{}, fmt.Errorf("%w: records", ErrDamaged)
	}
	if len(x.data) > 0 {
		r.Statements = x.data
	}
	return r, nil
}

// recordReader decodes numbers and texts from the start of data. After a damaged one, broken
// is set and all others are 0 or empty.
type recordReader struct {
	data   []byte
	left   uint64 // how many more texts there may be
	broken bool
}

// varint reads a varint.
func (x *recordReader) varint() uint64 {
	v, n := binary.Uvarint(x.data)
	if n <= 0 {
		x.broken, n = true, len(x.data)
	}
	x.data = x.data[n:]
	return v
}

// length reads the number of things that follow. Each takes at least a byte, so that a number
// larger than the bytes left sets broken.
func (x *recordReader) length() uint64 {
	v := x.varint()
	if v > uint64(len(x.data)) {
		x.broken, x.data = true, nil
		return 0
	}
	return v
}

// bytes reads n bytes. They point into data.
func (x *recordReader) bytes(n uint64) []byte {
	if n > uint64(len(x.data)) {
		x.broken, n = true, 0
	}
	taken := x.data[:n:n]
	x.data = x.data[n:]
	return taken
}

// text reads a text after its length. It sets broken if there were too many texts.
func (x *recordReader) text() string {
	if x.left == 0 {
		x.broken, x.data = true, nil
		return ""
	}
	x.left--
	return string(x.bytes(x.length()))
}

// readList reads a number, and as many values by read.
func readList[T any](x *recordReader, read func() T) (list []T) {
	for range x.length() {
		if x.broken {
			break
		}
		list = append(list, read())
	}
	return list
}

// mostStatements is the number of different statements whose compiled form is cached for other
// bodies. Many sites have the same ones, because a network or their software writes them. Those
// with more than longestStatements bytes of Records.Statements are not cached.
const (
	mostStatements    = 1 << 14
	longestStatements = 4 << 10
)

// statements is a cache of compiled statements by their key, which the head of a body has. So a lookup
// reads no records of a body whose statements were compiled for another body.
type statements struct {
	// slots is a hash table of keys with linear probing. It is read without a lock; at least
	// half of it is free.
	slots [2 * mostStatements]atomic.Pointer[cachedStatements]

	mu    sync.Mutex
	count int
	most  int // mostStatements, except in tests
}

type cachedStatements struct {
	key   matcher.StatementsKey
	usage *matcher.Usage // nil: they say nothing of what is wanted
}

// slot returns the slot that has a key and its contents, or the free slot where the key belongs and nil. It
// ends because half of the slots are free.
func (s *statements) slot(key matcher.StatementsKey) (*atomic.Pointer[cachedStatements], *cachedStatements) {
	for i := binary.LittleEndian.Uint64(key[:]); ; i++ {
		slot := &s.slots[i%uint64(len(s.slots))]
		if kept := slot.Load(); kept == nil || kept.key == key {
			return slot, kept
		}
	}
}

// find returns the compiled statements of a body, by the key in its head. ok is false if
// they are not cached. u is nil if they say nothing that is asked for.
func (s *statements) find(info *matcher.BodyInfo) (u *matcher.Usage, ok bool) {
	if !info.HasSaid {
		return nil, false
	}
	if _, kept := s.slot(info.Said); kept != nil {
		return kept.usage, true
	}
	return nil, false
}

// compile returns the compiled statements of a body with records r, and caches them for bodies
// with the same key. With explanations they are not cached, because their line numbers differ
// between bodies. nil is returned for a body without statements.
func (s *statements) compile(p *Pack, r *Records) *matcher.Usage {
	if r.Statements == nil {
		return nil
	}
	if p.usage.Explain || len(r.Statements) > longestStatements {
		return matcher.CompileUsage(r.ParseStatements(p.info.Profile), p.agents, p.usage)
	}
	key := matcher.KeyOfStatements(r.Statements)
	if _, kept := s.slot(key); kept != nil {
		return kept.usage
	}
	u := matcher.CompileUsage(r.ParseStatements(p.info.Profile), p.agents, p.usage)
	s.mu.Lock()
	defer s.mu.Unlock()
	slot, other := s.slot(key)
	switch {
	case other != nil: // another goroutine was faster
		return other.usage
	case s.count == s.most: // the cache is full, and drops nothing
		return u
	}
	slot.Store(&cachedStatements{key: key, usage: u})
	s.count++
	return u
}
