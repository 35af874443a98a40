package captures

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Reader reads captures from a file.
type Reader interface {
	// Next sets x to the next capture, which is valid until the next call. It returns
	// io.EOF after the last.
	Next(x *Capture) error
	// Close ends reading.
	Close() error
}

// File is a file of captures.
type File struct {
	// Source is the number of the file's source.
	Source int
	// Each calls visit with each capture, which is valid until visit returns, until that returns
	// an error or ctx ends.
	Each func(ctx context.Context, visit func(*Capture) error) error
}

// The highest bits of a capture's order hold the number of its file.
const orderBits = 40

// Read adds all captures of files. Up to workers goroutines read files and as many
// others add the captures, so that even a single large file uses several processors; 0
// means one a processor. Captures with the same time are ordered by file, then by
// position.
func (s *Set) Read(ctx context.Context, files []File, workers int) error {
	if len(files) == 0 {
		return nil
	}
	if workers <= 0 { // with none, no capture would be read
		workers = runtime.GOMAXPROCS(0)
	}
	group, ctx := errgroup.WithContext(ctx)
	readers := min(workers, len(files))
	p := &pipeline{full: make(chan *bundle), free: make(chan *bundle, readers+workers)}
	for range readers + workers {
		p.free <- new(bundle)
	}
	var next, left atomic.Int64
	left.Store(int64(readers))
	for range readers {
		group.Go(func() error {
			defer func() {
				if left.Add(-1) == 0 {
					close(p.full)
				}
			}()
			for {
				number := next.Add(1) - 1
				if number >= int64(len(files)) {
					return nil
				}
				if err := p.read(ctx, &files[number], uint64(number+1)<<orderBits); err != nil {
					return err
				}
			}
		})
	}
	for range workers {
		group.Go(func() error { return p.work(ctx, s.newAdder()) })
	}
	return group.Wait()
}

// pipeline passes captures from the goroutines that read files to those that add them.
type pipeline struct {
	full, free chan *bundle
}

// bundle holds some consecutive captures of a file.
type bundle struct {
	source   int
	order    uint64 // of the first
	captures []Capture
	data     []byte // their bytes
}

const (
	// The most captures in a bundle, and the most bytes unless it has one capture.
	bundleCaptures = 256
	bundleBytes    = 256 << 10
)

// add copies a capture into the bundle. It returns false when there is no room.
func (b *bundle) add(x *Capture) bool {
	size := len(x.URL) + len(x.Location) + len(x.Body) + len(x.OriginalURL)
	if len(b.captures) == bundleCaptures || len(b.captures) > 0 && len(b.data)+size > cap(b.data) {
		return false
	}
	if cap(b.data) < size {
		b.data = make([]byte, 0, max(size, bundleBytes))
	}
	kept := *x
	kept.URL, kept.Location, kept.Body = b.copy(x.URL), b.copy(x.Location), b.copy(x.Body)
	kept.OriginalURL = b.copy(x.OriginalURL)
	b.captures = append(b.captures, kept)
	return true
}

// copy copies text into data, which must have room for it.
func (b *bundle) copy(text []byte) []byte {
	start := len(b.data)
	b.data = append(b.data, text...)
	return b.data[start:len(b.data):len(b.data)]
}

// read reads a file and gives its first capture the given order.
func (p *pipeline) read(ctx context.Context, file *File, order uint64) error {
	b, err := p.take(ctx, file, order)
	if err != nil {
		return err
	}
	err = file.Each(ctx, func(x *Capture) error {
		for !b.add(x) {
			if err := p.give(ctx, b); err != nil {
				return err
			}
			if b, err = p.take(ctx, file, order); err != nil {
				return err
			}
		}
		order++
		return nil
	})
	if err != nil {
		return err
	}
	return p.give(ctx, b)
}

// take takes an empty bundle.
func (p *pipeline) take(ctx context.Context, file *File, order uint64) (*bundle, error) {
	select {
	case b := <-p.free:
		b.source, b.order, b.captures, b.data = file.Source, order, b.captures[:0], b.data[:0]
		return b, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// give hands a bundle to a worker.
func (p *pipeline) give(ctx context.Context, b *bundle) error {
	select {
	case p.full <- b:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// work adds the captures that were read.
func (p *pipeline) work(ctx context.Context, a *adder) error {
	for {
		select {
		case b, more := <-p.full:
			if !more {
				return nil
			}
			for i := range b.captures {
				if err := a.Add(&b.captures[i], b.source, b.order+uint64(i)); err != nil {
					return err
				}
			}
			p.free <- b // there is room for all
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
