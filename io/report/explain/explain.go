package explain

import (
	"context"
	"strings"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/partition"
	"robotsbatch/matcher/robotstxt"
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
	if err := e.evaluator.Evaluate(&one, &e.verdicts); err != nil {
		return nil, err
	}
	u := &URL{URL: url}
	var scratch urls.Scratch
	authority, path, err := scratch.Split([]byte(url))
	if err != nil {
		for _, chain := range e.options.Chains {
			u.Agents = append(u.Agents, Agent{Agent: strings.Join(chain, ","), Reason: e.verdicts.Agents[0].Reasons[0]})
		}
		return u, nil
	}
	u.Authority, u.Path, u.Normalised = string(authority), string(path), string(path)
	u.Hash = partition.Hash(authority)
	if u.partitions = e.options.Partitions; u.partitions > 0 {
		part := partition.Of(u.Hash, u.partitions)
		u.Partition = &part
	}
	if e.options.Profile == robotstxt.RFC9309 {
		u.Normalised = string(urls.Normalise(path))
	}
	var origin matcher.Origin
	if err := e.rules.Origins().Lookup(authority, &origin); err != nil {
		return nil, err
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
	u.File, u.inText = source.Name, source.Text != nil && source.Name != blob.Stdio
	if source.Name == blob.Stdio {
		u.File = "stdin"
	}
	known := newBody(source, e.options.Profile)
	for i := range e.options.Chains {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		u.Agents = append(u.Agents, e.agent(i, &origin, known, path))
	}
	return u, nil
}

var accessNames = map[access.Outcome]string{
	access.Unknown: "unknown", access.Rules: "rules", access.AllowAll: "allow_all", access.DisallowAll: "disallow_all",
	access.NoFile: "allow_all", access.Refused: "allow_all", access.AllowAfterOutage: "allow_all_after_30_days", access.Cut: "history_cut",
}

// setFacts sets the fields about the fetch.
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

// agent explains the verdict for a chain, given by its index.
func (e *Explainer) agent(i int, o *matcher.Origin, known *body, path []byte) Agent {
	verdicts := &e.verdicts.Agents[i]
	chain := e.options.Chains[i]
	a := Agent{Agent: strings.Join(chain, ","), Reason: verdicts.Reasons[0]}
	if verdicts.Valid[0]&1 != 0 {
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
	decided := -1 // the line that decides
	if rule := verdicts.Rules[0]; rule >= 0 {
		decided = verdicts.Explanations[rule].Line
	}
	if a.Allowed != nil && *a.Allowed {
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
		a.Context = known.around(trie, decided)
	}
	return a
}
