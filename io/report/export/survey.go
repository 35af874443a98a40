package export

import (
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/extent"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/usage"
)

// Survey returns the table with a row for each authority and agent: how much the agent is
// denied, whether by its own group or everyone's, and facts about the robots.txt. classes has
// the classes of agents that are known, by the chain's name. The table has a column for what is stated
// about each use. With history it also has since when; that needs a listing with a history.
func Survey(chains []matcher.Chain, classes map[string]string, uses []usage.Use, history bool) *Table {
	s := newSurveyor(chains, uses)
	for _, name := range s.names {
		s.classes = append(s.classes, classes[name])
	}
	columns := []arrow.Field{
		text("agent"), optionalText("agent_class"), text("class"), optionalText("blocked"), flag("root"), optionalText("by"),
		optional("crawl_delay", arrow.PrimitiveTypes.Float64), optional("rules", arrow.PrimitiveTypes.Int32),
		text("access"), optional("status", arrow.PrimitiveTypes.Int32), optionalText("status_class"),
		optional("fetched_at", arrow.FixedWidthTypes.Timestamp_ms), flag("stale"),
		optionalText("body_kind"), optional("body_bytes", arrow.PrimitiveTypes.Int32), optionalText("body_digest"),
	}
	for _, use := range uses {
		columns = append(columns, optionalText(use.Column()))
	}
	if history {
		columns = append(columns, historyColumns...)
		for _, use := range uses {
			columns = append(columns, optional(use.Column()+"_since", arrow.FixedWidthTypes.Timestamp_ms))
		}
	}
	return &Table{Name: "survey", Schema: schema(columns...), fill: s.writeRows, history: history}
}

// Values of the column by.
const (
	byName     = "name"
	byEveryone = "everyone"
)

// surveyor makes the rows of a survey.
type surveyor struct {
	rules   ruleReader
	names   []string // of agents
	classes []string // by agent
	uses    []usage.Use
	// bodies are those that were read last: http and https often share one, and in a history a body
	// may be served again.
	bodies  map[bodyKey]*surveyedBody
	past    []past                          // by agent, after replay
	unruled map[extent.Extent]*surveyedBody // what agents are denied without rules; see extentOf
	unsaid  []usage.Values                  // by use, if a body says nothing about any
}

// newSurveyor returns a surveyor for agents and uses. It makes in advance what all outcomes without rules
// deny: it is the same for all agents.
func newSurveyor(chains []matcher.Chain, uses []usage.Use) *surveyor {
	s := &surveyor{rules: newRuleReader(chains, uses), uses: uses, bodies: make(map[bodyKey]*surveyedBody), past: make([]past, len(chains))}
	s.unsaid = make([]usage.Values, len(uses))
	for i, chain := range chains {
		s.names = append(s.names, chain.String())
		s.past[i].uses = make([]pastUse, len(uses))
	}
	s.unruled = make(map[extent.Extent]*surveyedBody)
	for _, blocked := range []extent.Extent{extent.None, extent.All, extent.Undecided} {
		each := surveyed{blocked: blocked, root: blocked == extent.All, delay: matcher.NoCrawlDelay, said: s.unsaid}
		s.unruled[blocked] = &surveyedBody{length: -1, each: slices.Repeat([]surveyed{each}, len(chains))}
	}
	return s
}

// bodyKey identifies a body: by its pack and its number there.
type bodyKey struct {
	pack   *rulepack.Pack
	number uint32
}

// surveyedBody is what agents are denied by a body.
type surveyedBody struct {
	kind   robotstxt.BodyKind
	length int        // in bytes; -1 if it is not known
	each   []surveyed // by agent
}

// mostSurveyed bounds the memory of surveyor.bodies: the number of bodies times that of agents. Each
// body and agent takes some 60 bytes.
const mostSurveyed = 1 << 17

