package rulesdir

import (
	"cmp"
	"slices"
)

// Has reports whether a file has an authority's rules. Each call looks at the folder.
func (d *Dir) Has(authority []byte) (bool, error) {
	found := d.index.find(authority)
	return d.any(found[:], true)
}

// any reports whether any candidate has a file. A folder HOST may have none. Any other record has one,
// which is opened only if verify is set: an error then says why it cannot be.
func (d *Dir) any(files []uint32, verify bool) (bool, error) {
	for _, file := range files {
		if file == none {
			continue
		}
		r := &d.index.records[file]
		if d.folder.objects != nil || !r.isDir && !verify {
			return true, nil
		}
		f, _, err := d.folder.openRecord(d.index.path(r), r.isDir)
		if f != nil {
			_ = f.Close() // nothing was read from it
		}
		if f != nil || err != nil {
			return err == nil, err
		}
	}
	return false, nil
}

// Text returns the name of the file with an authority's rules, including the folder's name, and the
// body: decompressed, up to robotstxt.Options.ReadSize bytes. The name is "" if there is no file. Each
// call reads it.
func (d *Dir) Text(authority []byte) (name string, body []byte, err error) {
	for _, file := range d.index.find(authority) {
		if file == none {
			continue
		}
		if name, body, err = d.text(file, nil); err != nil || name != "" {
			return name, body, err
		}
	}
	return "", nil, nil
}

// text reads the file of a record, into buffer if that is large enough. The name is "" for
// a folder HOST without a robots.txt.
func (d *Dir) text(file uint32, buffer []byte) (name string, body []byte, err error) {
	found, version, err := d.read(file, &buffer)
	if err != nil || !found {
		return "", nil, err
	}
	return d.folder.full(version.Name), buffer, nil
}

// Files calls visit for each file that belongs to an authority, in the order of their
// names. Names are those that Text returns. body is valid until visit returns. The first
// error, of a file or of visit, ends the loop and is returned.
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
		name, body, err := d.text(i, buffer[:0])
		if err == nil && name != "" {
			err = visit(name, body)
		}
		if err != nil {
			return err
		}
		if buffer = body; cap(buffer) > keptBuffer {
			buffer = nil
		}
	}
	return nil
}
