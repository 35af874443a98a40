package outputs

import (
	"errors"
	"sync"
	"sync/atomic"

	"robotsbatch/io/store/blob"
)

// Steps are what is done for an output, or other work of which the results are in order. Those that are
// nil are left out.
type Steps struct {
	// Work and Publish are done at once with those of others: Publish completes what Work has written.
	Work, Publish func() error
	// Complete and Enter are called after those of all before: Complete after Work, and Enter, which
	// records the output, after Publish.
	Complete, Enter func() error
	// Save makes what Enter has recorded durable.
	Save func() error
	// GiveUp is called in place of Publish after an error, also one of any before.
	GiveUp func()
}

// Chain takes outputs through their steps, several at once, because making a small file durable
// takes longer than writing it.
type Chain struct {
	slots chan struct{}
	// completed and entered are closed once Complete and Enter were called for all so far.
	completed, entered chan struct{}
	group              sync.WaitGroup
	failed             atomic.Bool
	first              sync.Once
	err                error // the first
	stop               func()
}

// NewChain returns a Chain that has at most atOnce outputs under way. After an error it calls stop,
// once, when all outputs before have been published.
func NewChain(atOnce int, stop func()) *Chain {
	c := &Chain{slots: make(chan struct{}, atOnce), completed: make(chan struct{}), entered: make(chan struct{}), stop: stop}
	close(c.completed)
	close(c.entered)
	return c
}

// errBefore is the error of an output because of that of another.
var errBefore = errors.New("an output before has failed")

// Start begins the steps of an output, in a goroutine. It waits while too many are under way.
func (c *Chain) Start(s Steps) {
	c.slots <- struct{}{}
	completedBefore, enteredBefore, completed, entered := c.completed, c.entered, make(chan struct{}), make(chan struct{})
	c.completed, c.entered = completed, entered
	c.group.Go(func() {
		defer func() { <-c.slots }()
		err := call(s.Work)
		<-completedBefore
		if c.failed.Load() {
			err = errBefore
		} else if err == nil {
			err = call(s.Complete)
		}
		if err != nil { // those after it are given up
			c.failed.Store(true)
		}
		close(completed)
		if err == nil {
			err = call(s.Publish)
		} else if s.GiveUp != nil {
			s.GiveUp()
		}
		<-enteredBefore // the first error is that of the first output
		if err == nil {
			err = call(s.Enter)
		}
		c.keep(err)
		close(entered)
		if err == nil {
			c.keep(call(s.Save))
		}
	})
}

// call calls a step, if there is one.
func call(step func() error) error {
	if step == nil {
		return nil
	}
	return step()
}

// keep keeps the first error, if err is one.
func (c *Chain) keep(err error) {
	if err != nil {
		c.first.Do(func() { c.err = err; c.stop() })
		c.failed.Store(true) // now, so that no errBefore is the first
	}
}

// Wait waits for all outputs, and returns the first error.
func (c *Chain) Wait() error {
	c.group.Wait()
	return c.err
}

// LateWriter is an output that Close does not complete, for a sink: whoever has Writer closes
// that.
type LateWriter struct{ blob.Writer }

// Close implements blob.Writer. It does nothing.
func (LateWriter) Close() error { return nil }
