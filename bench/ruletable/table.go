// Package ruletable holds rules in memory, for tests and benchmarks of what looks them up.
package ruletable

import "robotsbatch/matcher"

// Table is a [matcher.BulkOrigins] in memory. The zero value is empty. Concurrent lookups are safe
// once all authorities are added. Lookups never fail.
type Table struct {
	origins map[string]*matcher.Origin // by authority
}

// Add sets the Origin of an authority, a key as urls.Scratch.Split returns it, which it copies.
// It replaces one that was added before.
func (t *Table) Add(authority []byte, o matcher.Origin) {
	if t.origins == nil {
		t.origins = make(map[string]*matcher.Origin)
	}
	t.origins[string(authority)] = &o
}

// Len returns the number of authorities.
func (t *Table) Len() int { return len(t.origins) }

// Lookup implements [matcher.Origins].
func (t *Table) Lookup(authority []byte, o *matcher.Origin) error {
	if found := t.origins[string(authority)]; found != nil {
		*o = *found
	} else {
		o.Reset()
	}
	return nil
}

// LookupAll implements [matcher.BulkOrigins].
func (t *Table) LookupAll(keys []matcher.Key, origins []matcher.Origin) (int, error) {
	for i := range keys {
		_ = t.Lookup(keys[i].Text, &origins[i])
	}
	return 0, nil
}
