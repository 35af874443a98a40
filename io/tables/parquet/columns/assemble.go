package columns

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

var (
	errLevels = errors.New("damaged: its columns do not agree where lists end or what is null")
	errFixed  = errors.New("its lists are not of the size that the Arrow schema stored in the file says")
)

// Assemble returns the array of a column, made of the leaves that c.Leaves names, in that order. The array
// may share their memory.
func (c *Column) Assemble(leaves []Leaf) (*array.Data, error) {
	return c.build(leaves, slots{})
}

// slots says which entries of a leaf have a place, a slot, in the array of a column, with a value or a null:
// those with at most this repetition level and at least this definition level. An entry with a higher
// repetition level continues a list within the slot before. An entry with a lower definition level ends in a
// null or an empty list around the column.
type slots struct{ repetition, definition byte }

// padding is the definition level of entries that pad adds: they have slots at all depths, and no value.
const padding = math.MaxUint8

// build returns the array of a column, one element for each slot. leaves are the column's, in order.
func (c *Column) build(leaves []Leaf, s slots) (*array.Data, error) {
	switch c.shape {
	case aStruct:
		return c.buildStruct(leaves, s)
	case aList, aMap:
		return c.buildList(leaves, s)
	}
	return c.buildLeaf(&leaves[0], s)
}

// validity returns a bitmap with a bit for each of the n slots: 1 if the definition level of its entry is from low to
// high. nulls is the number of zeros. bits is nil if there are none.
func (c *Column) validity(l *Leaf, s slots, low, high byte) (bits []byte, n, nulls int) {
	if l.Definitions == nil && l.Repetitions == nil {
		return nil, l.N, 0
	}
	bits = make([]byte, bitutil.BytesForBits(int64(l.N)))
	for i := range l.N {
		repetition, definition := l.levels(i, c.valueLevel())
		if repetition > s.repetition || definition < s.definition { // it has no slot
			continue
		}
		if low <= definition && definition <= high {
			bits[n>>3] |= 1 << (n & 7)
		} else {
			nulls++
		}
		n++
	}
	if nulls == 0 {
		return nil, n, 0
	}
	return bits[:bitutil.BytesForBits(int64(n))], n, nulls
}

// valueLevel returns the definition level of the values, which are not null, of the column's first leaf.
func (c *Column) valueLevel() byte { return c.Leaves[0].MaxDefinition }

// levels returns the levels of entry i. valueLevel is the definition level of a value: if l has no levels, all
// entries are values.
func (l *Leaf) levels(i int, valueLevel byte) (repetition, definition byte) {
	definition = valueLevel
	if l.Definitions != nil {
		definition = l.Definitions[i]
	}
	if l.Repetitions != nil {
		repetition = l.Repetitions[i]
	}
	return repetition, definition
}

// buildStruct is build for structs. A null struct is null in all children, so all must agree which are.
func (c *Column) buildStruct(leaves []Leaf, s slots) (*array.Data, error) {
	// Up to padding: an added entry lies in a null list, where any validity will do.
	bits, n, nulls := c.validity(&leaves[0], s, c.present, padding)
	children := make([]arrow.ArrayData, len(c.children))
	for i, child := range c.children {
		var own []Leaf
		own, leaves = leaves[:len(child.Leaves)], leaves[len(child.Leaves):]
		if i > 0 {
			// Which slots of c are null by the child's leaf. The child is asked, because it knows the valueLevel of that leaf.
			if other, _, _ := child.validity(&own[0], s, c.present, padding); !bytes.Equal(bits, other) {
				return nil, errLevels
			}
		}
		data, err := child.build(own, s)
		if err != nil {
			return nil, err
		}
		if data.Len() != n {
			return nil, errLevels
		}
		children[i] = data
	}
	return array.NewData(c.Field.Type, n, []*memory.Buffer{buffer(bits)}, children, nulls, 0), nil
}

// buffer returns a buffer of bytes, nil for none.
func buffer(b []byte) *memory.Buffer {
	if b == nil {
		return nil
	}
	return memory.NewBufferBytes(b)
}

// offsets returns an offset for each slot, where its list begins among the elements, and the end of the last
// list. It reads the levels of leaf l, one of the column's. valueLevel is the definition level of l's values.
func (c *Column) offsets(l *Leaf, valueLevel byte, s slots) []int32 {
	offsets := make([]int32, 0, 1024)
	elements := int32(0)
	for i := range l.N {
		repetition, definition := l.levels(i, valueLevel)
		if isSlot := repetition <= s.repetition && definition >= s.definition; isSlot {
			offsets = append(offsets, elements)
		}
		if isElement := repetition <= c.repetition && definition > c.present; isElement { // not of a list inside it, or an empty list
			elements++
		}
	}
	return append(offsets, elements)
}