// surveyed is what an agent is denied by a body.
type surveyed struct {
	blocked extent.Extent
	root    bool           // the front page is denied
	by      string         // byName or byEveryone; empty if no group applies to the agent
	rules   int            // the number of rules that the agent obeys
	delay   float64        // in seconds, or matcher.NoCrawlDelay
	said    []usage.Values // by use
}

// writeRows writes the rows of an authority, one an agent.
func (s *surveyor) writeRows(w *tableio.Writer, a *authority, _ *body) error {
	read, err := s.denied(a.Access, a.Pack(), a.Body)
	var outage *outage
	if err == nil && a.spans != nil {
		outage, err = s.replay(a, func(int, *change) {}) // no change has a row: only s.past is needed
	}
	if err != nil {
		return err
	}
	length := tableio.IfKnown(int32(read.length), read.length >= 0)
	for i, name := range s.names {
		agent := &read.each[i]
		a.begin(w)
		w.Put(name, s.classes[i], a.class().String(), agent.blocked.String(), agent.root, agent.by)
		w.Put(tableio.IfKnown(agent.delay, agent.delay != matcher.NoCrawlDelay), tableio.IfKnown(int32(agent.rules), a.Access == access.Rules))
		w.Put(outcomes[a.Access], a.Status, statusClass(a.Status), a.Fetched, a.Stale, a.kind.String(), length, a.digest)
		for use := range s.uses {
			w.Put(agent.said[use].String())
		}
		if a.spans != nil {
			s.past[i].writeHistory(w, a, outage)
		}
		w.End()
		if w.Err() != nil {
			break
		}
	}
	return nil
}

// extentOf returns how much an outcome without rules denies.
func extentOf(outcome access.Outcome) extent.Extent {
	switch outcome {
	case access.DisallowAll:
		return extent.All
	case access.Cut:
		return extent.Undecided
	}
	return extent.None
}

// denied returns what an outcome denies the agents. If the outcome is access.Rules, the rules are
// those of the body with that number in pack.
func (s *surveyor) denied(outcome access.Outcome, pack *rulepack.Pack, number uint32) (*surveyedBody, error) {
	if outcome == access.Rules {
		return s.surveyBody(pack, number)
	}
	return s.unruled[extentOf(outcome)], nil
}

// statusClass returns an HTTP status as 2xx and so on; nil for none.
func statusClass(status int) []byte {
	if status < 100 || status > 999 {
		return nil
	}
	return []byte{'0' + byte(status/100), 'x', 'x'}
}

// surveyBody returns what the body of a pack denies each agent. It keeps the results of the bodies
// that it read last.
func (s *surveyor) surveyBody(pack *rulepack.Pack, number uint32) (*surveyedBody, error) {
	key := bodyKey{pack, number}
	if b, ok := s.bodies[key]; ok {
		return b, nil
	}
	stored, err := pack.Body(number)
	if err != nil {
		return nil, err
	}
	if (len(s.bodies)+1)*len(s.names) > mostSurveyed {
		clear(s.bodies)
	}
	b := s.survey(stored, pack.Info().Profile)
	s.bodies[key] = b
	return b, nil
}

// survey determines what a body denies each agent. It looks once at a trie that several agents share. The
// pack has the body with its source, of which the length is known, or only compiled.
func (s *surveyor) survey(stored *rulepack.Body, profile matcher.Profile) *surveyedBody {
	b := &surveyedBody{kind: stored.Kind, length: -1, each: make([]surveyed, len(s.names))}
	rules, said, f := s.rules.read(stored, profile) // f is nil if the pack has the body only compiled
	chains := s.rules.agents.Chains()
	var records *matcher.Records
	var chosen func(matcher.Chain) string // the name whose groups a chain obeys
	var everyone bool                     // there is a group for everyone
	if f != nil {
		b.length, records = len(stored.Source), matcher.CollectRecords(f, s.rules.agents)
		chosen = func(chain matcher.Chain) string { name, _ := matcher.ChosenGroups(f, chain); return name }
		_, lines := matcher.ChosenGroups(f, matcher.Chain{matcher.Everyone})
		everyone = len(lines) > 0
	} else {
		chosen, everyone = stored.Compiled.Chosen, stored.Compiled.HasEveryone()
		records = stored.Records.ForChains(chains, chosen)
	}
	known := make(map[*byte]surveyed) // by trie
	for i, chain := range chains {
		trie := rules.Trie(i)
		agent, ok := known[trie.Identity()]
		if !ok {
			agent.blocked, agent.root, agent.rules = extent.Of(trie).Extent, deniesRoot(trie), len(trie.Written())
			known[trie.Identity()] = agent
		}
		switch { // agent is a copy: what follows differs between agents with one trie
		case chosen(chain) != matcher.Everyone:
			agent.by = byName
		case everyone:
			agent.by = byEveryone
		}
		agent.delay = records.CrawlDelays[i]
		if agent.said = s.unsaid; said != nil {
			agent.said = make([]usage.Values, len(s.uses))
			for use := range agent.said {
				agent.said[use] = said.Stated(i, use)
			}
		}
		b.each[i] = agent
	}
	return b
}

