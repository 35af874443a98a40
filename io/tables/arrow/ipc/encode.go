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

// message is a message as it is written.
type message struct {
	head   []byte // marker, length and metadata, padded
	body   []byte
	lifted []lifted // parts of the body that are not in memory

	batch  *layout.BatchMeta             // of a record batch or a dictionary
	codes  []codes                       // that the body lacks until they are numbered
	finish func(bodyLength int64) []byte // returns the metadata
}

// liftedSize is how many bytes of the body are not in memory.
func (m *message) liftedSize() (size int64) {
	for _, l := range m.lifted {
		size += l.size
	}
	return size
}

// end adds the metadata, unless something is to be numbered before.
func (m *message) end() {
	if len(m.codes) == 0 {
		m.seal(m.finish(int64(len(m.body)) + m.liftedSize()))
	}
}

// at returns the footer's block for the message, written at offset pos.
func (m message) at(pos int64) layout.Block {
	return layout.Block{Offset: pos, Meta: int32(len(m.head)), Body: int64(len(m.body)) + m.liftedSize()}
}

// size is how many bytes of memory it takes.
func (m message) size() (size int64) {
	for _, c := range m.codes {
		size += int64(len(c.values) + len(c.valid))
	}
	return size + int64(len(m.head)+len(m.body))
}

// seal adds the metadata, and fills in the checksum if there is room for one. It covers
// what follows the last lifted part.
func (m *message) seal(meta []byte) {
	m.head = layout.SealedHead(meta, m.body[behind(m.lifted):])
}

// encodeRecord returns the message of a record of these columns, compressed, in memory taken
// from a grant. The arrays have no offsets. Indices in columns of the first ones' shapes are
// numbered later, and the body lacks them.
func encodeRecord(coded []layout.Shape, columns []*array.Data, codec int8, grant *budget.Grant) (m message, err error) {
	b := &layout.BatchMeta{Version: layout.MetadataV5, Codec: codec}
	if len(columns) > 0 {
		b.Rows = int64(columns[0].Len())
	}
	var contents [][]byte
	for _, d := range columns {
		if contents, err = addArray(b, contents, d); err != nil {
			return message{}, err
		}
	}
	size := int64(0)
	for _, content := range contents {
		size += (int64(len(content)) + 7) &^ 7
	}
	if err := grant.Take(size); err != nil {
		return message{}, err
	}
	m.batch = b
	m.finish = func(bodyLength int64) []byte { return layout.RecordMessage(b, bodyLength) }
	b.Buffers = make([]layout.Span, len(contents))
	if m.codes, err = codesOf(coded, b); err != nil {
		return message{}, err
	}
	m.deflate(contents, size)
	m.end()
	return m, grant.Take(m.size() + int64(cap(m.body)-len(m.body)) - size)
}

// addArray adds the nodes of an array and of its children, and appends their buffers.
func addArray(b *layout.BatchMeta, contents [][]byte, d *array.Data) ([][]byte, error) {
	n, nulls := d.Len(), d.NullN()
	if nulls < 0 {
		nulls = n - bitutil.CountSetBits(d.Buffers()[0].Bytes(), 0, n)
	}
	b.Nodes = append(b.Nodes, layout.FieldNode{Length: int64(n), Nulls: int64(nulls)})
	of := layoutOfArray(d.DataType())
	for i, spec := range of.Buffers {
		var content []byte
		if i < len(d.Buffers()) && d.Buffers()[i] != nil {
			content = d.Buffers()[i].Bytes()
		}
		size := 0
		switch {
		case spec.Kind == arrow.KindAlwaysNull:
			continue
		case i == 0 && nulls == 0:
		case spec.Kind == arrow.KindBitmap:
			size = (n + 7) / 8
		case spec.Kind == arrow.KindVarWidth:
			size = len(content)
		case i == 1 && hasOffsets(d.DataType()):
			size = (n + 1) * spec.ByteWidth
			if n == 0 { // Polars does not read offsets of no bytes
				content = zeros[:size]
			}
		default:
			size = n * spec.ByteWidth
		}
		if d.Offset() > 0 || len(content) < size {
			return nil, errShort
		}
		contents = append(contents, content[:size])
	}
	if of.VariadicSpec != nil {
		views := d.Buffers()[len(of.Buffers):]
		b.Variadic = append(b.Variadic, int64(len(views)))
		for _, buffer := range views {
			contents = append(contents, buffer.Bytes())
		}
	}
	for _, child := range d.Children() {
		var err error
		if contents, err = addArray(b, contents, child.(*array.Data)); err != nil {
			return nil, err
		}
	}
	return contents, nil
}

// layoutOfArray returns which buffers the library's arrays of a type have. Layout leaves out the
// first one of unions, which is always nil, in the place of the validity.
func layoutOfArray(dt arrow.DataType) arrow.DataTypeLayout {
	of := tables.Storage(dt).Layout()
	if _, is := tables.Storage(dt).(arrow.UnionType); is {
		of.Buffers = slices.Insert(of.Buffers, 0, arrow.SpecAlwaysNull())
	}
	return of
}

// hasOffsets reports whether the second buffer of arrays of a type has an offset more than
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

// deflate gives the message a body of these buffers, of size bytes in all, compressed, without
// those that are numbered later.
func (m *message) deflate(contents [][]byte, size int64) {
	if m.batch.Codec != layout.CodecNone {
		size /= 3
	}
	out, codes := make([]byte, 0, size), m.codes
	for i, content := range contents {
		begin := len(out)
		switch {
		case len(codes) > 0 && codes[0].buffer == i:
			codes[0].values, codes[0].valid = bytes.Clone(content), bytes.Clone(contents[i-1])
			codes = codes[1:]
		case m.batch.Codec == layout.CodecNone:
			out = append(out, content...)
		case len(content) > 0:
			out = layout.AppendDeflated(out, content, m.batch.Codec, compress.Fastest)
		}
		m.batch.Buffers[i] = layout.Span{Offset: int64(begin), Length: int64(len(out) - begin)}
		out = append(out, zeros[:-len(out)&7]...)
	}
	m.body = out
}

var zeros [8]byte
