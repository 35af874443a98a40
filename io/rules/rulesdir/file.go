package rulesdir

import (
	"cmp"
	"slices"
)

// Has reports whether the folder has a file with an authority's rules. Each call looks at the
// folder.
func (d *Dir) Has(authority []byte) (bool, error) {
	found := d.index.find(authority)
	return d.hasFile(found[:], true)
}

// hasFile reports whether any of these index records, of which some may be the constant none, has a
// robots.txt. A record that is a folder HOST may lack one, and is looked into. Any other has one; with
// verify it is opened, too, and an error says why it cannot be.
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
		if name, body, err = d.textOf(record, nil); err != nil || name != "" {
			return name, body, err
		} // a folder HOST without a robots.txt: the next record counts
	}
	return "", nil, nil
}

// textOf returns the name and the body of an index record's file, as Text does. It reads into
// buffer if that is large enough. The name is "" for a folder HOST without a robots.txt.
func (d *Dir) textOf(record uint32, buffer []byte) (name string, body []byte, err error) {
	found, version, err := d.read(record, &buffer)
	if err != nil || !found {
		return "", nil, err
	}
	return d.folder.full(version.Name), buffer, nil
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
		name, body, err := d.textOf(i, buffer[:0])
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
