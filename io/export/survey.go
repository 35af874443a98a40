package export

import (
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/rulepack"
	"robotsbatch/io/tables"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/extent"
	"robotsbatch/matcher/robotstxt"
)

// Survey returns the table that has a row for each authority and agent: how much of the
// authority the agent is denied, by rules for whom, and what is known of its robots.txt.
func Survey(chains []matcher.Chain) *Table {
	s := &surveyor{agents: matcher.NewAgents(chains)}
	for _, chain := range chains {
		s.names = append(s.names, strings.Join(chain, ","))
	}
	return &Table{Name: "survey", Schema: schema(
		text("agent"), optionalText("blocked"), optionalText("by"),
		optional("crawl_delay", arrow.PrimitiveTypes.Float64), optional("rules", arrow.PrimitiveTypes.Int32),
		text("access"), optional("status", arrow.PrimitiveTypes.Int32), optionalText("status_class"),
		optional("fetched_at", arrow.FixedWidthTypes.Timestamp_ms), flag("stale"),
		optionalText("body_kind"), optional("body_bytes", arrow.PrimitiveTypes.Int32), optionalText("body_digest"),
	), fill: s.fill}
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
	parser   robotstxt.Parser
	compiler matcher.Compiler

	// The last body, which http and https often share.
	pack   *rulepack.Pack
	number uint32
	length int // in bytes, 0 where it is not known
	each   []surveyed
}

// surveyed is what an agent is denied by a body.
type surveyed struct {
	blocked extent.Extent
	by      string // empty where no group concerns it
	rules   int
	delay   float64
}

func (s *surveyor) fill(w *tables.Writer, a *authority, _ *body) {
	blocked := extent.None
	switch {
	case a.Access == access.DisallowAll:
		blocked = extent.All
	case a.Access == access.Rules:
		if err := s.read(a); err != nil {
			w.Fail(err)
			return
		}
	}
	for i, name := range s.names {
		agent := surveyed{blocked: blocked, delay: matcher.NoCrawlDelay}
		if a.Access == access.Rules {
			agent = s.each[i]
		}
		a.begin(w)
		w.Text([]byte(name))
		w.OptionalText([]byte(agent.blocked.String()))
		w.OptionalText([]byte(agent.by))
		w.OptionalFloat(agent.delay, agent.delay != matcher.NoCrawlDelay)
		w.Known(agent.rules, a.Access == access.Rules)
		w.Text([]byte(outcomes[a.Access]))
		w.Optional(a.Status)
		w.OptionalText(statusClass(a.Status))
		w.Time(a.Fetched)
		w.Flag(a.Stale)
		w.OptionalText([]byte(a.kind.String()))
		w.Known(s.length, a.Access == access.Rules && s.length >= 0)
		w.OptionalText(a.digest)
		w.End()
		if w.Err() != nil {
			return
		}
	}
}

// statusClass is 2xx for 200 and so on, nothing for no status.
func statusClass(status int) []byte {
	if status < 100 || status > 999 {
		return nil
	}
	return []byte{'0' + byte(status/100), 'x', 'x'}
}

// read finds out what each agent is denied by the body of an authority.
func (s *surveyor) read(a *authority) error {
	if s.pack == a.Pack() && s.number == a.Body && s.each != nil {
		return nil
	}
	stored, err := a.Pack().Body(a.Body)
	if err != nil {
		return err
	}
	s.pack, s.number, s.each = a.Pack(), a.Body, s.each[:0]
	if stored.Source != nil {
		s.source(stored)
	} else {
		s.compiled(stored)
	}
	return nil
}

// source reads a body that is there as it came.
func (s *surveyor) source(stored *rulepack.Body) {
	s.length = len(stored.Source)
	s.compiler.Explain = true
	// A pack has the part of a body that counts.
	f := s.parser.Parse(stored.Source, robotstxt.Options{Profile: s.pack.Info().Profile, Limit: len(stored.Source)})
	tries, of := s.compiler.Compile(f, s.agents)
	delays := matcher.CollectRecords(f, s.agents).CrawlDelays
	s.survey(tries, of, func(i int, chain matcher.Chain) (by string, delay float64) {
		switch name, lines := matcher.ChosenGroups(f, chain); {
		case len(lines) == 0:
		case name == matcher.Everyone:
			by = byEveryone
		default:
			by = byName
		}
		return by, delays[i]
	})
}

// compiled reads a body that was compiled. Its length is not known.
func (s *surveyor) compiled(stored *rulepack.Body) {
	s.length = -1
	delays := stored.Records.ForChains(s.agents.Chains(), stored.Compiled.Chosen).CrawlDelays
	tries, of := stored.Compiled.For(s.agents)
	everyone := ""
	if stored.Compiled.HasEveryone() {
		everyone = byEveryone
	}
	s.survey(tries, of, func(i int, chain matcher.Chain) (by string, delay float64) {
		if stored.Compiled.Chosen(chain) != matcher.Everyone {
			return byName, delays[i]
		}
		return everyone, delays[i]
	})
}

// survey finds out what each agent is denied: once for tries of the same rules. tell says
// by whose rules, and what its crawl-delay is.
func (s *surveyor) survey(tries []matcher.Trie, of []uint32, tell func(i int, chain matcher.Chain) (by string, delay float64)) {
	o := matcher.Origin{Tries: tries, Of: of}
	known := make(map[*byte]surveyed)
	for i, chain := range s.agents.Chains() {
		trie := o.Trie(i)
		agent, ok := known[trie.Identity()]
		if !ok {
			agent.blocked, agent.rules = extent.Of(trie).Extent, countRules(trie)
			known[trie.Identity()] = agent
		}
		agent.by, agent.delay = tell(i, chain)
		s.each = append(s.each, agent)
	}
}

// countRules counts the lines of a trie's rules that can match anything.
func countRules(t *matcher.Trie) int {
	lines := make(map[int]bool)
	for line := range t.Lines() {
		lines[line] = true
	}
	return len(lines)
}
