package arrowipc

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/tables"
)

// encodeMixed makes the message of a record batch of a job that leaves out rows.
func (s *sink) encodeMixed(r *passedRecord, verdicts []*array.Data, grant *batch.Grant) error {
	urls, err := r.verdicts.URLs(s.options.mem)
	if err != nil {
		return err
	}
	if r.gatherable() && !s.options.decodeMixed {
		err = s.gatherMixed(r, urls, verdicts, grant)
	} else {
		err = s.decodeMixed(r, urls, verdicts, grant)
	}
	if err != nil {
		return fmt.Errorf("rows are left out, so that each record batch must be written anew: %w", err)
	}
	return nil
}

// decodeMixed does what gatherMixed does by decoding all columns, which it must for some
// types.
func (s *sink) decodeMixed(r *passedRecord, urls *array.Data, verdicts []*array.Data, grant *batch.Grant) error {
	var rows gathered
	var err error
	if urls == nil {
		rows, err = s.gather(r, r.source.indexes, r.meta, grant)
	} else {
		rows, err = s.gatherOthers(r, urls, grant)
	}
	if err != nil {
		return err
	}
	defer tables.Release(rows.columns)
	var coded []shape
	for _, i := range r.source.copied() {
		coded = append(coded, r.source.schema.columns[i])
	}
	m, err := encodeRecord(coded, slices.Concat(rows.columns, verdicts), r.meta.codec, grant)
	if err == nil {
		r.message, err = r.join(m, nil, 0, message{})
	}
	if err == nil {
		err = grant.Take(-rows.taken)
	}
	return err
}

// gathered holds the output rows of a record batch.
type gathered struct {
	fields  []arrow.Field
	columns []*array.Data
	taken   int64 // bytes of the grant
}

// gatherOthers decodes the columns other than the URLs and gathers their output rows.
// The URLs themselves were kept.
func (s *sink) gatherOthers(r *passedRecord, urls *array.Data, grant *batch.Grant) (rows gathered, err error) {
	from := r.source
	if others := from.otherColumns(); len(others) > 0 {
		var meta *batchMeta
		if meta, err = from.schema.projectBatch(r.meta, others); err == nil {
			rows, err = s.gather(r, from.others, meta, grant)
		}
		if err != nil {
			urls.Release()
			return rows, err
		}
	}
	at := slices.Index(from.copied(), from.urlColumn())
	rows.fields = slices.Insert(rows.fields, at, arrow.Field{Name: from.URLColumn(), Type: urls.DataType(), Nullable: true})
	rows.columns = slices.Insert(rows.columns, at, urls)
	return rows, nil
}

// selectedRow is about how many bytes the list of output rows takes for each of them.
const selectedRow = 64

// gather decodes the columns that meta describes and gathers their output rows. decoderOf
// returns the decoder for these columns. The memory is taken from grant before it is used:
// the columns as they are read, decompressed, and gathered.
func (s *sink) gather(r *passedRecord, decoderOf func() (*decoder, error), meta *batchMeta, grant *batch.Grant) (rows gathered, err error) {
	decoder, err := decoderOf()
	if err != nil {
		return rows, err
	}
	limit := r.source.options.Memory
	body := r.frame.bytes
	if body == nil {
		if body, err = loadSpans(r.frame, meta, limit); err != nil {
			return rows, err
		}
	}
	total, err := decoder.check(meta, body) // bytes decompressed
	if err != nil {
		return rows, err
	}
	if decodedBytes(meta, body, total) > limit {
		return rows, option.Errorf("it takes more than %d bytes as read and again decoded: raise %s", limit, option.Memory)
	}
	n, _ := r.verdicts.Counts()
	rows.taken = int64(len(body)) + 2*total + selectedRow*int64(n)
	if err := grant.Take(rows.taken); err != nil {
		return rows, err
	}
	record, err := decoder.record(meta, body, total)
	if err != nil {
		return rows, err
	}
	defer record.Release()
	columns := make([]*array.Data, record.NumCols())
	for i, column := range record.Columns() {
		columns[i] = column.Data().(*array.Data)
	}
	rows.fields, rows.columns = decoder.schema.Fields(), r.verdicts.Gather(columns, s.options.mem)
	return rows, nil
}

// newIndexDecoder returns a decoder of columns that pass through. It decodes a
// dictionary column as plain indices.
func (s *Source) newIndexDecoder(columns []int) (*decoder, error) {
	if s.schema.unknown != nil && s.options.Keep == batch.KeepAll {
		return nil, s.schema.unknown
	}
	mem := s.options.mem
	// The library sees narrow decimals as bytes, so that they come out unchanged.
	message, err := retypeDecimals(s.schema.project(columns), takeForBytes)
	if err != nil {
		return nil, err
	}
	whole, err := newDecoder(message, 0, mem)
	if err != nil {
		return nil, err
	}
	defer whole.release()
	fields := plainFields(whole.schema.Fields())
	plain, err := encodeSchema(arrow.NewSchema(fields, nil))
	if err != nil {
		return nil, err
	}
	return newDecoder(plain, s.options.Memory, mem)
}

// plainFields returns the fields with every dictionary type replaced by its index type,
// which has the same layout.
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
