package batch

import "robotsbatch/matcher"

// Verdicts are the outcome of one batch: a verdict a row and agent.
type Verdicts struct {
	// Rows is the number of rows.
	Rows int
	// Agents has one element an agent, in the order of the job's agents.
	Agents []AgentVerdicts
	// Selected has a bit a row, least significant first: 1 where the row comes
	// out under the job's Emit. It is nil when every row does.
	Selected []byte
	// SelectedRows counts the rows that come out.
	SelectedRows int
}

// AgentVerdicts are one agent's columns.
type AgentVerdicts struct {
	// Allowed has a bit a row, least significant first; bits past the last row
	// are 0. Where Valid's bit is 0, Allowed's is 0, too.
	Allowed []byte
	// Valid has a bit a row: 0 where there is no verdict.
	Valid []byte
	// Nulls counts the rows without a verdict.
	Nulls int
	// Reasons has one element a row when explanations were asked for.
	Reasons []matcher.Reason
	// Rules has one element a row when explanations were asked for: an index
	// into Explanations, or -1 where no rule comes with the reason.
	Rules []int32
	// Explanations are the batch's distinct rules.
	Explanations []Explanation
}

// Explanation is a rule for people, as matcher.RuleInfo, with Text and Agent
// cut to MaxExplanation octets.
type Explanation struct {
	Text  string
	Agent string
	Line  int
}

// MaxExplanation is how many octets of a rule's text and of its agent an
// Explanation keeps: a hostile rule of half a megabyte, repeated in every row,
// must not fill the memory.
const MaxExplanation = 2048
