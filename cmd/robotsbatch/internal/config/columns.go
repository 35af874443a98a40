package config

import (
	"strings"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/matcher/usage"
)

// mostColumns is how many agents have columns of their own unless -agents-as asks for
// them.
const mostColumns = 32

// agentsAs is how the verdicts on several agents are written.
type agentsAs int

const (
	agentsByNumber agentsAs = iota // in columns, if they are no more than mostColumns
	agentsInColumns
	agentsInList
	anyAgentDenied
	allAgentsDenied
)

var (
	agentsAsWords = []cli.Word[agentsAs]{
		{Name: "columns", Value: agentsInColumns}, {Name: "list", Value: agentsInList}, {Name: "any-denied", Value: anyAgentDenied}, {Name: "all-denied", Value: allAgentsDenied},
	}
	emits = []cli.Word[batch.Emit]{
		{Name: "all", Value: batch.EmitAll},
		{Name: "allowed", Value: batch.EmitAllowed},
		{Name: "denied", Value: batch.EmitDenied},
		{Name: "unknown", Value: batch.EmitUnknown},
		{Name: "permitted", Value: batch.EmitPermitted},
		{Name: "unpermitted", Value: batch.EmitUnpermitted},
	}
)

// Columns is what a command line says of rows with verdicts.
type Columns struct {
	Emit     batch.Emit
	Keep     batch.Keep
	agentsAs agentsAs
	prefix   string
	Explain  bool
	Uses     []usage.Use
	With     []*batch.ColumnKind
	// Verdicts follows from the others and the agents.
	Verdicts []batch.VerdictColumn
}

// Flags are those of rows with verdicts.
func (c *Columns) Flags() cli.Flags {
	return cli.Flags{
		{
			Name: "emit", Argument: "WHICH", Topic: OutputTopic, Common: true, Standard: "all", Words: cli.Names(emits),
			Short: "rows to write: all, allowed, denied, unknown, permitted, unpermitted",
			More: "With several agents, allowed means that every agent may fetch, denied that at least one may not, unknown the rest. " +
				"permitted are the allowed rows for which no -use is false, or stated in a form that cannot be read; unpermitted are all others.",
			Value: cli.OneOf(&c.Emit, emits...),
		},
		{
			Name: "columns", Argument: "WHICH", Topic: OutputTopic, Common: true, Standard: "all", Words: []string{"all", "url", "verdict"},
			For:   tableOutputs,
			Short: "columns to write: all, url (and verdicts) or verdict",
			More: "All of jsonl is the whole object in jsonl, and the URL in other formats; all of CDXJ is surt, timestamp and URL, in jsonl with the " +
				"object's keys.",
			Value: cli.OneOf(&c.Keep, cli.Word[batch.Keep]{Name: "all", Value: batch.KeepAll}, cli.Word[batch.Keep]{Name: "url", Value: batch.KeepURL},
				cli.Word[batch.Keep]{Name: "verdict", Value: batch.KeepNone}),
		},
		{
			Name: "agents-as", Argument: "WHAT", Topic: OutputTopic, Standard: "columns, up to 32 agents", Words: cli.Names(agentsAsWords),
			Short: "several agents: columns, list (denied_agents), any-denied or all-denied",
			More: "any-denied and all-denied give one verdict, allowed, and denied_by, the denied agents. With -explain the rule is that of the first " +
				"agent with this verdict; with a list, -emit treats a row as denied if any agent is.",
			Value: cli.OneOf(&c.agentsAs, agentsAsWords...),
		},
		{
			Name: "prefix", Rare: true, Argument: "TEXT", Topic: OutputTopic,
			Short: "prefix for the names of the verdict columns",
			Value: &c.prefix,
		},
		{
			Name: "explain", Topic: OutputTopic, Common: true,
			For:   tableOutputs,
			Short: "add the reason: " + InWords(batch.ExplainingNames(), "and"),
			Value: &c.Explain,
		},
		{
			Name: "use", Argument: "NAMES", Topic: OutputTopic, Repeat: true,
			Short: "add whether a use of what was fetched is allowed, by commas",
			More: "train-ai, ai-use, search (Content-Usage, a draft) add use_train_ai and so on; signal:ai-train, signal:ai-input, signal:search, signal:use (Content-Signal) " +
				"add signal_ai_train and so on. Null where nothing is said, and where the row may not be fetched (robotsbatch help usage).",
			Value: addEach(&c.Uses, usage.ParseUses),
		},
		{
			Name: "with", Argument: "NAMES", Topic: OutputTopic, Repeat: true,
			For:   tableOutputs,
			Short: "add columns about the robots.txt, separated by commas",
			More: strings.Join(batch.WithNames(), ", ") + ". They are null if not known; a " +
				"folder has no status and no time (robotsbatch help columns).",
			Value: addEach(&c.With, func(name string) ([]*batch.ColumnKind, error) {
				kind, err := batch.ParseWith(name)
				return []*batch.ColumnKind{kind}, err
			}),
		},
	}
}

