package rulesdir

// File returns the name of the file that Lookup takes an authority's rules from, with the
// folder's name in front, or "" if there is none. It is for messages and looks at the
// folder at each call.
func (d *Dir) File(authority []byte) (string, error) {
	for _, file := range d.index.find(authority) {
		if file == none {
			continue
		}
		r := &d.index.records[file]
		if d.folder.objects != nil {
			return d.folder.full(d.index.path(r)), nil
		}
		f, path, err := d.folder.openRecord(d.index.path(r), r.isDir)
		if err != nil {
			return "", err
		}
		if f != nil {
			_ = f.Close() // it was not read from
			return d.folder.full(path), nil
		}
	}
	return "", nil
}
