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
	registered []byte // the registered domain; empty for none
	kind       robotstxt.BodyKind
	digest     []byte // in hexadecimal; empty without a body
	// Set for a Table with history: the spans of the authority, oldest first, of which the last one
	// decides, and the listing that they are from.
	spans   []matcher.Span
	listing *ruleset.Listing
}

// body is a robots.txt: parsed or, if a pack has it only compiled, what is known of its lines.
type body struct {
	*robotstxt.File
	// statements has the lines about use with their groups. It is File itself, unless a pack has the
	// body only compiled: its groups there are not those of File.
	statements *robotstxt.File
}

// bodyReader reads bodies one after the other.
type bodyReader struct {
	profile matcher.Profile
	parser  robotstxt.Parser
}

// read returns the facts about an authority and, withBody, its body, which is valid until the next
// call. b is nil if no robots.txt decides.
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

// setBody sets a.kind and a.digest to those of the body of a pack with a number.
func (a *authority) setBody(p *rulepack.Pack, number uint32) error {
	kind, digest, err := p.BodyFacts(number)
	a.kind, a.digest = kind, hex.AppendEncode(nil, digest[:])
	return err
}

// readBody reads the body of a pack with a number. It is valid until the next call.
func (r *bodyReader) readBody(p *rulepack.Pack, number uint32) (*body, error) {
	stored, err := p.Body(number)
	if err != nil {
		return nil, err
	}
	if stored.Source == nil {
		return bodyOfCompiled(stored, r.profile), nil
	}
	f := r.parser.Parse(stored.Source, robotstxt.Options{Profile: r.profile, Limit: len(stored.Source), Others: true})
	return &body{f, f}, nil
}

// bodyOfCompiled returns what is known of a compiled body. All agents that obey the same rules are
// one group. Only rules have line numbers.
func bodyOfCompiled(stored *rulepack.Body, p matcher.Profile) *body {
	b := &body{&robotstxt.File{Profile: p}, stored.Records.ParseStatements(p)}
	for _, s := range stored.Records.Sitemaps {
		b.Sitemaps = append(b.Sitemaps, robotstxt.Record{Value: []byte(s)})
	}
	for _, d := range stored.Records.CrawlDelays {
		b.Others = append(b.Others, robotstxt.Other{Key: []byte(crawlDelay), Record: robotstxt.Record{Value: []byte(d.Value)}})
	}
	for names, trie := range stored.Compiled.Groups() {
		b.Groups = append(b.Groups, robotstxt.Group{Agents: agentLines(stored.Compiled, names), Rules: ruleLines(&trie)})
	}
	return b
}

// agentLines returns the user-agent lines that name one of names; of those with equal values, one.
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

// read returns the rules of a body for the agents, and what it says about uses, which is nil if it
// says nothing. f is the parsed body, valid until the next call; nil if the pack has the body only
// compiled.
func (r *ruleReader) read(stored *rulepack.Body, p matcher.Profile) (rules matcher.Origin, said *matcher.Usage, f *robotstxt.File) {
	if stored.Source != nil {
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
