package matcher

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"iter"
	"maps"
	"slices"

	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/usage"
)

// Usage is what a body says of the use of what is fetched, for the agents and the uses that
// a source was opened for. It is immutable and safe for concurrent use. Agents and uses are
// given by their indices in the Agents and in UsageOptions.Uses.
//
// The longest path that matches selects the statement (draft-ietf-aipref-attach-05 §3.1).
// So the paths of an agent's groups are compiled like the patterns of rules, and the trie
// leads to the number of a statement where it would lead to a verdict. Statement 0 belongs
// to the lines without a path, which select where no path matches.
type Usage struct {
	uses     []usage.Use
	sets     []statementSet
	licenses [][]string // by agent; nil if there are none
	others   bool       // see StatesOther
	paths    bool       // see HasPaths
}

// StatementsKey is the same for bodies whose statements say the same of every path to every
// agent, in lines of whatever numbers. It is a part of a SHA-256, so that no site can have
// that of others.
type StatementsKey [16]byte

// KeyOfStatements returns the key of the text that robotstxt.File.AppendStatements appends. It
// leaves out empty lines, and so the line numbers.
func KeyOfStatements(statements []byte) StatementsKey {
	h := sha256.New()
	for line := range bytes.Lines(statements) {
		if line[0] != '\n' {
			_, _ = h.Write(line) // it never fails
		}
	}
	return StatementsKey(h.Sum(nil)[:len(StatementsKey{})])
}

// UsageOptions say what of the statements is wanted.
type UsageOptions struct {
	// Uses are those that values are wanted of.
	Uses []usage.Use
	// Licenses keeps the licences.
	Licenses bool
	// Others are uses of which Usage.StatesOther is wanted, and no values.
	Others []usage.Use
	// Explain keeps the lines that decide.
	Explain bool
}

// Wanted reports whether anything is wanted.
func (o *UsageOptions) Wanted() bool { return len(o.Uses) > 0 || o.Licenses }

// statementSet has the statements of a use's directive in merged groups.
type statementSet struct {
	use int // the index of the use
	// beforeGroups: the statements come before all groups. They are for no agent, so what they say is
	// unreadable to every agent.
	beforeGroups bool
	agents       []int32 // the agents that obey the groups; all agents if beforeGroups is set
	trie         Trie    // of the paths, if all has more than one element
	// all are the statements by rank; the first has no path. Of those that match and whose paths
	// have the same length the most restrictive one is selected, because the order of lines
	// means nothing.
	all []statement
}

// statement is what the lines with one path say together.
type statement struct {
	values []usage.Value   // by use; Unknown for those of other directives
	lines  []statementLine // none unless UsageOptions.Explain is set
	path   pattern         // zero for none
}

// statementLine is one line of a statement.
type statementLine struct {
	values []usage.Value // as in statement
	text   []byte        // nil unless UsageOptions.Explain is set
	line   int           // its number, from 1
}

// CompileUsage calls Compiler.CompileUsage of a new Compiler.
func CompileUsage(f *robotstxt.File, agents *Agents, o UsageOptions) *Usage {
	return new(Compiler).CompileUsage(f, agents, o)
}

// CompileUsage compiles the statements of a body for each agent. It returns nil if the body
// says nothing of what is wanted to any of them. The result aliases neither f nor the
// compiler.
//
// It takes time and memory linear in the body and in the number of agents, apart from
// sorting.
func (c *Compiler) CompileUsage(f *robotstxt.File, agents *Agents, o UsageOptions) *Usage {
	if len(f.Statements) == 0 || !o.Wanted() {
		return nil
	}
	u := &Usage{uses: o.Uses}
	for _, d := range usage.Preferences {
		if slices.ContainsFunc(o.Uses, func(use usage.Use) bool { return use.Directive == d }) {
			u.addDirective(c, f, agents, d, &o)
		}
	}
	if o.Licenses {
		u.collectLicenses(c, f, agents)
	}
	if len(o.Others) > 0 {
		other := c.CompileUsage(f, agents, UsageOptions{Uses: o.Others})
		u.others = other != nil && slices.ContainsFunc(other.sets, statementSet.saysAny)
	}
	if len(u.sets) == 0 && u.licenses == nil && !u.others {
		return nil
	}
	u.paths = slices.ContainsFunc(u.sets, func(s statementSet) bool { return len(s.all) > 1 })
	return u
}

