package explain

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/partition"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/spelling"
	"robotsbatch/matcher/urls"
)

// Options are the agents and the settings for decisions.
type Options struct {
	// Chains are the agents that the rules were opened for.
	Chains []matcher.Chain
	// Profile is the profile that the rules were opened under.
	Profile matcher.Profile
	// Missing is the verdict for an unknown authority.
	Missing access.Missing
	// AsOf is the time at which ages are taken, in seconds since 1970; 0 for none.
	AsOf int64
	// MaxAge is the age beyond which rules are too old.
	MaxAge time.Duration
	// Partitions is the number of partitions of which the authority's is named; 0 for none.
	Partitions int
}

// Explainer explains URLs by a set of rules, which must have been opened with explanations.
// It belongs to one goroutine.
type Explainer struct {
	options   Options
	rules     *ruleset.Set
	evaluator *evaluate.Evaluator
	verdicts  batch.Verdicts
}

// New returns an Explainer.
func New(rules *ruleset.Set, o Options) *Explainer {
	return &Explainer{options: o, rules: rules, evaluator: evaluate.New(rules.Origins(), evaluate.Options{
		Agents: len(o.Chains), Profile: o.Profile, Missing: o.Missing, Explain: true, AsOf: o.AsOf,
	})}
}

// URL explains the verdicts on a URL. An error means that the rules could not be read, or that
// the context ended.
func (e *Explainer) URL(ctx context.Context, url string) (*URL, error) {
	one := batch.Batch{Input: "argument", URLs: batch.Column{Offsets64: []int64{0, int64(len(url))}, Data: []byte(url)}}
	u := &URL{URL: valid([]byte(url))}
	var scratch urls.Scratch
	authority, path, invalid := scratch.Split([]byte(url))
	var origin matcher.Origin
	if invalid == nil { // before the evaluator, whose errors name the row
		if err := e.rules.Origins().Lookup(authority, &origin); err != nil {
			return nil, err
		}
	}
	if err := e.evaluator.Evaluate(&one, &e.verdicts); err != nil {
		return nil, err
	}
	if invalid != nil { // it has no authority and no path, and for all agents the same reason
		for _, chain := range e.options.Chains {
			u.Agents = append(u.Agents, Agent{Agent: chain.String(), Reason: e.verdicts.Agents[0].Reasons[0]})
		}
		return u, nil
	}
	u.Authority, u.Path, u.Normalised = string(authority), valid(path), valid(path)
	u.Hash = partition.Hash(authority)
	if u.partitions = e.options.Partitions; u.partitions > 0 {
		part := partition.Of(u.Hash, u.partitions)
		u.Partition = &part
	}
	if e.options.Profile == robotstxt.RFC9309 {
		u.Normalised = string(urls.Normalise(path))
	}
	source, err := e.rules.Source(authority)
	if err != nil {
		return nil, err
	}
	e.setFacts(u, &origin)
	switch {
	case origin.NotYet:
		u.notYet = time.Unix(e.options.AsOf, 0).UTC()
	case origin.Access == access.Unknown:
		u.Near = e.rules.Near(u.Authority)
	}
	u.File = source.Name
	if u.inText = source.Text != nil; u.File == blob.Stdio {
		u.File, u.inText = "stdin", false
	}
	known := newBody(source, e.options.Profile)
	for i := range e.options.Chains {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		u.Agents = append(u.Agents, e.explainAgent(i, &origin, known, path))
	}
	return u, nil
}

// valid returns s with bytes that are not UTF-8 as %XX, because JSON cannot hold them.
func valid(s []byte) string { return string(matcher.AppendValid(nil, s)) }

var accessNames = map[access.Outcome]string{
	access.Unknown: "unknown", access.Rules: "rules", access.AllowAll: "allow_all", access.DisallowAll: "disallow_all",
	access.NoFile: "allow_all", access.Refused: "allow_all", access.AllowAfterOutage: "allow_all_after_30_days", access.Cut: "history_cut",
}

// setFacts sets the fields of u about the fetch of robots.txt, the kind of its body and its sitemaps.
func (e *Explainer) setFacts(u *URL, o *matcher.Origin) {
	u.Access, u.Stale, u.Status = accessNames[o.Access], o.Stale, o.Facts.Status
	if o.Facts.Fetched != 0 {
		fetched := time.Unix(o.Facts.Fetched, 0).UTC()
		u.Fetched = &fetched
	}
	if seconds, known := o.Facts.Age(e.options.AsOf); known {
		u.Age = &seconds
		u.maxAge = e.options.MaxAge
		u.TooOld = time.Duration(seconds)*time.Second > u.maxAge
	}
	if k := o.Facts.Kind; k == robotstxt.HTMLKind || k == robotstxt.BinaryKind {
		u.BodyKind = k.String()
	}
	if r := o.Facts.Records; r != nil {
		u.Sitemaps, u.MoreSitemaps = r.Sitemaps, r.MoreSitemaps
	}
}

