package outputs

import (
	"errors"
	"sync"
	"sync/atomic"

	"robotsbatch/io/store/blob"
)

// Steps are what is done for an output of a [Chain], in the order Work, Complete, Publish, Enter,
// Save. A nil step is left out. Other work whose results must come in order can take them as well.
type Steps struct {
	// Work and Publish run at the same time as those of other outputs. Publish completes what Work
	// has written.
	Work, Publish func() error
	// Complete and Enter each wait for the same step of all outputs before. Enter records the output.
	Complete, Enter func() error
	// Save makes what Enter has recorded durable. It runs at the same time as other steps.
	Save func() error
	// GiveUp is called in place of Publish after an error of this output or of one before.
	GiveUp func()
}

// Chain takes outputs through their steps, several at once, because making a small file durable
// takes longer than writing it.
type Chain struct {
	slots chan struct{}
	// completed and entered are those of the output that was started last. They are closed after its
	// Complete and its Enter.
	completed, entered chan struct{}
	group              sync.WaitGroup
	failed             atomic.Bool
	first              sync.Once
	err                error // the first
	stop               func()
}

// NewChain returns a Chain that works on at most atOnce outputs at a time. After the first error it
// calls stop once, when all outputs before the failed one have been entered.
func NewChain(atOnce int, stop func()) *Chain {
	c := &Chain{slots: make(chan struct{}, atOnce), completed: make(chan struct{}), entered: make(chan struct{}), stop: stop}
	close(c.completed) // the first output waits for none
	close(c.entered)
	return c
}

// errBefore is the error of an output that is given up because one before it failed.
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
		c.recordError(err)
		close(entered)
		if err == nil {
			c.recordError(call(s.Save))
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

// recordError records that an output failed, unless err is nil. The first error is what Wait returns.
func (c *Chain) recordError(err error) {
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

// LateWriter is a Writer for a sink that must not complete the output: its Close does nothing, and
// the caller closes the Writer itself later.
type LateWriter struct{ blob.Writer }

// Close implements blob.Writer.
func (LateWriter) Close() error { return nil }
