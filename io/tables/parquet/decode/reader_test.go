package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/encode"
	"robotsbatch/io/tables/parquet/layout"
)

// limit is what a page and a run may have decompressed.
const limit = 64 << 20

// nodeOf returns a column that is required, optional, or a list that may be null of
// values that may be null, or a struct of such a value, and its leaf.
func nodeOf(physical layout.Type, length int32, nesting int) (top, leaf *columns.Node) {
	leaf = &columns.Node{Name: "x", Type: physical, Length: length, FieldID: -1}
	top = leaf
	if nesting > 0 {
		leaf.Repetition = layout.Optional
	}
	if nesting == 3 {
		top = &columns.Node{Name: "x", Repetition: layout.Optional, Type: layout.NoType, FieldID: -1, Children: []*columns.Node{leaf}}
	}
	if nesting == 2 {
		leaf.Name = "element"
		repeated := &columns.Node{Name: "list", Repetition: layout.Repeated, Type: layout.NoType, FieldID: -1, Children: []*columns.Node{leaf}}
		top = &columns.Node{
			Name: "x", Repetition: layout.Optional, Type: layout.NoType, FieldID: -1,
			Meaning: columns.Meaning{Kind: columns.List}, Children: []*columns.Node{repeated},
		}
	}
	columns.SetLevels([]*columns.Node{top})
	return top, leaf
}

// leafOf returns entries of a column, one of each byte, and how many rows they are. plain says that no value of
// four bytes or more repeats, so that they get no dictionary.
func leafOf(n *columns.Node, source []byte, plain bool) (l columns.Leaf, rows int) {
	l.N = len(source)
	if n.Type == layout.ByteArray {
		l.Offsets = []int32{0}
	}
	last := byte(0)
	for _, b := range source {
		definition := min(n.MaxDefinition, b>>1&3)
		if n.MaxRepetition > 0 {
			repetition := b & 1
			if last < 2 { // which ended, so that nothing goes on
				repetition = 0
			}
			if repetition == 1 {
				definition = max(definition, 2)
			}
			last = definition
			l.Repetitions = append(l.Repetitions, repetition)
		}
		if n.MaxRepetition == 0 || l.Repetitions[len(l.Repetitions)-1] == 0 {
			rows++
		}
		if n.MaxDefinition > 0 {
			l.Definitions = append(l.Definitions, definition)
		}
		if definition < n.MaxDefinition {
			continue
		}
		switch width := n.Width(); {
		case n.Type == layout.Boolean:
			l.Fixed = append(l.Fixed, b>>7)
		case width > 0:
			l.Fixed = append(l.Fixed, bytes.Repeat([]byte{b >> 3}, width)...)
			if plain && width >= 4 {
				binary.LittleEndian.PutUint32(l.Fixed[len(l.Fixed)-width:], uint32(len(l.Fixed)))
			}
		default:
			l.Data = append(l.Data, bytes.Repeat([]byte{b}, int(b>>3))...)
			if plain {
				l.Data = binary.LittleEndian.AppendUint32(l.Data, uint32(len(l.Offsets)))
			}
			l.Offsets = append(l.Offsets, int32(len(l.Data)))
		}
	}
	return l, rows
}

// roundTrip encodes a leaf as a file, and compares what is read of it, some rows at a
// time.
func roundTrip(t *testing.T, top, leaf *columns.Node, l *columns.Leaf, rows, run int) error {
	return roundTripOf(t, top, leaf, l, l, rows, run)
}

// roundTripOf is roundTrip for a leaf that should come back as want.
func roundTripOf(t *testing.T, top, leaf *columns.Node, l, want *columns.Leaf, rows, run int) error {
	encoder := must.Get(encode.NewEncoder(&columns.Schema{Nodes: []*columns.Node{top}, Leaves: []*columns.Node{leaf}}, compress.None, 0))(t)
	group := must.Get(encoder.Encode(&encode.Rows{N: int64(rows), Leaves: []columns.Leaf{*l}}))(t)
	var out bytes.Buffer
	w := must.Get(encode.NewWriter(&out, encoder))(t)
	must.Do(t, errors.Join(w.Write(group), w.Close("test")))
	data := out.Bytes()
	file := must.Get(layout.ReadFooter(bytes.NewReader(data), int64(len(data)), limit))(t)
	nodes := columns.FromParquet(file)
	read := columns.Leaves(nil, nodes)[0]
	if read.Type != leaf.Type || read.MaxDefinition != leaf.MaxDefinition || read.MaxRepetition != leaf.MaxRepetition || read.Width() != leaf.Width() {
		return fmt.Errorf("the schema came back as %+v", read)
	}
	lies := &file.Groups[0].Chunks[0]
	reader := must.Get(NewReader(bytes.NewReader(data), lies, read, limit))(t)
	var got columns.Leaf
	var parts []*Part
	for at := 0; at < rows; at += run {
		part, err := reader.Next(min(run, rows-at))
		if err != nil {
			return err
		}
		parts = append(parts, part)
	}
	if err := reader.Done(); err != nil {
		return err
	}
	leaves := make([]columns.Leaf, len(parts))
	for i := range parts {
		if i ^= 1; i == len(parts) { // of two the second comes first
			i--
		}
		leaves[i] = must.Get(parts[i].Decode())(t)
	}
	for i := range leaves {
		must.Do(t, got.Append(read, &leaves[i]))
	}
	return compare(read, &got, want)
}