// deniesRoot reports whether the front page, "/", is denied.
func deniesRoot(t *matcher.Trie) bool {
	var page matcher.Target
	page.Set([]byte("/"), t.Profile())
	return !t.Allowed(&page)
}

// historyColumns are the columns that a survey of a history has in addition.
var historyColumns = []arrow.Field{
	optional("first_seen", arrow.FixedWidthTypes.Timestamp_ms), optional("last_seen", arrow.FixedWidthTypes.Timestamp_ms),
	optional("since", arrow.FixedWidthTypes.Timestamp_ms), optional("since_after", arrow.FixedWidthTypes.Timestamp_ms), number("changes"),
}

// other is the kind of a change that is neither opened nor closed: as much is denied, but by another
// group, or the answer is of another class.
const other = "other"

// SurveyChanges returns the table with a row for each change between two answers: of what an
// agent is denied, or of what is stated about a use. Rows of an authority are in the order of
// time. It needs a listing with a history.
func SurveyChanges(chains []matcher.Chain, uses []usage.Use) *Table {
	s := newSurveyor(chains, uses)
	columns := []arrow.Field{
		text("agent"), text("change"), optionalText("old_blocked"), optionalText("new_blocked"), optionalText("old_by"), optionalText("new_by"),
		text("old_class"), text("new_class"), optional("old_status", arrow.PrimitiveTypes.Int32), optional("new_status", arrow.PrimitiveTypes.Int32),
		optional("old_fetched_at", arrow.FixedWidthTypes.Timestamp_ms), optional("changed_at", arrow.FixedWidthTypes.Timestamp_ms),
	}
	if len(uses) > 0 {
		columns = append(columns, useChangeColumns...)
	}
	return &Table{Name: "changes", Schema: schema(columns...), fill: s.writeChanges, history: true}
}

// policy says what an authority's answer denies an agent.
type policy struct {
	class   Class
	blocked extent.Extent
	by      string
}

// past is what the answers of an authority say about an agent, up to a span: the last policy, and since when.
type past struct {
	policy
	// since is the time of the first fetch with the policy, 0 if it is not known. after is the time of
	// the last fetch before with another policy, 0 for none: the change was between the two.
	since, after int64
	changes      int // the number of policies before
	uses         []pastUse
}

// pastUse is what the last answer says about a use, and since when.
type pastUse struct {
	said  usage.Values
	since int64 // as past.since
}

// outage is a time without an answer: since is its first fetch, and after the last fetch before, 0
// for none.
type outage struct{ since, after int64 }

// change is a change from one answer to another.
type change struct {
	older, newer policy
	spans        [2]*matcher.Span // those of the two answers
	after        int64            // as past.after
	// use is -1, or the index of the use about which before was said, and now said.
	use          int
	before, said usage.Values
}

