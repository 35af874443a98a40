package rulesdir

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Has reports whether the folder has a file with an authority's rules. Each call looks at the
// folder.
func (d *Dir) Has(authority []byte) (bool, error) {
	found := d.index.find(authority)
	return d.hasFile(found[:], true)
}

// hasFile reports whether any of these index records has a robots.txt; some records may be the
// constant none. A folder HOST is looked into, because it may lack one. With verify, the file of any
// other record is opened, and an error says why that cannot be done.
func (d *Dir) hasFile(records []uint32, verify bool) (bool, error) {
	for _, record := range records {
		if record == none {
			continue
		}
		r := &d.index.records[record]
		if d.folder.objects != nil || !r.isDir && !verify {
			return true, nil
		}
		f, err := d.folder.openRecord(d.index.path(r), r.isDir)
		if f != nil {
			_ = f.Close() // nothing was read from it
		}
		if f != nil || err != nil {
			return err == nil, err
		}
	}
	return false, nil
}

// Text returns a robots.txt of an authority: the name of its file, with the folder's name, and
// the body, decompressed and cut at robotstxt.Options.ReadSize. The name is "" if there is no
// file. Each call reads the file.
func (d *Dir) Text(authority []byte) (name string, body []byte, err error) {
	for _, record := range d.index.find(authority) {
		if record == none {
			continue
		}
		found, version, err := d.read(record, &body)
		if err != nil {
			return "", nil, err
		}
		if found { // else the record is a folder HOST without a robots.txt, and the next one counts
			return d.folder.full(version.Name), body, nil
		}
	}
	return "", nil, nil
}

// Files calls visit for each file that belongs to an authority, in the order of their names,
// which are as those of Text. body is valid until visit returns. The first error, of a file or
// of visit, ends it and is returned.
func (d *Dir) Files(visit func(name string, body []byte) error) error {
	x := d.index
	order := make([]uint32, 0, len(x.records))
	for i := range x.records {
		if x.records[i].tier != nowhere {
			order = append(order, uint32(i))
		}
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(x.path(&x.records[a]), x.path(&x.records[b])) })
	var buffer []byte
	for _, i := range order {
		found, version, err := d.read(i, &buffer)
		if err == nil && found {
			err = visit(d.folder.full(version.Name), buffer)
		}
		if err != nil {
			return err
		}
		if cap(buffer) > keptBuffer {
			buffer = nil
		}
	}
	return nil
}

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
		const verify = false // reading that record finds out whether its file can be opened
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
