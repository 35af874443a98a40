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
				if authority, err = d.visitRecord(uint32(i), authority, &buffer, visit); err != nil {
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

// visitRecord calls visit with each authority of an index record, as Walk does, except those for
// which a record of higher precedence has a file. It reads the file once, into *buffer, and only if
// an authority needs it. authority is memory to reuse, which it returns.
func (d *Dir) visitRecord(record uint32, authority []byte, buffer *[]byte, visit func(authority, body []byte) error) ([]byte, error) {
	x := d.index
	r := &x.records[record]
	read := false
	for _, scheme := range schemes {
		place := slices.Index(scheme.tiers, r.tier)
		if place < 0 {
			continue
		}
		authority = append(append(authority[:0], scheme.text...), x.key(r)...)
		byPrecedence := x.find(authority)
		const verify = false // who reads that record verifies it
		if preceded, err := d.hasFile(byPrecedence[:place], verify); err != nil {
			return authority, err
		} else if preceded {
			continue
		}
		if !read {
			if found, _, err := d.read(record, buffer); err != nil || !found {
				return authority, err
			}
			read = true
		}
		if err := visit(authority, *buffer); err != nil {
			return authority, err
		}
	}
	return authority, nil
}