// compare tells how two leaves differ. Levels may be left out where all are values.
func compare(n *columns.Node, got, want *columns.Leaf) error {
	levels := func(l *columns.Leaf) []byte {
		if l.Definitions == nil {
			return bytes.Repeat([]byte{n.MaxDefinition}, l.N)
		}
		return l.Definitions
	}
	switch {
	case got.N != want.N || !bytes.Equal(levels(got), levels(want)) || !bytes.Equal(got.Repetitions, want.Repetitions):
		return fmt.Errorf("%d entries at %v and %v, want %d at %v and %v", got.N, levels(got), got.Repetitions, want.N, levels(want), want.Repetitions)
	case !bytes.Equal(got.Fixed, want.Fixed) || !bytes.Equal(got.Data, want.Data):
		return fmt.Errorf("values %x %q, want %x %q", got.Fixed, got.Data, want.Fixed, want.Data)
	}
	for i := range min(len(got.Offsets), len(want.Offsets)) {
		if got.Offsets[i] != want.Offsets[i] {
			return fmt.Errorf("value %d ends at %d, want %d", i, got.Offsets[i], want.Offsets[i])
		}
	}
	return nil
}

// What encode writes of every physical type comes back, however the rows are cut.
func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for physical := layout.Boolean; physical <= layout.FixedLenByteArray; physical++ {
		for nesting := range 4 {
			for _, n := range []int{0, 1, 7, 8, 9, 500, 2*blockSize + 9} {
				source := make([]byte, n)
				for i := range source {
					source[i] = byte(rng.Uint32())
				}
				top, leaf := nodeOf(physical, 5, nesting)
				for _, run := range must.Short([]int{9, 4096}, []int{1, 9, 4096, 1 << 20}) {
					if run == 1 && n > blockSize && nesting != 2 {
						continue // only a list's levels are read in blocks, at whose ends a run may end; each run skips what is before it
					}
					for _, plain := range []bool{false, true} {
						l, rows := leafOf(leaf, source, plain)
						if err := roundTrip(t, top, leaf, &l, rows, run); err != nil {
							t.Fatalf("type %d, nesting %d, %d entries, runs of %d, plain %t: %v", physical, nesting, n, run, plain, err)
						}
					}
				}
			}
		}
	}
}

// A chunk that ends before its rows, or has more, is damaged.
func TestRowsMissing(t *testing.T) {
	top, leaf := nodeOf(layout.Int64, 0, 2)
	l, rows := leafOf(leaf, []byte{6, 7, 7, 0, 2, 6}, true)
	must.Fail(t, roundTrip(t, top, leaf, &l, rows+1, 2), "row more than there is was read")
	must.Fail(t, roundTrip(t, top, leaf, &l, rows-1, 2), "row that the row group does not have was overlooked")
}

func FuzzRoundTrip(f *testing.F) {
	f.Add(byte(0), byte(1), uint16(3), true, []byte{6, 7, 7, 0, 2, 6})
	f.Add(byte(6), byte(2), uint16(1), false, []byte("https://a.test/x"))
	f.Add(byte(7), byte(0), uint16(100), false, bytes.Repeat([]byte{1, 2, 255}, 300))
	f.Fuzz(func(t *testing.T, physical, nesting byte, run uint16, plain bool, source []byte) {
		top, leaf := nodeOf(layout.Type(physical%8), int32(run%20)+1, int(nesting%4))
		l, rows := leafOf(leaf, source, plain)
		must.Do(t, roundTrip(t, top, leaf, &l, rows, int(run)+1))
	})
}

// Compact columns are read as what stands in them, page by page.
func TestCompact(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, rows := range []int{1, 7, 8, 9, 1000, 1<<18 + 3, 600_001} {
		if testing.Short() && rows > 1<<19 {
			continue
		}
		for _, nulls := range []int{0, 1, 500, 2, rows} {
			null := func(row int) bool {
				return nulls > 0 && (nulls == rows || row%max(2, rows/nulls) == rows/2%max(2, rows/nulls) || nulls == 500 && r.IntN(3) == 0)
			}
			boolean, booleanLeaf := nodeOf(layout.Boolean, 0, 1)
			b := columns.Bits{Values: make([]byte, (rows+7)/8), Valid: make([]byte, (rows+7)/8)}
			list, listLeaf := nodeOf(layout.ByteArray, 0, 2)
			x := columns.Lists{Of: make([]int32, rows), Ends: []int32{0, 0, 3, 4}, Codes: []int32{5, 1, 2, 5}}
			many := int32(300)
			for range many {
				x.Codes = append(x.Codes, int32(r.IntN(6)))
			}
			x.Ends = append(x.Ends, 4+many)
			for row := range rows {
				x.Of[row] = -1
				if !null(row) {
					b.Valid[row>>3] |= 1 << (row & 7)
					b.Values[row>>3] |= byte(r.IntN(2)) << (row & 7)
					if x.Of[row] = int32(r.IntN(3)); r.IntN(100) == 0 {
						x.Of[row] = 3
					}
				}
			}
			if nulls == 0 {
				b.Valid = nil
			}
			bits := columns.Leaf{N: rows, Bits: &b}
			if err := roundTripOf(t, boolean, booleanLeaf, &bits, bits.Plain(booleanLeaf), rows, 100_000); err != nil {
				t.Fatalf("%d booleans, %d nulls: %v", rows, nulls, err)
			}
			lists := columns.Leaf{Lists: &x, Offsets: []int32{0}}
			for i := range 6 {
				lists.Data = fmt.Appendf(lists.Data, "bot%d", i)
				lists.Offsets = append(lists.Offsets, int32(len(lists.Data)))
			}
			plain := lists.Plain(listLeaf)
			lists.N = plain.N
			if err := roundTripOf(t, list, listLeaf, &lists, plain, rows, 100_000); err != nil {
				t.Fatalf("%d lists, %d nulls: %v", rows, nulls, err)
			}
		}
	}
}
