package export

import (
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/extent"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/usage"
)

// Survey returns the table that has a row for each authority and agent: how much of the
// authority the agent is denied, by rules for whom, and what is known of its robots.txt.
// classes has the class of an agent, by its chain, where that is known. For each use the table has
// what the authority states of it to the agent. With a history it has since when, and needs a
// listing with that.
func Survey(chains []matcher.Chain, classes map[string]string, uses []usage.Use, history bool) *Table {
	s := newSurveyor(chains, uses)
	for _, name := range s.names {
		s.classes = append(s.classes, []byte(classes[name]))
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
	return &Table{Name: "survey", Schema: schema(columns...), fill: s.fill, history: history}
}

// Values of the column by.
const (
	byName     = "name"
	byEveryone = "everyone"
)

// surveyor makes the rows of a survey.
type surveyor struct {
	agents   *matcher.Agents
	names    []string
	classes  [][]byte // of agents
	uses     []usage.Use
	parser   robotstxt.Parser
	compiler matcher.Compiler
	// bodies are those that were read last: http and https often share one, and those of
	// a history come back.
	bodies  map[bodyKey]*surveyedBody
	past    []past                          // by agent, of the authority at hand
	unruled map[extent.Extent]*surveyedBody // what agents are denied without rules; see extentOf
}

func newSurveyor(chains []matcher.Chain, uses []usage.Use) *surveyor {
	s := &surveyor{agents: matcher.NewAgents(chains), uses: uses, bodies: make(map[bodyKey]*surveyedBody), past: make([]past, len(chains))}
	for i, chain := range chains {
		s.names = append(s.names, strings.Join(chain, ","))
		s.past[i].uses = make([]pastUse, len(uses))
	}
	s.unruled = make(map[extent.Extent]*surveyedBody)
	for _, blocked := range []extent.Extent{extent.None, extent.All, extent.Undecided} {
		each := surveyed{blocked: blocked, root: blocked == extent.All, delay: matcher.NoCrawlDelay}
		s.unruled[blocked] = &surveyedBody{length: -1, each: slices.Repeat([]surveyed{each}, len(chains))}
	}
	return s
}

// bodyKey names a body.
type bodyKey struct {
	pack   *rulepack.Pack
	number uint32
}

// surveyedBody is what agents are denied by a body.
type surveyedBody struct {
	kind   robotstxt.BodyKind
	length int // in bytes, -1 where it is not known
	each   []surveyed
}

// mostSurveyed is how many agents of bodies a surveyor knows, of which each takes some 60
// bytes.
const mostSurveyed = 1 << 17

// surveyed is what an agent is denied by a body.
type surveyed struct {
	blocked extent.Extent
	root    bool   // the front page is denied
	by      string // empty where no group concerns it
	rules   int
	delay   float64
	said    []usage.Values // by use; nil if nothing is said of any
}

// of returns what is said of a use.
func (a *surveyed) of(use int) usage.Values {
	if a.said == nil {
		return 0
	}
	return a.said[use]
}

func (s *surveyor) fill(w *tableio.Writer, a *authority, _ *body) {
	read, err := s.denied(a.Access, a.Pack(), a.Body)
	var outage *outage
	if err == nil && a.spans != nil {
		outage, err = s.replay(a, func(int, *change) {})
	}
	if err != nil {
		w.Fail(err)
		return
	}
	for i, name := range s.names {
		agent := &read.each[i]
		a.begin(w)
		w.Text([]byte(name))
		w.OptionalText(s.classes[i])
		w.Text([]byte(a.class().String()))
		w.OptionalText([]byte(agent.blocked.String()))
		w.Flag(agent.root)
		w.OptionalText([]byte(agent.by))
		w.OptionalFloat(agent.delay, agent.delay != matcher.NoCrawlDelay)
		w.Known(agent.rules, a.Access == access.Rules)
		w.Text([]byte(outcomes[a.Access]))
		w.Optional(a.Status)
		w.OptionalText(statusClass(a.Status))
		w.Time(a.Fetched)
		w.Flag(a.Stale)
		w.OptionalText([]byte(a.kind.String()))
		w.Known(read.length, read.length >= 0)
		w.OptionalText(a.digest)
		for use := range s.uses {
			w.OptionalText([]byte(agent.of(use).String()))
		}
		if a.spans != nil {
			s.past[i].write(w, a, outage)
		}
		w.End()
		if w.Err() != nil {
			return
		}
	}
}

// extentOf is how much is denied where there are no rules.
func extentOf(outcome access.Outcome) extent.Extent {
	switch outcome {
	case access.DisallowAll:
		return extent.All
	case access.Cut:
		return extent.Undecided
	}
	return extent.None
}

// denied returns what agents are denied by an outcome, which is that of a body of a pack if it
// is access.Rules.
func (s *surveyor) denied(outcome access.Outcome, pack *rulepack.Pack, number uint32) (*surveyedBody, error) {
	if outcome == access.Rules {
		return s.read(pack, number)
	}
	return s.unruled[extentOf(outcome)], nil
}

// statusClass is 2xx for 200 and so on, nothing for no status.
func statusClass(status int) []byte {
	if status < 100 || status > 999 {
		return nil
	}
	return []byte{'0' + byte(status/100), 'x', 'x'}
}

// read finds out what each agent is denied by a body.
func (s *surveyor) read(pack *rulepack.Pack, number uint32) (*surveyedBody, error) {
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
	var b *surveyedBody
	if stored.Source != nil {
		b = s.source(stored, pack.Info().Profile)
	} else {
		b = s.compiled(stored)
		if len(s.uses) > 0 && stored.Records.Statements != nil {
			s.addUses(b, stored.Records.Parse(pack.Info().Profile))
		}
	}
	b.kind = stored.Kind
	s.bodies[key] = b
	return b, nil
}

// source reads a body that is there as it came.
func (s *surveyor) source(stored *rulepack.Body, profile matcher.Profile) *surveyedBody {
	s.compiler.Explain = true
	// A pack has the part of a body that counts.
	f := s.parser.Parse(stored.Source, robotstxt.Options{Profile: profile, Limit: len(stored.Source)})
	tries, of := s.compiler.Compile(f, s.agents)
	delays := matcher.CollectRecords(f, s.agents).CrawlDelays
	each := s.survey(tries, of, func(i int, chain matcher.Chain) (by string, delay float64) {
		switch name, lines := matcher.ChosenGroups(f, chain); {
		case len(lines) == 0:
		case name == matcher.Everyone:
			by = byEveryone
		default:
			by = byName
		}
		return by, delays[i]
	})
	b := &surveyedBody{length: len(stored.Source), each: each}
	s.addUses(b, f)
	return b
}

// addUses adds what a body says of uses.
func (s *surveyor) addUses(b *surveyedBody, f *robotstxt.File) {
	said := s.compiler.CompileUsage(f, s.agents, matcher.UsageOptions{Uses: s.uses})
	if said == nil {
		return
	}
	for agent := range b.each {
		values := make([]usage.Values, len(s.uses))
		for use := range values {
			values[use] = said.Stated(agent, use)
		}
		b.each[agent].said = values
	}
}

// compiled reads a body that was compiled. Its length is not known.
func (s *surveyor) compiled(stored *rulepack.Body) *surveyedBody {
	delays := stored.Records.ForChains(s.agents.Chains(), stored.Compiled.Chosen).CrawlDelays
	tries, of := stored.Compiled.For(s.agents)
	everyone := ""
	if stored.Compiled.HasEveryone() {
		everyone = byEveryone
	}
	each := s.survey(tries, of, func(i int, chain matcher.Chain) (by string, delay float64) {
		if stored.Compiled.Chosen(chain) != matcher.Everyone {
			return byName, delays[i]
		}
		return everyone, delays[i]
	})
	return &surveyedBody{length: -1, each: each}
}

// survey finds out what each agent is denied: once for tries of the same rules. tell says
// by whose rules, and what its crawl-delay is.
func (s *surveyor) survey(tries []matcher.Trie, of []uint32, tell func(i int, chain matcher.Chain) (by string, delay float64)) []surveyed {
	each := make([]surveyed, 0, len(s.names))
	o := matcher.Origin{Tries: tries, Of: of}
	known := make(map[*byte]surveyed)
	for i, chain := range s.agents.Chains() {
		trie := o.Trie(i)
		agent, ok := known[trie.Identity()]
		if !ok {
			agent.blocked, agent.root, agent.rules = extent.Of(trie).Extent, deniesRoot(trie), countRules(trie)
			known[trie.Identity()] = agent
		}
		agent.by, agent.delay = tell(i, chain)
		each = append(each, agent)
	}
	return each
}

// deniesRoot reports whether the front page, "/", is denied.
func deniesRoot(t *matcher.Trie) bool {
	var page matcher.Target
	page.Set([]byte("/"), t.Profile())
	return !t.Allowed(&page)
}

// countRules counts the lines of a trie's rules that can match anything.
func countRules(t *matcher.Trie) int {
	lines := make(map[int]bool)
	for line := range t.Lines() {
		lines[line] = true
	}
	return len(lines)
}
