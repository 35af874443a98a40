package ipc

import (
	"bytes"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"

	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/compress/zstdcut"
	"robotsbatch/io/tables"
	"robotsbatch/io/tables/arrow/layout"
)

// A record batch of which some rows are kept is gathered: of each buffer, the bytes of the kept
// rows are copied to a new body, a run of rows at a time. Nothing becomes an array of the library.
//
//	validity, booleans     bits
//	values of fixed width  bytes
//	indices                bytes, which are renumbered when they are written ([inputIndices])
//	texts                  offsets, from 0 again; bytes from the first text of a run to
//	                       its last
//	views                  16 bytes a value; the bytes that they refer to
//	lists                  offsets, from 0 again; the child, by runs of the lists' values
//	structs                the children, by the same runs
//	lists of fixed size    the child, by runs that are as many times longer as a list has values
//	list views             offsets and sizes; the parts of the child that they refer to
//	unions                 type codes; the children, of dense ones by new offsets
//	run ends               the ends of the runs that have kept rows; a value for each

// Kept says which rows of a part are copied.
type Kept struct {
	Rows tables.Rows
	// Texts, unless nil, has the kept rows of one column of the input, whose index is Column: an array of texts with
	// offsets. A caller that has decoded the column anyway gives them here, so that they are not gathered again.
	Column int
	Texts  *array.Data
}

// gather returns the kept rows of a record batch as a message, still without a head. Its body has room for spare bytes
// of columns to add, and its memory is taken from a grant. refused counts buffers that could not be cut.
func (r *copiedRecord) gather(kept Kept, spare int, grant *budget.Grant, refused *zstdcut.Refusals) (m message, err error) {
	if r.schema.Unknown != nil && r.whole { // of a type that is not known, nobody can say which bytes belong to a row
		return m, r.schema.Unknown
	}
	size := int64(0)
	for _, b := range r.meta.Buffers {
		size += b.Length
	}
	if size > max(r.frame.BodyLength, r.limit) { // buffers overlap: the output would be larger
		return m, &budget.MemoryError{What: "a record batch", Need: size, Limit: r.limit}
	}
	g := &gathering{bodyCopier: newBodyCopier(r, grant, refused), at: layout.Cursor{Batch: r.meta}, kept: kept}
	g.runs = len(kept.Rows)
	defer g.release()
	if err := g.columns(spare); err != nil {
		return m, err
	}
	return message{body: g.out.bytes, lifted: g.lifted, from: r.frame, batch: &g.made, indices: g.inputIndices}, nil
}

// gathering is the state of gathering a record batch. A method that gathers something reads the input's next array, or
// buffers, and appends the kept values to the new body.
type gathering struct {
	bodyCopier
	at           layout.Cursor // of the input's arrays and buffers
	kept         Kept
	inputIndices []inputIndices // buffers that the new body lacks until the indices are renumbered
}

// columns gathers the copied columns. It makes room in the body for spare bytes more, and for the indices, which are
// appended when they are renumbered.
func (g *gathering) columns(spare int) error {
	if err := g.reserve(g.kept.Rows.Count(), spare); err != nil {
		return err
	}
	from := g.record
	for _, i := range from.columns {
		if err := g.column(i, &from.schema.Columns[i]); err != nil {
			return fmt.Errorf("column %q: %w", from.schema.Arrow.Field(i).Name, err)
		}
	}
	for _, indices := range g.inputIndices {
		spare += len(indices.values) + layout.PrefixSize + len(zeros) // which are padding
	}
	return g.grow(spare)
}

// column gathers column i, or adds its kept rows if they are given as texts.
func (g *gathering) column(i int, shape *layout.Shape) error {
	if g.kept.Texts == nil || i != g.kept.Column {
		return g.array(shape, int(g.record.meta.Rows), g.kept.Rows)
	}
	if err := g.at.Next(shape); err != nil { // past the input's
		return err
	}
	return g.addTexts(g.kept.Texts)
}

// addTexts adds an array of texts that was gathered already. It reads nothing of the input.
func (g *gathering) addTexts(d *array.Data) error {
	contents, err := addArray(&g.made, nil, d)
	for i := 0; i < len(contents) && err == nil; i++ {
		err = g.add(contents[i])
	}
	return err
}