// buildList is build for lists and maps. All leaves must agree where the lists end.
func (c *Column) buildList(leaves []Leaf, s slots) (*array.Data, error) {
	bits, n, nulls := c.validity(&leaves[0], s, c.present, padding) // up to padding: see buildStruct
	fixed, isFixed := c.Field.Type.(*arrow.FixedSizeListType)
	if isFixed { // a null list takes elements, too
		leaves = c.pad(leaves, s, int(fixed.Len()))
	}
	offsets := c.offsets(&leaves[0], c.valueLevel(), s)
	for i := 1; i < len(leaves); i++ {
		other := c.offsets(&leaves[i], c.Leaves[i].MaxDefinition, s)
		if !bytes.Equal(arrow.Int32Traits.CastToBytes(other), arrow.Int32Traits.CastToBytes(offsets)) {
			return nil, errLevels
		}
	}
	elementSlots := slots{repetition: c.repetition, definition: c.present + 1} // c.present is the level of an empty list
	child, err := c.children[0].build(leaves, elementSlots)
	if err != nil {
		return nil, err
	}
	if n+1 != len(offsets) || child.Len() != int(offsets[n]) {
		return nil, errLevels
	}
	buffers := []*memory.Buffer{buffer(bits)}
	if !isFixed {
		buffers = append(buffers, offsetBuffer(offsets, c.Field.Type))
	}
	for i, offset := range offsets {
		if isFixed && int(offset) != i*int(fixed.Len()) {
			return nil, errFixed
		}
	}
	return array.NewData(c.Field.Type, n, buffers, []arrow.ArrayData{child}, nulls, 0), nil
}

// offsetBuffer returns the offsets of lists or strings of type dt, which may be one with offsets of 64 bits.
func offsetBuffer(offsets []int32, dt arrow.DataType) *memory.Buffer {
	if dt.Layout().Buffers[1].ByteWidth == arrow.Int32SizeBytes {
		return memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets))
	}
	wide := make([]int64, len(offsets))
	for i, offset := range offsets {
		wide[i] = int64(offset)
	}
	return memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(wide))
}

// pad returns copies of leaves in which each null list has size added elements, which are null: in Arrow a
// null in lists of a fixed size takes size elements, and in Parquet none.
func (c *Column) pad(leaves []Leaf, s slots, size int) []Leaf {
	padded := make([]Leaf, len(leaves))
	for i, l := range leaves {
		if padded[i] = l; l.Definitions == nil { // nothing is null
			continue
		}
		repetitions, definitions := make([]byte, 0, l.N), make([]byte, 0, l.N)
		for entry := range l.N {
			repetition, definition := l.levels(entry, 0)
			isSlot := repetition <= s.repetition && definition >= s.definition
			isNull := definition < c.present || definition == padding // padding: a list around it was null
			if !isSlot || !isNull {
				repetitions, definitions = append(repetitions, repetition), append(definitions, definition)
				continue
			}
			for range size {
				repetitions, definitions = append(repetitions, repetition), append(definitions, padding)
				repetition = c.repetition // all but the first go on in the list
			}
		}
		padded[i].N, padded[i].Repetitions, padded[i].Definitions = len(definitions), repetitions, definitions
	}
	return padded
}

// buildLeaf is build for a column that has values itself.
func (c *Column) buildLeaf(l *Leaf, s slots) (*array.Data, error) {
	bits, n, nulls := c.validity(l, s, c.valueLevel(), c.valueLevel())
	if c.Field.Type.ID() == arrow.NULL {
		if nulls != n {
			return nil, errors.New("damaged: values in a column that has none")
		}
		return array.NewData(c.Field.Type, n, []*memory.Buffer{nil}, nil, n, 0), nil
	}
	values := spread{bits: bits, n: n}
	buffers, err := c.convert(l, &values)
	if err != nil {
		return nil, err
	}
	if !c.Field.Nullable { // a slot without a value is in a null struct or list: it gets a zero, not a null
		bits, nulls = nil, 0
	}
	return array.NewData(c.Field.Type, n, append([]*memory.Buffer{buffer(bits)}, buffers...), nil, nulls, 0), nil
}

// spread says which of n slots have a value.
type spread struct {
	bits []byte // a bit for each slot; nil when all have one
	n    int
}

// check returns an error unless values is the number of slots that have a value.
func (p *spread) check(values int) error {
	want := p.n
	if p.bits != nil {
		want = bitutil.CountSetBits(p.bits, 0, p.n)
	}
	if values != want {
		return fmt.Errorf("damaged: %d values where its levels say %d", values, want)
	}
	return nil
}

// each calls do for each value in order, with the index of its slot.
func (p *spread) each(do func(slot, value int)) {
	value := 0
	for slot := range p.n {
		if p.bits == nil || bit(p.bits, slot) {
			do(slot, value)
			value++
		}
	}
}
