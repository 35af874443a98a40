package columns

import (
	"bytes"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
)

// Shredder makes leaves of arrays.
type Shredder struct {
	// Memory is where levels and copied values are allocated; what it panics
	// with reaches the caller.
	Memory memory.Allocator
	leaves []Leaf
}

// Shred returns the leaves of a top-level column with node n and array d, which must have been checked. They
// may share the array's memory. All other memory is allocated by s.Memory.
func (s *Shredder) Shred(n *Node, d *array.Data) (leaves []Leaf, err error) {
	s.leaves = nil
	err = s.node(n, d, entries{n: d.Len(), low: d.Offset()})
	return s.leaves, err
}

// entries are the n entries of a leaf, as far as they are known when the walk from the rows down to the leaf has reached
// the array of some node.
type entries struct {
	n int
	// index has the place of each entry's value in the array's buffers, negative for an entry that ends
	// above, in a null or an empty list. If it is nil, they have the values from low on.
	index []int32
	low   int
	// definitions has the definition level of each entry so far. If it is nil, all have level.
	definitions []byte
	level       byte
	// repetitions has the repetition level of each entry; nil above the first list.
	repetitions []byte
}

// at returns the index of entry i's value in the array's buffers, negative if the entry ended above.
func (e *entries) at(i int) int {
	if e.index == nil {
		return e.low + i
	}
	return int(e.index[i])
}

// values is an iterator over the entries that have a value: over its index in the array's buffers.
func (e *entries) values(yield func(at int) bool) {
	for i := range e.n {
		if at := e.at(i); at >= 0 && !yield(at) {
			return
		}
	}
}

// numbers allocates n indices or offsets. They are not zero.
func (s *Shredder) numbers(n int) []int32 {
	return arrow.Int32Traits.CastFromBytes(s.Memory.Allocate(4 * n))[:n:n]
}

// node appends the leaves below n to s.leaves. d is the array of n, and e says where in it each entry's value
// is.
func (s *Shredder) node(n *Node, d *array.Data, e entries) error {
	dt := tables.Storage(d.DataType())
	switch dt.(type) {
	case *arrow.DictionaryType, *arrow.RunEndEncodedType:
		if dt == arrow.DataType(tables.CodedLists) {
			s.leaves = append(s.leaves, codedLists(d, &e))
			return nil
		}
		plain := tables.Plain(d, s.Memory)
		defer plain.Release()
		return s.node(n, plain, s.moved(e, plain.Offset()-d.Offset()))
	case *arrow.NullType:
		e.index, e.definitions = s.none(&e)
		return s.leaf(n, d, e)
	}
	if d.DataType().ID() == arrow.BOOL && n.Repetition == layout.Optional && e.isRows(d) { // see Bits
		s.leaves = append(s.leaves, flatBits(d, &e))
		return nil
	}
	e, err := s.presence(n, d, e)
	if err != nil {
		return err
	}
	switch dt.(type) {
	case *arrow.StructType:
		for i := 0; i < len(n.Children) && err == nil; i++ {
			child := d.Children()[i].(*array.Data)
			err = s.node(n.Children[i], child, s.moved(e, child.Offset()))
		}
		return err
	case *arrow.MapType, arrow.ListLikeType:
		return s.list(n, d, dt, e)
	}
	return s.leaf(n, d, e)
}

// isRows reports whether the entries are all rows of a top-level array d that begins at a whole byte of its
// bits.
func (e *entries) isRows(d *array.Data) bool {
	return e.index == nil && e.definitions == nil && e.repetitions == nil && e.level == 0 && e.low&7 == 0 && d.Len() == e.n
}

// moved returns entries whose values are at indices higher by offset: in the array of a child, or of a copy.
func (s *Shredder) moved(e entries, offset int) entries {
	switch {
	case offset == 0:
	case e.index == nil:
		e.low += offset
	default:
		moved := s.numbers(e.n)
		for i, at := range e.index {
			if moved[i] = at; at >= 0 {
				moved[i] = at + int32(offset)
			}
		}
		e.index = moved
	}
	return e
}

// none returns an index and definition levels for entries none of which has a value, as in an array of nulls.
func (s *Shredder) none(e *entries) (index []int32, definitions []byte) {
	index, definitions = s.numbers(e.n), s.Memory.Allocate(e.n)
	for i := range index {
		index[i] = -1
		definitions[i] = e.levelOf(i)
	}
	return index, definitions
}

// levelOf returns the definition level of entry i so far.
func (e *entries) levelOf(i int) byte {
	if e.definitions == nil {
		return e.level
	}
	return e.definitions[i]
}

