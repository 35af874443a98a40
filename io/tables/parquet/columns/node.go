package columns

import (
	"bytes"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/tables/parquet/layout"
)

// Kind is what values mean, with the numbers of Parquet's logical types.
type Kind int8

// The kinds of meanings.
const (
	NoKind    Kind = 0
	String    Kind = 1
	Map       Kind = 2
	List      Kind = 3
	Enum      Kind = 4
	Decimal   Kind = 5
	Date      Kind = 6
	Time      Kind = 7
	Timestamp Kind = 8
	Integer   Kind = 10
	Null      Kind = 11
	JSON      Kind = 12
	BSON      Kind = 13
	UUID      Kind = 14
	Float16   Kind = 15
	// Interval has a number among the older converted types alone.
	Interval Kind = -1
	// Other is one that is not known here.
	Other Kind = -2
)

// Meaning is what values mean.
type Meaning struct {
	Kind             Kind
	Unit             arrow.TimeUnit // of times and timestamps
	UTC              bool           // these are instants, or times of day in UTC
	Old              bool           // of timestamps: only the older converted type says it, and not whether it is in UTC
	Bits             int8           // of integers
	Signed           bool
	Precision, Scale int32 // of decimals
}

// Node is an element of a Parquet schema.
type Node struct {
	Name       string
	Repetition layout.Repetition
	Type       layout.Type // NoType for a group, which has children in place of values
	Length     int32       // of FixedLenByteArray
	Meaning    Meaning
	FieldID    int32 // negative for none
	Children   []*Node

	// MaxDefinition and MaxRepetition are the levels of a value that is there.
	MaxDefinition, MaxRepetition uint8
	// Leaf counts the leaves from the left; of a group it is the first one's.
	Leaf int
}

// Width returns the bytes of a value in PLAIN; 0 if each value has its own length. For booleans it is 1, the
// size that they have in a [Leaf].
func (n *Node) Width() int {
	switch n.Type {
	case layout.Boolean:
		return 1
	case layout.Int32, layout.Float:
		return 4
	case layout.Int64, layout.Double:
		return 8
	case layout.Int96:
		return 12
	case layout.FixedLenByteArray:
		return int(n.Length)
	}
	return 0
}

// With returns a copy of the group n with only those descendants to which paths lead, and the groups around them. A
// path has the indices of children, from n inwards. An empty path leads to n itself: then With returns n.
func (n *Node) With(paths [][]int) *Node {
	below := make([][][]int, len(n.Children)) // the paths that lead on from each child
	for _, path := range paths {
		if len(path) == 0 {
			return n
		}
		below[path[0]] = append(below[path[0]], path[1:])
	}
	part := *n
	part.Children = nil
	for i, child := range n.Children {
		if below[i] != nil {
			part.Children = append(part.Children, child.With(below[i]))
		}
	}
	part.Leaf = part.Children[0].Leaf
	return &part
}

// setLevels sets the levels and the leaf index of a node, and of all nodes below it. definition and repetition are the
// parent's levels. *leaf is the index of the first leaf that is n or below it; setLevels adds the number of these.
func (n *Node) setLevels(definition, repetition uint8, leaf *int) {
	if n.Repetition != layout.Required {
		definition++
	}
	if n.Repetition == layout.Repeated {
		repetition++
	}
	n.MaxDefinition, n.MaxRepetition, n.Leaf = definition, repetition, *leaf
	if n.Type != layout.NoType {
		*leaf++
	}
	for _, child := range n.Children {
		child.setLevels(definition, repetition, leaf)
	}
}

// SetLevels sets the levels and the leaf indices of nodes, a schema's top-level columns, and of all below
// them.
func SetLevels(nodes []*Node) {
	leaf := 0
	for _, n := range nodes {
		n.setLevels(0, 0, &leaf)
	}
}

// Leaves appends the leaves of nodes to list.
func Leaves(list []*Node, nodes []*Node) []*Node {
	for _, n := range nodes {
		if n.Type != layout.NoType {
			list = append(list, n)
		}
		list = Leaves(list, n.Children)
	}
	return list
}

// Cast is a change of a column's type that loses nothing.
type Cast struct {
	Column   string
	From, To string
}

// String is a line for people.
func (c Cast) String() string {
	return fmt.Sprintf("column %q: %s is written as %s", c.Column, c.From, c.To)
}