// replay goes through the spans of an authority, oldest first, and calls changed for each
// change between two spans with an answer. The change is valid until changed returns.
// Afterwards s.past has the last answer for each agent. Spans without an answer change
// nothing: replay returns the outage that lasts at the end, or nil.
func (s *surveyor) replay(a *authority, changed func(agent int, c *change)) (out *outage, err error) {
	for agent := range s.past {
		s.past[agent] = past{uses: s.past[agent].uses}
	}
	answered := -1 // the last span with an answer; -1 for none
	for n := range a.spans {
		span := &a.spans[n]
		read, err := s.denied(span.Access, a.listing.SpanPack(span), span.Body)
		if err != nil {
			return nil, err
		}
		class := classOf(span.Access, span.Stale, read.kind)
		c := change{spans: [2]*matcher.Span{nil, span}, use: -1}
		if answered >= 0 {
			c.spans[0] = &a.spans[answered] // whose last fetch was before the span that follows it
			if c.after, err = a.listing.FetchedAt(a.Key, c.spans[0], a.spans[answered+1].From-1); err != nil {
				return nil, err
			}
		}
		if !class.Reached() {
			if out == nil { // the outage begins
				out = &outage{span.From, c.after}
			}
			continue
		}
		for agent := range s.past {
			now := &read.each[agent]
			c.newer = policy{class, now.blocked, now.by}
			s.past[agent].advance(c, now, func(c *change) { changed(agent, c) })
		}
		answered, out = n, nil
	}
	return out, nil
}

// advance records what an answer says about the agent, now, and calls changed for each difference
// from the answer before. c has the new policy and the spans of both; the older span is nil for the
// first answer, which changes nothing.
func (p *past) advance(c change, now *surveyed, changed func(*change)) {
	if c.spans[0] == nil {
		p.policy, p.since = c.newer, c.spans[1].From
		for use := range p.uses {
			p.uses[use] = pastUse{now.said[use], p.since}
		}
		return
	}
	if c.older = p.policy; c.older != c.newer {
		changed(&c)
		p.policy, p.since, p.after = c.newer, c.spans[1].From, c.after
		p.changes++
	}
	for use := range p.uses {
		u := &p.uses[use]
		if said := now.said[use]; said != u.said {
			c.use, c.before, c.said = use, u.said, said
			changed(&c)
			*u = pastUse{said, c.spans[1].From}
		}
	}
}

// writeHistory writes the values of historyColumns, and since when what is stated of each use holds. During
// an outage, out, since and after are those of the outage; out is nil without one.
func (p *past) writeHistory(w *tableio.Writer, a *authority, out *outage) {
	since, after := p.since, p.after
	if out != nil {
		since, after = out.since, out.after
	}
	w.Put(a.spans[0].From, a.Fetched, since, after, p.changes)
	for _, u := range p.uses {
		if out != nil {
			u.since = out.since
		}
		w.Put(u.since)
	}
}

// writeChanges writes a row for each change of an authority.
func (s *surveyor) writeChanges(w *tableio.Writer, a *authority, _ *body) error {
	_, err := s.replay(a, func(agent int, c *change) {
		if w.Err() == nil {
			c.write(w, a, s.names[agent], s.uses)
		}
	})
	return err
}

// write writes the row of a change for an agent.
func (c *change) write(w *tableio.Writer, a *authority, agent string, uses []usage.Use) {
	old, now, oldSpan, span := &c.older, &c.newer, c.spans[0], c.spans[1]
	a.begin(w)
	w.Put(agent, c.kind(), old.blocked.String(), now.blocked.String(), old.by, now.by, old.class.String(), now.class.String())
	w.Put(oldSpan.Status, span.Status, c.after, span.From)
	if len(uses) > 0 {
		writeUseChange(w, uses, c.use, c.before, c.said)
	}
	w.End()
}

// kind returns the kind of the change: opened, closed, useChanged or other.
func (c *change) kind() string {
	before, after := c.older.blocked, c.newer.blocked
	switch {
	case c.use >= 0:
		return useChanged
	case before == after || before == extent.Undecided || after == extent.Undecided:
		return other
	case after > before:
		return closed
	}
	return opened
}