// explainAgent explains the verdict for the chain with index i. o has the authority's rules, known its
// robots.txt, and path is that of the URL. e.verdicts must have the evaluator's verdict on the URL, as its
// only row.
func (e *Explainer) explainAgent(i int, o *matcher.Origin, known *body, path []byte) Agent {
	verdicts := &e.verdicts.Agents[i]
	chain := e.options.Chains[i]
	a := Agent{Agent: chain.String(), Reason: verdicts.Reasons[0]}
	if verdicts.Valid[0]&1 != 0 { // the bit of the row
		allowed := verdicts.Allowed[0]&1 != 0
		a.Allowed = &allowed
	}
	if delay, set := o.Facts.CrawlDelay(i); set {
		a.CrawlDelay = &delay
	}
	if o.Access != access.Rules {
		return a
	}
	trie := o.Trie(i)
	a.Group = known.group(chain, trie)
	decided := -1 // the line of the rule that decides; -1 if none does
	if rule := verdicts.Rules[0]; rule >= 0 {
		decided = verdicts.Explanations[rule].Line
	}
	if a.Allowed != nil && *a.Allowed { // what may not be fetched has no uses
		a.setUses(o.Facts.Usage, i, path, e.options.Profile)
	}
	for _, traced := range trie.Trace(path) {
		rule := Rule{
			Text: string(traced.Text), Line: traced.Line, Allow: traced.Allow, Pattern: traced.Pattern, Length: traced.Length,
			Agent: string(traced.Agent),
		}
		if traced.Line == decided {
			a.Rule = &rule
		} else {
			a.Others = append(a.Others, rule)
		}
	}
	if a.Rule != nil {
		a.Context = known.linesAround(trie, decided)
	}
	return a
}

// body is a robots.txt with its text, if that is known.
type body struct {
	agents []string        // those that the robots.txt names
	text   []byte          // the part that Parse reads; nil if only the rules are known
	file   *robotstxt.File // of text
	// chosen are the groups that were described, by Name: many agents may obey the same.
	chosen map[string]Group
}

// newBody returns the robots.txt of a source. It parses the text if that is known.
func newBody(source ruleset.Source, p matcher.Profile) *body {
	b := &body{agents: source.Agents, chosen: make(map[string]Group)}
	if source.Text != nil {
		o := robotstxt.Options{Profile: p, Limit: len(source.Text)}
		b.text, b.file = robotstxt.Text(source.Text, o), robotstxt.Parse(source.Text, o)
	}
	return b
}

// group returns the merged groups that a chain obeys, and why. Without the robots.txt's text,
// it takes the user-agent lines from the trie, without line numbers.
func (b *body) group(chain matcher.Chain, trie *matcher.Trie) *Group {
	file := b.file
	if file == nil {
		file = &robotstxt.File{Profile: trie.Profile()}
		for _, value := range trie.Agents() {
			file.Groups = append(file.Groups, robotstxt.Group{Agents: []robotstxt.Agent{{Value: value}}})
		}
	}
	name, lines := matcher.ChosenGroups(file, chain) // the groups' name, and their user-agent lines with it
	g, described := b.chosen[name]                   // a copy, which is completed for the chain below
	if !described {
		g = Group{Why: namedGroup, Name: name}
		for _, line := range lines {
			g.Lines = append(g.Lines, Line{Line: line.Line, Text: valid(line.Value)})
		}
		if b.file != nil {
			g.Joined = b.recordsWithin(lines)
		}
		b.chosen[name] = g
	}
	switch {
	case len(lines) == 0:
		g.Why, g.Name = noGroup, ""
	case name == matcher.Everyone && chain[0] != matcher.Everyone:
		g.Why = everyonesGroup
	}
	if g.Why != namedGroup {
		g.Near = spelling.Nearest(chain[0], b.agents)
	}
	return &g
}

// maxJoined is the number of records that a group reports: a hostile one has many.
const maxJoined = 8

// recordsWithin returns the records that stand between two user-agent lines of one group and do not end it,
// such as a sitemap: the author may have meant two groups. lines are user-agent lines of the groups to look
// at. Between two lines, only the first record is returned, and at most maxJoined in all.
func (b *body) recordsWithin(lines []robotstxt.Agent) (found []Joined) {
	chosen := make(map[int]bool, len(lines))
	for _, l := range lines {
		chosen[l.Line] = true
	}
	next := make(map[int]int) // by the line of a user-agent, the line of the next one in its group
	for i := range b.file.Groups {
		agents := b.file.Groups[i].Agents
		isChosen := slices.ContainsFunc(agents, func(a robotstxt.Agent) bool { return chosen[a.Line] })
		for j := 1; isChosen && j < len(agents); j++ {
			next[agents[j-1].Line] = agents[j].Line
		}
	}
	with := 0 // the next user-agent line of the group at hand; 0 after a record before it was found
	for number, text := range robotstxt.Lines(b.text) {
		if following, hasNext := next[number]; hasNext {
			with = following
			continue
		}
		if number >= with || len(found) == maxJoined {
			continue
		}
		text, _, _ = bytes.Cut(text, []byte("#"))
		if key, _, ok := bytes.Cut(bytes.TrimSpace(text), []byte(":")); ok {
			found = append(found, Joined{Record: valid(bytes.TrimSpace(key)), Line: number, With: with})
			with = 0
		}
	}
	return found
}

// shownAround is the number of lines that are shown before and after one.
const shownAround = 2

// linesAround returns the line with a number and shownAround lines before and after it. Without the
// robots.txt's text, these are the nearest rules in the trie, whose lines may be far apart.
func (b *body) linesAround(trie *matcher.Trie, line int) (lines []Line) {
	if b.text != nil {
		for number, text := range robotstxt.Lines(b.text) {
			if number > line+shownAround {
				break
			}
			if number >= line-shownAround {
				lines = append(lines, Line{Line: number, Text: valid(text)})
			}
		}
		return lines
	}
	for _, rule := range trie.Written() {
		lines = append(lines, Line{Line: rule.Line, Text: string(rule.Text)})
	}
	at, _ := slices.BinarySearchFunc(lines, line, func(l Line, line int) int { return cmp.Compare(l.Line, line) })
	return lines[max(0, at-shownAround):min(len(lines), at+1+shownAround)]
}
