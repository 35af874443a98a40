package columns

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
)

// FromParquet returns the nodes of the file's top-level columns, with their levels and all nodes below them.
func FromParquet(f *layout.File) []*Node {
	at := 1 // after the root
	nodes := nodesOf(f.Schema, &at, int(f.Schema[0].Children))
	SetLevels(nodes)
	return nodes
}

// nodesOf returns the nodes of n siblings, with all nodes below them. elements has them depth first from
// *at on. nodesOf moves *at past them.
func nodesOf(elements []layout.Element, at *int, n int) []*Node {
	nodes := make([]*Node, n)
	for i := range nodes {
		e := &elements[*at]
		*at++
		node := &Node{Name: e.Name, Repetition: e.Repetition, Type: e.Type, Length: e.TypeLength, FieldID: -1, Meaning: meaningOf(e)}
		if e.HasFieldID {
			node.FieldID = e.FieldID
		}
		if e.Children > 0 { // a group, whatever type it says
			node.Type = layout.NoType
		}
		node.Children = nodesOf(elements, at, int(e.Children))
		nodes[i] = node
	}
	return nodes
}

// meaningOf returns the meaning of an element's values: that of the logical type or, if there is none, of
// the older converted type. It is Other if it is not known here.
func meaningOf(e *layout.Element) Meaning {
	l := &e.Logical
	switch kind := Kind(l.Kind); kind {
	case NoKind:
		return convertedMeaning(e)
	case String, Map, List, Enum, Date, Null, JSON, BSON, UUID, Float16:
		return Meaning{Kind: kind}
	case Decimal:
		return Meaning{Kind: kind, Precision: l.Precision, Scale: l.Scale}
	case Time, Timestamp:
		if l.Unit < 1 || l.Unit > 3 {
			return Meaning{Kind: Other}
		}
		return Meaning{Kind: kind, Unit: arrow.TimeUnit(l.Unit), UTC: l.UTC} // the numbers are Arrow's
	case Integer:
		return Meaning{Kind: kind, Bits: l.Bits, Signed: l.Signed}
	}
	return Meaning{Kind: Other}
}

// converted are the meanings of the converted types, by their numbers.
var converted = [...]Meaning{
	0: {Kind: String}, 1: {Kind: Map}, 2: {Kind: Map}, 3: {Kind: List}, 4: {Kind: Enum}, 5: {Kind: Decimal}, 6: {Kind: Date}, // 2 is what some old writers call a map
	7: {Kind: Time, Unit: arrow.Millisecond, UTC: true}, 8: {Kind: Time, Unit: arrow.Microsecond, UTC: true},
	9: {Kind: Timestamp, Unit: arrow.Millisecond, Old: true}, 10: {Kind: Timestamp, Unit: arrow.Microsecond, Old: true},
	11: {Kind: Integer, Bits: 8}, 12: {Kind: Integer, Bits: 16}, 13: {Kind: Integer, Bits: 32}, 14: {Kind: Integer, Bits: 64},
	15: {Kind: Integer, Bits: 8, Signed: true}, 16: {Kind: Integer, Bits: 16, Signed: true}, 17: {Kind: Integer, Bits: 32, Signed: true}, 18: {Kind: Integer, Bits: 64, Signed: true},
	19: {Kind: JSON}, 20: {Kind: BSON}, 21: {Kind: Interval},
}

// convertedMeaning returns the meaning of an element's converted type, none for -1.
func convertedMeaning(e *layout.Element) Meaning {
	switch c := e.Converted; {
	case c == -1:
		return Meaning{}
	case c < 0 || int(c) >= len(converted):
		return Meaning{Kind: Other}
	case converted[c].Kind == Decimal:
		return Meaning{Kind: Decimal, Precision: e.Precision, Scale: e.Scale}
	default:
		return converted[c]
	}
}

// Converted returns the number of the converted type that has the meaning m for older readers, -1 for none.
func (m Meaning) Converted() int32 {
	m.Precision, m.Scale = 0, 0
	if m.Kind == Timestamp && m.UTC { // as the table has it: converted timestamps are in UTC
		m.UTC, m.Old = false, true
	}
	return int32(slices.Index(converted[:], m))
}

// nesting is how the entries of a column become an array.
type nesting int8

const (
	aLeaf nesting = iota
	aStruct
	aList
	aMap
)

// Column is a column of a table that is read from Parquet: how its leaves become
// an array.
type Column struct {
	// Field is the column in Arrow.
	Field arrow.Field
	// Leaves are those that it has.
	Leaves []*Node

	shape nesting
	// present is the definition level of a value that is not null, and
	// repetition that of values that go on in a list.
	present, repetition byte
	children            []*Column
}

// reader makes columns of nodes.
type reader struct {
	name  string // of the column
	casts []Cast
}

// Read returns the column of a node at the top of the schema. stored is its field in the Arrow schema that
// some writers store in the file, or nil. It restores Arrow types that Parquet's schema cannot say. The casts
// name the stored types that were not restored, and INT96. The error is for a damaged schema, or a type that
// cannot be read.
func Read(n *Node, stored *arrow.Field) (*Column, []Cast, error) {
	r := &reader{name: n.Name}
	c, err := r.node(n, 0) // the root is never null
	if err == nil {
		c.restore(r, stored)
	}
	return c, r.casts, err
}