// nextNode returns the node of the input's next array. The array must have least values or more, because rows of the
// array that contains it refer to them. There is such a node: Reader.Next has checked the number of arrays and buffers.
func (g *gathering) nextNode(least int) (layout.FieldNode, error) {
	node := g.record.meta.Nodes[g.at.Nodes]
	g.at.Nodes++
	if node.Length < int64(least) || node.Length > math.MaxInt/2 || !node.IsPlausible(g.record.limit) {
		return node, fmt.Errorf("damaged metadata: an array has %d values, %d of them null, and must have %d", node.Length, node.Nulls, least)
	}
	return node, nil
}

// source is an array of the input, and which of its values are kept.
type source struct {
	*layout.Shape
	length int          // number of its values
	rows   tables.Rows  // the values that are kept
	n      int          // number of these
	valid  tables.Valid // of the kept values, until the next bitmap is gathered; nil if none of them is null
}

// array gathers those values of the input's next array whose indices are rows, with its children. The array has shape s
// and must have least values or more.
func (g *gathering) array(s *layout.Shape, least int, rows tables.Rows) error {
	node, err := g.nextNode(least)
	if err != nil {
		return err
	}
	a := source{Shape: s, length: int(node.Length), rows: rows, n: rows.Count()}
	made := layout.FieldNode{Length: int64(a.n)}
	switch {
	case s.HasValidity():
		a.valid, made.Nulls, err = g.validity(node, a)
	case s.Kind == layout.TypeNull:
		made.Nulls = made.Length
	}
	if err != nil {
		return err
	}
	g.made.Nodes = append(g.made.Nodes, made)
	if s.Encoded {
		return g.indices(a)
	}
	switch s.Kind {
	case layout.TypeNull:
		return nil
	case layout.TypeBool:
		return g.bools(a)
	case layout.TypeBinary, layout.TypeUTF8, layout.TypeLargeBinary, layout.TypeLargeUTF8:
		return g.texts(a, s.OffsetWidth())
	case layout.TypeBinaryView, layout.TypeUTF8View:
		return g.views(a)
	case layout.TypeList, layout.TypeMap, layout.TypeLargeList:
		return g.lists(a, s.OffsetWidth())
	case layout.TypeListView, layout.TypeLargeListView:
		return g.listViews(a, s.OffsetWidth())
	case layout.TypeFixedSizeList:
		return g.fixedLists(a)
	case layout.TypeStruct:
		return g.children(a)
	case layout.TypeUnion:
		if s.Dense {
			return g.denseUnion(a)
		}
		return g.sparseUnion(a)
	case layout.TypeRunEnds:
		return g.runEnds(a)
	}
	return g.values(a, s.Width)
}

// nextBuffer returns where the next buffer of the input lies.
func (g *gathering) nextBuffer() layout.Span {
	g.at.Buffers++
	return g.record.meta.Buffers[g.at.Buffers-1]
}

// readNext returns the next buffer of the input, as readPlain does.
func (g *gathering) readNext(least int) ([]byte, error) { return g.readPlain(g.nextBuffer(), least) }

// copyNext copies the kept values in the next buffer of the input, of width bytes each, to the beginning of to.
func (g *gathering) copyNext(to []byte, a source, width int) error {
	from, err := g.readNext(a.length * width)
	if err == nil {
		a.rows.CopyValues(to, from, width)
	}
	return err
}

// validity gathers the validity bitmap of an array with this node. It returns the kept values' bitmap, which is valid
// until the next bitmap is gathered, and the number of nulls. The bitmap is nil if there are none.
func (g *gathering) validity(node layout.FieldNode, a source) (valid []byte, nulls int64, err error) {
	if node.Nulls == 0 || node.Length == 0 {
		g.nextBuffer()
		return nil, 0, g.add(nil)
	}
	bits, err := g.readNext((a.length + 7) / 8)
	if err != nil {
		return nil, 0, err
	}
	if all := a.length - bitutil.CountSetBits(bits, 0, a.length); node.Nulls > 0 && int64(all) != node.Nulls {
		return nil, 0, fmt.Errorf("damaged: %d values are null where it says %d", all, node.Nulls)
	}
	if valid, err = g.bits(bits, a.rows, a.n); err != nil {
		return nil, 0, err
	}
	if nulls = int64(a.n - bitutil.CountSetBits(valid, 0, a.n)); nulls == 0 {
		valid = nil
	}
	return valid, nulls, g.add(valid)
}

