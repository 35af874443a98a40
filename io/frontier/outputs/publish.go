package outputs

import (
	"sync"

	"robotsbatch/io/store/blob"
)

// mostPublishing is the number of outputs that are made durable at once, because one flush of the
// disk serves several.
const mostPublishing = 32

// Publisher completes the outputs of a folder while the job writes the next ones,
// because making a small file durable takes longer than writing it. The zero value is
// ready to use.
type Publisher struct {
	slots chan struct{}
	turn  chan struct{} // closed once the previous output has been entered
	group sync.WaitGroup

	mu  sync.Mutex
	err error // the first
}

// Start completes an output in a goroutine: appear gives it its name, enter records it, and
// save makes the record durable. Outputs are entered in the order of the calls. Start waits
// while too many outputs are being completed. It returns the first error of any output so far.
func (p *Publisher) Start(appear, enter, save func() error) error {
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
		_ = p.keepError(err)
		<-p.slots
	})
	return p.keepError(nil)
}

// keepError keeps the first error, and returns it.
func (p *Publisher) keepError(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
	return p.err
}

// Wait waits for all outputs, and returns the first error.
func (p *Publisher) Wait() error {
	p.group.Wait()
	return p.keepError(nil)
}

// LateWriter is an output that Close does not complete, for a sink: whoever has Writer closes
// that.
type LateWriter struct{ blob.Writer }

// Close implements blob.Writer. It does nothing.
func (LateWriter) Close() error { return nil }
