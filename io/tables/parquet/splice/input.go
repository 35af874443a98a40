package splice

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
)

// Numbers of the fields that change, in the structures of parquet.thrift.
const (
	fileSchema, fileRows, fileGroups, fileMetadata, fileCreatedBy, fileOrders = 2, 3, 4, 5, 6, 7

	elementChildren = 5

	groupChunks, groupBytes, groupRows, groupSorting, groupOffset, groupCompressed, groupOrdinal = 1, 2, 3, 4, 5, 6, 7

	chunkOffset, chunkMeta, chunkOffsetIndex, chunkOffsetIndexSize, chunkColumnIndex = 2, 3, 4, 5, 6

	sortingColumn = 1

	metaDataPage, metaIndexPage, metaDictionaryPage, metaStatistics, metaEncodingStats, metaBloom, metaBloomSize = 9, 10, 11, 12, 13, 14, 15

	indexLocations, locationOffset, bloomBytes = 1, 1, 1
)

// Input is a file whose columns are copied, all of them or some.
type Input struct {
	in     io.ReaderAt
	file   *layout.File // parsed, with all columns
	leaves []int        // which of the file's are copied
	footer []layout.Raw // as it lies, but for the columns that are not copied
	groups []group
}

// group is a row group of an input, as far as its columns are copied.
type group struct {
	fields []layout.Raw // of its RowGroup structure
	chunks []chunk
}

// chunk is a column chunk of an input.
type chunk struct {
	*layout.Chunk              // parsed, with what is known here
	leaf          int          // in the file
	fields, meta  []layout.Raw // of its ColumnChunk structure, and of the ColumnMetaData in it
	bloom         layout.Range // of its bloom filter, empty for none
}

// Open reads what a file's footer says of the columns to be copied: the top-level columns with the indices
// fields, in rising order, or all if fields is nil. It checks that their bytes lie in the file and do not
// overlap.
func Open(in io.ReaderAt, file *layout.File, fields []int) (*Input, error) {
	input := &Input{in: in, file: file}
	var err error
	if input.footer, _, err = layout.ReadRaw(file.Footer); err != nil {
		return nil, fmt.Errorf("footer: %w", err)
	}
	_, groups, err := find(input.footer, fileGroups).Elements()
	if err == nil {
		err = input.project(fields)
	}
	if err != nil {
		return nil, fmt.Errorf("footer: %w", err)
	}
	var ranges []layout.Range
	for i, raw := range groups {
		g, err := input.parseGroup(i, raw)
		if err != nil {
			return nil, fmt.Errorf("row group %d: %w", i, err)
		}
		for _, c := range g.chunks {
			ranges = append(ranges, c.Pages, c.bloom, c.ColumnIndex, c.OffsetIndex)
		}
		input.groups = append(input.groups, g)
	}
	return input, input.checkRanges(ranges)
}

// parseGroup returns what the footer says of the copied columns in row group number. raw is its RowGroup
// structure.
func (input *Input) parseGroup(number int, raw []byte) (g group, err error) {
	if g.fields, _, err = layout.ReadRaw(raw); err != nil {
		return g, err
	}
	_, chunks, err := find(g.fields, groupChunks).Elements()
	if err != nil {
		return g, err
	}
	parsed := input.file.Groups[number].Chunks
	// It corrects g.fields in place, by what is parsed already: the chunks below are not needed for it.
	if err := input.projectGroup(g.fields, parsed); err != nil {
		return g, err
	}
	for _, i := range input.leaves {
		c := chunk{Chunk: &parsed[i], leaf: i}
		if c.fields, _, err = layout.ReadRaw(chunks[i]); err == nil {
			c.meta, _, err = layout.ReadRaw(find(c.fields, chunkMeta).Value)
		}
		if err == nil && c.OffsetIndex.Length > layout.MaxIndex {
			err = &tables.LimitError{What: fmt.Sprintf("its offset index has %d bytes", c.OffsetIndex.Length), Help: tables.Recode}
		}
		if err == nil {
			err = input.findBloom(&c)
		}
		if err != nil {
			return g, fmt.Errorf("column %q: %w", input.file.Path(i), err)
		}
		g.chunks = append(g.chunks, c)
	}
	return g, nil
}

