package robotstxt

import (
	"slices"

	"robotsbatch/matcher/usage"
)

// Statement is a line about the use of what is fetched: a Content-Usage, Content-Signal or
// License line. Its key must be whole under either profile, and followed by a colon.
type Statement struct {
	// Directive is the kind of the line.
	Directive usage.Directive
	// Path is the pattern that the statement is for, as written; nil if it is for all
	// paths. License has none.
	Path []byte
	// Value is what follows the path, trimmed; it may be empty.
	Value []byte
	// Text is the whole line as written, trimmed and without comment.
	Text []byte
	// Line is the line number, from 1.
	Line int
	// Group is the index in File.Groups of the group that the line follows; -1 if it comes
	// before the first user-agent line.
	Group int
}

// StatementGroup is a group as the statements of one directive see it.
type StatementGroup struct {
	// Agents are its user-agent lines, at least one.
	Agents []Agent
	// Statements are in file order; there may be none.
	Statements []Statement
}

// StatementGroups returns the groups of the file with their statements of a directive; nil
// if there are no such statements in the file.
//
// Under the grammar of draft-ietf-aipref-attach-05 a Content-Usage line is a rule of its
// group, so it ends a list of user-agent lines: a group of RFC 9309 is then several. To the
// other directives the groups are those of RFC 9309.
func (f *File) StatementGroups(d usage.Directive) []StatementGroup {
	if !slices.ContainsFunc(f.Statements, func(s Statement) bool { return s.Directive == d }) {
		return nil
	}
	groups := make([]StatementGroup, 0, len(f.Groups))
	next := len(f.statementsBeforeGroups())
	for g := range f.Groups {
		agents := f.Groups[g].Agents // those that are not in groups yet
		for ; next < len(f.Statements) && f.Statements[next].Group == g; next++ {
			s := &f.Statements[next]
			if s.Directive != d {
				continue
			}
			listed := len(agents)
			if d == usage.ContentUsage {
				listed = agentsBefore(agents, s.Line)
			}
			if listed > 0 {
				groups = append(groups, StatementGroup{Agents: agents[:listed:listed]})
				agents = agents[listed:]
			}
			last := &groups[len(groups)-1] // each group starts with a user-agent line
			last.Statements = append(last.Statements, *s)
		}
		if len(agents) > 0 {
			groups = append(groups, StatementGroup{Agents: agents})
		}
	}
	return groups
}

// statementsBeforeGroups returns the statements before the first group.
func (f *File) statementsBeforeGroups() []Statement {
	n := 0
	for n < len(f.Statements) && f.Statements[n].Group < 0 {
		n++
	}
	return f.Statements[:n]
}

// StatementsBefore returns the statements of a directive before the first group, which are
// nobody's; nil if there are none.
func (f *File) StatementsBefore(d usage.Directive) (before []Statement) {
	for _, s := range f.statementsBeforeGroups() {
		if s.Directive == d {
			before = append(before, s)
		}
	}
	return before
}

// agentsBefore returns the number of user-agent lines before a line.
func agentsBefore(agents []Agent, line int) int {
	n := 0
	for n < len(agents) && agents[n].Line < line {
		n++
	}
	return n
}

// AppendStatements appends a robots.txt that has the statements of the file, all agents and
// nothing else, each in its line: the other lines are empty, but for the first rule of each
// group. Parsed under the same profile it has the same Statements and StatementGroups. It
// appends nothing if the file has no statements.
func (f *File) AppendStatements(dst []byte) []byte {
	if len(f.Statements) == 0 {
		return dst
	}
	line, next := 1, 0 // the line that dst ends in, and the next statement
	skipTo := func(to int) {
		for ; line < to; line++ {
			dst = append(dst, '\n')
		}
	}
	appendBefore := func(line int) {
		for ; next < len(f.Statements) && f.Statements[next].Line < line; next++ {
			skipTo(f.Statements[next].Line)
			dst = append(dst, f.Statements[next].Text...)
		}
	}
	for g := range f.Groups {
		for _, a := range f.Groups[g].Agents {
			appendBefore(a.Line)
			skipTo(a.Line)
			dst = append(append(dst, "user-agent:"...), a.Value...)
		}
		if rules := f.Groups[g].Rules; len(rules) > 0 {
			appendBefore(rules[0].Line)
			skipTo(rules[0].Line)
			dst = append(dst, "allow:"...)
		}
	}
	appendBefore(f.Lines + 1)
	return append(dst, '\n')
}
