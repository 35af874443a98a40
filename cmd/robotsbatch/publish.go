package main

import (
	"fmt"
	"sync"

	"robotsbatch/io/blob"
)

// mostPublishing is how many outputs are made durable at once: the disk takes
// what several wait for in one go.
const mostPublishing = 32

// publisher completes the outputs of a folder while the job goes on with the
// next: to make a small file durable takes a disk longer than the job takes to
// write it. The zero value is ready.
type publisher struct {
	slots chan struct{}
	turn  chan struct{} // closed when the output before the next has been entered
	group sync.WaitGroup

	mu  sync.Mutex
	err error // the first
}

// start completes an output in a goroutine, when there is a place for it: appear
// gives it its name, enter takes it down, which happens in the order of the
// starts, and save makes that durable. Once one has failed it returns that
// error, and this is the last output to be completed.
func (p *publisher) start(appear, enter, save func() error) error {
	if p.slots == nil {
		p.slots, p.turn = make(chan struct{}, mostPublishing), make(chan struct{})
		close(p.turn)
	}
	p.slots <- struct{}{}
	mine, next := p.turn, make(chan struct{})
	p.turn = next
	p.group.Go(func() {
		err := appear()
		<-mine
		if err == nil {
			err = enter()
		}
		close(next)
		if err == nil {
			err = save()
		}
		_ = p.failed(err)
		<-p.slots
	})
	return p.failed(nil)
}

// failed remembers the first error, and returns it.
func (p *publisher) failed(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
	return p.err
}

// wait waits for all that was started.
func (p *publisher) wait() error {
	p.group.Wait()
	return p.failed(nil)
}

// lateWriter is an output whose end is put off: after Close, complete makes it
// appear.
type lateWriter struct {
	blob.Writer
}

func (w *lateWriter) Close() error { return nil }

func (w *lateWriter) complete() error {
	err := w.Writer.Close()
	if err != nil {
		w.Writer.Abort()
		return fmt.Errorf("-out: %w", err)
	}
	return nil
}
