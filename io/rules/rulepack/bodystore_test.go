package rulepack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/io/store/runs"
)

// Bodies come back in their order, once each and unchanged, whatever the memory, and whether
// the first hosts that were known had the same order.
func TestStore(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, limit := range []int64{0, 300, 5000, 1 << 30} {
		for _, late := range []int{0, 10, 1} { // one body in so many gets another first host
			folder := t.TempDir()
			b := bodies{
				table:   newBodyTable(limit, limit, folder),
				store:   bodyStore{limit: limit, spill: runs.Spill{Folder: folder}},
				ordered: runs.NewSorter(bodyMetaForm, limit, folder),
			}
			var texts [][]byte
			update := func(number uint32, change func(k *bodyMeta)) {
				t.Helper()
				must.Do(t, b.table.update(number, change))
			}
			for number := range uint32(500) {
				if _, _, err := b.numberOf(digest{byte(number), byte(number >> 8)}, 0); err != nil {
					t.Fatal(err)
				}
				update(number, func(k *bodyMeta) { binary.BigEndian.PutUint64(k.first[:], rng.Uint64()) })
				texts = append(texts, bytes.Repeat([]byte{byte(number), byte(number >> 8)}, 1+rng.IntN(100)))
				if number%100 == 0 {
					texts[number] = bytes.Repeat(texts[number], copyingSize/len(texts[number])+1)
				}
				must.Do(t, b.store.add(number, texts[number], &b.table))
			}
			for number := range b.table.n {
				update(number, func(k *bodyMeta) {
					k.units = 1
					k.used = rng.IntN(5) > 0
					if late > 0 && int(number)%late == 0 {
						binary.BigEndian.PutUint64(k.first[:], rng.Uint64())
					}
				})
			}
			must.Do(t, b.store.finish(&b.table))
			var want, got []byte
			var last surtStart
			err := b.order(func(k *bodyMeta) {
				if bytes.Compare(last[:], k.first[:]) > 0 {
					t.Fatalf("body %d is behind one of a later host", k.number)
				}
				last = k.first
				want = append(want, texts[k.number]...)
			})
			must.Do(t, err)
			place := uint32(0)
			must.Do(t, b.store.each(b.each, func(k *bodyMeta, stored []byte) error {
				if at, err := b.placed(k.number); err != nil || at.place != place {
					t.Errorf("body %d is at %d, not %d, %v", k.number, at.place, place, err)
				}
				place++
				got = append(got, stored...)
				return nil
			}))
			if !bytes.Equal(got, want) {
				t.Errorf("memory %d, one in %d late: the bodies differ", limit, late)
			}
			must.Equal(t, b.store.spill.Size() > 0, limit < 1<<30, "memory", limit)
			enough := errors.New("enough")
			if err := b.store.each(b.each, func(*bodyMeta, []byte) error { return enough }); !errors.Is(err, enough) {
				t.Errorf("error %v", err)
			}
			b.close()
		}
	}
}
