package ruleset

import (
	"bytes"
	"slices"

	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/store/compress"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

// Source says which file decides about an authority.
type Source struct {
	// Name is the name of the file, the rule pack or the captures; "" if nothing is
	// known.
	Name string
	// Text is the original robots.txt. It is nil for rule packs and captures, which keep
	// only the rules.
	Text []byte
	// Agents holds the names with groups in the robots.txt, each once, in lower case and
	// sorted, without "*".
	Agents []string
}

// Source finds out which file decides about an authority. It is slow, because it reads the
// file or the pack's body again; use it for a few URLs.
func (s *Set) Source(authority []byte) (Source, error) {
	source, a, err := s.sources.find(authority)
	if source == nil || err != nil {
		return Source{}, err
	}
	return source.describe(authority, &a, s.parse)
}

// describe implements opened. It has the text only of a pack of a single robots.txt that is not
// compressed.
func (p *packSource) describe(_ []byte, a *rulepack.Authority, _ robotstxt.Options) (found Source, err error) {
	found.Name = p.name
	if a.Access != access.Rules {
		return found, nil
	}
	if p.text != nil && compress.Detect(p.text) == compress.None {
		found.Text = p.text
	}
	body, err := p.Body(a.Body)
	if err != nil {
		return found, err
	}
	found.Agents = packedAgents(body, p.Info())
	return found, nil
}

// packedAgents returns the names of agents in a body of a pack, as Source.Agents has them. A text was
// cut to the limit when it was packed, so all of it is parsed.
func packedAgents(body *rulepack.Body, info *rulepack.Info) (names []string) {
	if body.Source != nil {
		return agentsOf(body.Source, robotstxt.Options{Profile: info.Profile, Limit: len(body.Source)})
	}
	for name := range body.Compiled.Names() {
		names = append(names, string(name))
	}
	return names
}

// agentsOf returns the names of agents in a robots.txt, as Source.Agents has them.
func agentsOf(text []byte, o robotstxt.Options) (names []string) {
	for name := range robotstxt.Parse(text, o).AgentNames() {
		names = append(names, string(bytes.ToLower(name)))
	}
	slices.Sort(names)
	return slices.Compact(names)
}
