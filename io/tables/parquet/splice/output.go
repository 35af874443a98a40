package splice

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
)

// copySize is the number of bytes that are copied at a time: what is copied does not lie in
// memory as a whole.
const copySize = 1 << 20

// Added is a column chunk that is added.
type Added struct {
	// Data are its pages, and Uncompressed is their number of bytes once decompressed.
	Data         []byte
	Uncompressed int64
	// OffsetIndex returns its offset index when its pages lie at an offset. It is
	// written after the pages if other columns have one.
	OffsetIndex func(offset int64) []byte
	// Chunk returns its ColumnChunk structure when its pages lie at an offset and
	// its offset index, if it is written, has index bytes.
	Chunk func(offset, index int64) []byte
}

// Columns are the columns that are added.
type Columns struct {
	// Elements are their SchemaElement structures, and Fields is the number of columns at
	// the top that makes.
	Elements [][]byte
	Fields   int
	// Leaves is the number of chunks that a row group has of them.
	Leaves int
	// Maker is the created_by of a file some pages of which were encoded.
	Maker string
	// Metadata changes the file's keys and values.
	Metadata func([]layout.KeyValue) ([]layout.KeyValue, error)
}

// Writer writes a file.
type Writer struct {
	out    tables.Output
	buffer []byte

	footer  []layout.Raw
	groups  [][]byte
	begun   begun
	rows    int64
	encoded bool // pages of some row group were
	maker   string
}

// begun is a row group whose pages are copied, if there is one.
type begun struct {
	offset int64
	moved  []int64 // by how much the pages of each chunk moved; nil for none
}

// NewWriter begins a file whose schema and metadata are like's, with the added columns after its own.
func NewWriter(w io.Writer, like *Input, added Columns) (*Writer, error) {
	o := &Writer{out: tables.Output{To: w}, buffer: make([]byte, copySize), maker: added.Maker}
	if err := o.layOut(like, added); err != nil {
		return nil, err
	}
	return o, o.out.Put([]byte(layout.Magic))
}

// layOut sets the footer, without row groups: that of like, with the added columns after its own.
func (o *Writer) layOut(like *Input, added Columns) error {
	o.footer = slices.Clone(like.footer)
	kind, elements, err := find(o.footer, fileSchema).Elements()
	if err != nil || len(elements) == 0 {
		return fmt.Errorf("footer: %w", err)
	}
	root, _, err := layout.ReadRaw(elements[0])
	if err != nil {
		return fmt.Errorf("footer: %w", err)
	}
	set(root, layout.IntField(elementChildren, layout.RawI32, integer(root, elementChildren)+int64(added.Fields)))
	elements = append(slices.Concat([][]byte{layout.AppendRaw(nil, root)}, elements[1:]), added.Elements...)
	set(o.footer, layout.ListField(fileSchema, kind, elements))
	if orders := find(o.footer, fileOrders); len(orders.Value) > 0 {
		kind, list, err := orders.Elements()
		if err != nil {
			return fmt.Errorf("footer: %w", err)
		}
		for range added.Leaves {
			list = append(list, typeOrder)
		}
		set(o.footer, layout.ListField(fileOrders, kind, list))
	}
	metadata, err := added.Metadata(like.file.Metadata)
	if err != nil {
		return err
	}
	o.setMetadata(metadata)
	return nil
}

// typeOrder is a ColumnOrder that says that values are ordered as their type is.
var typeOrder = []byte{1<<4 | layout.RawStruct, 0, 0}

// setMetadata replaces the footer's keys and values.
func (o *Writer) setMetadata(metadata []layout.KeyValue) {
	list := make([][]byte, len(metadata))
	for i := range metadata {
		list[i] = layout.Append(nil, &metadata[i])
	}
	o.footer = remove(o.footer, fileMetadata)
	if len(list) > 0 {
		o.footer = append(o.footer, layout.ListField(fileMetadata, layout.RawStruct, list))
	}
	slices.SortStableFunc(o.footer, func(a, b layout.Raw) int { return int(a.ID) - int(b.ID) })
}

// Failed reports whether the output could not be written. Any other error is about an
// input.
func (o *Writer) Failed() bool { return o.out.Failed }

// copy writes a range of an input to the output, copySize bytes at a time.
func (o *Writer) copy(in io.ReaderAt, r layout.Range) error {
	for r.Length > 0 {
		part := o.buffer[:min(copySize, r.Length)]
		if err := layout.ReadAt(in, part, r.Offset); err != nil {
			return err
		}
		if err := o.out.Put(part); err != nil {
			return err
		}
		r.Offset += int64(len(part))
		r.Length -= int64(len(part))
	}
	return nil
}