// StatedUsesFlag is -use of commands about what sites state.
func StatedUsesFlag(dst *[]usage.Use) cli.Flag {
	return cli.Flag{
		Name: "use", Argument: "NAMES", Topic: OutputTopic, Common: true, Repeat: true,
		Short: "what sites state of uses of what is fetched, by commas",
		More: "train-ai, ai-use, search (Content-Usage, a draft), signal:ai-train, signal:ai-input, signal:search, signal:use (Content-Signal). survey adds a " +
			"column for each, and counts them with -as in place of what is denied, diff compares them (robotsbatch help usage).",
		Value: addEach(dst, usage.ParseUses),
	}
}

// Name names the verdict columns for these agents. text says that the output is text,
// which has no columns.
func (c *Columns) Name(agents []string, text bool) error {
	if c.agentsAs == agentsByNumber && len(agents) > mostColumns {
		return option.Usagef("%d agents would be as many columns: take %s for one verdict and the list of the agents that are denied, %s for the list alone, or %s if that is what you want",
			len(agents), option.AgentsAs.With("any-denied"), option.AgentsAs.With("list"), option.AgentsAs.With("columns"))
	}
	var kinds []*batch.ColumnKind
	for _, use := range c.Uses {
		kinds = append(kinds, batch.UseKinds(use, c.Explain)...)
	}
	columns, err := batch.VerdictColumns(batch.ColumnOptions{
		Agents: agents, Combined: c.Combined() != batch.CombineNone, ListOnly: c.agentsAs == agentsInList,
		Explain: c.Explain, With: append(kinds, c.With...), Prefix: c.prefix,
	})
	if err != nil {
		return &option.UsageError{Err: err}
	}
	permits := c.Emit == batch.EmitPermitted || c.Emit == batch.EmitUnpermitted
	if len(c.Uses) > 0 && !permits && text {
		return option.Usagef("%s adds columns, and text has URLs only: choose another %s, or %s", option.Use, option.OutFormat, option.Emit.With("permitted"))
	}
	if permits && len(c.Uses) == 0 {
		return option.Usagef("%s is about what may be used: say for what with %s, such as %s", option.Emit.With(c.emitName()), option.Use, option.Use.With(usage.TrainingName))
	}
	c.Verdicts = columns
	return nil
}

// Combined is how verdicts are combined: a list alone has the rows in which any agent is
// denied as denied.
func (c *Columns) Combined() batch.Combine {
	return map[agentsAs]batch.Combine{
		agentsInList: batch.CombineAnyDenied, anyAgentDenied: batch.CombineAnyDenied, allAgentsDenied: batch.CombineAllDenied,
	}[c.agentsAs]
}

// combinedName is what the summary calls the combined verdict; empty for none.
func (c *Columns) combinedName() string {
	return map[batch.Combine]string{batch.CombineAnyDenied: "any-denied", batch.CombineAllDenied: "all-denied"}[c.Combined()]
}

// emitName is the word for the rows to write.
func (c *Columns) emitName() string { return cli.NameOf(emits, c.Emit) }
