package arrowipc

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"robotsbatch/batch"
	"robotsbatch/io/tables"
)

// encodeMixed encodes the rows of a record batch that come out, with their verdicts.
// Dictionary columns are their indices to it: the dictionaries pass through before the
// record batch, whatever they are.
func (s *sink) encodeMixed(r *passedRecord, verdicts []*array.Data, grant *batch.Grant) (m message, err error) {
	decoder, err := r.source.indexDecoder()
	if err != nil {
		return m, err
	}
	body, err := r.body()
	if err != nil {
		return m, err
	}
	total, err := decoder.check(r.meta, body)
	if err != nil {
		return m, err
	}
	rows, _ := r.verdicts.Counts()
	if n := r.source.options.Memory; decodedBytes(r.meta, body, total) > n {
		return m, fmt.Errorf("it takes more than %d bytes as read and again decoded: raise -memory", n)
	}
	// Read, decompressed, and gathered by runs of rows.
	taken := int64(len(body)) + 2*total + 64*int64(rows)
	if err := grant.Take(taken); err != nil {
		return m, err
	}
	record, err := decoder.record(r.meta, body, total)
	if err != nil {
		return m, err
	}
	columns := make([]*array.Data, record.NumCols())
	for i, column := range record.Columns() {
		columns[i] = column.Data().(*array.Data)
	}
	gathered := r.verdicts.Gather(columns, s.options.mem)
	record.Release()
	defer tables.Release(gathered)
	fields := slices.Concat(decoder.schema.Fields(), s.schema.Fields())
	if m, err = s.encodeRecord(arrow.NewSchema(fields, nil), append(gathered, verdicts...), r.meta.codec, grant); err != nil {
		return m, err
	}
	return m, grant.Take(-taken)
}

// body reads the body of a record batch, if it was not.
func (r *passedRecord) body() ([]byte, error) {
	f := r.frame
	if f.bytes != nil {
		return f.bytes, nil
	}
	if err := checkLength(f.bodyLength, r.source.options.Memory); err != nil {
		return nil, err
	}
	body := make([]byte, f.bodyLength)
	return body, readAt(f.body, body, 0)
}

// indexDecoder returns a decoder of the columns that pass through, of which dictionary
// columns are their indices.
func (s *Source) indexDecoder() (*decoder, error) {
	s.indexOnce.Do(func() {
		if s.indexes, s.indexErr = newIndexDecoder(s.schema, s.copied(), s.options); s.indexErr != nil {
			s.indexErr = fmt.Errorf("of a record batch some rows come out and others do not, so it must be decoded: %w", s.indexErr)
		}
	})
	return s.indexes, s.indexErr
}

func newIndexDecoder(from *schema, columns []int, o Options) (*decoder, error) {
	if from.unknown != nil && len(columns) == len(from.columns) {
		return nil, from.unknown
	}
	mem := o.mem
	// Of narrow decimals the library sees the bytes, which come out as they are.
	message, err := retypeDecimals(from.project(columns), takeForBytes)
	if err != nil {
		return nil, err
	}
	whole, err := newDecoder(message, 0, mem)
	if err != nil {
		return nil, err
	}
	defer whole.release()
	fields := plainFields(whole.schema.Fields())
	s := &sink{options: SinkOptions{mem: mem}, ipc: []ipc.Option{ipc.WithAllocator(mem)}, schema: arrow.NewSchema(fields, nil)}
	m, err := s.encodeSchema()
	if err != nil {
		return nil, err
	}
	return newDecoder(m.meta(), o.Memory, mem)
}

// plainFields returns fields of the same layout, of which dictionary arrays are their
// indices.
func plainFields(fields []arrow.Field) []arrow.Field {
	plain := make([]arrow.Field, len(fields))
	for i, field := range fields {
		plain[i] = plainField(field)
	}
	return plain
}

func plainField(field arrow.Field) arrow.Field {
	return arrow.Field{Name: field.Name, Type: plainType(field.Type), Nullable: field.Nullable}
}

func plainType(dt arrow.DataType) arrow.DataType {
	switch dt := tables.Storage(dt).(type) {
	case *arrow.DictionaryType:
		return dt.IndexType
	case *arrow.ListType:
		return arrow.ListOfField(plainField(dt.ElemField()))
	case *arrow.LargeListType:
		return arrow.LargeListOfField(plainField(dt.ElemField()))
	case *arrow.ListViewType:
		return arrow.ListViewOfField(plainField(dt.ElemField()))
	case *arrow.LargeListViewType:
		return arrow.LargeListViewOfField(plainField(dt.ElemField()))
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOfField(dt.Len(), plainField(dt.ElemField()))
	case *arrow.MapType:
		return arrow.MapOf(plainType(dt.KeyType()), plainType(dt.ItemType()))
	case *arrow.StructType:
		return arrow.StructOf(plainFields(dt.Fields())...)
	case *arrow.SparseUnionType:
		return arrow.SparseUnionOf(plainFields(dt.Fields()), dt.TypeCodes())
	case *arrow.DenseUnionType:
		return arrow.DenseUnionOf(plainFields(dt.Fields()), dt.TypeCodes())
	case *arrow.RunEndEncodedType:
		return arrow.RunEndEncodedOf(dt.RunEnds(), plainType(dt.Encoded()))
	default:
		return dt
	}
}