// Leaf is the entries of a column: values, nulls, and empty lists around them.
type Leaf struct {
	// N is the number of entries.
	N int
	// Definitions and Repetitions have a level for each entry. Definitions is nil if all entries are values, and
	// Repetitions if each begins a row.
	Definitions, Repetitions []byte
	// Fixed are the values of a fixed width, one after another.
	Fixed []byte
	// Data are the values of other columns, and Offsets where each begins, and
	// the last one ends.
	Data    []byte
	Offsets []int32
	// Bits has the levels and values of a column of booleans, in place of the fields above; nil for none.
	Bits *Bits
	// Lists has the levels of a column of lists of text, and refers to the texts in Data; nil for none. Data has each
	// text of a row once, and may have others.
	Lists *Lists
}

// Values returns the number of entries that have a value. width is [Node.Width].
func (l *Leaf) Values(width int) int {
	switch {
	case l.Bits != nil:
		return l.Bits.Count(l.N)
	case l.Lists != nil:
		_, values := l.Lists.count()
		return values
	case l.Definitions == nil:
		return l.N
	case width > 0:
		return len(l.Fixed) / width
	case len(l.Offsets) > 0:
		return len(l.Offsets) - 1
	}
	return 0
}

// Value returns value i in the leaf's memory, without its length. width is [Node.Width]. It is not for
// leaves with Bits or Lists.
func (l *Leaf) Value(i, width int) []byte {
	if width > 0 {
		return l.Fixed[i*width : (i+1)*width]
	}
	return l.Data[l.Offsets[i]:l.Offsets[i+1]]
}

// Plain returns the leaf with levels and values in place of Bits or Lists: l itself if it has neither.
func (l *Leaf) Plain(n *Node) *Leaf {
	switch {
	case l.Bits != nil:
		return l.Bits.plain(l.N)
	case l.Lists != nil:
		return l.Lists.plain(n, l)
	}
	return l
}

// Size returns the bytes of the leaf's levels, values and offsets, as [Leaf.Plain] would have them.
func (l *Leaf) Size() int64 {
	switch {
	case l.Bits != nil:
		if values := l.Bits.Count(l.N); values < l.N {
			return int64(l.N + values)
		}
		return int64(l.N)
	case l.Lists != nil:
		entries, values := l.Lists.count()
		return int64(2*entries+4*(values+1)) + l.Lists.textSize(l) // two levels an entry, and an offset of 4 bytes a value
	}
	return int64(len(l.Definitions) + len(l.Repetitions) + len(l.Fixed) + len(l.Data) + 4*len(l.Offsets))
}

// Append appends copies of other's entries to l, which has neither Bits nor Lists. Both are leaves of n.
func (l *Leaf) Append(n *Node, other *Leaf) error {
	other = other.Plain(n)
	if len(other.Offsets) > 0 && len(l.Data)+int(other.Offsets[len(other.Offsets)-1]-other.Offsets[0]) > math.MaxInt32 {
		return errLongStrings
	}
	l.Definitions = appendLevels(l.Definitions, other.Definitions, l.N, other.N, n.MaxDefinition)
	l.Repetitions = appendLevels(l.Repetitions, other.Repetitions, l.N, other.N, 0) // 0: each entry begins a row
	l.N += other.N
	l.Fixed = append(l.Fixed, other.Fixed...)
	if len(other.Offsets) > 0 {
		if len(l.Offsets) == 0 {
			l.Offsets = append(l.Offsets, 0)
		}
		base := int32(len(l.Data)) - other.Offsets[0]
		for _, offset := range other.Offsets[1:] {
			l.Offsets = append(l.Offsets, base+offset)
		}
		l.Data = append(l.Data, other.Data[other.Offsets[0]:other.Offsets[len(other.Offsets)-1]]...)
	}
	return nil
}

// appendLevels appends the count levels of more to the n levels of levels. nil stands for levels that all are level,
// in arguments and result.
func appendLevels(levels, more []byte, n, count int, level byte) []byte {
	if levels == nil && more == nil {
		return nil
	}
	if levels == nil {
		levels = bytes.Repeat([]byte{level}, n)
	}
	if more == nil {
		more = bytes.Repeat([]byte{level}, count)
	}
	return append(levels, more...)
}