// findBloom sets the range of a chunk's bloom filter. It is not checked yet.
func (input *Input) findBloom(c *chunk) error {
	at := integer(c.meta, metaBloom)
	if at == 0 {
		return nil
	}
	c.bloom = layout.Range{Offset: at, Length: integer(c.meta, metaBloomSize)}
	if outside := at < 0 || at >= input.file.End; outside || c.bloom.Length != 0 { // outside, there is no header to read
		return nil
	}
	// Older writers do not say the filter's length: the header with which it begins does.
	head := make([]byte, min(256, input.file.End-at)) // such a header has some 20 bytes
	if err := layout.ReadAt(input.in, head, at); err != nil {
		return err
	}
	fields, rest, err := layout.ReadRaw(head)
	if err != nil {
		return fmt.Errorf("its bloom filter: %w", err)
	}
	c.bloom.Length = int64(len(head)-len(rest)) + integer(fields, bloomBytes)
	return nil
}

// checkRanges checks that all ranges lie between the magic and the footer, and that none overlap.
func (input *Input) checkRanges(ranges []layout.Range) error {
	slices.SortFunc(ranges, func(a, b layout.Range) int { return cmp.Compare(a.Offset, b.Offset) })
	end := int64(len(layout.Magic))
	for _, r := range ranges {
		if r.Length == 0 {
			continue
		}
		if r.Length < 0 || r.Offset < 0 || r.Length > input.file.End || r.Offset > input.file.End-r.Length {
			return fmt.Errorf("damaged: %d bytes at %d of a file whose data ends at %d", r.Length, r.Offset, input.file.End)
		}
		if r.Offset < end {
			return fmt.Errorf("damaged: two parts of it overlap at byte %d", r.Offset)
		}
		end = r.Offset + r.Length
	}
	return nil
}

// Difference returns why the two inputs cannot be copied into one file, as a clause about other; "" if they can.
func (input *Input) Difference(other *Input) string {
	for _, part := range []struct {
		field int16
		what  string
	}{{fileSchema, "the columns are stored otherwise"}, {fileOrders, "the columns are ordered otherwise"}, {fileCreatedBy, "another program wrote it"}} {
		if !bytes.Equal(find(input.footer, part.field).Value, find(other.footer, part.field).Value) {
			return part.what
		}
	}
	return ""
}

// find returns the field with an ID, the zero Raw if there is none.
func find(fields []layout.Raw, id int16) layout.Raw {
	for _, f := range fields {
		if f.ID == id {
			return f
		}
	}
	return layout.Raw{}
}

// integer returns the integer in the field with an ID, 0 if there is none.
func integer(fields []layout.Raw, id int16) int64 {
	if f := find(fields, id); len(f.Value) > 0 {
		return f.Int()
	}
	return 0
}

// replace replaces the field with value's ID. It does nothing if there is none: see put.
func replace(fields []layout.Raw, value layout.Raw) {
	for i := range fields {
		if fields[i].ID == value.ID {
			fields[i] = value
		}
	}
}

// changeList replaces the elements of the list in the field with an ID with what change makes of them.
func changeList(fields []layout.Raw, id int16, change func(elements [][]byte) ([][]byte, error)) error {
	kind, elements, err := find(fields, id).Elements()
	if err == nil {
		elements, err = change(elements)
	}
	if err == nil {
		replace(fields, layout.ListField(id, kind, elements))
	}
	return err
}

// changeFields returns an encoded structure whose fields change has changed in place.
func changeFields(structure []byte, change func(fields []layout.Raw)) ([]byte, error) {
	fields, _, err := layout.ReadRaw(structure)
	change(fields)
	return layout.AppendRaw(nil, fields), err
}

// shift adds delta to the offset in the field with an ID. An offset of 0, which some writers use for none, stays.
func shift(fields []layout.Raw, id int16, delta int64) {
	if f := find(fields, id); len(f.Value) > 0 && f.Int() != 0 {
		replace(fields, layout.IntField(id, f.Kind, f.Int()+delta))
	}
}
