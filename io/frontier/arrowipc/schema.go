package arrowipc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// ErrUnsupported is returned for a schema that looks intact but uses something that
// this package does not know, such as a type of a later version of the format.
var ErrUnsupported = errors.New("the schema is not supported")

// StoredSchema is a schema read from memory, such as the one stored in Parquet files.
type StoredSchema struct {
	*arrow.Schema
	// Unknown holds the columns with a type that this package does not know. They are
	// null in the schema.
	Unknown map[int]bool
	// Decimals maps each column with decimals of 32 or 64 bits to the bits of the last
	// one. They are decimals of 128 bits in the schema.
	Decimals map[int]int
}

// ReadSchema reads the schema at the beginning of a stream in memory, and checks it as
// strictly as an input's. Its error is ErrUnsupported, or says what is damaged.
func ReadSchema(stream []byte) (*StoredSchema, error) {
	framer := &streamFramer{r: bufio.NewReader(bytes.NewReader(stream)), limit: metadataShare * int64(len(stream))}
	f, err := framer.next()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	s, err := readSchema(f.meta(), memory.NewGoAllocator())
	if err != nil {
		return nil, err
	}
	stored := &StoredSchema{Schema: s.arrow, Unknown: make(map[int]bool), Decimals: make(map[int]int)}
	for i := range s.columns {
		if bits := s.columns[i].smallDecimal(); bits > 0 {
			stored.Decimals[i] = bits
		}
		if s.columns[i].unknown {
			stored.Unknown[i] = true
		}
	}
	return stored, nil
}

// restoreMaps returns the field with the metadata of its maps' keys and values. The
// library drops that metadata, extension types included. t is the field's Field table.
func restoreMaps(t table, field arrow.Field) arrow.Field {
	var children []table
	t.tables(5, func(child table) { children = append(children, child) })
	if len(children) == 0 {
		return field
	}
	switch dt := field.Type.(type) {
	case *arrow.MapType:
		var pair []table
		children[0].tables(5, func(child table) { pair = append(pair, child) })
		if len(pair) != 2 {
			return field
		}
		key, item := restoreMaps(pair[0], dt.KeyField()), restoreMaps(pair[1], dt.ItemField())
		restored := arrow.MapOfWithMetadata(key.Type, fieldMetadata(pair[0]), item.Type, fieldMetadata(pair[1]))
		restored.SetItemNullable(item.Nullable)
		restored.KeysSorted = dt.KeysSorted
		field.Type = restored
	case *arrow.StructType:
		fields := dt.Fields()
		if len(fields) == len(children) {
			for i := range fields {
				fields[i] = restoreMaps(children[i], fields[i])
			}
			field.Type = arrow.StructOf(fields...)
		}
	case *arrow.ListType:
		field.Type = arrow.ListOfField(restoreMaps(children[0], dt.ElemField()))
	case *arrow.LargeListType:
		field.Type = arrow.LargeListOfField(restoreMaps(children[0], dt.ElemField()))
	case *arrow.ListViewType:
		field.Type = arrow.ListViewOfField(restoreMaps(children[0], dt.ElemField()))
	case *arrow.LargeListViewType:
		field.Type = arrow.LargeListViewOfField(restoreMaps(children[0], dt.ElemField()))
	case *arrow.FixedSizeListType:
		field.Type = arrow.FixedSizeListOfField(dt.Len(), restoreMaps(children[0], dt.ElemField()))
	}
	return field
}

// fieldMetadata returns the metadata of a Field table.
func fieldMetadata(t table) arrow.Metadata {
	var keys, values []string
	t.tables(6, func(pair table) {
		keys, values = append(keys, pair.text(0)), append(values, pair.text(1))
	})
	return arrow.NewMetadata(keys, values)
}

// text returns a string field, "" when it is absent.
func (t table) text(slot int) string {
	pos, n := t.vector(slot, 1)
	return string(t.f.at(pos, n))
}

// ExtendSchema returns a schema message, such as one stored in a Parquet file, with the
// fields of added appended. Unless kept is nil, only the fields of stream with these
// indices stay. Everything else stays, including what this package does not know.
func ExtendSchema(stream []byte, kept []int, added *arrow.Schema) ([]byte, error) {
	framer := &streamFramer{r: bufio.NewReader(bytes.NewReader(stream)), limit: metadataShare * int64(len(stream))}
	f, err := framer.next()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	mem := memory.NewGoAllocator()
	first, err := readSchema(f.meta(), mem)
	if err != nil {
		return nil, err
	}
	if kept == nil {
		kept = first.all()
	}
	if n := len(first.columns); slices.ContainsFunc(kept, func(i int) bool { return i >= n }) {
		return nil, fmt.Errorf("it has %d columns, fewer than the file", n)
	}
	meta, err := encodeSchema(added)
	if err != nil {
		return nil, err
	}
	second, err := readSchema(meta, mem)
	if err != nil {
		return nil, err
	}
	return newMessage(joinSchemas(first, kept, second), nil).head, nil
}
