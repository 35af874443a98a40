package export

import (
	"strings"

	"robotsbatch/io/frontier/tableio"
	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/usage"
)

// fillSignals adds the lines about use, by directive and group. One that does not parse has
// a row without key. A line before the first group has no agent.
func fillSignals(w *tableio.Writer, a *authority, b *body) error {
	for d := range usage.Directives {
		for _, s := range b.statements.Statements {
			if s.Directive == d && s.Group < 0 {
				fillStatement(w, a, nil, b.profile, &s)
			}
		}
		for _, g := range b.statements.StatementGroups(d) {
			for i := range g.Statements {
				for _, agent := range g.Agents {
					fillStatement(w, a, tokenOf(agent, b.profile), b.profile, &g.Statements[i])
				}
			}
		}
	}
	return nil
}

// fillStatement adds the rows of a line for an agent, a row for each of its keys.
func fillStatement(w *tableio.Writer, a *authority, agent []byte, profile matcher.Profile, s *robotstxt.Statement) {
	normalised := ""
	if s.Path != nil {
		normalised = matcher.NormalPattern(s.Path, profile)
	}
	row := func(key, value []byte) {
		a.row(w, agent, strings.ToLower(s.Directive.String()), s.Path, normalised, key, value, s.Value, s.Line, a.digest)
	}
	if s.Directive == usage.License {
		var license []byte
		if usage.IsLicense(s.Value) {
			license = s.Value
		}
		row(nil, license)
		return
	}
	pairs, _ := usage.AppendStatement(nil, s.Directive, s.Value)
	last := make(map[string]int, len(pairs)) // the last of a repeated key counts
	for i, p := range pairs {
		last[string(p.Key)] = i
	}
	for i, p := range pairs {
		if last[string(p.Key)] == i {
			row(p.Key, []byte(p.Value.String()))
		}
	}
	if len(pairs) == 0 {
		row(nil, nil)
	}
}
