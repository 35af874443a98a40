package captures

import (
	"bytes"
	"cmp"
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// File is a file of captures.
type File struct {
	// Source is the number of the file's source.
	Source int
	// Name is what people call the file.
	Name string
	// Each calls visit with each capture, which is valid until visit returns, until that returns
	// an error or ctx ends.
	Each func(ctx context.Context, visit func(*Capture) error) error
}

// fileShift is the lowest bit of a capture's order that belongs to the number of its file, from 1
// on. Captures that a pack kept have smaller orders.
const fileShift = 40

// Read adds the captures of all files. Up to workers goroutines read files and workers others
// add captures, so that even a single file uses several processors; 0 means one worker a
// processor. Captures with the same time are ordered by file, then by position.
func (s *Set) Read(ctx context.Context, files []File, workers int) error {
	if len(files) == 0 {
		return nil
	}
	if workers <= 0 { // with none, no capture would be read
		workers = runtime.GOMAXPROCS(0)
	}
	group, ctx := errgroup.WithContext(ctx)
	p := make(pipeline)
	group.Go(func() error {
		defer close(p)
		readers, inner := errgroup.WithContext(ctx)
		readers.SetLimit(workers)
		for number := 0; number < len(files) && inner.Err() == nil; number++ {
			readers.Go(func() error { return p.read(inner, &files[number], uint64(number+1)<<fileShift) })
		}
		return cmp.Or(readers.Wait(), context.Cause(ctx))
	})
	for range workers {
		group.Go(func() error { return p.addTo(&adder{set: s}) })
	}
	return group.Wait()
}

// pipeline passes captures from the goroutines that read files to those that add them.
type pipeline chan *bundle

// bundle holds some consecutive captures of a file.
type bundle struct {
	source   int
	order    uint64 // of the first
	captures []Capture
	size     int // bytes of their texts
}

const (
	// The most captures in a bundle, and the bytes from which on it takes no more.
	bundleCaptures = 256
	bundleBytes    = 256 << 10
)

// add adds a copy of a capture.
func (b *bundle) add(x *Capture) {
	kept := *x
	kept.URL, kept.Location, kept.Body, kept.OriginalURL = bytes.Clone(x.URL), bytes.Clone(x.Location), bytes.Clone(x.Body), bytes.Clone(x.OriginalURL)
	b.size += len(x.URL) + len(x.Location) + len(x.Body) + len(x.OriginalURL)
	b.captures = append(b.captures, kept)
}

// read reads a file in bundles and sends them. order is that of its first capture; those of the others
// follow it.
func (p pipeline) read(ctx context.Context, file *File, order uint64) error {
	b := &bundle{source: file.Source, order: order}
	err := file.Each(ctx, func(x *Capture) error {
		if len(b.captures) == bundleCaptures || b.size >= bundleBytes {
			if err := p.send(ctx, b); err != nil {
				return err
			}
			b = &bundle{source: file.Source, order: order}
		}
		b.add(x)
		order++
		return nil
	})
	if err != nil {
		return err
	}
	return p.send(ctx, b)
}

// send passes a bundle to a goroutine that adds captures. It returns the cause if ctx ends
// first.
func (p pipeline) send(ctx context.Context, b *bundle) error {
	select {
	case p <- b:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// addTo adds the captures of bundles by a until the pipeline is closed, which it is when all files are
// read or ctx has ended.
func (p pipeline) addTo(a *adder) error {
	for b := range p {
		for i := range b.captures {
			if err := a.Add(&b.captures[i], b.source, b.order+uint64(i)); err != nil {
				return err
			}
		}
	}
	return nil
}