// addDirective adds the statements of a directive in f to u.sets. Agents that obey the same groups
// share a set.
func (u *Usage) addDirective(c *Compiler, f *robotstxt.File, agents *Agents, d usage.Directive, o *UsageOptions) {
	merged := statementMerger{options: o, profile: f.Profile, beforeGroups: true}
	everyAgent := make([]int32, len(agents.chains))
	for i := range everyAgent {
		everyAgent[i] = int32(i)
	}
	u.addSets(c, d, merged, obeyedStatements{everyAgent, [][]robotstxt.Statement{f.StatementsBefore(d)}})
	merged.beforeGroups = false
	for _, obeyed := range c.selector.statements(f, agents, d) {
		u.addSets(c, d, merged, obeyed)
	}
}

// obeyedStatements are the statements of a directive in the groups that some agents obey.
type obeyedStatements struct {
	agents  []int32
	byGroup [][]robotstxt.Statement
}

// statements returns the statements of a directive in the groups of f that agents obey: one element
// for all agents that obey the same groups, even if these have no statements. It returns nil if f has
// no statements of the directive.
func (s *selector) statements(f *robotstxt.File, agents *Agents, d usage.Directive) (all []obeyedStatements) {
	groups := f.StatementGroups(d)
	if groups == nil {
		return nil
	}
	// choose takes the groups of a file, and those of the directive may be others.
	onlyAgents := &robotstxt.File{Profile: f.Profile, Groups: make([]robotstxt.Group, len(groups))}
	for i := range groups {
		onlyAgents.Groups[i].Agents = groups[i].Agents
	}
	s.choose(onlyAgents, agents)
	indices := make(map[string]int) // in all, by appendGroups
	var key []byte
	for agent := range agents.chains {
		chosen := s.groupsOf(agents.obeyed(agent, s.has))
		key = appendGroups(key[:0], chosen)
		index, ok := indices[string(key)]
		if !ok {
			index = len(all)
			indices[string(key)] = index
			all = append(all, obeyedStatements{})
			for _, c := range chosen {
				all[index].byGroup = append(all[index].byGroup, groups[c.group].Statements)
			}
		}
		all[index].agents = append(all[index].agents, int32(agent))
	}
	return all
}

// addSets adds to u.sets a set for each wanted use of a directive, for the agents that obey the
// statements; none if there are no statements. empty has the options and no statements.
func (u *Usage) addSets(c *Compiler, d usage.Directive, empty statementMerger, obeyed obeyedStatements) {
	merged := empty
	merged.byPath = make(map[string]int)
	for _, statements := range obeyed.byGroup {
		for i := range statements {
			merged.add(&statements[i])
		}
	}
	for i, use := range merged.options.Uses {
		if use.Directive == d && merged.all != nil {
			u.sets = append(u.sets, merged.setOf(c, i, obeyed.agents))
		}
	}
}

// statementMerger merges the statements of identical paths: those that are equal when they
// are normalised.
type statementMerger struct {
	options      *UsageOptions
	profile      Profile
	beforeGroups bool           // see statementSet
	all          []statement    // the first has no path; nil before the first line
	written      [][]byte       // by index in all, the path as written
	byPath       map[string]int // by appendKey of a path, its index in all
	key          []byte         // memory of add
	pairs        []usage.Pair   // memory of parseLine
}

