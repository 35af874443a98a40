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
