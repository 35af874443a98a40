// Package ruletable holds rules in memory, for tests and benchmarks of what looks them up.
package ruletable

import (
	"bytes"

	"robotsbatch/matcher"
)

// Table is a [matcher.Origins] in memory. The zero value is empty. Concurrent lookups are safe once
// all authorities are added.
//
// It is a hash table with open addressing. A slot holds only a part of the hash and the
// number of an entry, so most lookups read one cache line of slots and one entry.
type Table struct {
	slots   []slot // a power of two, at most three quarters in use
	entries []tableEntry
}

// slot is a slot of the hash table.
type slot struct {
	hash  uint32 // the upper half of the key's hash
	entry uint32 // 1 + the entry's index, 0 for a free slot
}

type tableEntry struct {
	key    []byte
	origin matcher.Origin
}

// Add sets the Origin of an authority, a key as urls.Scratch.Split returns it, which it copies.
// It replaces one that was added before.
func (t *Table) Add(authority []byte, o matcher.Origin) {
	hash := matcher.HashOf(authority)
	if e := t.find(authority, hash); e != nil {
		e.origin = o
		return
	}
	t.entries = append(t.entries, tableEntry{bytes.Clone(authority), o})
	if 4*len(t.entries) > 3*len(t.slots) {
		t.grow()
		return
	}
	t.place(hash, len(t.entries))
}

// grow doubles the number of slots.
func (t *Table) grow() {
	t.slots = make([]slot, max(16, 2*len(t.slots)))
	for i := range t.entries {
		t.place(matcher.HashOf(t.entries[i].key), i+1)
	}
}

// place puts an entry, given by 1 + its index, into the first free slot for its hash.
func (t *Table) place(hash uint64, entry int) {
	i := t.slotOf(hash)
	for t.slots[i].entry != 0 {
		i = t.next(i)
	}
	t.slots[i] = slot{uint32(hash >> 32), uint32(entry)}
}

// slotOf returns the index of the slot where the search for a hash starts.
func (t *Table) slotOf(hash uint64) int { return int(hash) & (len(t.slots) - 1) }

func (t *Table) next(i int) int { return (i + 1) & (len(t.slots) - 1) }

// Len returns the number of authorities.
func (t *Table) Len() int { return len(t.entries) }

// find returns the entry of an authority, nil for none.
func (t *Table) find(authority []byte, hash uint64) *tableEntry {
	if len(t.slots) == 0 {
		return nil
	}
	for i := t.slotOf(hash); t.slots[i].entry != 0; i = t.next(i) {
		if t.slots[i].hash != uint32(hash>>32) {
			continue
		}
		if e := &t.entries[t.slots[i].entry-1]; bytes.Equal(e.key, authority) {
			return e
		}
	}
	return nil
}

// Lookup implements [matcher.Origins]. It never fails.
func (t *Table) Lookup(authority []byte, o *matcher.Origin) error {
	if e := t.find(authority, matcher.HashOf(authority)); e != nil {
		*o = e.origin
	} else {
		o.Reset()
	}
	return nil
}

// atOnce is the number of keys that are looked up together: enough to overlap the cache misses, and
// few enough that the data stays in the L1 and L2 caches until it is used.
const atOnce = 64

// LookupAll implements [matcher.BulkOrigins]. It never fails.
//
// It loops over the keys once for each step of the lookup, so that the cache misses of many
// keys overlap.
func (t *Table) LookupAll(keys []matcher.Key, origins []matcher.Origin) (int, error) {
	if len(t.slots) == 0 {
		for i := range origins {
			origins[i].Reset()
		}
		return 0, nil
	}
	for len(keys) > 0 {
		n := min(len(keys), atOnce)
		t.lookupSome(keys[:n], origins[:n])
		keys, origins = keys[n:], origins[n:]
	}
	return 0, nil
}

// lookupSome is LookupAll for at most atOnce keys of a table that is not empty.
func (t *Table) lookupSome(keys []matcher.Key, origins []matcher.Origin) {
	var memory [atOnce]*tableEntry
	entries := memory[:len(keys)]
	t.touchSlots(keys)
	for i := range keys {
		entries[i] = t.likely(keys[i].Hash)
	}
	touchEntries(entries)
	touchKeys(entries)
	for i, e := range entries {
		if e != nil && !bytes.Equal(e.key, keys[i].Text) {
			e = t.find(keys[i].Text, keys[i].Hash)
		}
		if e != nil {
			origins[i] = e.origin
		} else {
			origins[i].Reset()
		}
	}
	matcher.Touch(origins)
}

// likely returns the first entry whose slot has the upper 32 bits of hash, or nil. The caller
// must compare the key: in rare cases the entry is another key's.
func (t *Table) likely(hash uint64) *tableEntry {
	for i := t.slotOf(hash); t.slots[i].entry != 0; i = t.next(i) {
		if t.slots[i].hash == uint32(hash>>32) {
			return &t.entries[t.slots[i].entry-1]
		}
	}
	return nil
}

// touchSlots loads the slots of keys into the cache. The sum has no meaning; it keeps the
// loads from being optimised away.
//
//go:noinline
func (t *Table) touchSlots(keys []matcher.Key) (sum uint32) {
	for i := range keys {
		sum += t.slots[t.slotOf(keys[i].Hash)].entry
	}
	return sum
}

// touchEntries loads entries, which may be nil, into the cache.
//
//go:noinline
func touchEntries(entries []*tableEntry) (sum int) {
	for _, e := range entries {
		if e != nil {
			sum += len(e.key) + len(e.origin.Tries)
		}
	}
	return sum
}

// touchKeys loads the keys of entries, which may be nil, into the cache.
//
//go:noinline
func touchKeys(entries []*tableEntry) (sum int) {
	for _, e := range entries {
		if e != nil && len(e.key) > 0 {
			sum += int(e.key[0])
		}
	}
	return sum
}
