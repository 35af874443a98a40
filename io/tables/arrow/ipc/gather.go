package ipc

import (
	"bytes"
	"errors"
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

// A record batch that loses some of its rows is gathered: of each buffer, the bytes of the
// rows that stay are copied, a run of rows at a time. Nothing becomes an array of the
// library's.
//
//	validity, booleans     bits
//	values of fixed width  bytes
//	indices                bytes, which are numbered when they are written ([codes])
//	texts                  offsets, from 0 again; bytes from the first text of a run to
//	                       its last
//	views                  16 bytes a value; the bytes that they refer to
//	lists                  offsets, from 0 again; the child, by runs of its values
//	structs                the children, by the same runs
//	lists of fixed size    the child, by runs so many times as long
//	list views             offsets and sizes; the parts of the child that they refer to
//	unions                 type codes; the children, of dense ones by new offsets
//	run ends               the ends of the runs that stay; a value for each

// gather returns the message of the kept rows of a record batch. Buffers may overlap, which makes
// a large body of a small one.
func (r *copiedRecord) gather(rows tables.Rows, column int, texts *array.Data, added []*array.Data, grant *budget.Grant, refused *zstdcut.Refusals) (m message, err error) {
	from, size := r.reader, int64(0)
	if from.schema.Unknown != nil && from.whole {
		return m, from.schema.Unknown
	}
	for _, b := range r.meta.Buffers {
		size += b.Length
	}
	if limit := from.options.Memory; size > max(r.frame.BodyLength, limit) {
		return m, &budget.MemoryError{What: "a record batch", Need: size, Limit: limit}
	}
	ours, err := encodeRecord(nil, added, r.meta.Codec, grant)
	if err != nil {
		return m, err
	}
	g := &gathering{record: r, at: layout.Cursor{Batch: r.meta}, rows: rows}
	g.buffers.begin(r, grant)
	g.refused = refused
	g.runs = len(rows)
	defer g.end()
	if err = g.columns(column, texts, len(ours.body)); err == nil {
		m, err = r.join(ours, &g.made, g.madeSize(), message{body: g.out.bytes, lifted: g.lifted, codes: g.codes})
	}
	return m, err
}

// gathering is the state of gathering a record batch.
type gathering struct {
	buffers
	record *copiedRecord
	at     layout.Cursor // of the input's arrays and buffers
	rows   tables.Rows   // that are kept
	codes  []codes
}

// columns gathers all columns. spare is how many bytes will follow their buffers.
func (g *gathering) columns(column int, texts *array.Data, spare int) error {
	from := g.record.reader
	if err := g.reserve(g.record, g.rows.Count(), spare); err != nil {
		return err
	}
	for _, i := range from.copied {
		shape, err := &from.schema.Columns[i], error(nil)
		if texts != nil && i == column {
			if err = g.at.Next(shape); err == nil {
				err = g.texts(texts)
			}
		} else {
			err = g.array(shape, int(g.record.meta.Rows), g.rows)
		}
		if err != nil {
			return fmt.Errorf("column %q: %w", from.schema.Arrow.Field(i).Name, err)
		}
	}
	for _, c := range g.codes {
		spare += len(c.values) + layout.PrefixSize + 8
	}
	return g.room(spare)
}

// texts takes an array of texts that was gathered already.
func (g *gathering) texts(d *array.Data) error {
	texts := array.MakeFromData(d)
	defer texts.Release()
	g.made.Nodes = append(g.made.Nodes, layout.FieldNode{Length: int64(texts.Len()), Nulls: int64(texts.NullN())})
	for i, buffer := range d.Buffers() {
		var content []byte
		if buffer != nil && (i > 0 || texts.NullN() > 0) {
			content = buffer.Bytes()
		}
		if err := g.add(content); err != nil {
			return err
		}
	}
	return nil
}

var (
	errArrays = errors.New("damaged metadata: fewer arrays or buffers than the schema has")
	errShort  = errors.New("damaged: a buffer is too short")
)

// node returns the input's next array, which must have at least least values: its parent
// refers to so many, and rows end before them.
func (g *gathering) node(least int) (layout.FieldNode, error) {
	if g.at.Nodes >= len(g.record.meta.Nodes) {
		return layout.FieldNode{}, errArrays
	}
	node := g.record.meta.Nodes[g.at.Nodes]
	g.at.Nodes++
	if node.Length < int64(least) || node.Length/8 > g.limit || node.Length > math.MaxInt/2 || node.Nulls < -1 || node.Nulls > node.Length {
		return node, fmt.Errorf("damaged metadata: an array has %d values, %d of them null, and must have %d", node.Length, node.Nulls, least)
	}
	return node, nil
}

// array gathers runs of values of the input's next array, which has shape s and at least least
// values.
func (g *gathering) array(s *layout.Shape, least int, rows tables.Rows) error {
	node, err := g.node(least)
	if err != nil {
		return err
	}
	length, n := int(node.Length), rows.Count()
	place := len(g.made.Nodes)
	g.made.Nodes = append(g.made.Nodes, layout.FieldNode{Length: int64(n)})
	if !s.HasValidity() {
		switch s.Kind {
		case layout.TypeUnion:
			return g.union(s, length, rows, n)
		case layout.TypeRunEnds:
			return g.runEnds(s, length, rows)
		}
		g.made.Nodes[place].Nulls = int64(n)
		return nil
	}
	valid, nulls, err := g.validity(node, rows, n)
	if err != nil {
		return err
	}
	g.made.Nodes[place].Nulls = int64(nulls)
	if s.Encoded {
		return g.indices(s, length, rows, n, valid)
	}
	switch s.Kind {
	case layout.TypeBool:
		return g.bools(length, rows, n)
	case layout.TypeBinary, layout.TypeUTF8:
		return g.offsets(4, length, rows, n, g.bytes)
	case layout.TypeLargeBinary, layout.TypeLargeUTF8:
		return g.offsets(8, length, rows, n, g.bytes)
	case layout.TypeBinaryView, layout.TypeUTF8View:
		return g.views(length, rows, n, valid)
	case layout.TypeList, layout.TypeMap:
		return g.offsets(4, length, rows, n, g.child(s))
	case layout.TypeLargeList:
		return g.offsets(8, length, rows, n, g.child(s))
	case layout.TypeListView:
		return g.listViews(s, 4, length, rows, n, valid)
	case layout.TypeLargeListView:
		return g.listViews(s, 8, length, rows, n, valid)
	case layout.TypeFixedSizeList:
		return g.fixedLists(s, length, rows)
	case layout.TypeStruct:
		for i := range s.Children {
			if err := g.array(&s.Children[i], length, rows); err != nil {
				return err
			}
		}
		return nil
	}
	return g.values(s.Width, length, rows)
}

// next returns where the next buffer of the input lies.
func (g *gathering) next() (layout.Span, error) {
	if g.at.Buffers >= len(g.record.meta.Buffers) {
		return layout.Span{}, errArrays
	}
	g.at.Buffers++
	return g.record.meta.Buffers[g.at.Buffers-1], nil
}

// load returns the next buffer, decompressed, which must have at least least bytes. It is
// valid until the next one is loaded.
func (g *gathering) load(least int) ([]byte, error) {
	buffer, err := g.next()
	if err != nil {
		return nil, err
	}
	return g.read(buffer, least)
}

// validity gathers a validity bitmap. It returns the new one, nil if no value is null,
// valid until the next one is gathered, and how many values are null.
func (g *gathering) validity(node layout.FieldNode, rows tables.Rows, n int) (valid []byte, nulls int, err error) {
	if node.Nulls == 0 || node.Length == 0 {
		if _, err := g.next(); err != nil {
			return nil, 0, err
		}
		return nil, 0, g.add(nil)
	}
	length := int(node.Length)
	bits, err := g.load((length + 7) / 8)
	if err != nil {
		return nil, 0, err
	}
	if all := length - bitutil.CountSetBits(bits, 0, length); node.Nulls > 0 && int64(all) != node.Nulls {
		return nil, 0, fmt.Errorf("damaged: %d values are null where it says %d", all, node.Nulls)
	}
	if valid, err = g.bits(bits, rows, n); err != nil {
		return nil, 0, err
	}
	if nulls = n - bitutil.CountSetBits(valid, 0, n); nulls == 0 {
		valid = nil
	}
	return valid, nulls, g.add(valid)
}

// bools gathers a buffer of a bit a value.
func (g *gathering) bools(length int, rows tables.Rows, n int) error {
	bits, err := g.load((length + 7) / 8)
	if err == nil {
		bits, err = g.bits(bits, rows, n)
	}
	if err == nil {
		err = g.add(bits)
	}
	return err
}

// values gathers a buffer of values of width bytes.
func (g *gathering) values(width, length int, rows tables.Rows) error {
	buffer, err := g.next()
	if err != nil {
		return err
	}
	if width == 0 { // binary values of a fixed size of 0
		return g.add(nil)
	}
	return g.copyValues(buffer, width, length, rows)
}

// indices gathers a buffer of indices into a dictionary, which are numbered later.
func (g *gathering) indices(s *layout.Shape, length int, rows tables.Rows, n int, valid []byte) error {
	from, err := g.load(s.Width * length)
	if err == nil {
		err = g.grant.Take(int64(n*s.Width + len(valid)))
	}
	if err != nil {
		return err
	}
	c := codes{buffer: len(g.made.Buffers), shape: s, values: make([]byte, n*s.Width), valid: bytes.Clone(valid)}
	rows.CopyValues(c.values, from, s.Width)
	g.codes = append(g.codes, c)
	return g.add(nil)
}

// bytes gathers a buffer of bytes, of which there must be at least least.
func (g *gathering) bytes(least int, values tables.Rows) error { return g.values(1, least, values) }

// child gathers the values of lists.
func (g *gathering) child(s *layout.Shape) func(least int, values tables.Rows) error {
	return func(least int, values tables.Rows) error { return g.array(&s.Children[0], least, values) }
}

// offsets gathers a buffer of offsets of width bytes, and the values that they enclose.
func (g *gathering) offsets(width, length int, rows tables.Rows, n int, gather func(least int, values tables.Rows) error) error {
	least := (length + 1) * width
	if length == 0 {
		least = 0 // some writers have no offset then
	}
	buffer, err := g.next()
	if err != nil {
		return err
	}
	from, err := g.read(buffer, least)
	if err != nil {
		return err
	}
	to, err := g.build((n + 1) * width)
	if err != nil {
		return err
	}
	end, err := tables.CheckOffsets(from[:least], width)
	if err != nil {
		return err
	}
	values := rows.MoveOffsets(to, from[:least], width)
	if n == length && n > 0 && bytes.Equal(to[:width], from[:width]) {
		err = g.copyValues(buffer, width, n+1, tables.Rows(nil).Add(0, n+1))
	} else {
		err = g.add(to)
	}
	if err != nil {
		return err
	}
	return g.with(len(values), func() error { return gather(end, values) })
}

// with counts runs that are in memory while f is called.
func (g *gathering) with(runs int, f func() error) error {
	g.runs += runs
	defer func() { g.runs -= runs }()
	return f()
}

// fixedLists gathers the values of lists of one length.
func (g *gathering) fixedLists(s *layout.Shape, length int, rows tables.Rows) error {
	if length > math.MaxInt/2/s.Width {
		return errShort
	}
	values := rows.Times(s.Width)
	return g.with(len(values), func() error { return g.array(&s.Children[0], length*s.Width, values) })
}

// Values of list views, dense unions and run ends lie anywhere in a child. Those are gathered to
// which kept rows refer.

// parts gathers these places of the input's next array, which has shape s.
func (g *gathering) parts(s *layout.Shape, places tables.Rows) error {
	end := 0
	if len(places) > 0 {
		end = places[len(places)-1].High
	}
	return g.array(s, end, places)
}

// listViews gathers offsets and sizes of width bytes, and the values of the lists. valid is the
// new validity bitmap, nil if no list is null.
func (g *gathering) listViews(s *layout.Shape, width, length int, rows tables.Rows, n int, valid tables.Valid) error {
	return g.with(2*n, func() error { // places, and where they begin
		built, err := g.build(2 * n * width)
		if err != nil {
			return err
		}
		halves := [][]byte{built[:n*width], built[n*width:]}
		for _, half := range halves {
			from, err := g.load(length * width)
			if err != nil {
				return err
			}
			rows.CopyValues(half, from, width)
		}
		values, err := valid.MoveLists(halves[0], halves[1], width)
		if err == nil {
			err = g.add(halves[0])
		}
		if err == nil {
			err = g.add(halves[1])
		}
		if err != nil {
			return err
		}
		return g.parts(&s.Children[0], values)
	})
}

// union gathers type codes, and of a dense union offsets, and the children.
func (g *gathering) union(s *layout.Shape, length int, rows tables.Rows, n int) error {
	buffer, err := g.next()
	if err != nil {
		return err
	}
	if !s.Dense {
		err := g.copyValues(buffer, 1, length, rows)
		for i := range s.Children {
			if err == nil {
				err = g.array(&s.Children[i], length, rows)
			}
		}
		return err
	}
	return g.with(3*n, func() error { // places, where they begin, and type codes
		from, err := g.read(buffer, length)
		if err != nil {
			return err
		}
		codes := make([]byte, n)
		rows.CopyValues(codes, from, 1)
		if err = g.add(codes); err != nil {
			return err
		}
		to, err := g.build(4 * n)
		if err != nil {
			return err
		}
		if from, err = g.load(4 * length); err != nil {
			return err
		}
		rows.CopyValues(to, from, 4)
		values, err := tables.MoveUnion(codes, to, s.Codes)
		if err == nil {
			err = g.add(to)
		}
		for i := range values {
			if err == nil {
				err = g.parts(&s.Children[i], values[i])
			}
		}
		return err
	})
}

// runEnds gathers the ends of the runs that have kept rows, and their values.
func (g *gathering) runEnds(s *layout.Shape, length int, rows tables.Rows) error {
	node, err := g.node(0)
	if err != nil {
		return err
	}
	if _, err := g.next(); err != nil { // the ends' validity
		return err
	}
	width, n := s.Children[0].Width, int(node.Length)
	from, err := g.load(n * width)
	if err != nil {
		return err
	}
	to, err := g.build(n * width)
	if err != nil {
		return err
	}
	made, values, err := rows.MoveRunEnds(to, from[:n*width], width, length)
	if err != nil {
		return err
	}
	g.made.Nodes = append(g.made.Nodes, layout.FieldNode{Length: int64(made)})
	if err = g.add(nil); err == nil {
		err = g.add(to[:made*width])
	}
	if err != nil {
		return err
	}
	return g.with(len(values), func() error { return g.array(&s.Children[1], n, values) })
}

// views gathers an array of views, with the parts of buffers that they refer to. valid is
// the new validity bitmap, nil if no value is null.
func (g *gathering) views(length int, rows tables.Rows, n int, valid tables.Valid) error {
	headers, err := g.next()
	if err != nil {
		return err
	}
	return g.with(2*n, func() error { // parts, and where they begin
		const size = arrow.ViewHeaderSizeBytes
		from, err := g.read(headers, size*length)
		if err != nil {
			return err
		}
		to, err := g.build(size * n)
		if err != nil {
			return err
		}
		rows.CopyValues(to, from, size)
		buffers, err := g.viewedBuffers()
		if err != nil {
			return err
		}
		kept, err := valid.MoveViews(to, len(buffers))
		if err != nil {
			return err
		}
		if n == length && bytes.Equal(to, from[:len(to)]) {
			err = g.copyValues(headers, size, n, rows)
		} else {
			err = g.add(to)
		}
		number := int64(0)
		for i, parts := range kept {
			if err == nil && parts != nil {
				err = g.copyValues(buffers[i], 1, parts[len(parts)-1].High, parts)
				number++
			}
		}
		g.made.Variadic = append(g.made.Variadic, number)
		return err
	})
}

// viewedBuffers returns the buffers that views refer to, which are the next.
func (g *gathering) viewedBuffers() ([]layout.Span, error) {
	meta := g.record.meta
	if g.at.Variadic >= len(meta.Variadic) {
		return nil, errArrays
	}
	count := meta.Variadic[g.at.Variadic]
	g.at.Variadic++
	if count < 0 || count > int64(len(meta.Buffers)-g.at.Buffers) {
		return nil, errArrays
	}
	g.at.Buffers += int(count)
	return meta.Buffers[g.at.Buffers-int(count) : g.at.Buffers], nil
}
