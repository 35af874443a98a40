package export

import (
	"encoding/hex"

	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/domains"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/usage"
)

// authority is what all rows of an authority have.
type authority struct {
	*ruleset.Listed
	registered []byte
	kind       robotstxt.BodyKind
	digest     []byte // in hexadecimal; empty without a body
	// With a history: all that held, up to what decides, and the listing that it is from.
	spans   []matcher.Span
	listing *ruleset.Listing
}

// body is a body, parsed or described.
type body struct {
	profile  matcher.Profile
	groups   []robotstxt.Group
	sitemaps []robotstxt.Record
	others   []robotstxt.Other
	// statements has the groups as the lines about use see them.
	statements *robotstxt.File
}

// bodyReader reads bodies one after the other.
type bodyReader struct {
	profile matcher.Profile
	parser  robotstxt.Parser
}

// read returns the facts about an authority and, withBody, its body; b is nil without rules,
// and valid until the next call.
func (r *bodyReader) read(listed *ruleset.Listed, withBody bool) (a authority, b *body, err error) {
	a = authority{Listed: listed, registered: []byte(domains.Registered(domains.Host(listed.Key)))}
	if listed.Access != access.Rules {
		return a, nil, nil
	}
	if err = a.setBody(listed.Pack(), listed.Body); err == nil && withBody {
		b, err = r.readBody(listed.Pack(), listed.Body)
	}
	return a, b, err
}

// setBody sets what is known of a body of a pack.
func (a *authority) setBody(p *rulepack.Pack, number uint32) error {
	kind, digest, err := p.BodyFacts(number)
	a.kind, a.digest = kind, hex.AppendEncode(nil, digest[:])
	return err
}

// readBody reads a body of a pack. It is valid until the next call.
func (r *bodyReader) readBody(p *rulepack.Pack, number uint32) (*body, error) {
	stored, err := p.Body(number)
	if err != nil {
		return nil, err
	}
	if stored.Source == nil {
		return bodyOfCompiled(stored, r.profile), nil
	}
	f := r.parser.Parse(stored.Source, robotstxt.Options{Profile: r.profile, Limit: len(stored.Source), Others: true})
	return &body{profile: r.profile, groups: f.Groups, sitemaps: f.Sitemaps, others: f.Others, statements: f}, nil
}

// bodyOfCompiled returns a compiled body as groups: one for all agents that obey the same
// rules. Line numbers of user-agent lines and other records are not known.
func bodyOfCompiled(stored *rulepack.Body, p matcher.Profile) *body {
	b := &body{profile: p, statements: stored.Records.ParseStatements(p)}
	for _, s := range stored.Records.Sitemaps {
		b.sitemaps = append(b.sitemaps, robotstxt.Record{Value: []byte(s)})
	}
	for _, d := range stored.Records.CrawlDelays {
		b.others = append(b.others, robotstxt.Other{Key: []byte(crawlDelay), Record: robotstxt.Record{Value: []byte(d.Value)}})
	}
	for names, trie := range stored.Compiled.Groups() {
		b.groups = append(b.groups, robotstxt.Group{Agents: agentLines(stored.Compiled, names), Rules: ruleLines(&trie)})
	}
	return b
}

// agentLines returns the user-agent lines that name one of names, each value once.
func agentLines(b *matcher.Body, names []string) []robotstxt.Agent {
	var agents []robotstxt.Agent
	seen := make(map[string]bool)
	for _, name := range names {
		trie := b.Tries(nil, []matcher.Chain{{name}})[0]
		for _, value := range trie.Agents() {
			if !seen[string(value)] {
				seen[string(value)] = true
				agents = append(agents, robotstxt.Agent{Value: value})
			}
		}
	}
	return agents
}

// ruleLines returns the rules of a trie in the order of their lines.
func ruleLines(t *matcher.Trie) (rules []robotstxt.Rule) {
	for _, r := range t.Parsed() {
		rules = append(rules, robotstxt.Rule{Allow: r.Allow, Pattern: r.Pattern, Text: r.Text, Line: r.Line})
	}
	return rules
}

// ruleReader reads the rules that bodies have for agents, one body after the other.
type ruleReader struct {
	agents   *matcher.Agents
	usage    matcher.UsageOptions
	parser   robotstxt.Parser
	compiler matcher.Compiler
}

func newRuleReader(chains []matcher.Chain, uses []usage.Use) ruleReader {
	return ruleReader{agents: matcher.NewAgents(chains), usage: matcher.UsageOptions{Uses: uses}, compiler: matcher.Compiler{Explain: true}}
}

// read returns the rules of a body for the agents, and what it says about uses; nil for
// nothing. f is the parsed body if the pack has its source, valid until the next call; else
// nil.
func (r *ruleReader) read(stored *rulepack.Body, p matcher.Profile) (rules matcher.Origin, said *matcher.Usage, f *robotstxt.File) {
	if stored.Source != nil { // the part of the body that counts
		f = r.parser.Parse(stored.Source, robotstxt.Options{Profile: p, Limit: len(stored.Source)})
		rules.Tries, rules.Of = r.compiler.Compile(f, r.agents)
		return rules, r.compiler.CompileUsage(f, r.agents, r.usage), f
	}
	rules.Tries, rules.Of = stored.Compiled.For(r.agents)
	if r.usage.Wanted() && stored.Records.Statements != nil {
		said = r.compiler.CompileUsage(stored.Records.ParseStatements(p), r.agents, r.usage)
	}
	return rules, said, nil
}
