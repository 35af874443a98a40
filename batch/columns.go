package batch

import (
	"fmt"
	"strings"
)

// ColumnKind says what a verdict column holds.
type ColumnKind uint8

const (
	// AllowedColumn is a boolean, null where there is no verdict.
	AllowedColumn ColumnKind = iota
	// ReasonColumn is matcher.Reason's text.
	ReasonColumn
	// RuleColumn is the deciding rule as written, null without one.
	RuleColumn
	// RuleLineColumn is the rule's line number, null without one.
	RuleLineColumn
	// RuleAgentColumn is the user-agent line's value, null without a rule.
	RuleAgentColumn
)

var columnNames = [...]string{"allowed", "reason", "rule", "rule_line", "rule_agent"}

// VerdictColumn is one column that the program adds.
type VerdictColumn struct {
	// Name as it is written, prefix and agent included.
	Name string
	Kind ColumnKind
	// Agent is an index into Verdicts.Agents.
	Agent int
}

// VerdictColumns names the columns for agents, given by the first name of each
// one's chain: "allowed" for one agent, "allowed_ccbot" and so on for several;
// with explain also the columns that explain. Two agents that give the same
// name are an error.
func VerdictColumns(agents []string, explain bool, prefix string) ([]VerdictColumn, error) {
	kinds := columnNames[:1]
	if explain {
		kinds = columnNames[:]
	}
	seen := make(map[string]string)
	var columns []VerdictColumn
	for agent, name := range agents {
		suffix := ""
		if len(agents) > 1 {
			suffix = "_" + columnSuffix(name)
		}
		if other, ok := seen[suffix]; ok {
			return nil, fmt.Errorf("agents %q and %q would both be written as column %q: leave one out", other, name, prefix+"allowed"+suffix)
		}
		seen[suffix] = name
		for kind, base := range kinds {
			columns = append(columns, VerdictColumn{Name: prefix + base + suffix, Kind: ColumnKind(kind), Agent: agent})
		}
	}
	return columns, nil
}

// CheckNames returns an error when a verdict column has the name of one of the
// input's columns that are written beside it. It names both and says what to
// do; names are compared with case.
func CheckNames(input []string, verdicts []VerdictColumn) error {
	taken := make(map[string]bool, len(input))
	for _, name := range input {
		taken[name] = true
	}
	for _, column := range verdicts {
		if taken[column.Name] {
			return fmt.Errorf("the input has a column %q already: give the verdict columns another name with -prefix (such as -prefix robots_)", column.Name)
		}
	}
	return nil
}

// columnSuffix is the agent's name in lower case with everything but a-z and
// 0-9 as an underscore, and "all" for everyone.
func columnSuffix(agent string) string {
	if agent == "*" {
		return "all"
	}
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(agent))
}

// Keep says which of the input's columns come out.
type Keep uint8

const (
	// KeepAll writes all columns of the input, then the verdicts.
	KeepAll Keep = iota
	// KeepURL writes the URL and the verdicts.
	KeepURL
	// KeepNone writes the verdicts alone.
	KeepNone
)

// Layout says which columns a sink writes.
type Layout struct {
	// Keep says which of the input's columns come first.
	Keep Keep
	// URLColumn is the name of the input's URL column; "url" for lists.
	URLColumn string
	// Verdicts are the columns that follow.
	Verdicts []VerdictColumn
}