// bools gathers a buffer of a bit a value.
func (g *gathering) bools(a source) error {
	bits, err := g.readNext((a.length + 7) / 8)
	if err == nil {
		bits, err = g.bits(bits, a.rows, a.n)
	}
	if err == nil {
		err = g.add(bits)
	}
	return err
}

// values gathers a buffer of values of width bytes.
func (g *gathering) values(a source, width int) error {
	buffer := g.nextBuffer()
	if width == 0 { // binary values of a fixed size of 0
		return g.add(nil)
	}
	return g.copyValues(buffer, width, a.length, a.rows)
}

// indices gathers a buffer of indices into a dictionary. The new body lacks them until they are renumbered.
func (g *gathering) indices(a source) error {
	from, err := g.readNext(a.Width * a.length) // before memory is taken: only then is a.n no more than the input has
	if err == nil {
		err = g.grant.Take(int64(a.n*a.Width + len(a.valid)))
	}
	if err != nil {
		return err
	}
	kept := inputIndices{buffer: len(g.made.Buffers), shape: a.Shape, values: make([]byte, a.n*a.Width), valid: bytes.Clone(a.valid)}
	a.rows.CopyValues(kept.values, from, a.Width)
	g.inputIndices = append(g.inputIndices, kept)
	return g.add(nil) // lists the buffer, whose place addIndices sets
}

// texts gathers offsets of width bytes, and the bytes between them.
func (g *gathering) texts(a source, width int) error {
	end, parts, err := g.offsets(a, width)
	if err != nil {
		return err
	}
	g.runs += len(parts)
	defer func() { g.runs -= len(parts) }()
	return g.copyValues(g.nextBuffer(), 1, end, parts)
}

// lists gathers offsets of width bytes, and the values between them.
func (g *gathering) lists(a source, width int) error {
	end, values, err := g.offsets(a, width)
	if err != nil {
		return err
	}
	return g.child(&a.Children[0], end, values)
}

// child gathers values of a child, as array does. Their runs are not those of the array that contains the child: they
// take memory of their own, which g.runs counts meanwhile.
func (g *gathering) child(s *layout.Shape, least int, values tables.Rows) error {
	g.runs += len(values)
	defer func() { g.runs -= len(values) }()
	return g.array(s, least, values)
}

// children gathers the children of an array, which have a value for each of the array's.
func (g *gathering) children(a source) error {
	for i := range a.Children {
		if err := g.array(&a.Children[i], a.length, a.rows); err != nil {
			return err
		}
	}
	return nil
}

// offsets gathers a buffer of offsets of width bytes. It returns the last offset of the input, and
// the runs of the input's values that kept rows have.
func (g *gathering) offsets(a source, width int) (end int, values tables.Rows, err error) {
	least := (a.length + 1) * width
	if a.length == 0 {
		least = 0 // some writers have no offset then
	}
	buffer := g.nextBuffer()
	from, err := g.readPlain(buffer, least)
	if err != nil {
		return 0, nil, err
	}
	to, err := g.build((a.n + 1) * width)
	if err != nil {
		return 0, nil, err
	}
	if end, err = tables.CheckOffsets(from[:least], width); err != nil {
		return 0, nil, err
	}
	values = a.rows.MoveOffsets(to, from[:least], width)
	// If all are kept and begin with 0 already, they do not change: copyValues need not compress them again.
	if isUnchanged := a.n == a.length && a.n > 0 && bytes.Equal(to[:width], from[:width]); isUnchanged {
		err = g.copyValues(buffer, width, a.n+1, tables.Rows(nil).Add(0, a.n+1))
	} else {
		err = g.add(to)
	}
	return end, values, err
}

// fixedLists gathers the values of lists that all have a.Width values.
func (g *gathering) fixedLists(a source) error {
	if a.length > math.MaxInt/2/a.Width {
		return layout.ErrShort
	}
	return g.child(&a.Children[0], a.length*a.Width, a.rows.Times(a.Width))
}

// referred gathers the values of a child, the input's next array, to which list views or offsets of a dense union refer.
// The child must have all of them.
func (g *gathering) referred(s *layout.Shape, values tables.Rows) error {
	least := 0
	if len(values) > 0 {
		least = values[len(values)-1].High
	}
	return g.array(s, least, values)
}

