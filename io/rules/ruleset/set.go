package ruleset

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"robotsbatch/batch/manifest"
	"robotsbatch/batch/option"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/rules/rulesdir"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/partition"
	"robotsbatch/matcher/robotstxt"
)

// Set is rule sources that are open. It is a [matcher.Origins], in which the first
// source that knows an authority decides.
type Set struct {
	openSources
	watch *agentWatch
	parse robotstxt.Options
}

// openSources are what a Set and a Listing have in common.
type openSources struct {
	sources  list
	packs    []*opened // those of sources that are rule packs
	captured *Captured // nil without captures
	timeless Timeless
	states   []state // by source of Found
	asOf     time.Time
}

// list holds open sources, those with precedence first.
type list []*opened

// find returns the first source that knows an authority, and the fetch that decides; nil if none
// knows it.
func (l list) find(authority []byte) (*opened, rulepack.Authority, error) {
	for _, source := range l {
		if a, known, err := source.authority(authority); known || err != nil {
			return source, a, err
		}
	}
	return nil, rulepack.Authority{}, nil
}

// Open opens all sources, and makes a temporary rule pack of the captures. It is an error if no
// source has usable rules, unless Options.AllowNone is set.
func (f *Found) Open(ctx context.Context) (*Set, error) {
	o := &f.options
	f.watch = newAgentWatch(o.Chains[:len(o.Chains)-o.Listed]) // the last Listed chains are not checked for spelling
	s := &Set{watch: f.watch, parse: robotstxt.Options{Profile: o.Profile, Limit: o.Limit}}
	err := f.open(ctx, &s.openSources, rulepack.BuildOptions{Asked: o.onlyAgents()})
	if err == nil {
		for _, source := range s.packs {
			s.watch.dropNamed(source.pack.HasName)
		}
		err = f.checkUsable(s.states)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// open opens the sources in their order and sets s, which the caller closes, also after an error.
// Captures, or with b.Sources all sources but rule packs, go into one temporary rule pack, which
// takes the place of the first of them. b has its Sources and Asked; open sets the name.
func (f *Found) open(ctx context.Context, s *openSources, b rulepack.BuildOptions) error {
	s.sources, s.states = make(list, len(f.sources)), make([]state, len(f.sources))
	var packed []string // the names of the sources of the temporary pack
	for i := range f.sources {
		source := &f.sources[i]
		if source.captured() || b.Sources && source.kind != packKind {
			packed = append(packed, source.shown())
			continue
		}
		var err error
		if source.kind == folderKind {
			s.sources[i], err = f.openDir(ctx, source.name)
		} else {
			s.sources[i], err = f.openPackSource(ctx, source)
		}
		if err != nil {
			return err
		}
		if s.states[i], err = f.stateOf(s.sources[i]); err != nil {
			return err
		}
	}
	if len(packed) > 0 {
		b.Name = SomeOf(packed)
		if err := f.openPacked(ctx, s, b); err != nil {
			return err
		}
	}
	if s.asOf = f.options.AsOf; s.asOf.IsZero() {
		s.asOf = newestState(s.states)
	}
	s.timeless = f.timeless(s.states)
	s.sources = slices.DeleteFunc(s.sources, func(o *opened) bool { return o == nil })
	for _, source := range s.sources {
		if source.pack != nil {
			s.packs = append(s.packs, source)
		}
	}
	return nil
}

// openPacked makes the temporary rule pack of all sources that are not open in s, and opens it in
// place of the first of them. b is that of open. Without b.Sources, what the open sources know goes
// before captures.
func (f *Found) openPacked(ctx context.Context, s *openSources, b rulepack.BuildOptions) error {
	p := &packing{Found: f, states: s.states}
	if !b.Sources {
		p.opened, p.newest = s.sources, newestState(s.states)
	}
	if hold := f.options.HoldHeap; hold != nil {
		defer hold()()
	}
	made, err := openTemporary("a temporary rule pack", func(file string) (*opened, error) {
		to, err := f.createPack(ctx, file, b)
		if err != nil {
			return nil, err
		}
		defer to.Abort()
		if err := p.fill(ctx, to); err != nil {
			return nil, err
		}
		if _, err := to.Finish(); err != nil {
			return nil, err
		}
		return f.openPack(file, b.Name)
	})
	if err != nil {
		return err
	}
	if !b.Sources {
		made.captured, made.text, p.captures.Pack = true, p.single, made.pack.Info()
	}
	s.sources[slices.Index(s.sources, nil)], s.captured = made, p.captures
	return nil
}

// openDir opens a folder of robots.txt files.
func (f *Found) openDir(ctx context.Context, name string) (*opened, error) {
	o := &f.options
	ignored := ignoredNames{more: o.MoreIgnored}
	options := rulesdir.Options{
		Chains: o.Chains, Profile: o.Profile, Limit: o.Limit,
		Explain: o.Explain, Records: o.Records, Digests: o.Digests, Usage: o.Usage, Memory: o.cachePerSource(), Budget: o.Budget,
		Ignored: ignored.add, Named: f.watch.nameHook(),
	}
	if o.Used != nil {
		options.Used = func(file manifest.File) { o.Used(name, file) }
	}
	dir, err := rulesdir.Open(ctx, name, options)
	if err != nil {
		return nil, err
	}
	ignored.note(name, f)
	return &opened{Origins: dir, dir: dir, name: name, ignored: ignored.count}, nil
}

// Origins returns the sources for lookups. A single source is returned itself, because
// it may support bulk lookups. Packs of partitions return an error for an authority
// that is in none of them.
func (s *Set) Origins() matcher.Origins {
	if len(s.sources) > 1 {
		return s
	}
	if len(s.packs) > 0 && s.packs[0].pack.Partitions() > 1 {
		return partitioned{s}
	}
	return s.sources[0].Origins
}

// Lookup implements [matcher.Origins].
func (s *Set) Lookup(authority []byte, o *matcher.Origin) error {
	notYet := false // whether a source knows the authority, but only from a later time on
	for _, source := range s.sources {
		if err := source.Lookup(authority, o); err != nil {
			return err
		}
		if o.Access != access.Unknown {
			return nil
		}
		notYet = notYet || o.NotYet
	}
	o.NotYet = notYet
	return s.covered(authority)
}

// Near returns a known authority that may have been meant, with or without www or with the
// other scheme; "" for none.
func (s *Set) Near(authority string) string {
	scheme, host, _ := strings.Cut(authority, "://")
	other := "www." + host
	if short, isLong := strings.CutPrefix(host, "www."); isLong {
		other = short
	}
	for _, near := range []string{scheme + "://" + other, "https://" + host, "http://" + host} {
		var origin matcher.Origin
		// A pack of a partition returns an error for authorities of other partitions.
		if err := s.Origins().Lookup([]byte(near), &origin); err == nil && origin.Access != access.Unknown {
			return near
		}
	}
	return ""
}

// AsOf returns Options.AsOf or, if that was not set, the time of the newest fetch; the
// zero time if none is known.
func (s *Set) AsOf() time.Time { return s.asOf }

// Captured says what was read of captures; nil when no source is captures.
func (s *openSources) Captured() *Captured { return s.captured }

// Timeless says which sources know no times.
func (s *openSources) Timeless() Timeless { return s.timeless }

// Misspelt returns a line for each agent that is likely misspelt: no robots.txt looked
// up so far names it, but one names a similar agent.
func (s *Set) Misspelt() []option.Message { return s.watch.warnings(s.packs) }

// Fetch returns the HTTP status of the fetch that decides about an authority, and its
// time in seconds since 1970; each is 0 if unknown. stale says that it is a last good copy,
// and that later fetches failed. known is false if nothing is known about the authority.
// Fetch opens no rules.
func (s *Set) Fetch(authority []byte) (status int, fetched int64, stale, known bool, err error) {
	source, a, err := s.sources.find(authority)
	if source == nil && err == nil {
		err = s.covered(authority)
	}
	return a.Status, a.Fetched, a.Stale, source != nil && err == nil, err
}

// Fault implements [matcher.Mapped].
func (s *Set) Fault(recovered any) (err error) {
	for _, source := range s.packs {
		err = cmp.Or(err, source.pack.Fault(recovered))
	}
	return err
}

// Unchanged is an error when a rule pack was written to since it was opened.
func (s *openSources) Unchanged() (err error) {
	for _, source := range s.packs {
		err = cmp.Or(err, source.pack.Unchanged())
	}
	return err
}

// Close closes all sources.
func (s *openSources) Close() error {
	var err error
	for _, source := range s.sources {
		err = errors.Join(err, source.Close())
	}
	return err
}

// OddBodies counts bodies of a source that are not a text, though they are read as one.
type OddBodies struct {
	// Name is that of the source.
	Name string
	// HTML and Binary count what is of these kinds (robotstxt.BodyKind): the files that were
	// read so far if Read is set, else all hosts of a rule pack.
	HTML, Binary int64
	Read         bool
}

// Odd returns the counts of each folder and each rule pack that has such bodies; a Listing
// has one pack of all other sources. Those of captures are in Captured.
func (s *openSources) Odd() (odd []OddBodies) {
	for _, source := range s.sources {
		o := OddBodies{Name: source.name}
		switch {
		case source.dir != nil:
			stats := source.dir.Stats()
			o.HTML, o.Binary, o.Read = stats.HTML, stats.Binary, true
		case !source.captured:
			info := source.pack.Info()
			o.HTML, o.Binary = info.HTML, info.Binary
		}
		if o.HTML+o.Binary > 0 {
			odd = append(odd, o)
		}
	}
	return odd
}

// Source says which file decides about an authority.
type Source struct {
	// Name is the name of the file, the rule pack or the captures; "" if nothing is
	// known.
	Name string
	// Text is the original robots.txt. It is nil for rule packs and captures, which keep
	// only the rules, and for a single robots.txt that is compressed.
	Text []byte
	// Agents holds the names with groups in the robots.txt, each once, in lower case and
	// sorted, without "*".
	Agents []string
}

// Source finds out which file decides about an authority. It is slow, because it reads the
// file or the pack's body again; use it for a few URLs.
func (s *Set) Source(authority []byte) (found Source, err error) {
	source, a, err := s.sources.find(authority)
	if source == nil || err != nil {
		return found, err
	}
	if source.dir != nil {
		found.Name, found.Text, err = source.dir.Text(authority)
		found.Agents = agentsOf(found.Text, s.parse)
		return found, err
	}
	found.Name = source.name
	if a.Access != access.Rules {
		return found, nil
	}
	if compress.Detect(source.text) == compress.None {
		found.Text = source.text
	}
	body, err := source.pack.Body(a.Body)
	if err != nil {
		return found, err
	}
	if text := body.Source; text != nil { // it was cut to the limit when it was packed, so all of it is parsed
		found.Agents = agentsOf(text, robotstxt.Options{Profile: source.pack.Info().Profile, Limit: len(text)})
		return found, nil
	}
	for name := range body.Compiled.Names() {
		found.Agents = append(found.Agents, string(name))
	}
	return found, nil
}

// agentsOf returns the names of agents in a robots.txt, as Source.Agents has them.
func agentsOf(text []byte, o robotstxt.Options) (names []string) {
	for name := range robotstxt.Parse(text, o).AgentNames() {
		names = append(names, string(bytes.ToLower(name)))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// covered returns an error for an authority that no source knows but that may be in a
// missing partition of a pack. Packs of another number of partitions are of other rules.
func (s *Set) covered(authority []byte) error {
	count := 0 // how many partitions the rules of the pack before have
	for _, source := range s.packs {
		if source.pack.Partitions() == count {
			continue // a pack of these rules covers it
		}
		count = source.pack.Partitions()
		if slices.ContainsFunc(s.packs, func(o *opened) bool { return o.pack.Partitions() == count && o.pack.Covers(authority) }) {
			continue
		}
		return fmt.Errorf("%s is in partition %d of %d, and %s has partition %d: give the pack of each partition whose URLs there are, or deal the URLs by authority_hash",
			authority, partition.Of(partition.Hash(authority), count), count, source.name, source.pack.Info().Partition)
	}
	return nil
}

// partitioned is a set whose only source is the pack of one partition. Unlike the pack's own
// lookups, it returns an error for authorities of other partitions.
type partitioned struct{ *Set }

var _ matcher.BulkOrigins = partitioned{}

// LookupAll implements [matcher.BulkOrigins]. With an error it returns the index of that key.
func (p partitioned) LookupAll(keys []matcher.Key, origins []matcher.Origin) (int, error) {
	if i, err := p.packs[0].pack.LookupAll(keys, origins); err != nil {
		return i, err
	}
	for i := range keys {
		if origins[i].Access != access.Unknown {
			continue
		}
		if err := p.covered(keys[i].Text); err != nil {
			return i, err
		}
	}
	return 0, nil
}

// Historical returns the sources for lookups by time. The set must have been opened with
// Options.History. At any time the first source that knows an authority then decides; a
// folder's rules hold at all times. A rule pack without a history, or of one partition, is a
// [option.UsageError].
func (s *Set) Historical() (matcher.Historical, error) {
	var all timelines
	for _, source := range s.sources {
		if source.dir != nil {
			all = append(all, matcher.Always(source.dir))
			continue
		}
		if err := checkHistory(source); err != nil {
			return nil, err
		}
		if source.pack.Partitions() > 1 {
			return nil, option.Usagef("%s is a rule pack of one partition, which cannot tell what held at other times: compile one of all hosts", option.Rules.With(blob.Shown(source.name)))
		}
		all = append(all, source.pack)
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return all, nil
}

// Timeless names the sources that know no times, so that their rules hold at all times.
type Timeless struct {
	Names []string
	// All says that there are no other sources.
	All bool
}

// String names the sources for people; there must be some.
func (t Timeless) String() string {
	if len(t.Names) > 1 {
		return SomeOf(t.Names) + " have no times: their rules hold at all times"
	}
	return SomeOf(t.Names) + " has no times: its rules hold at all times"
}

// timeless finds the sources that know no times.
func (f *Found) timeless(states []state) (t Timeless) {
	for i, s := range f.sources {
		if states[i].newest.IsZero() {
			t.Names = append(t.Names, shownFile(s.name))
		}
	}
	t.All = len(t.Names) == len(f.sources)
	return t
}

// checkHistory refuses a pack without a history.
func checkHistory(o *opened) error {
	if o.pack.Info().History {
		return nil
	}
	return option.Usagef("%s is a rule pack without a history, so it knows no other time than its own: compile it with %s", option.Rules.With(blob.Shown(o.name)), option.History)
}

// timelines are several sources in order of precedence.
type timelines []matcher.Historical

// Fault implements [matcher.Mapped].
func (t timelines) Fault(recovered any) (err error) {
	for _, source := range t {
		if mapped, ok := source.(matcher.Mapped); ok {
			err = cmp.Or(err, mapped.Fault(recovered))
		}
	}
	return err
}

// AppendSpans appends the spans of the first source, preceded by the earlier spans of
// the second one, and so on.
func (t timelines) AppendSpans(spans []matcher.Span, authority []byte) ([]matcher.Span, error) {
	start := len(spans)
	for number, source := range t {
		end := len(spans) // of the spans of the sources before
		var err error
		if spans, err = source.AppendSpans(spans, authority); err != nil {
			return spans, err
		}
		for i := end; i < len(spans); i++ {
			spans[i].Source = uint16(number)
		}
		if end > start {
			earlier := matcher.SpanAt(spans[end:], spans[start].From-1) + 1 // how many begin before those
			older := slices.Clone(spans[end : end+earlier])
			spans = slices.Insert(spans[:end], start, older...)
		}
		if len(spans) > start && spans[start].From == 0 {
			break // nothing is older
		}
	}
	return spans, nil
}

func (t timelines) OpenSpan(authority []byte, s *matcher.Span, o *matcher.Origin) error {
	return t[s.Source].OpenSpan(authority, s, o)
}

func (t timelines) AppendTimes(times []int64, authority []byte, s *matcher.Span) ([]int64, error) {
	return t[s.Source].AppendTimes(times, authority, s)
}

// packSecond converts a time for lookups in packs; the zero time becomes 0, which means none. Any
// other is at least 1, and less than the greatest number, because lookups add 1 to it.
func packSecond(t time.Time) uint32 {
	if t.IsZero() {
		return 0
	}
	return uint32(min(max(t.Unix(), 1), math.MaxUint32-1))
}
