package lint

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
	"robotsbatch/matcher/usage"
)

// checkStatements adds findings about the lines about the use of what is fetched.
func (c *checker) checkStatements() {
	for i := range c.file.Statements {
		s := &c.file.Statements[i]
		if s.Directive == usage.License {
			continue // checkLines has seen it
		}
		if s.Group < 0 {
			c.add("statement-before-group", s.Line, c.keyAt(s), "%s comes before the first user-agent line: it belongs to no group, so for whom it is cannot be read", s.Directive)
			continue
		}
		c.checkStatement(s)
	}
	for _, d := range usage.Preferences {
		groups := c.file.StatementGroups(d)
		firsts := c.firstOfSameAgents(groups)
		stated := make(map[int]map[pathUse]bool) // by first group, what the groups of its agents state
		for i, first := range firsts {
			if stated[first] == nil {
				stated[first] = make(map[pathUse]bool)
			}
			c.addStated(stated[first], groups[i].Statements)
		}
		for i, first := range firsts {
			c.checkHidden(&groups[i], stated[first])
		}
	}
}

// keyAt returns the offset of a statement's key in its line.
func (c *checker) keyAt(s *robotstxt.Statement) int { return indent(c.lines[s.Line-1]) }

// checkStatement adds findings about a statement of a group that do not depend on others.
func (c *checker) checkStatement(s *robotstxt.Statement) {
	if s.Directive == usage.ContentSignal {
		c.checkSignals(s)
		return
	}
	for _, a := range c.file.Groups[s.Group].Agents {
		if a.Line > s.Line {
			c.addRelated("statement-between-agents", s.Line, c.keyAt(s), a.Line,
				"to a parser that knows Content-Usage it ends the list of agents: the agents above do not share the preferences of the user-agent in line %d, though they share its rules", a.Line)
			break
		}
	}
	at := valueAt(c.lines[s.Line-1], s.Value)
	if len(s.Value) == 0 {
		c.add("usage-without-statement", s.Line, c.keyAt(s), "Content-Usage states nothing, but hides what lines with a shorter path state")
		return
	}
	pairs, err := usage.AppendStatement(nil, s.Directive, s.Value)
	var fault *usage.SyntaxError
	if errors.As(err, &fault) {
		c.add("usage-syntax", s.Line, at+fault.At, "%s: the statement cannot be read (RFC 9651 §4.2.2), and still hides what lines with a shorter path state", fault.Want)
		return
	}
	for i, p := range pairs[:min(len(pairs), maxPairs)] {
		use := usage.Use{Directive: s.Directive, Key: string(p.Key)}
		at := at + p.At
		last := !slices.ContainsFunc(pairs[i+1:], func(q usage.Pair) bool { return bytes.Equal(p.Key, q.Key) })
		switch {
		case !use.Defined():
			c.add("usage-unknown-key", s.Line, at, "%s is not a key of draft-ietf-aipref-vocab-08, whose keys are %s: it %s", quote(p.Key), strings.Join(keysOf(usage.Vocabulary(usage.ContentUsage)), ", "), effectOfUnknown(pairs, p))
		case !last:
			c.add("usage-repeated-key", s.Line, at, "%s is repeated: only the last one counts", p.Key)
		case p.Value == usage.Unreadable:
			c.add("usage-value", s.Line, at, "%s is neither y nor n: it cannot be read", p.Key)
		}
	}
}

// maxPairs is the number of keys of a statement that are checked: a hostile one has a quarter of a
// million.
const maxPairs = 100

// effectOfUnknown says, for a message, what pair p of a statement does, whose key has no definition.
// A key of an older draft that disallows what a use covers makes that use unreadable, unless the
// statement names the use.
func effectOfUnknown(pairs []usage.Pair, p usage.Pair) string {
	covered := slices.DeleteFunc(usage.Vocabulary(usage.ContentUsage), func(u usage.Use) bool {
		return usage.Of([]usage.Pair{p}, nil, u) != usage.Unreadable || usage.Of(pairs, nil, u) != usage.Unreadable
	})
	if len(covered) == 0 {
		return "is ignored"
	}
	return "makes " + strings.Join(keysOf(covered), " and ") + " unreadable, as a key of an older draft that covered it"
}

// keysOf returns the keys of uses.
func keysOf(uses []usage.Use) (keys []string) {
	for _, u := range uses {
		keys = append(keys, u.Key)
	}
	return keys
}

// checkSignals adds a finding for each item of a Content-Signal, up to maxPairs, that is no signal.
func (c *checker) checkSignals(s *robotstxt.Statement) {
	at := valueAt(c.lines[s.Line-1], s.Value)
	checked := 0
	for item := range bytes.SplitSeq(s.Value, []byte(",")) {
		text := bytes.Trim(item, blanks)
		pairs, err := usage.AppendStatement(nil, s.Directive, text)
		if checked++; checked > maxPairs {
			return
		}
		if len(pairs) == 0 || pairs[0].Value == usage.Unreadable {
			effect := "it is ignored"
			if err != nil || len(pairs) > 0 {
				effect = "it cannot be read"
			}
			c.add("signal-ignored", s.Line, at+len(item)-len(bytes.TrimLeft(item, blanks)), "%s is not a signal: %s; signals are search, ai-input and ai-train with yes or no, and use with immediate, reference or full", quote(text), effect)
		}
		at += len(item) + 1
	}
}

