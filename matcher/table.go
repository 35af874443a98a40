package matcher

// Table is an Origins in memory. The zero value is empty. It may be looked up
// concurrently once nothing is added any more.
type Table struct {
	origins map[string]Origin
}

// Add puts what is known of an authority into the table, in place of what was
// known before. authority is a key as Scratch.Split returns it.
func (t *Table) Add(authority []byte, o Origin) {
	if t.origins == nil {
		t.origins = make(map[string]Origin)
	}
	t.origins[string(authority)] = o
}

// Len is the number of authorities.
func (t *Table) Len() int { return len(t.origins) }

// Lookup implements Origins. It never fails.
func (t *Table) Lookup(authority []byte, o *Origin) error {
	*o = t.origins[string(authority)]
	return nil
}
