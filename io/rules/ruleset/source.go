package ruleset

import (
	"bytes"
	"slices"

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