// add adds a line to the statement of its path in m.all, a new one if no line before has the
// path. It aliases the line in m.written alone.
func (m *statementMerger) add(s *robotstxt.Statement) {
	if m.all == nil {
		m.all, m.written = []statement{m.silent()}, [][]byte{nil}
	}
	index := 0 // of the statement without a path
	if s.Path != nil {
		var path pattern
		// A path begins with a slash, so it compiles. What it is compiled to is copied,
		// because it may alias the body.
		_, _ = path.compile(nil, s.Path, m.profile)
		m.key = path.appendKey(m.key[:0])
		var ok bool
		if index, ok = m.byPath[string(m.key)]; !ok {
			index = len(m.all)
			m.byPath[string(m.key)] = index
			path.text = bytes.Clone(path.text)
			m.all = append(m.all, m.silent())
			m.all[index].path = path
			m.written = append(m.written, s.Path)
		}
	}
	m.all[index].add(m.parseLine(s))
}

// appendKey appends bytes that are equal for identical paths and for no others.
func (c *pattern) appendKey(dst []byte) []byte {
	dst = append(dst, c.text...)
	return append(dst, byte(c.length), byte(c.length>>8), byte(c.length>>16), byte(c.length>>24), boolByte(c.anchored))
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// silent returns a statement without a path that says nothing of any use.
func (m *statementMerger) silent() statement {
	return statement{values: make([]usage.Value, len(m.options.Uses))}
}

// parseLine returns what a line says of each use, and its text if it is wanted. If m.beforeGroups is set,
// all that it says is Unreadable. A line that does not parse is no error: its path still selects it,
// and its values are Unreadable.
func (m *statementMerger) parseLine(s *robotstxt.Statement) statementLine {
	var err error
	m.pairs, err = usage.AppendStatement(m.pairs[:0], s.Directive, s.Value)
	l := statementLine{line: s.Line, values: make([]usage.Value, len(m.options.Uses))}
	for i, use := range m.options.Uses {
		if use.Directive != s.Directive {
			continue
		}
		l.values[i] = usage.Of(m.pairs, err, use)
		if m.beforeGroups && l.values[i] != usage.Unknown {
			l.values[i] = usage.Unreadable
		}
	}
	if m.options.Explain {
		l.text = AppendValid(nil, s.Text)
	}
	return l
}

// add combines the statement with another line of the same path.
func (s *statement) add(l statementLine) {
	for i, v := range l.values {
		s.values[i] = usage.Combine(s.values[i], v)
	}
	if l.text != nil {
		s.lines = append(s.lines, l)
	}
}

// setOf returns the set of the merged statements for a use, given by its index, and for the agents
// that obey them. It compiles their paths as patterns of rules: the rank of the best rule selects the
// statement.
func (m *statementMerger) setOf(c *Compiler, use int, agents []int32) statementSet {
	set := statementSet{use: use, beforeGroups: m.beforeGroups, agents: agents, all: m.all[:1:1]}
	if len(m.all) == 1 {
		return set
	}
	order := m.byPrecedence(use)
	rules := make([]robotstxt.Rule, len(order))
	for i, at := range order {
		// Not an allow rule: under Google that may have a second pattern.
		rules[i] = robotstxt.Rule{Pattern: m.written[at]}
	}
	only := robotstxt.File{Profile: m.profile, Groups: []robotstxt.Group{{Rules: rules}}}
	// Of paths of one length, the first one in order gets the highest rank.
	set.trie = c.compileGroups(&only, []choice{{}})
	for _, rule := range c.byRank[1:] { // by rank, the index of the rule; rank 0 is that of m.all[0]
		set.all = append(set.all, m.all[order[rule]])
	}
	return set
}

// byPrecedence returns the indices in m.all of the statements with a path. Of paths of one length
// the first in this order decides. The most restrictive value of the use, given by its index, comes
// first, then the earliest line. The path makes the order unique.
func (m *statementMerger) byPrecedence(use int) []int {
	order := make([]int, len(m.all)-1)
	for i := range order {
		order[i] = i + 1
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := &m.all[a], &m.all[b]
		v, w := x.values[use], y.values[use]
		switch {
		case v == w:
			return cmp.Or(cmp.Compare(x.line(use), y.line(use)), bytes.Compare(x.path.text, y.path.text), compareBool(x.path.anchored, y.path.anchored))
		case usage.Combine(v, w) == v: // v is more restrictive
			return -1
		}
		return 1
	})
	return order
}