// node returns the column of a node: a list of its values if it is repeated. above is the lowest definition
// level at which the parent is not null.
func (r *reader) node(n *Node, above byte) (*Column, error) {
	if n.Repetition != layout.Repeated {
		return r.element(n, above)
	}
	element, err := r.element(n, above+1)
	if err != nil {
		return nil, err
	}
	return listColumn(n, above, element), nil
}

// listColumn returns a column of lists. repeated is the node with the elements, and element their column.
// present is the lowest definition level of a list that is not null.
func listColumn(repeated *Node, present byte, element *Column) *Column {
	field := arrow.Field{Name: repeated.Name, Type: arrow.ListOfField(element.Field)}
	return &Column{
		Field: field, shape: aList, present: present, repetition: repeated.MaxRepetition,
		Leaves: element.Leaves, children: []*Column{element},
	}
}

// element returns the column of a node or, if it is repeated, of one element of its list. above is as in node.
func (r *reader) element(n *Node, above byte) (c *Column, err error) {
	present := above
	if n.Repetition == layout.Optional {
		present++
	}
	switch {
	case n.Type != layout.NoType:
		c, err = r.leaf(n)
	case n.Meaning.Kind == List:
		c, err = r.listOf(n, present)
	case n.Meaning.Kind == Map:
		c, err = r.mapOf(n, present)
	default:
		c, err = r.structOf(n, n.Children, present)
	}
	if err != nil {
		return nil, err
	}
	c.Field.Name, c.Field.Nullable = n.Name, n.Repetition == layout.Optional || c.Field.Type.ID() == arrow.NULL
	c.present = present
	if n.FieldID >= 0 {
		id := arrow.NewMetadata([]string{fieldIDKey}, []string{fmt.Sprint(n.FieldID)})
		c.Field.Metadata = merge(c.Field.Metadata, id)
	}
	return c, nil
}

// structOf returns a column of structs with these children. n is the group, for errors. present is the lowest
// definition level of a struct that is not null.
func (r *reader) structOf(n *Node, children []*Node, present byte) (*Column, error) {
	if len(children) == 0 {
		return nil, fmt.Errorf("its group %q has no columns", n.Name)
	}
	c := &Column{shape: aStruct, present: present}
	for _, child := range children {
		column, err := r.node(child, present)
		if err != nil {
			return nil, err
		}
		c.children, c.Leaves = append(c.children, column), append(c.Leaves, column.Leaves...)
	}
	c.Field.Type = c.structType()
	return c, nil
}

// listOf returns the column of a group that is a list. Its one child is repeated, and is a group whose one
// child is the element; older writers repeat the element itself. present is as in listColumn.
func (r *reader) listOf(n *Node, present byte) (c *Column, err error) {
	if len(n.Children) != 1 || n.Children[0].Repetition != layout.Repeated {
		return nil, errors.New("damaged: a list of it does not have one repeated field")
	}
	repeated := n.Children[0]
	// The format's rules for older writers (LogicalTypes.md, Lists).
	isElement := repeated.Type != layout.NoType || repeated.Meaning.Kind == List || repeated.Meaning.Kind == Map ||
		len(repeated.Children) != 1 || repeated.Name == "array" || repeated.Name == n.Name+"_tuple"
	var element *Column
	if isElement {
		element, err = r.element(repeated, present+1)
	} else {
		element, err = r.node(repeated.Children[0], present+1)
	}
	if err != nil {
		return nil, err
	}
	return listColumn(repeated, present, element), nil
}

// mapOf returns the column of a group that is a map. One without values is a set, and read as a list.
// present is as in listColumn.
func (r *reader) mapOf(n *Node, present byte) (*Column, error) {
	if len(n.Children) != 1 || n.Children[0].Repetition != layout.Repeated || n.Children[0].Type != layout.NoType {
		return nil, errors.New("damaged: a map of it does not have one repeated group")
	}
	pairs := n.Children[0]
	switch len(pairs.Children) {
	case 1: // a set
		return r.listOf(n, present)
	case 2:
	default:
		return nil, fmt.Errorf("damaged: a map of it has %d columns", len(pairs.Children))
	}
	if pairs.Children[0].Repetition != layout.Required {
		return nil, errors.New("the keys of its maps may be null, which Arrow's may not")
	}
	entries, err := r.structOf(pairs, pairs.Children, present+1)
	if err != nil {
		return nil, err
	}
	c := listColumn(pairs, present, entries)
	c.shape, c.Field.Type = aMap, tables.MapOf(entries.children[0].Field, entries.children[1].Field, false) // keys in any order
	return c, nil
}

// leaf returns the column of a node that has values, and notes that INT96 becomes a timestamp.
func (r *reader) leaf(n *Node) (*Column, error) {
	dt, extra, err := leafType(n)
	if err != nil {
		return nil, err
	}
	if n.Type == layout.Int96 {
		r.casts = append(r.casts, Cast{Column: r.name, From: "INT96", To: dt.String()})
	}
	field := arrow.Field{Type: dt, Metadata: arrow.MetadataFrom(extra)}
	return &Column{Field: field, Leaves: []*Node{n}}, nil
}