// maxPath is the number of bytes of a path that are compared with the paths that may be its
// beginnings.
const maxPath = 2048

// pathStatement is what the statements of a group with one path state.
type pathStatement struct {
	line int      // the first one's
	keys []string // of the uses that are stated in a form that can be read
}

// pathUse is the path of a statement, normalised, and the key of a use that the statement states. What
// it states may be unreadable.
type pathUse struct{ path, key string }

// firstOfSameAgents returns for each group the index of the first one that shares an agent with it,
// or with a group that does, and so on: groups of one agent are merged. It is a union-find over the
// groups.
func (c *checker) firstOfSameAgents(groups []robotstxt.StatementGroup) []int {
	firsts := make([]int, len(groups)) // a group before that is in the same set, or the group itself
	first := func(i int) int {
		for firsts[i] != i {
			firsts[i] = firsts[firsts[i]] // halves the way for the next search
			i = firsts[i]
		}
		return i
	}
	of := make(map[string]int) // by agent, a group that has it
	for i := range groups {
		firsts[i] = i
		for _, agent := range groups[i].Agents {
			token, word := agent.Names(c.profile)
			for _, name := range [...][]byte{token, word} {
				key := string(urls.AppendLower(nil, name))
				if agent.Everyone() {
					key = "*"
				}
				if other, ok := of[key]; ok {
					a, b := first(i), first(other)
					firsts[max(a, b)] = min(a, b)
				} else if key != "" {
					of[key] = i
				}
			}
		}
	}
	for i := range firsts {
		firsts[i] = first(i)
	}
	return firsts
}

// addStated adds to stated the paths and uses that statements state.
func (c *checker) addStated(stated map[pathUse]bool, statements []robotstxt.Statement) {
	for _, s := range statements {
		pairs, err := usage.AppendStatement(nil, s.Directive, s.Value)
		for _, u := range usage.Vocabulary(s.Directive) {
			if usage.Of(pairs, err, u) != usage.Unknown {
				stated[pathUse{matcher.NormalPattern(s.Path, c.profile), u.Key}] = true
			}
		}
	}
}

// checkHidden adds a finding for each statement of a group that leaves out a use that a shorter
// path states: the longest path selects one statement, and no other completes it. stated is what
// all groups of the same agents state.
func (c *checker) checkHidden(g *robotstxt.StatementGroup, stated map[pathUse]bool) {
	byPath := make(map[string]*pathStatement)
	for i := range g.Statements {
		s := &g.Statements[i]
		known := byPath[string(s.Path)]
		if known == nil {
			known = &pathStatement{line: s.Line}
			byPath[string(s.Path)] = known
		}
		pairs, err := usage.AppendStatement(nil, s.Directive, s.Value)
		for _, u := range usage.Vocabulary(s.Directive) {
			if v := usage.Of(pairs, err, u); v != usage.Unknown && v != usage.Unreadable && !slices.Contains(known.keys, u.Key) {
				known.keys = append(known.keys, u.Key)
			}
		}
	}
	for i := range g.Statements {
		s := &g.Statements[i]
		if own := byPath[string(s.Path)]; own.line == s.Line && len(own.keys) > 0 {
			c.checkHides(s, stated, byPath)
		}
	}
}

// checkHides compares a statement s with the one that URLs below s.Path would select without s: the
// statement with the longest path, no pattern, that s.Path begins with. It adds a finding for the first
// use that this one states and that no statement with s.Path states for these agents; stated has
// those, as for checkHidden. If s.Path is "/", it also adds that a statement without a path never
// decides. byPath has the group's statements, by path as written.
func (c *checker) checkHides(s *robotstxt.Statement, stated map[pathUse]bool, byPath map[string]*pathStatement) {
	path := s.Path[:min(len(s.Path), maxPath)]
	for n := len(path) - 1; n >= 0; n-- {
		shorter := byPath[string(path[:n])]
		if shorter == nil || bytes.ContainsAny(path[:n], "*$") {
			continue // no such path, or a pattern, whose text the path does not begin with
		}
		if string(path) == "/" {
			c.addRelated("statement-never-decides", shorter.line, 0, s.Line, "%s without a path never decides: the path / in line %d is longer, and matches everything", s.Directive, s.Line)
		}
		for _, key := range shorter.keys {
			if !stated[pathUse{matcher.NormalPattern(s.Path, c.profile), key}] {
				c.addRelated("statement-hides", s.Line, c.keyAt(s), shorter.line, "%s is unknown under this path: line %d, which states it for a shorter path, does not fill in what this line leaves out", key, shorter.line)
				return
			}
		}
		return
	}
}