// line returns the first line with the value of a use; 0 if lines are not kept.
func (s *statement) line(use int) int {
	for i := range s.lines {
		if s.lines[i].values[use] == s.values[use] {
			return s.lines[i].line
		}
	}
	return 0
}

// selected returns the rank of the statement that a path selects, its index in s.all. It is the
// same for all paths that share their first depth bytes; depth is whole if it holds for this
// path only.
func (s *statementSet) selected(target *Target) (rank, depth int) {
	if len(s.all) == 1 {
		return 0, 0
	}
	c := &s.trie.rules
	literal, depth := c.literalMatch(target)
	if literal.list == 0 {
		return int(literal.best >> 1), depth // a rule's number is its rank × 2, see layout.go
	}
	// The paths were compiled as disallow rules.
	return int(max(literal.best, c.bestSuffix(target, literal.list, disallowing, literal.best)) >> 1), whole
}

// saysAny reports whether a statement of the set has a known value for any use, not only the set's own.
func (s statementSet) saysAny() bool {
	return slices.ContainsFunc(s.all, func(said statement) bool {
		return slices.ContainsFunc(said.values, func(v usage.Value) bool { return v != usage.Unknown })
	})
}

// StatesOther reports whether the body says anything of UsageOptions.Others, of any path and
// to any agent.
func (u *Usage) StatesOther() bool { return u.others }

// HasPaths reports whether what is said depends on the path. If not, Decide and Explain do
// not read theirs.
func (u *Usage) HasPaths() bool { return u.paths }

// Decide sets values to what the body says of each use of a path: that of agent a and use u is
// element a × uses + u. target must have been set under the profile of the body. The result is the
// same for all paths that share their first depth bytes; depth is more than any path has if it
// holds for this path only.
//
// A path that may not be fetched has no preferences: that is for the caller to know.
func (u *Usage) Decide(target *Target, values []usage.Value) (depth int) {
	clear(values)
	for i := range u.sets {
		set := &u.sets[i]
		rank, holds := set.selected(target)
		depth = max(depth, holds)
		for _, agent := range set.agents {
			own := &values[int(agent)*len(u.uses)+set.use]
			*own = usage.Combine(*own, set.all[rank].values[set.use])
		}
	}
	return depth
}

// Stated returns the values that the statements for an agent have for a use, under any path.
// The lines for one path count together.
func (u *Usage) Stated(agent, use int) (values usage.Values) {
	for said := range u.statements(agent, use) {
		values = values.With(said.values[use])
	}
	return values
}

// SameStated reports whether the statements of two bodies that were compiled for the same
// uses and agents say the same of a use to an agent, under every path. A nil Usage says nothing.
func SameStated(a, b *Usage, agent, use int) bool {
	return maps.Equal(a.byPath(agent, use), b.byPath(agent, use))
}

// byPath returns the value of a use under each path, by appendKey of the path. An unknown value
// matters, too: its path takes the place of a shorter one.
func (u *Usage) byPath(agent, use int) map[string]usage.Value {
	said := make(map[string]usage.Value)
	for s := range u.statements(agent, use) {
		if s.path.text != nil || s.values[use] != usage.Unknown {
			key := string(s.path.appendKey(nil))
			said[key] = usage.Combine(said[key], s.values[use])
		}
	}
	return said
}

// statements yields the statements that an agent obeys, in the sets of a use.
func (u *Usage) statements(agent, use int) iter.Seq[*statement] {
	return func(yield func(*statement) bool) {
		if u == nil {
			return
		}
		for i := range u.sets {
			set := &u.sets[i]
			if set.use != use || !slices.Contains(set.agents, int32(agent)) {
				continue
			}
			for rank := range set.all {
				if !yield(&set.all[rank]) {
					return
				}
			}
		}
	}
}

