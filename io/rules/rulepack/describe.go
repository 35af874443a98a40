package rulepack

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"path"
	"runtime/debug"
	"slices"
	"strings"

	"robotsbatch/batch"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/partition"
	"robotsbatch/matcher/robotstxt"
)

// Authority is what a pack knows about an authority.
type Authority struct {
	// Access is the outcome of the fetch of robots.txt (RFC 9309 §2.3.1).
	Access access.Outcome
	// Body identifies the body for Pack.Body, Pack.BodyFacts and Pack.BodyNumber, if Access
	// is access.Rules. It is where the body starts in the pack, and not the body's index.
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

// Authority returns what the pack knows about an authority, given as the key that
// urls.Scratch.Split returns. known is false if it knows nothing.
func (p *Pack) Authority(authority []byte) (a Authority, known bool, err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	l := p.locate(authority)
	o, err := p.find(authority, &l)
	if err != nil || o.isUnknown() {
		return a, false, err
	}
	return o.describe(), true, nil
}

func (o origin) isUnknown() bool { return access.Outcome(o.outcome) == access.Unknown }

// describe returns what an origin says as an Authority.
func (o origin) describe() Authority {
	return Authority{
		Access: access.Outcome(o.outcome), Body: o.body, Status: int(o.status), Fetched: int64(o.fetched),
		Limited: o.flags&flagLimited != 0, Stale: o.flags&flagStale != 0,
	}
}

// Each calls visit for each authority that the pack knows at Options.AsOf, in the pack's
// order. It stops at visit's first error and returns it. The key is valid until visit returns.
func (p *Pack) Each(visit func(authority []byte, a Authority) error) (err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	var authority []byte
	for number := range p.buckets {
		b, err := p.bucket(number, p.start(number))
		if err != nil {
			return err
		}
		for i := range b.count() {
			authority = b.appendAuthority(authority[:0], i)
			o, err := p.decidingOrigin(authority, number, b, i)
			if err == nil && !o.isUnknown() {
				err = visit(authority, o.describe())
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Empty reports whether the pack knows no authority at Options.AsOf. It reads no further than
// the first one that it knows.
func (p *Pack) Empty() (bool, error) {
	err := p.Each(func([]byte, Authority) error { return errKnown })
	if errors.Is(err, errKnown) {
		return false, nil
	}
	return err == nil, err
}

// errKnown ends the search for an authority that the pack knows.
var errKnown = errors.New("an authority is known")

// BodyFacts returns the kind and the SHA-256 of a body, given as Authority.Body. It does not
// read the body's rules.
func (p *Pack) BodyFacts(body uint32) (kind robotstxt.BodyKind, digest [sha256.Size]byte, err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	number, err := p.numberOf(body)
	if err != nil {
		return 0, digest, err
	}
	digest, err = p.digest(number)
	return kindOf(readRow(p.rows, number).flags), digest, err
}

// BodyNumber returns the index of a body in the pack, from 0 on. body is an Authority.Body.
func (p *Pack) BodyNumber(body uint32) (number uint32, err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	return p.numberOf(body)
}

// numberOf returns the index of the body that starts at place, which is counted in units of
// matcher.BodyAlignment bytes.
func (p *Pack) numberOf(place uint32) (uint32, error) {
	info, err := p.open.Info(place)
	switch {
	case err != nil:
		return 0, p.damagedBody(place, err)
	case info.Number >= p.bodies || readRow(p.rows, info.Number).rules[0] != uint64(place)*matcher.BodyAlignment:
		return 0, p.damaged("body at %d: it has another's number", uint64(place)*matcher.BodyAlignment)
	}
	return info.Number, nil
}

// Body is a body in a pack, described.
type Body struct {
	// Number is its place in the order of the pack's bodies.
	Number uint32
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
	// Bytes is the size of its rules, or of its source, in the pack.
	Bytes int
}

// Text returns Source or, where the body is compiled, its rules at their lines. Before the first
// rule of each group it then writes the user-agent lines that name its agents; the original had
// at least as many there, so they fit.
func (b *Body) Text() ([]byte, error) {
	if b.Source != nil {
		return b.Source, nil
	}
	var rules []matcher.RuleInfo // a rule is in each group that has it, for another agent
	for _, trie := range b.Compiled.Groups() {
		rules = append(rules, trie.Written()...)
	}
	slices.SortStableFunc(rules, func(x, y matcher.RuleInfo) int { return cmp.Compare(x.Line, y.Line) })
	var text []byte
	var before []string // the agents of the rule before
	last := 0           // its line, which is the last of text
	for len(rules) > 0 {
		rule, agents := rules[0], []string(nil)
		for ; len(rules) > 0 && rules[0].Line == rule.Line; rules = rules[1:] {
			if agent := string(rules[0].Agent); !slices.Contains(agents, agent) {
				agents = append(agents, agent)
			}
		}
		named := agents // by lines before the rule
		if slices.Equal(agents, before) {
			named = nil
		}
		// Damaged are a line that no body is long enough for, and one without room for its agents.
		if rule.Line > robotstxt.MaxGoogleBody || bytes.ContainsAny(rule.Text, "\r\n") || rule.Line-last <= len(named) {
			return nil, fmt.Errorf("line %d: %w", rule.Line, ErrDamaged)
		}
		text = append(text, bytes.Repeat([]byte("\n"), rule.Line-last-1-len(named))...)
		for _, agent := range named {
			text = fmt.Appendf(text, "User-agent: %s\n", agent)
		}
		text = append(append(text, rule.Text...), '\n')
		before, last = agents, rule.Line
	}
	return text, nil
}

// Body returns a checked copy of a body, given as Authority.Body. It returns an error if
// Options.Budget lends too little memory to compile a body that is kept as its source.
func (p *Pack) Body(body uint32) (b *Body, err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	number, err := p.numberOf(body)
	if err != nil {
		return nil, err
	}
	if b, err = p.describeBody(number); err != nil || b.Source == nil {
		return b, err
	}
	done, err := batch.Compiling(p.budget, b.Source)
	if err != nil {
		return nil, fmt.Errorf("%s: body %d: %w", p.name, number, err)
	}
	defer done()
	if len(b.Source) > largestCompiled {
		b.Records = recordsOf(robotstxt.Parse(b.Source, robotstxt.Options{Profile: p.info.Profile, Limit: len(b.Source)}))
	}
	return b, nil
}

// describeBody returns a checked copy of the body with that index. It does not compile a body that is kept as
// its source, and so lacks the records of one that is larger than largestCompiled.
func (p *Pack) describeBody(number uint32) (*Body, error) {
	rules, r, err := p.bodyRules(number)
	if err != nil {
		return nil, err
	}
	b := &Body{Number: number, Kind: kindOf(r.flags), Bytes: len(rules)}
	if b.Digest, err = p.digest(number); err != nil {
		return nil, err
	}
	if r.flags&bodySource != 0 {
		if b.Source, err = p.source(rules, number); err != nil {
			return nil, err
		}
	} else {
		notes, err := p.bodyNotes(number, r)
		if err != nil {
			return nil, err
		}
		if b.Compiled, err = p.openBody(number, rules, notes); err != nil {
			return nil, err
		}
	}
	if b.Records, err = p.bodyRecords(number, r); err != nil {
		return nil, err
	}
	return b, nil
}

// digest returns the SHA-256 of the body with that index, which must exist. The first call
// compares the checksum of the digests.
func (p *Pack) digest(number uint32) (digest [sha256.Size]byte, err error) {
	err = p.checkDigests()
	return [sha256.Size]byte(p.digests[sha256.Size*int64(number):]), err
}

// bodyRecords decodes a body's records that are not rules: sitemaps, crawl-delays and
// statements about use. number is the body's index and r its row.
func (p *Pack) bodyRecords(number uint32, r bodyRow) (records Records, err error) {
	data, err := p.blob(p.records, r.records, maxRecords, "records", number)
	if err != nil {
		return records, err
	}
	if records, err = readRecords(data, uint64(min(p.limit, largestCompiled)/leastRecord)); err != nil {
		err = fmt.Errorf("%s: records of body %d: %w", p.name, number, err)
	}
	return records, err
}

// blob decompresses the notes or the records of a body, which are at bounds in their section. It refuses
// more than times × the most bytes of a body that is kept compiled. what and number name the part and the
// body in an error.
func (p *Pack) blob(section []byte, bounds [2]uint64, times int64, what string, number uint32) ([]byte, error) {
	blob, ok := within(section, bounds)
	if !ok {
		return nil, p.damaged("%s of body %d lie outside", what, number)
	}
	data, err := openBlob(blob, times*min(p.limit, largestCompiled))
	if err != nil {
		err = fmt.Errorf("%s: %s of body %d: %w", p.name, what, number, err)
	}
	return data, err
}

// Info describes a pack.
type Info struct {
	// Version is the version of the format.
	Version int
	// Maker is BuildOptions.Maker, the version of the program that made the pack.
	Maker string
	// Profile is the profile that the pack was compiled for.
	Profile matcher.Profile
	// Limit is how many bytes of a body counted (RFC 9309 §2.5); 0 under the
	// Google profile, which has no limit.
	Limit int
	// AsOf is the time of Builder.SetAsOf in seconds since 1970, or that of the newest
	// fetch if none was set; 0 if none is known.
	AsOf int64
	// Authorities counts the authorities of which something is known, and Rules, AllowAll and DisallowAll
	// those of each outcome (RFC 9309 §2.3.1). DisallowAll are all that could not be
	// fetched, those of access.AllowAfterOutage too.
	Authorities, Rules, AllowAll, DisallowAll int64
	// Limited counts the authorities whose body was cut.
	Limited int64
	// HTML counts the authorities whose body begins like HTML.
	HTML int64
	// Binary counts the authorities whose body begins with bytes that no text has.
	Binary int64
	// Bodies counts the distinct bodies, and Uncompiled those that are kept as their source:
	// they were too large, their groups overlap too much to be compiled for all agents, the
	// names of agents did not fit into memory, or BuildOptions.Sources asked for it.
	Bodies, Uncompiled int64
	// SourceBytes is the total length of the distinct bodies, each up to the size limit.
	SourceBytes int64
	// History says that the pack has a history, and Intervals counts its intervals.
	History   bool
	Intervals int64
	// Partition is the pack's partition, from 0 on, out of Partitions, which divide the
	// authorities by hash (package partition). 0 of 0 means that the pack has all.
	Partition, Partitions int
	// Size is the length of the pack in bytes.
	Size int64
	// Checksum covers the whole pack: the 128-bit XXH3, in hexadecimal, of the table of
	// sections, which holds the checksum of each.
	Checksum string
	// Sections are the parts of the file, in their order.
	Sections []Section
}

// Section is a part of a pack.
type Section struct {
	// Name is the section's name in the package comment.
	Name string
	// Offset and Length are the section's position in the file, in bytes.
	Offset, Length int64
}

// The section meta is
//
//	 0  u32  profile
//	 4  u32  Info.AsOf
//	 8  u64  limit
//	16  u64  authorities, rules, allow all, disallow all, limited, HTML, binary,
//	         bodies, uncompiled, source bytes
//	96       the maker
const (
	metaSize   = 96
	metaCounts = 10
)

// counts returns pointers to the counts of the section meta, in its order.
func (i *Info) counts() [metaCounts]*int64 {
	return [...]*int64{
		&i.Authorities, &i.Rules, &i.AllowAll, &i.DisallowAll, &i.Limited, &i.HTML, &i.Binary,
		&i.Bodies, &i.Uncompiled, &i.SourceBytes,
	}
}

// append appends the section meta to b.
func (i *Info) append(b []byte) []byte {
	b = append64(append32(b, uint32(i.Profile), uint32(i.AsOf)), uint64(i.Limit))
	for _, count := range i.counts() {
		b = append64(b, uint64(*count))
	}
	return append(b, i.Maker...)
}

// readMeta sets what the section meta, data, has. i.Version must be set. starts is the section
// starts, empty without a history; its last number is Info.Intervals.
func (i *Info) readMeta(data, starts []byte) error {
	if len(data) < metaSize || le32(data) > uint32(robotstxt.Google) || le64(data[8:]) > math.MaxInt {
		return fmt.Errorf("%w: meta", ErrDamaged)
	}
	i.Profile, i.AsOf, i.Limit, i.Maker = matcher.Profile(le32(data)), int64(le32(data[4:])), int(le64(data[8:])), string(data[metaSize:])
	for n, count := range i.counts() {
		*count = int64(le64(data[16+8*n:]))
	}
	if i.History = i.Version == historyVersion; i.History {
		i.Intervals = int64(le64(starts[len(starts)-8:]))
	}
	return nil
}

// addAuthority counts an authority by its outcome and the flags of its body, 0 for none. It
// ignores one of which nothing is known yet. AsOf becomes the time of the newest fetch.
func (i *Info) addAuthority(o origin, bodyFlags uint8) {
	if o.isNotYet() {
		return
	}
	i.Authorities++
	i.AsOf = max(i.AsOf, int64(o.fetched))
	switch outcome := access.Outcome(o.outcome); {
	case outcome == access.Rules:
		i.Rules++
	case outcome.InOutage():
		i.DisallowAll++
	default:
		i.AllowAll++
	}
	if o.flags&flagLimited != 0 {
		i.Limited++
	}
	switch kindOf(uint32(bodyFlags)) {
	case robotstxt.HTMLKind:
		i.HTML++
	case robotstxt.BinaryKind:
		i.Binary++
	}
}

// addBody counts a distinct body.
func (i *Info) addBody(b *bodyMeta) {
	i.Bodies++
	i.SourceBytes += int64(b.length)
	if b.flags&bodySource != 0 {
		i.Uncompiled++
	}
}

// inPartition reports whether an authority is in partition number of count partitions. If
// count is below 2, there is one, which has all.
func inPartition(number, count int, authority []byte) bool {
	return count < 2 || partition.Of(partition.Hash(authority), count) == number
}

// Partitions returns the number of partitions that the authorities were divided into: 0 if
// they were not, and for a pack that is closed or nil.
func (p *Pack) Partitions() int {
	if p == nil || p.info == nil {
		return 0
	}
	return p.info.Partitions
}

// Covers reports whether the pack would have an authority if its sources knew it:
// always, unless the authority belongs to another partition.
func (p *Pack) Covers(authority []byte) bool {
	return inPartition(p.info.Partition, p.info.Partitions, authority)
}

// PartitionName returns out with the partition's number before its extension, such as
// site-00003-of-00016.rules. Parameters of a URL stay at its end.
func PartitionName(out string, number, count int) string {
	begin, parameters := out, ""
	if blob.IsURL(out) {
		begin = blob.Shown(out)
		parameters = strings.TrimPrefix(out, begin)
	}
	ending := path.Ext(begin)
	return fmt.Sprintf("%s-%05d-of-%05d%s%s", strings.TrimSuffix(begin, ending), number, count, ending, parameters)
}
