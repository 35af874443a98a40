package batch

import (
	"runtime"

	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// DefaultRows is how many rows a batch has when no other number is asked for.
const DefaultRows = 65536

// DefaultMemory bounds what is in flight when nothing else is asked for, in
// octets.
const DefaultMemory = 512 << 20

// DefaultMaxAge is how long a robots.txt may be used, in seconds (RFC 9309
// §2.4).
const DefaultMaxAge = 24 * 60 * 60

// Emit says which rows come out; with several agents the first one's verdict
// decides.
type Emit uint8

const (
	// EmitAll writes every row.
	EmitAll Emit = iota
	// EmitAllowed writes the rows that are allowed.
	EmitAllowed
	// EmitDenied writes the rows that are denied.
	EmitDenied
	// EmitUnknown writes the rows without a verdict.
	EmitUnknown
)

// Options of a job.
type Options struct {
	// Agents is the number of agents: how many tries each origin has. Zero
	// means one.
	Agents int
	// Profile is the one that the rules were compiled for.
	Profile matcher.Profile
	// Missing is the verdict where nothing is known of an authority.
	Missing access.Missing
	// Explain fills Reasons, Rules and Explanations.
	Explain bool
	// Facts fills Verdicts.Facts and Verdicts.FactsOf.
	Facts bool
	// AsOf is the time that ages are counted up to, in seconds since 1970; 0
	// for none.
	AsOf int64
	// MaxAge is how many seconds old a fetch may be at AsOf before
	// Stats.Outdated counts its rows; 0 means DefaultMaxAge.
	MaxAge int64
	// Emit says which rows come out.
	Emit Emit
	// Workers is how many batches are worked on at a time; 0 means one a
	// processor.
	Workers int
	// Memory bounds what is in flight, in octets: half of it all pieces, by
	// their Size, and what sinks take for them, and half what the piece that is
	// next to be written takes beyond that. 0 means DefaultMemory. One piece is
	// always admitted.
	Memory int64
	// Progress, if not nil, is called after each batch was written, from one
	// goroutine. It must not keep the slices.
	Progress func(Stats)
	// Evaluate, if not nil, sets a batch's verdicts in place of an Evaluator, so
	// that a benchmark can tell what evaluation costs by leaving it out. Workers
	// call it concurrently, each with Verdicts that it has called it with before.
	// Authorities are not counted then, nor what is wrong with rows.
	Evaluate func(*Batch, *Verdicts) error
}

func (o Options) withDefaults() Options {
	o.Agents = max(1, o.Agents)
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.MaxAge <= 0 {
		o.MaxAge = DefaultMaxAge
	}
	if o.Memory <= 0 {
		o.Memory = DefaultMemory
	}
	return o
}
