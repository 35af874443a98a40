package batch

import (
	"cmp"
	"slices"
	"strings"

	"robotsbatch/batch/option"
)

// VerdictColumn is one column that the program adds.
type VerdictColumn struct {
	// Name as it is written, prefix and agent included.
	Name string
	Kind *ColumnKind
	// Agent is an index into Verdicts.Agents.
	Agent int
	// Names are the agents' by number, for lists of agents.
	Names []string
}

// ColumnOptions say which columns the program adds.
type ColumnOptions struct {
	// Agents are the first names of the agents' chains.
	Agents []string
	// Combined says that there is one verdict for all agents, and a list of those that are
	// denied next to it; ListOnly leaves the verdict out.
	Combined, ListOnly bool
	// Explain adds the columns that explain.
	Explain bool
	// With are columns that come after those, in their order: what ParseWith returned,
	// or kinds whose names are known at run time alone.
	With []*ColumnKind
	// Prefix comes before all names.
	Prefix string
}

// VerdictColumns returns the columns with their names: "allowed" for one agent, "allowed_ccbot"
// and so on for several, and the columns that explain in the same order; then those of With. A
// combined verdict has "allowed" and "denied_by", or "denied_agents" alone. Two columns of the
// same name are an [option.UsageError], and so is a column for each agent next to a combined verdict.
func VerdictColumns(o ColumnOptions) ([]VerdictColumn, error) {
	kinds := []*ColumnKind{Allowed}
	if o.Combined && o.ListOnly {
		kinds = []*ColumnKind{deniedAgents}
	} else if o.Combined {
		kinds = append(kinds, deniedBy)
	}
	if o.Explain {
		kinds = append(kinds, Explaining...)
	}
	verdicts := o.Agents
	if o.Combined {
		verdicts = o.Agents[:1]
	}
	var columns []VerdictColumn
	for agent := range verdicts {
		for _, kind := range kinds {
			columns = append(columns, VerdictColumn{Kind: kind, Agent: agent})
		}
	}
	for _, kind := range o.With {
		if kind.PerAgent && o.Combined && !kind.Combines {
			return nil, option.Usagef("%s is an agent's: leave %s out, or give each agent columns of its own with %s", kind.What, kind.Name, option.AgentsAs.With("columns"))
		}
		agents := o.Agents[:1]
		if kind.PerAgent && !o.Combined {
			agents = o.Agents
		}
		for agent := range agents {
			columns = append(columns, VerdictColumn{Kind: kind, Agent: agent})
		}
	}
	return columns, o.name(columns)
}

// name sets the Name and Names of columns. It returns an error if two have the same name.
func (o *ColumnOptions) name(columns []VerdictColumn) error {
	agents := make(map[string]string) // the agent of each column, by the column's name
	for i := range columns {
		c, agent := &columns[i], o.Agents[columns[i].Agent]
		c.Name = o.Prefix + c.Kind.Name
		if len(o.Agents) > 1 && !o.Combined && c.Kind.PerAgent {
			c.Name += "_" + columnSuffix(agent)
		}
		if other, ok := agents[c.Name]; ok {
			return option.Usagef("agents %q and %q would both be written as column %q: leave one out", other, agent, c.Name)
		}
		agents[c.Name] = agent
		if c.Kind.Agents {
			c.Names = o.Agents
		}
	}
	return nil
}

// CheckNames returns an error if a verdict column has the name of one of the input's columns
// that are written with it. Names are compared with case.
func CheckNames(input []string, verdicts []VerdictColumn) error {
	for _, column := range verdicts {
		if slices.Contains(input, column.Name) {
			return option.Errorf("the input has a column %q already: give the verdict columns another name with %s (such as %s)", column.Name, option.Prefix, option.Prefix.With("robots_"))
		}
	}
	return nil
}

// AgentSuffixes returns the suffix of the names of each agent's columns: "" for a single agent.
// Two agents with the same suffix are an [option.UsageError].
func AgentSuffixes(agents []string) ([]string, error) {
	if len(agents) == 1 {
		return []string{""}, nil
	}
	suffixes := make([]string, len(agents))
	for i, agent := range agents {
		suffixes[i] = columnSuffix(agent)
		if other := slices.Index(suffixes[:i], suffixes[i]); other >= 0 {
			return nil, option.Usagef("agents %q and %q would both be written as columns that end in %q: leave one out", agents[other], agent, suffixes[i])
		}
	}
	return suffixes, nil
}

// columnSuffix returns an agent's name in lower case, with an underscore in place of each character
// but a-z and 0-9; "all" for the agent *.
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

// Keep says which of the input's columns are written.
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
	// Memory is the most bytes that one batch may take while it is encoded and
	// written; 0 means DefaultMemory. A batch may want more than it had as input:
	// each of its rows may be the same long entry of a dictionary.
	Memory int64
	// AllRows promises that all rows are kept, so that a sink may write what it copies before
	// they are decided.
	AllRows bool
}

// leastPlain is the least PlainLimit: room for a batch of DefaultRows rows, if each of them has
// all the sitemaps that are kept.
const leastPlain = DefaultMemory * 3 / 8

// PlainLimit returns the number of bytes that the rows of a batch may have before compression. It
// bounds the work and not the memory: they are made and written piece by piece.
func (l Layout) PlainLimit() int64 { return max(l.MemoryLimit(), leastPlain) }

// MemoryLimit returns Memory, or DefaultMemory if that is not set.
func (l Layout) MemoryLimit() int64 { return cmp.Or(max(l.Memory, 0), DefaultMemory) }