// presence returns the entries after the validity of d, the array of n, is applied: null ones end, and the
// definition level of the others rises by one if n may be null.
func (s *Shredder) presence(n *Node, d *array.Data, e entries) (entries, error) {
	valid := validity(d)
	if n.Repetition == layout.Required {
		for i := 0; i < e.n && valid != nil; i++ {
			if at := e.at(i); at >= 0 && !bit(valid, at) {
				return e, fmt.Errorf("%q is not null by its schema, and has nulls", n.Name)
			}
		}
		return e, nil
	}
	if valid == nil && e.index == nil { // no entry has ended yet
		e.level++
		return e, nil
	}
	index, definitions := s.numbers(e.n), s.Memory.Allocate(e.n)
	for i := range index {
		at := e.at(i)
		definitions[i] = e.levelOf(i)
		switch {
		case at < 0: // it ended above
		case valid != nil && !bit(valid, at):
			at = -1
		default:
			definitions[i]++
		}
		index[i] = int32(at)
	}
	e.index, e.definitions, e.level = index, definitions, e.level+1
	return e, nil
}

// validity returns the validity bitmap of an array, nil if it has no nulls.
func validity(d *array.Data) []byte {
	if d.NullN() == 0 || len(d.Buffers()) == 0 || d.Buffers()[0] == nil {
		return nil
	}
	return d.Buffers()[0].Bytes()
}

// bit reports whether bit i is set, where the lowest bit of a byte is its first.
func bit(bits []byte, i int) bool { return bits[i>>3]>>(i&7)&1 == 1 }

// list appends the leaves of a list or map d of type dt, node n. Each entry is replaced by one for each value
// of its list. An entry with an empty list, or none, ends.
func (s *Shredder) list(n *Node, d *array.Data, dt arrow.DataType, e entries) error {
	bounds := boundsOf(d, dt)
	list := func(i int) (low, high int) { // the values of entry i's list, none if it ended above
		if at := e.at(i); at >= 0 {
			return bounds(at)
		}
		return 0, 0
	}
	total := 0
	for i := range e.n {
		low, high := list(i)
		if total += max(1, high-low); total > math.MaxInt32 {
			return &tables.LimitError{What: "its lists have more than 2,147,483,647 values in one batch", Help: tables.FewerRows}
		}
	}
	inner := entries{n: total, index: s.numbers(total), definitions: s.Memory.Allocate(total), repetitions: s.Memory.Allocate(total), level: e.level + 1}
	child := d.Children()[0].(*array.Data)
	offset, to := child.Offset(), 0
	for i := range e.n {
		level, repetition := e.levelOf(i), byte(0)
		if e.repetitions != nil {
			repetition = e.repetitions[i]
		}
		low, high := list(i)
		if low == high {
			inner.index[to], inner.definitions[to], inner.repetitions[to] = -1, level, repetition
			to++
			continue
		}
		for at := low; at < high; at++ {
			inner.index[to], inner.definitions[to], inner.repetitions[to] = int32(at+offset), level+1, repetition
			repetition = n.Children[0].MaxRepetition // all but the first go on in the list
			to++
		}
	}
	element := n.Children[0]
	if n.Meaning.Kind != Map {
		return s.node(element.Children[0], child, inner)
	}
	for i, field := range element.Children {
		values := child.Children()[i].(*array.Data)
		if err := s.node(field, values, s.moved(inner, values.Offset())); err != nil {
			return err
		}
	}
	return nil
}

// boundsOf returns a function that returns the values of list i of array d as indices low to high-1 into its
// child, without the child's offset.
func boundsOf(d *array.Data, dt arrow.DataType) func(i int) (low, high int) {
	switch dt := dt.(type) {
	case *arrow.FixedSizeListType:
		size := int(dt.Len())
		return func(i int) (int, int) { return i * size, (i + 1) * size }
	case *arrow.LargeListType:
		offsets := elements[int64](d, 1)
		return func(i int) (int, int) { return int(offsets[i]), int(offsets[i+1]) }
	case *arrow.ListViewType:
		offsets, sizes := elements[int32](d, 1), elements[int32](d, 2)
		return func(i int) (int, int) { return int(offsets[i]), int(offsets[i]) + int(sizes[i]) }
	case *arrow.LargeListViewType:
		offsets, sizes := elements[int64](d, 1), elements[int64](d, 2)
		return func(i int) (int, int) { return int(offsets[i]), int(offsets[i]) + int(sizes[i]) }
	}
	offsets := elements[int32](d, 1)
	return func(i int) (int, int) { return int(offsets[i]), int(offsets[i+1]) }
}

// elements returns buffer i of an array as numbers, which alias it; nil if there is none. In Arrow's layout, buffer 1 has
// values, offsets or views, and buffer 2 has texts or sizes.
func elements[T arrow.FixedWidthType | arrow.ViewHeader](d *array.Data, i int) []T {
	if i >= len(d.Buffers()) || d.Buffers()[i] == nil {
		return nil
	}
	return arrow.GetData[T](d.Buffers()[i].Bytes())
}

// leaf appends the leaf of n, whose values are in d. Definition levels are left out if all are values.
func (s *Shredder) leaf(n *Node, d *array.Data, e entries) error {
	l := Leaf{N: e.n, Definitions: e.definitions, Repetitions: e.repetitions}
	if l.Definitions != nil && bytes.Count(l.Definitions, []byte{n.MaxDefinition}) == len(l.Definitions) {
		l.Definitions = nil
	}
	if err := s.values(&l, n, d, &e); err != nil {
		return err
	}
	s.leaves = append(s.leaves, l)
	return nil
}
