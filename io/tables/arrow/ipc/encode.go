package ipc

import (
	"bytes"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"

	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/tables"
	"robotsbatch/io/tables/arrow/layout"
)

// encodeRecord returns the message of a record of these columns, not sealed, compressed with a codec, in memory taken
// from a grant. The arrays have no offsets, and are arrays of indices where the schema has dictionaries. renumbered has
// the shapes of the first columns if their indices are renumbered later: the body then lacks these indices.
func encodeRecord(renumbered []layout.Shape, columns []*array.Data, codec int8, grant *budget.Grant) (m message, err error) {
	b := &layout.BatchMeta{Version: layout.MetadataV5, Codec: codec}
	if len(columns) > 0 {
		b.Rows = int64(columns[0].Len())
	}
	var contents [][]byte // of the buffers
	for _, d := range columns {
		if contents, err = addArray(b, contents, d); err != nil {
			return message{}, err
		}
	}
	plain := int64(0)
	for _, content := range contents {
		plain += (int64(len(content)) + 7) &^ 7 // padded
	}
	if err := grant.Take(plain); err != nil { // as much as the body may need; the last line corrects it
		return message{}, err
	}
	m.batch = b
	m.metadata = func(bodySize int64) []byte { return layout.RecordMessage(b, bodySize, layout.NoSum[:], nil) }
	b.Buffers = make([]layout.Span, len(contents))
	if m.indices, err = findIndices(renumbered, b); err != nil {
		return message{}, err
	}
	m.setBody(contents, plain)
	return m, grant.Take(m.size() + int64(cap(m.body)-len(m.body)) - plain) // mostly negative: it gives memory back
}

// addArray adds the nodes of an array and of its children to the metadata, and appends the contents of
// their buffers to contents.
func addArray(b *layout.BatchMeta, contents [][]byte, d *array.Data) (_ [][]byte, err error) {
	n, nulls := d.Len(), d.NullN()
	if nulls < 0 {
		nulls = n - bitutil.CountSetBits(d.Buffers()[0].Bytes(), 0, n)
	}
	b.Nodes = append(b.Nodes, layout.FieldNode{Length: int64(n), Nulls: int64(nulls)})
	of := layoutOfArray(d.DataType())
	for i, spec := range of.Buffers {
		switch {
		case spec.Kind == arrow.KindAlwaysNull:
		case i == 0 && nulls == 0 && d.Offset() == 0: // no validity bitmap
			contents = append(contents, nil)
		default:
			content, err := contentOf(d, i, spec)
			if err != nil {
				return nil, err
			}
			contents = append(contents, content)
		}
	}
	if of.VariadicSpec != nil {
		views := d.Buffers()[len(of.Buffers):]
		b.Variadic = append(b.Variadic, int64(len(views)))
		for _, buffer := range views {
			contents = append(contents, buffer.Bytes())
		}
	}
	for _, child := range d.Children() {
		if contents, err = addArray(b, contents, child.(*array.Data)); err != nil {
			return nil, err
		}
	}
	return contents, nil
}

// contentOf returns the bytes of buffer i of an array that its values need, without those that follow. spec describes
// the buffer.
func contentOf(d *array.Data, i int, spec arrow.BufferSpec) ([]byte, error) {
	var content []byte
	if i < len(d.Buffers()) && d.Buffers()[i] != nil {
		content = d.Buffers()[i].Bytes()
	}
	n := d.Len()
	size := n * spec.ByteWidth
	switch {
	case spec.Kind == arrow.KindBitmap:
		size = (n + 7) / 8
	case spec.Kind == arrow.KindVarWidth:
		size = len(content)
	case i == 1 && hasOffsets(d.DataType()):
		size = (n + 1) * spec.ByteWidth
		if n == 0 { // Polars does not read offsets of no bytes
			content = zeros[:size]
		}
	}
	if d.Offset() > 0 || len(content) < size {
		return nil, layout.ErrShort
	}
	return content[:size], nil
}

// layoutOfArray describes the buffers of the library's arrays of a type. The first buffer of a union is always nil, which
// the library's own Layout does not say.
func layoutOfArray(dt arrow.DataType) arrow.DataTypeLayout {
	of := tables.Storage(dt).Layout()
	if _, is := tables.Storage(dt).(arrow.UnionType); is {
		of.Buffers = slices.Insert(of.Buffers, 0, arrow.SpecAlwaysNull())
	}
	return of
}

// hasOffsets reports whether the second buffer of arrays of a type has offsets, one more than
// there are values.
func hasOffsets(dt arrow.DataType) bool {
	switch dt := tables.Storage(dt).(type) {
	case *arrow.ListType, *arrow.LargeListType, *arrow.MapType:
		return true
	case arrow.BinaryDataType:
		return dt.Layout().VariadicSpec == nil
	}
	return false
}

// setBody sets the message's body to buffers with these contents, compressed if the batch has a codec, and lists them in
// m.batch. plain is the number of bytes of all contents, padded. The buffers of m.indices are not added to the body:
// m.indices gets copies of them.
func (m *message) setBody(contents [][]byte, plain int64) {
	room := plain
	if m.batch.Codec != layout.CodecNone {
		room /= 3 // a guess
	}
	out, indices := make([]byte, 0, room), m.indices
	for i, content := range contents {
		begin := len(out)
		if len(indices) > 0 && indices[0].buffer == i { // the buffer before is their validity bitmap
			indices[0].values, indices[0].valid = bytes.Clone(content), bytes.Clone(contents[i-1])
			indices = indices[1:]
		} else {
			out = layout.AppendBuffer(out, content, m.batch.Codec, compress.Fastest)
		}
		m.batch.Buffers[i] = layout.Span{Offset: int64(begin), Length: int64(len(out) - begin)}
		out = append(out, padding(len(out))...)
	}
	m.body = out
}

// findIndices returns the buffers of indices into dictionaries in the first columns of a record batch, which have these
// shapes. The result has no values yet.
func findIndices(columns []layout.Shape, b *layout.BatchMeta) (list []inputIndices, err error) {
	at := layout.Cursor{Batch: b, Visit: func(s *layout.Shape, buffer int) {
		if s.Encoded {
			list = append(list, inputIndices{buffer: buffer, shape: s})
		}
	}}
	err = at.NextAll(columns)
	return list, err
}
