package batch

import (
	"context"

	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

type Emit uint8

const (
	EmitAll Emit = iota
	EmitAllowed
	EmitDenied
	EmitUnknown
)

type Options struct {
	Agents   int // number of agents
	Profile  matcher.Profile
	Missing  access.Missing
	Explain  bool
	Emit     Emit
	Workers  int   // 0: GOMAXPROCS
	Memory   int64 // 0: 512 MiB
	Progress func(Stats)
}

// Stats ... per job
type Stats struct {
	Rows                              int64
	Allowed, Denied, Unknown, Invalid []int64 // one an agent (Invalid is in Unknown)
	Authorities, WithoutRobots        int64
	Selected                          int64
}

func (c *Column) Len() int                { panic("todo") }
func (c *Column) Value(i int) []byte      { panic("todo") }
func (c *Column) Null(i int) bool         { panic("todo") }
func (c *Column) Slice(lo, hi int) Column { panic("todo") }
func (c *Column) Validate() error         { panic("todo") }

func Run(ctx context.Context, src Source, sink Sink, origins matcher.Origins, opt Options) (Stats, error) {
	panic("todo")
}
