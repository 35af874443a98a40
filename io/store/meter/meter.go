// Package meter counts how far a step of work has come, for whoever shows progress.
//
// Work that may take long starts a step with what its context carries, and adds to it:
//
//	step := meter.Start(ctx, "reading captures", meter.Bytes, total)
//	step.Add(n)
//
// Without [With] nobody looks, and a step costs nothing.
package meter

import (
	"context"
	"sync/atomic"
	"time"
)

// Unit is what a step counts.
type Unit string

// The units, in their plural.
const (
	Bytes Unit = "bytes"
	Files Unit = "files"
	Hosts Unit = "hosts"
)

// Reading is how far a step has come.
type Reading struct {
	// What the step does, for people: "reading captures".
	What string
	Unit Unit
	// Done of Total, which is 0 where it is not known. Done never goes back.
	Done, Total int64
	Started     time.Time
}

type key struct{}

// With returns a context whose steps report to show, each time they advance. show is
// called by any goroutine, so it must be quick and safe for several.
func With(ctx context.Context, show func(Reading)) context.Context {
	return context.WithValue(ctx, key{}, show)
}

// Step is a step of work. Its methods are for any goroutine; a nil Step counts nothing.
type Step struct {
	show    func(Reading)
	reading Reading // but for Done
	done    atomic.Int64
}

// Start starts a step; it is nil without With. what is as in Reading, and total 0 if unknown.
func Start(ctx context.Context, what string, unit Unit, total int64) *Step {
	show, _ := ctx.Value(key{}).(func(Reading))
	if show == nil {
		return nil
	}
	return &Step{show: show, reading: Reading{What: what, Unit: unit, Total: total, Started: time.Now()}}
}

// Add says that n more are done.
func (s *Step) Add(n int64) {
	if s == nil {
		return
	}
	now := s.reading
	now.Done = s.done.Add(n)
	s.show(now)
}

// Part is a part of a step, such as a file, of which a share is done.
type Part struct {
	step *Step
	size int64
	done atomic.Int64
}

// Part returns a part of this size, none of which is done.
func (s *Step) Part(size int64) *Part { return &Part{step: s, size: size} }

// To says that this share of the part is done, from 0 to 1. A smaller share than before changes
// nothing. It is safe for concurrent use.
func (p *Part) To(share float64) {
	done := int64(min(1, share) * float64(p.size))
	for before := p.done.Load(); before < done; before = p.done.Load() {
		if p.done.CompareAndSwap(before, done) {
			p.step.Add(done - before)
		}
	}
}
