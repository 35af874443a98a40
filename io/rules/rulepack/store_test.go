package rulepack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"robotsbatch/io/store/runs"
)

// Bodies come back in their order, once each and unchanged, whatever the memory, and whether
// the first hosts that were known had the same order.
func TestStore(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, limit := range []int64{0, 300, 5000, 1 << 30} {
		for _, late := range []int{0, 10, 1} { // one body in so many gets another first host
			s := store{limit: limit, spill: runs.Spill{Folder: t.TempDir()}}
			var all list[known]
			var texts [][]byte
			for number := range uint32(500) {
				all.append(known{})
				binary.BigEndian.PutUint64(all.at(number).first[:], rng.Uint64())
				texts = append(texts, bytes.Repeat([]byte{byte(number), byte(number >> 8)}, 1+rng.IntN(100)))
				if number%100 == 0 {
					texts[number] = bytes.Repeat(texts[number], chunkSize/len(texts[number])+1)
				}
				if err := s.add(number, texts[number], &all); err != nil {
					t.Fatal(err)
				}
			}
			b := bodies{known: all}
			for number := range all.n {
				b.digests.add(&digest{byte(number), byte(number >> 8)})
				k := all.at(number)
				k.units = 1
				k.used = rng.IntN(5) > 0
				if late > 0 && int(number)%late == 0 {
					binary.BigEndian.PutUint64(k.first[:], rng.Uint64())
				}
			}
			o, err := b.order()
			if err != nil {
				t.Fatal(err)
			}
			var got []byte
			if err := s.each(&o, &all, func(stored []byte) error { got = append(got, stored...); return nil }); err != nil {
				t.Fatal(err)
			}
			var want []byte
			for i, number := range o.numbers {
				if i > 0 && bytes.Compare(all.at(o.numbers[i-1]).first[:], all.at(number).first[:]) > 0 {
					t.Fatalf("body %d is behind one of a later host", number)
				}
				want = append(want, texts[number]...)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("memory %d, one in %d late: the bodies differ", limit, late)
			}
			if spilled := s.spill.Size() > 0; spilled != (limit < 1<<30) {
				t.Errorf("memory %d: spilled %t", limit, spilled)
			}
			enough := errors.New("enough")
			if err := s.each(&o, &all, func([]byte) error { return enough }); !errors.Is(err, enough) {
				t.Errorf("error %v", err)
			}
			s.spill.Close()
		}
	}
}
