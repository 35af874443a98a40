package ipc

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/arrow/layout"
)

// write writes records as the library does.
func write(t *testing.T, stream bool, records ...arrow.Record) []byte {
	t.Helper()
	return tablestest.WriteArrow(t, stream, records[0].Schema(), records)
}

// Check reads tables of any columns, without URLs as well.
func TestCheck(t *testing.T) {
	for _, c := range tablestest.Columns(t) {
		for _, stream := range []bool{false, true} {
			record := tablestest.NewRecord([]string{c.Name}, c.Array)
			data := write(t, stream, record, record)
			rows, err := Check(bytes.NewReader(data), int64(len(data)), !stream, 64<<20)
			must.Be(t, rows == 2*record.NumRows() && err == nil, "%s, stream %t: %d rows: %v", c.Name, stream, rows, err)
		}
	}
}

// Metadata that other readers refuse is found, though this program has no use for it: a
// text that does not end with a zero, and the schema in a file's footer.
func TestCheckMetadataOfDamage(t *testing.T) {
	record := tablestest.NewRecord([]string{"url", "other_column"}, tablestest.URLArray(5, false), tablestest.URLArray(5, false))
	stream := write(t, true, record)
	at := bytes.Index(stream, []byte("other_column")) + len("other_column")
	stream[at] = 'x'
	must.Say(t, must.Err(Check(bytes.NewReader(stream), int64(len(stream)), false, 0)), "damaged metadata: the text at", "name without its end")
	file := write(t, false, record)
	at = bytes.LastIndex(file, []byte("other_column"))
	file[at-4] = 0xff // its length
	must.Say(t, must.Err(Check(bytes.NewReader(file), int64(len(file)), true, 0)), "the footer: damaged metadata", "name in the footer that is too long")
}

// Any byte of the metadata may be another: that is an error or none, and no panic.
func TestCheckMetadataFlipped(t *testing.T) {
	record := tablestest.NewRecord([]string{"url"}, tablestest.URLArray(5, false))
	file := write(t, false, record)
	for i := range file {
		for _, bit := range []byte{1, 0x80} {
			file[i] ^= bit
			_, _ = Check(bytes.NewReader(file), int64(len(file)), true, 0)
			file[i] ^= bit
		}
	}
}

// Each dictionary is decoded once, however many batches extend it, and a batch has those
// entries that were there before it, in any order of decoding.
func TestDictionariesThatGrow(t *testing.T) {
	const count = 300
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(arrow.NewSchema([]arrow.Field{{Name: "url", Type: dt, Nullable: true}}, nil)), ipc.WithDictionaryDeltas(true))
	var values []string
	for i := range count {
		values = append(values, fmt.Sprintf("%q", fmt.Sprint("v", i)))
		dictionary := tablestest.FromJSON(t, dt.ValueType, "["+strings.Join(values, ",")+"]")
		must.Do(t, w.Write(tablestest.NewRecord([]string{"url"}, array.NewDictionaryArray(dt, tablestest.FromJSON(t, dt.IndexType, fmt.Sprintf("[%d]", i)), dictionary))))
	}
	must.Do(t, w.Close())
	s := must.Get(NewStreamReader(&out, ReaderOptions{}))(t)
	var records []*Part
	for range count {
		p := must.Get(s.Next())(t)
		records = append(records, p)
	}
	if s.Close(); s.decoder != nil {
		t.Error("a closed reader keeps dictionaries")
	}
	last, decoded := records[count-1], records[0].decoder.decoded
	for _, i := range []int{count - 1, 0, 7, count / 2} {
		r := records[i]
		r.decode()
		must.Need(t, r.err == nil && decoded.known[0].parts == count && r.decoder.decoded == decoded,
			"batch %d: %v, %d dictionaries were read", i, r.err, decoded.known[0].parts)
		column := r.record.Column(0).(*array.Dictionary)
		must.Be(t, column.Dictionary().Len() == i+1 && column.ValueStr(0) == fmt.Sprint("v", i), "batch %d: %d entries, %s", i, column.Dictionary().Len(), column)
	}
	if r := records[count-2]; r.decoder != last.decoder {
		must.Fail(t, must.Err(records[3].decoder.plainRecord(r.meta, r.body)), "batch may use a value that a later batch adds")
		if r.decode(); r.err != nil {
			t.Errorf("after an error: %v", r.err)
		}
	}
}

// Offsets of no values are one offset, as the format says: Polars reads no fewer.
func TestEmptyOffsets(t *testing.T) {
	for _, dt := range []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.ListOf(arrow.BinaryTypes.Binary)} {
		values := array.NewBuilder(memory.DefaultAllocator, dt).NewArray()
		m := must.Get(encodeRecord(nil, []*array.Data{values.Data().(*array.Data)}, layout.CodecNone, nil))(t)
		must.Equal(t, m.batch.Buffers[1].Length, int64(dt.Layout().Buffers[1].ByteWidth), dt, "bytes")
		values.Release()
	}
}

// Texts that end before an offset says are damaged: io.EOF would be the end of the input.
func TestTextsThatEndTooEarly(t *testing.T) {
	short := texts{stream: io.NopCloser(strings.NewReader("ab")), size: 5}
	must.Is(t, short.skip(5), layout.ErrShort)
}
