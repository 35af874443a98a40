package explain

import (
	"bytes"
	"cmp"
	"slices"

	"robotsbatch/io/rules/ruleset"
	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/spelling"
)

// body is a robots.txt with its text, if that is known.
type body struct {
	agents []string
	text   []byte          // the part that Parse reads; nil if only the rules are known
	file   *robotstxt.File // of text
	// chosen are the groups that were described, by Name: many agents may obey the same.
	chosen map[string]Group
}

func newBody(source ruleset.Source, p matcher.Profile) *body {
	b := &body{agents: source.Agents, chosen: make(map[string]Group)}
	if source.Text != nil {
		o := robotstxt.Options{Profile: p, Limit: len(source.Text)}
		b.text, b.file = robotstxt.Text(source.Text, o), robotstxt.Parse(source.Text, o)
	}
	return b
}

// group returns the groups that a chain obeys. Without the text, the values of their
// user-agent lines come from the trie.
func (b *body) group(chain matcher.Chain, trie *matcher.Trie) *Group {
	file := b.file
	if file == nil {
		file = &robotstxt.File{Profile: trie.Profile()}
		for _, value := range trie.Agents() {
			file.Groups = append(file.Groups, robotstxt.Group{Agents: []robotstxt.Agent{{Value: value}}})
		}
	}
	name, lines := matcher.ChosenGroups(file, chain)
	g, described := b.chosen[name]
	if !described {
		g = Group{Why: namedGroup, Name: name}
		for _, line := range lines {
			g.Lines = append(g.Lines, Line{Line: line.Line, Text: string(line.Value)})
		}
		if b.file != nil {
			g.Joined = b.joined(lines)
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

// joined returns the records after which the groups of these user-agent lines go on with
// another user-agent line: the first before each such line.
func (b *body) joined(lines []robotstxt.Agent) (found []Joined) {
	chosen := make(map[int]bool, len(lines))
	for _, l := range lines {
		chosen[l.Line] = true
	}
	next := make(map[int]int) // by line of an agent, the next in its group
	for i := range b.file.Groups {
		agents := b.file.Groups[i].Agents
		isChosen := slices.ContainsFunc(agents, func(a robotstxt.Agent) bool { return chosen[a.Line] })
		for j := 1; isChosen && j < len(agents); j++ {
			next[agents[j-1].Line] = agents[j].Line
		}
	}
	with := 0
	for number, text := range robotstxt.Lines(b.text) {
		if at, is := next[number]; is {
			with = at
			continue
		}
		if number >= with || len(found) == maxJoined {
			continue
		}
		text, _, _ = bytes.Cut(text, []byte("#"))
		if key, _, ok := bytes.Cut(bytes.TrimSpace(text), []byte(":")); ok {
			found = append(found, Joined{Record: string(bytes.TrimSpace(key)), Line: number, With: with})
			with = 0
		}
	}
	return found
}

// shownAround is the number of lines that are shown before and after one.
const shownAround = 2

// around returns the lines around a line: those of the text, or else the rules that the
// chain obeys.
func (b *body) around(trie *matcher.Trie, line int) (lines []Line) {
	if b.text != nil {
		for number, text := range robotstxt.Lines(b.text) {
			if number > line+shownAround {
				break
			}
			if number >= line-shownAround {
				lines = append(lines, Line{Line: number, Text: string(text)})
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
