package batch

import (
	"math"
	"runtime"

	"robotsbatch/io/store/budget"
)

// DefaultRows is the number of rows of a batch when no other number is asked for.
const DefaultRows = 65536

// DefaultMemory bounds what is in flight when nothing else is asked for, in
// bytes.
const DefaultMemory = 512 << 20

// Emit says which rows are written.
type Emit uint8

const (
	// EmitAll writes every row.
	EmitAll Emit = iota
	// EmitAllowed writes the rows that are allowed to all agents.
	EmitAllowed
	// EmitDenied writes the rows that are denied to at least one agent.
	EmitDenied
	// EmitUnknown writes all other rows: no agent is denied, and one has no verdict.
	EmitUnknown
	// EmitPermitted writes the rows of EmitAllowed but those of Verdicts.Unpermitted, and
	// EmitUnpermitted all other rows.
	EmitPermitted
	EmitUnpermitted
	// EmitSelected writes the rows that the evaluator selected, in Verdicts.Selected.
	EmitSelected
)

// Combine says how one verdict is made of those of several agents.
type Combine uint8

const (
	// CombineNone leaves each agent its own verdict.
	CombineNone Combine = iota
	// CombineAnyDenied denies a row when any agent is denied.
	CombineAnyDenied
	// CombineAllDenied denies a row when all agents are denied.
	CombineAllDenied
)

// Options of a job.
type Options struct {
	// Emit says which rows are written.
	Emit Emit
	// Workers is the number of batches that are worked on at a time; 0 means one for each
	// processor.
	Workers int
	// Memory bounds what is in flight, in bytes; see package budget. 0 means
	// DefaultMemory.
	Memory int64
	// Budget, if not nil, has the memory in the place of Memory: something else shares it.
	Budget *budget.Budget
	// Limit is the number of rows that are decided for all outputs of a pool together, the
	// first ones; 0 means all. With a limit there is one worker, the outputs must follow one
	// another, and batches must have no weights.
	Limit int64
	// Progress, if not nil, is called after each batch was written, from one
	// goroutine. It must not keep the slices.
	Progress func(Stats)
}

// withDefaults returns the options with all fields set but Emit and Progress.
func (o Options) withDefaults() Options {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Memory <= 0 {
		o.Memory = DefaultMemory
	}
	if o.Budget == nil {
		o.Budget = budget.New(o.Memory)
	}
	if o.Limit > 0 {
		o.Workers = 1
	} else {
		o.Limit = math.MaxInt64
	}
	return o
}