// listViews gathers offsets and sizes of width bytes, and the values of the lists.
func (g *gathering) listViews(a source, width int) error {
	g.runs += 2 * a.n // at most: runs of values, and the new begin of each
	defer func() { g.runs -= 2 * a.n }()
	built, err := g.build(2 * a.n * width)
	if err != nil {
		return err
	}
	offsets, sizes := built[:a.n*width], built[a.n*width:]
	for _, to := range [][]byte{offsets, sizes} {
		if err := g.copyNext(to, a, width); err != nil {
			return err
		}
	}
	values, err := a.valid.MoveLists(offsets, sizes, width)
	if err == nil {
		err = g.add(offsets)
	}
	if err == nil {
		err = g.add(sizes)
	}
	if err != nil {
		return err
	}
	return g.referred(&a.Children[0], values)
}

// sparseUnion gathers type codes, a byte each, and the children, which have a value for each.
func (g *gathering) sparseUnion(a source) error {
	if err := g.values(a, 1); err != nil {
		return err
	}
	return g.children(a)
}

// denseUnion gathers type codes, a byte each, and offsets, 4 bytes each, and the values that these refer to in
// each child.
func (g *gathering) denseUnion(a source) error {
	g.runs += 3 * a.n // at most: runs of values, the new begin of each, and type codes
	defer func() { g.runs -= 3 * a.n }()
	from, err := g.readNext(a.length) // before memory is taken, as in indices
	if err != nil {
		return err
	}
	codes := make([]byte, a.n)
	a.rows.CopyValues(codes, from, 1)
	if err := g.add(codes); err != nil {
		return err
	}
	offsets, err := g.build(4 * a.n)
	if err == nil {
		err = g.copyNext(offsets, a, 4)
	}
	if err != nil {
		return err
	}
	values, err := tables.MoveUnion(codes, offsets, a.Codes)
	if err == nil {
		err = g.add(offsets)
	}
	for i := 0; i < len(values) && err == nil; i++ {
		err = g.referred(&a.Children[i], values[i])
	}
	return err
}

// runEnds gathers the ends of the runs that have kept rows, and their values.
func (g *gathering) runEnds(a source) error {
	node, err := g.nextNode(0)
	if err != nil {
		return err
	}
	g.nextBuffer() // the ends' validity bitmap, which they do not need
	width, n := a.Children[0].Width, int(node.Length)
	from, err := g.readNext(n * width)
	if err != nil {
		return err
	}
	to, err := g.build(n * width)
	if err != nil {
		return err
	}
	runs, err := a.rows.MoveRunEnds(to, from[:n*width], width, a.length)
	if err != nil {
		return err
	}
	made := runs.Count() // ends that are kept
	g.made.Nodes = append(g.made.Nodes, layout.FieldNode{Length: int64(made)})
	if err = g.add(nil); err == nil {
		err = g.add(to[:made*width])
	}
	if err != nil {
		return err
	}
	return g.child(&a.Children[1], n, runs)
}

// views gathers an array of views, with the parts of buffers to which they refer.
func (g *gathering) views(a source) error {
	const size = arrow.ViewHeaderSizeBytes
	g.runs += 2 * a.n // at most: runs of bytes, and the new begin of each
	defer func() { g.runs -= 2 * a.n }()
	headers := g.nextBuffer()
	from, err := g.readPlain(headers, size*a.length)
	if err != nil {
		return err
	}
	to, err := g.build(size * a.n)
	if err != nil {
		return err
	}
	a.rows.CopyValues(to, from, size)
	count := int(g.record.meta.Variadic[g.at.Variadic])
	buffers := g.record.meta.Buffers[g.at.Buffers:][:count] // that views refer to
	g.at.Variadic++
	g.at.Buffers += count
	kept, err := a.valid.MoveViews(to, count)
	if err != nil {
		return err
	}
	if a.n == a.length && bytes.Equal(to, from[:len(to)]) { // nothing moved: copyValues need not compress them again
		err = g.copyValues(headers, size, a.n, a.rows)
	} else {
		err = g.add(to)
	}
	number := int64(0) // of buffers that are kept
	for i, parts := range kept {
		if err == nil && parts != nil {
			err = g.copyValues(buffers[i], 1, parts[len(parts)-1].High, parts)
			number++
		}
	}
	g.made.Variadic = append(g.made.Variadic, number)
	return err
}