// UsageLine is a line about a use.
type UsageLine struct {
	Value usage.Value
	// Line is its number, from 1; 0 if no line is about the path.
	Line int
	// Text is the line as written, with bytes that are not UTF-8 as %XX.
	Text []byte
}

// Explain returns what the body says to an agent of a use of a path, and the line that says
// it: of the lines that the path selects, the first one with that value. If the value is unknown
// it is the first of these lines. It needs UsageOptions.Explain; target is as for Decide.
func (u *Usage) Explain(target *Target, agent, use int) (found UsageLine) {
	for i := range u.sets {
		set := &u.sets[i]
		if set.use != use || !slices.Contains(set.agents, int32(agent)) {
			continue
		}
		rank, _ := set.selected(target)
		found.combine(set, rank, use)
	}
	return found
}

// combine combines the value that was found with those of the lines of a statement, given by its
// rank, and keeps the first line with the combined value. A line of a group is found even if it says
// nothing of the use: see Explain. One before all groups (beforeGroups) is for no agent, and is found only
// if it says something of the use, whose value is then Unreadable.
func (found *UsageLine) combine(set *statementSet, rank, use int) {
	for _, line := range set.all[rank].lines {
		value := line.values[use]
		if set.beforeGroups && value == usage.Unknown {
			continue
		}
		combined := usage.Combine(found.Value, value)
		isStricter, isEarlier := combined != found.Value, value == combined && line.line < found.Line
		if found.Line == 0 || isStricter || isEarlier {
			*found = UsageLine{Value: combined, Line: line.line, Text: line.text}
		}
	}
}

// Licenses returns the licences of what an agent may fetch, in the order of their lines: at
// most MaxSitemaps, and MaxSitemapBytes of text.
func (u *Usage) Licenses(agent int) []string {
	if u == nil || u.licenses == nil {
		return nil
	}
	return u.licenses[agent]
}

// collectLicenses sets u.licenses to the licences of the groups that each agent obeys or, if
// these have none, to those before all groups (RSL 1.0). It leaves it nil if no agent has any.
func (u *Usage) collectLicenses(c *Compiler, f *robotstxt.File, agents *Agents) {
	before := appendLicenses(nil, f.StatementsBefore(usage.License))
	byAgent, found := make([][]string, len(agents.chains)), false
	for _, obeyed := range c.selector.statements(f, agents, usage.License) {
		var licenses []string
		for _, statements := range obeyed.byGroup {
			licenses = appendLicenses(licenses, statements)
		}
		if licenses == nil {
			licenses = before
		}
		for _, agent := range obeyed.agents {
			byAgent[agent] = licenses
		}
		found = found || licenses != nil
	}
	if found {
		u.licenses = byAgent
	}
}

// appendLicenses appends the values of statements that are licences and not in dst, up to
// MaxSitemaps and MaxSitemapBytes in all.
func appendLicenses(dst []string, statements []robotstxt.Statement) []string {
	size := 0
	for _, s := range dst {
		size += len(s)
	}
	for i := range statements {
		value := statements[i].Value
		if !usage.IsLicense(value) || slices.Contains(dst, string(value)) {
			continue
		}
		if size += len(value); len(dst) == MaxSitemaps || size > MaxSitemapBytes {
			break
		}
		dst = append(dst, string(value))
	}
	return dst
}

// Size returns an estimate of the memory of the statements in bytes.
func (u *Usage) Size() int {
	if u == nil {
		return 0
	}
	const fixed, perStatement, perLine, perSlice, perString = 128, 160, 80, 24, 16
	size := fixed
	for i := range u.sets {
		size += 4*len(u.sets[i].agents) + u.sets[i].trie.size()
		for _, s := range u.sets[i].all {
			size += perStatement + len(s.path.text) + len(s.values)
			for _, l := range s.lines {
				size += perLine + len(l.text) + len(l.values)
			}
		}
	}
	for _, own := range u.licenses {
		size += perSlice
		for _, license := range own {
			size += perString + len(license)
		}
	}
	return size
}