// BeginGroup copies the pages of an input's row group, which needs no added chunks yet. CopyGroup for the same
// row group must follow.
func (o *Writer) BeginGroup(input *Input, number int) error {
	o.begun.offset = o.out.Pos
	var err error
	o.begun.moved, err = o.copyPages(input, input.groups[number].chunks)
	return err
}

// CopyGroup copies a row group of an input, and writes the added chunks after it. It does not copy the pages
// again if BeginGroup did.
func (o *Writer) CopyGroup(input *Input, number int, added []Added) error {
	if o.begun.moved == nil {
		if err := o.BeginGroup(input, number); err != nil {
			return err
		}
	}
	was, g := o.begun, input.groups[number]
	o.begun = begun{}
	n := sizes{offset: was.offset, compressed: o.out.Pos - was.offset, uncompressed: integer(g.fields, groupBytes), rows: integer(g.fields, groupRows)}
	return o.endGroup(input, g, n, added, func(i int) ([]byte, error) { return o.copyIndexes(input, g.chunks[i], was.moved[i]) })
}

// endGroup ends a row group, of which the pages of the input's columns are written; n has their sizes. It
// writes the added chunks. Then it calls finish for each chunk of the input, which writes the chunk's indexes
// and returns its ColumnChunk structure.
func (o *Writer) endGroup(input *Input, g group, n sizes, added []Added, finish func(i int) ([]byte, error)) error {
	own, size, err := o.add(g, added)
	if err != nil {
		return err
	}
	chunks := make([][]byte, 0, len(g.chunks)+len(added))
	for i := range g.chunks {
		raw, err := finish(i)
		if err != nil {
			return fmt.Errorf("column %q: %w", input.file.Path(g.chunks[i].leaf), err)
		}
		chunks = append(chunks, raw)
	}
	n.compressed += size.compressed
	n.uncompressed += size.uncompressed
	o.group(g.fields, append(chunks, own...), n)
	return nil
}

// add writes the added chunks, with offset indexes if a column of the input has one. It returns their
// ColumnChunk structures and the sizes of their pages.
func (o *Writer) add(g group, added []Added) (chunks [][]byte, n sizes, err error) {
	indexed := slices.ContainsFunc(g.chunks, func(c chunk) bool { return c.offsetIndex.Length > 0 })
	for _, a := range added {
		at, index := o.out.Pos, []byte(nil)
		if indexed {
			index = a.OffsetIndex(at)
		}
		chunks = append(chunks, a.Chunk(at, int64(len(index))))
		n.compressed += int64(len(a.Data))
		n.uncompressed += a.Uncompressed
		if err := o.out.Put(append(a.Data[:len(a.Data):len(a.Data)], index...)); err != nil {
			return nil, n, err
		}
	}
	return chunks, n, nil
}

// sizes are what a row group says of itself: where its pages begin, how many bytes they have, compressed
// and not, and its number of rows.
type sizes struct{ offset, compressed, uncompressed, rows int64 }

// group adds the RowGroup structure of a row group that was written, with these ColumnChunk structures and
// sizes. like has the fields of the input's.
func (o *Writer) group(like []layout.Raw, chunks [][]byte, n sizes) {
	fields := slices.Clone(like)
	set(fields, layout.ListField(groupChunks, layout.RawStruct, chunks))
	set(fields, layout.IntField(groupBytes, layout.RawI64, n.uncompressed))
	set(fields, layout.IntField(groupRows, layout.RawI64, n.rows))
	set(fields, layout.IntField(groupOffset, layout.RawI64, n.offset))
	set(fields, layout.IntField(groupCompressed, layout.RawI64, n.compressed))
	if len(o.groups) <= math.MaxInt16 {
		set(fields, layout.IntField(groupOrdinal, layout.RawI16, int64(len(o.groups))))
	}
	o.rows += n.rows
	o.groups = append(o.groups, layout.AppendRaw(nil, fields))
}

