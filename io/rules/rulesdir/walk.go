package rulesdir

import (
	"context"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Walk calls visit for each authority that has a file, with the body whose rules Lookup gives:
// decompressed, and at most a byte longer than Options.Limit. It reads each file once.
//
// workers goroutines, at least one, read files and call visit, in any order. They call done
// after each of Len files. authority and body are valid until visit returns. The first error,
// of a file or of visit, ends the walk and is returned.
func (d *Dir) Walk(workers int, done func(), visit func(authority, body []byte) error) error {
	w := walk{dir: d, visit: visit}
	var next atomic.Int64 // the first record that no goroutine has taken
	group, ctx := errgroup.WithContext(context.Background())
	for range max(1, workers) {
		group.Go(func() error {
			var buffer, authority []byte
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				if i >= int64(d.Len()) {
					break
				}
				var err error
				if authority, err = w.visitRecord(uint32(i), authority, &buffer); err != nil {
					return err
				}
				if cap(buffer) > keptBuffer {
					buffer = nil
				}
				done()
			}
			return nil
		})
	}
	return group.Wait()
}

// Len returns the number of files that Walk reads, and of folders that may have one.
func (d *Dir) Len() int { return len(d.index.records) }

// walk is shared by the goroutines of a Walk.
type walk struct {
	dir   *Dir
	visit func(authority, body []byte) error
}

// visitRecord visits the authorities of an index record, except those for which a record of
// higher precedence has a file. It reads the file once, into *buffer. authority is memory to
// reuse, which it returns.
func (w *walk) visitRecord(file uint32, authority []byte, buffer *[]byte) ([]byte, error) {
	x := w.dir.index
	r := &x.records[file]
	read := false
	for _, scheme := range schemes {
		place := slices.Index(scheme.tiers, r.tier)
		if place < 0 {
			continue
		}
		authority = append(append(authority[:0], scheme.text...), x.key(r)...)
		found := x.find(authority)
		if preceded, err := w.dir.hasFile(found[:place], false); err != nil {
			return authority, err
		} else if preceded {
			continue
		}
		if !read {
			if found, _, err := w.dir.read(file, buffer); err != nil || !found {
				return authority, err
			}
			read = true
		}
		if err := w.visit(authority, *buffer); err != nil {
			return authority, err
		}
	}
	return authority, nil
}