// copyPages copies the pages of chunks in the order of their offsets. It returns for each chunk how many bytes
// further on it is in the output than in the input.
func (o *Writer) copyPages(input *Input, chunks []chunk) (moved []int64, err error) {
	order := make([]int, len(chunks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(chunks[a].pages.Offset, chunks[b].pages.Offset) })
	moved = make([]int64, len(chunks))
	var next layout.Range // chunks that lie one after the other are copied at once
	for _, i := range order {
		pages := chunks[i].pages
		if pages.Offset != next.Offset+next.Length {
			if err := o.copy(input.in, next); err != nil {
				return nil, err
			}
			next = layout.Range{Offset: pages.Offset}
		}
		moved[i] = o.out.Pos + next.Length - pages.Offset
		next.Length += pages.Length
	}
	return moved, o.copy(input.in, next)
}

// copyIndexes copies a chunk's indexes and bloom filter, and returns its ColumnChunk structure with new
// offsets. moved is what copyPages returned for it.
func (o *Writer) copyIndexes(input *Input, c chunk, moved int64) ([]byte, error) {
	fields, meta := slices.Clone(c.fields), slices.Clone(c.meta)
	for _, id := range []int16{metaDataPage, metaIndexPage, metaDictionaryPage} {
		move(meta, id, moved)
	}
	move(fields, chunkOffset, moved)
	if c.bloom.Length > 0 {
		move(meta, metaBloom, o.out.Pos-c.bloom.Offset)
		if err := o.copy(input.in, c.bloom); err != nil {
			return nil, err
		}
	}
	if c.columnIndex.Length > 0 {
		move(fields, chunkColumnIndex, o.out.Pos-c.columnIndex.Offset)
		if err := o.copy(input.in, c.columnIndex); err != nil {
			return nil, err
		}
	}
	if c.offsetIndex.Length > 0 {
		index, err := moveOffsetIndex(input.in, c.offsetIndex, moved)
		if err != nil {
			return nil, err
		}
		move(fields, chunkOffsetIndex, o.out.Pos-c.offsetIndex.Offset)
		set(fields, layout.IntField(chunkOffsetIndexSize, layout.RawI32, int64(len(index))))
		if err := o.out.Put(index); err != nil {
			return nil, err
		}
	}
	set(fields, layout.Raw{ID: chunkMeta, Kind: layout.RawStruct, Value: layout.AppendRaw(nil, meta)})
	return layout.AppendRaw(nil, fields), nil
}

// moveOffsetIndex reads the OffsetIndex structure at a range, and returns it with moved added to all offsets.
func moveOffsetIndex(in io.ReaderAt, r layout.Range, moved int64) ([]byte, error) {
	data := make([]byte, r.Length)
	if err := layout.ReadAt(in, data, r.Offset); err != nil {
		return nil, err
	}
	fields, _, err := layout.ReadRaw(data)
	var kind byte
	var locations [][]byte
	if err == nil {
		kind, locations, err = find(fields, indexLocations).Elements()
	}
	for i := 0; i < len(locations) && err == nil; i++ {
		var location []layout.Raw
		location, _, err = layout.ReadRaw(locations[i])
		move(location, locationOffset, moved)
		locations[i] = layout.AppendRaw(nil, location)
	}
	if err != nil {
		return nil, &tables.LimitError{What: fmt.Sprintf("its offset index: %v", err), Help: tables.Recode}
	}
	set(fields, layout.ListField(indexLocations, kind, locations))
	return layout.AppendRaw(nil, fields), nil
}

// Close writes the footer. It does not close the writer that it is written to.
func (o *Writer) Close() error {
	if by := find(o.footer, fileCreatedBy); o.encoded && o.maker != "" && !peculiar(string(by.Text())) {
		put(&o.footer, layout.TextField(fileCreatedBy, []byte(o.maker)))
	}
	set(o.footer, layout.IntField(fileRows, layout.RawI64, o.rows))
	set(o.footer, layout.ListField(fileGroups, layout.RawStruct, o.groups))
	var end bytes.Buffer
	end.Write(layout.AppendRaw(nil, o.footer))
	size := binary.LittleEndian.AppendUint32(nil, uint32(end.Len()))
	end.Write(append(size, layout.Magic...))
	return o.out.Put(end.Bytes())
}

// peculiar reports whether readers treat the files of a writer specially: they ignore its statistics, or let a
// page's first value share bytes with the page before. A file with pages of such a writer must name it still.
func peculiar(createdBy string) bool {
	for _, name := range []string{"parquet-cpp version", "impala version 1.", "impala version 2."} {
		if strings.HasPrefix(createdBy, name) {
			return true
		}
	}
	minor, java := strings.CutPrefix(createdBy, "parquet-mr version 1.")
	return java && len(minor) > 1 && (minor[1] < '0' || minor[1] > '9') || createdBy == "parquet-mr"
}
