package parquetio

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/must"
	arrowlayout "robotsbatch/io/tables/arrow/layout"
	"robotsbatch/io/tables/parquet/layout"
)

// passThrough lets files pass through into one.
func passThrough(batchRows int, files ...[]byte) ([]byte, error) {
	return passKept(Options{BatchRows: batchRows}, nil, files...)
}

// passSelected lets the rows of files pass through that keep says.
func passSelected(batchRows int, keep func(row int64) bool, files ...[]byte) ([]byte, error) {
	return passKept(Options{BatchRows: batchRows}, keep, files...)
}

// passKept lets the columns pass through that the options keep. Without keep, the output is told that all rows are kept.
func passKept(o Options, keep func(row int64) bool, files ...[]byte) ([]byte, error) {
	var out output
	var sink batch.Sink
	allRows := keep == nil
	if allRows {
		keep = func(int64) bool { return true }
	}
	for i, data := range files {
		o.Name, o.URLColumn = fmt.Sprintf("in%d", i), "url"
		s, err := openPassing(data, o)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		if sink == nil {
			sink, err = newPassing(&out, s, allRows)
		}
		if err == nil {
			err = tablestest.Each(s, func(p batch.Piece) error { return passPiece(sink, p, keep) })
		}
		if err != nil {
			return nil, err
		}
	}
	err := sink.Close()
	return out.Bytes(), err
}

// openPassing opens a file whose row groups pass through.
func openPassing(data []byte, o Options) (*Source, error) {
	s, err := Open(fileOf(data), int64(len(data)), o)
	if err == nil {
		err = s.PassThrough()
	}
	return s, err
}

// newPassing begins an output of the columns of s and one of verdicts.
func newPassing(w blob.Writer, s *Source, allRows bool) (batch.Sink, error) {
	return NewPassing(w, s, batch.Layout{AllRows: allRows, URLColumn: "url", Verdicts: []batch.VerdictColumn{{Name: "allowed", Kind: batch.Allowed}}})
}

func passPiece(sink batch.Sink, p batch.Piece, keep func(row int64) bool) error {
	b, err := p.Decode()
	if err != nil {
		return err
	}
	v := tablestest.Verdicts(b.URLs.Len())
	tablestest.Select(v, func(i int) bool { return keep(b.FirstRow + int64(i)) })
	b.Start = func(do func()) { do() }
	chunk, err := sink.Encode(b, v)
	if err == nil {
		err = sink.Write(chunk)
	}
	return err
}

func footerOf(t testing.TB, data []byte) *layout.File {
	t.Helper()
	return must.Get(layout.ReadFooter(bytes.NewReader(data), int64(len(data)), 1<<30))(t)
}

// comparePages checks that the columns of the files are those of the output, byte for
// byte, row group by row group.
func comparePages(t *testing.T, out []byte, files ...[]byte) {
	t.Helper()
	got, next := footerOf(t, out), 0
	for _, data := range files {
		want := footerOf(t, data)
		for _, group := range want.Groups {
			for i, c := range group.Chunks {
				o := got.Groups[next].Chunks[i]
				if !bytes.Equal(part(out, o.Pages), part(data, c.Pages)) || o.Codec != c.Codec || o.Values != c.Values || o.Uncompressed != c.Uncompressed || !slices.Equal(o.Encodings, c.Encodings) {
					t.Errorf("row group %d: column %q differs", next, want.Path(i))
				}
			}
			must.Be(t, len(got.Groups[next].Chunks) == len(group.Chunks)+1 && got.Groups[next].Rows == group.Rows,
				"row group %d has %d columns and %d rows", next, len(got.Groups[next].Chunks), got.Groups[next].Rows)
			next++
		}
	}
	must.Equal(t, next, len(got.Groups), "row groups")
}

func part(data []byte, r layout.Range) []byte { return data[r.Offset : r.Offset+r.Length] }

// Of every type the bytes come out that went in, and the library reads them as before. If
// rows are selected, they are written whatever the pieces; a row group of which all are is the
// same byte for byte, and one of which none is is gone.
func TestPassThroughEveryType(t *testing.T) {
	for _, c := range tablestest.Columns(t) {
		record := tablestest.NewRecord([]string{"x", "url", "y"}, c.Array, tablestest.URLArray(c.Array.Len(), true), c.Array)
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			data, err := tryLibraryWrite(compress.Codecs.Gzip, version, 7, record, record)
			if err != nil {
				continue
			}
			for _, rows := range []int{0, 3} {
				t.Run(fmt.Sprintf("%s/pages=%d/rows=%d", c.Name, version, rows), func(t *testing.T) {
					out := must.Get(passThrough(rows, data))(t)
					comparePages(t, out, data)
					if !badLibrary[c.Name] {
						compareLibrary(t, out, data)
					}
				})
			}
			if badLibrary[c.Name] {
				continue
			}
			// Of row groups of 7, 5, 7 and 5 rows.
			for i, bits := range []uint32{0xFFF, 0xFFF_000, 0x5A5_FFF, 0x0AA_07F, 0xF80_F80, 1, 0x800_000, 0} {
				rows := []int{0, 3, 5}[i%3]
				t.Run(fmt.Sprintf("%s/pages=%d/rows=%d/selected=%x", c.Name, version, rows, bits), func(t *testing.T) {
					testSelected(t, data, rows, bits)
				})
			}
		}
	}
}

// compareLibrary checks that the library reads the same columns in both files.
func compareLibrary(t *testing.T, out, data []byte) {
	t.Helper()
	_, want := libraryRead(t, data)
	_, got := libraryRead(t, out)
	must.Need(t, len(got) == len(want), "%d row groups, want %d", len(got), len(want))
	for i := range want {
		for j, column := range want[i].Columns() {
			if !got[i].Schema().Field(j).Equal(want[i].Schema().Field(j)) || !array.Equal(got[i].Column(j), column) {
				t.Errorf("row group %d: %s, want %s", i, got[i].Column(j), column)
			}
		}
		allowed := got[i].Column(len(want[i].Columns()))
		must.Be(t, allowed.DataType().ID() == arrow.BOOL && (allowed.NullN() != 0 || allowed.Len() <= 2), "row group %d: verdicts %s", i, allowed)
	}
}

// Several files with the same columns go into one; another writer's, or other columns,
// do not.
func TestPassThroughSeveral(t *testing.T) {
	record := tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(12, false), tablestest.FromJSON(t, arrow.PrimitiveTypes.Int64, `[1,2,3,4,5,6,7,8,9,10,11,12]`))
	one := libraryWrite(t, compress.Codecs.Snappy, parquet.DataPageV1, 5, record)
	two := libraryWrite(t, compress.Codecs.Zstd, parquet.DataPageV2, 7, record)
	out := must.Get(passThrough(0, one, two))(t)
	comparePages(t, out, one, two)
	must.Equal(t, footerOf(t, out).Rows, 24)
	must.Say(t, must.Err(passThrough(0, one, writeRecord(t, record))), "use compression zstd", "file of another program")
}

// A stored Arrow schema that cannot be extended prevents only passing through, and the error says
// what does without it.
func TestPassThroughForeignSchema(t *testing.T) {
	data := writeRecord(t, tablestest.NewRecord([]string{"url"}, tablestest.URLArray(3, false)))
	for _, pair := range footerOf(t, data).Metadata {
		if pair.Key != "ARROW:schema" {
			continue
		}
		none := must.Get(arrowlayout.BuildSchema(arrow.NewSchema(nil, nil)))(t).Head()
		none = append(none, make([]byte, len(must.Get(base64.StdEncoding.DecodeString(pair.Value))(t))-len(none))...)
		data = bytes.Replace(data, []byte(pair.Value), []byte(base64.StdEncoding.EncodeToString(none)), 1)
	}
	if _, _, err := readAll(data, Options{}); err != nil {
		t.Error(err)
	}
	_, err := passKept(Options{Keep: batch.KeepURL}, func(int64) bool { return true }, data)
	want := "the Arrow schema stored in it cannot be extended: it has 0 columns, fewer than the file: use compression zstd"
	must.Be(t, err != nil && err.Error() == want, "got %v, want %s", err, want)
}

// Page indexes and bloom filters move with their pages.
func TestPassThroughIndexes(t *testing.T) {
	for _, name := range []string{"page_index.parquet", "bloom.parquet"} {
		data := must.Get(os.ReadFile(filepath.Join("testdata", name)))(t)
		out := must.Get(passThrough(64, data))(t)
		comparePages(t, out, data)
		want, got := indexesOf(t, data), indexesOf(t, out)
		must.Need(t, len(want) != 0, "%s has no indexes", name)
		for i := range want {
			must.Be(t, bytes.Equal(got[i], want[i]), "%s: index or page %d differs", name, i)
		}
		before, after := footerOf(t, data), footerOf(t, out)
		for i, pair := range before.Metadata {
			must.Be(t, after.Metadata[i].Key == pair.Key && (pair.Key == "ARROW:schema" || after.Metadata[i].Value == pair.Value),
				"%s: metadata %q is %q", name, pair.Key, after.Metadata[i].Value)
		}
		s, _, err := readAll(out, Options{Name: name, URLColumn: "url"})
		must.Be(t, err == nil && s.Schema().Field(s.Schema().NumFields()-1).Name == "allowed", "%s: %v", name, err)
	}
}

// indexesOf are the column indexes, bloom filters, and the pages that offset indexes
// name, of the columns url, k and tag of all row groups.
func indexesOf(t *testing.T, data []byte) (list [][]byte) {
	t.Helper()
	for _, group := range structures(readRaw(t, footerOf(t, data).Footer), 4) {
		for _, chunk := range structures(readRaw(t, group), 1)[:3] {
			fields := readRaw(t, chunk)
			if at, n := number(fields, 6), number(fields, 7); n > 0 {
				list = append(list, data[at:at+n])
			}
			if at := number(fields, 4); at > 0 {
				for _, location := range structures(readRaw(t, data[at:]), 1) {
					l := readRaw(t, location)
					list = append(list, data[number(l, 1):number(l, 1)+number(l, 2)])
				}
			}
			meta := readRaw(t, fields[slices.IndexFunc(fields, func(f layout.Raw) bool { return f.ID == 3 })].Value)
			if at, n := number(meta, 14), number(meta, 15); at > 0 {
				list = append(list, data[at:at+n])
			}
		}
	}
	return list
}

// With KeepURL the chunks of the URLs are copied alone, whatever the other columns are,
// and with their indexes.
func TestPassThroughURLs(t *testing.T) {
	all := func(int64) bool { return true }
	for _, c := range tablestest.Columns(t) {
		record := tablestest.NewRecord([]string{"x", "url", "y"}, c.Array, tablestest.URLArray(c.Array.Len(), true), c.Array)
		data, err := tryLibraryWrite(compress.Codecs.Zstd, parquet.DataPageV1, 7, record, record)
		if err != nil {
			continue // the library cannot write it
		}
		t.Run(c.Name, func(t *testing.T) {
			out := must.Get(passKept(Options{Keep: batch.KeepURL, BatchRows: 3}, all, data))(t)
			before := footerOf(t, data)
			compareURLs(t, out, data, before.Fields[1].First)
			_, records := libraryRead(t, out)
			for _, got := range records {
				must.Need(t, got.NumCols() == 2 && got.Schema().Field(0).Name == "url" && got.Schema().Field(1).Name == "allowed", "columns %s", got.Schema())
			}
		})
	}
	for _, name := range []string{"page_index.parquet", "bloom.parquet"} {
		data := must.Get(os.ReadFile(filepath.Join("testdata", name)))(t)
		out := must.Get(passKept(Options{Keep: batch.KeepURL}, all, data))(t)
		before := footerOf(t, data)
		compareURLs(t, out, data, slices.IndexFunc(before.Leaves, func(l layout.Leaf) bool { return before.Schema[l.Element].Name == "url" }))
		s, _, err := readAll(out, Options{Name: name, URLColumn: "url", Keep: batch.KeepAll})
		must.Be(t, err == nil && s.Schema().NumFields() == 2, "%s: %v", name, err)
	}
}

// compareURLs checks that out has the pages of a column of data, and the verdicts.
func compareURLs(t *testing.T, out, data []byte, leaf int) {
	t.Helper()
	before, after := footerOf(t, data), footerOf(t, out)
	must.Need(t, len(after.Groups) == len(before.Groups) && after.Rows == before.Rows,
		"%d row groups of %d rows, want %d of %d", len(after.Groups), after.Rows, len(before.Groups), before.Rows)
	for i, group := range before.Groups {
		got := after.Groups[i].Chunks
		must.Be(t, len(got) == 2 && bytes.Equal(part(out, got[0].Pages), part(data, group.Chunks[leaf].Pages)), "row group %d: %d columns, or other pages", i, len(got))
	}
}

// Of sorting columns those stay that are copied and before which none is left out.
func TestPassThroughSortingColumns(t *testing.T) {
	record := tablestest.NewRecord([]string{"x", "url"}, tablestest.FromJSON(t, arrow.PrimitiveTypes.Int64, `[1,2,3]`), tablestest.URLArray(3, false))
	plain := libraryWrite(t, compress.Codecs.Snappy, parquet.DataPageV1, 5, record)
	for _, test := range []struct{ sorted, want []int64 }{
		{[]int64{1}, []int64{0}},
		{[]int64{1, 0}, []int64{0}},
		{[]int64{0, 1}, nil},
	} {
		out := must.Get(passKept(Options{Keep: batch.KeepURL}, func(int64) bool { return true }, sorted(t, plain, test.sorted)))(t)
		must.EqualSlices(t, sorting(t, out), test.want, "sorted by", test.sorted, "columns")
	}
}

// sorted returns a file of one row group with a footer that says how it is sorted.
func sorted(t *testing.T, data []byte, columns []int64) []byte {
	t.Helper()
	return changeGroup(t, data, func(group []layout.Raw) []layout.Raw {
		var list [][]byte
		for _, column := range columns {
			list = append(list, layout.AppendRaw(nil, []layout.Raw{layout.IntField(1, layout.RawI32, column)}))
		}
		return slices.Insert(group, 3, layout.ListField(4, layout.RawStruct, list))
	})
}

// changeGroup returns a file of one row group with another RowGroup structure.
func changeGroup(t *testing.T, data []byte, change func([]layout.Raw) []layout.Raw) []byte {
	t.Helper()
	footer := readRaw(t, footerOf(t, data).Footer)
	group := layout.AppendRaw(nil, change(readRaw(t, structures(footer, 4)[0])))
	return withFooter(t, data, footer, layout.ListField(4, layout.RawStruct, [][]byte{group}))
}

// withFooter returns a file with another footer: these fields, of which one is replaced.
func withFooter(t *testing.T, data []byte, footer []layout.Raw, field layout.Raw) []byte {
	t.Helper()
	footer[slices.IndexFunc(footer, func(f layout.Raw) bool { return f.ID == field.ID })] = field
	end := layout.AppendRaw(nil, footer)
	data = append(bytes.Clone(data[:footerOf(t, data).End]), end...)
	return append(binary.LittleEndian.AppendUint32(data, uint32(len(end))), layout.Magic...)
}

// sorting returns the numbers of the columns that the first row group is sorted by.
func sorting(t *testing.T, data []byte) (columns []int64) {
	t.Helper()
	group := readRaw(t, structures(readRaw(t, footerOf(t, data).Footer), 4)[0])
	for _, raw := range structures(group, 4) {
		columns = append(columns, number(readRaw(t, raw), 1))
	}
	return columns
}

// readRaw reads the fields of a structure.
func readRaw(t *testing.T, data []byte) []layout.Raw {
	t.Helper()
	fields, _, err := layout.ReadRaw(data)
	must.Do(t, err)
	return fields
}

// number is the value of an integer among fields, 0 if it is not there.
func number(fields []layout.Raw, id int16) int64 {
	for _, f := range fields {
		if f.ID == id {
			return f.Int()
		}
	}
	return 0
}

// structures are those of a list among fields.
func structures(fields []layout.Raw, id int16) (list [][]byte) {
	for _, f := range fields {
		if f.ID == id {
			_, list, _ = f.Elements()
		}
	}
	return list
}

// A changed byte in what passes through is the same changed byte in the output, and
// nothing else is.
func TestPassThroughDamage(t *testing.T) {
	record := tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(12, false), tablestest.FromJSON(t, arrow.PrimitiveTypes.Int64, `[1,2,3,4,5,6,7,8,9,10,11,12]`))
	data := libraryWrite(t, compress.Codecs.Uncompressed, parquet.DataPageV1, 100, record)
	whole := must.Get(passThrough(0, data))(t)
	pages := footerOf(t, data).Groups[0].Chunks[1].Pages
	for i := range pages.Length {
		changed := must.Flipped(data, pages.Offset+i, 0x10)
		out, err := passThrough(0, changed)
		must.Need(t, err == nil && len(out) == len(whole), "%v", err)
		differ := 0
		for k := range out {
			if out[k] != whole[k] {
				differ++
			}
		}
		must.Need(t, differ == 1, "%d bytes differ", differ)
	}
}

// A footer in which a boolean stands in an integer's place passes as a sound one.
func TestPassThroughOrdinalOfAnotherKind(t *testing.T) {
	record := tablestest.NewRecord([]string{"url"}, tablestest.URLArray(3, false))
	data := changeGroup(t, libraryWrite(t, compress.Codecs.Snappy, parquet.DataPageV1, 5, record), func(group []layout.Raw) []layout.Raw {
		group = slices.DeleteFunc(group, func(f layout.Raw) bool { return f.ID >= 7 })
		return append(group, layout.Raw{ID: 7, Kind: 1}) // true
	})
	out := must.Get(passThrough(0, data))(t)
	_, batches, err := readAll(out, Options{})
	must.Be(t, err == nil && len(batches) == 1 && len(footerOf(t, out).Metadata) != 0, "%d batches with metadata %q, %v", len(batches), footerOf(t, out).Metadata, err)
}

// Whatever the footer says, nothing is copied twice or from outside of the file.
func TestPassThroughHostile(t *testing.T) {
	for _, name := range []string{"page_index.parquet", "bloom.parquet"} {
		data := must.Get(os.ReadFile(filepath.Join("testdata", name)))(t)
		end := int(footerOf(t, data).End)
		for i := end; i < len(data)-8; i++ {
			for _, bit := range []byte{1, 0x40, 0x80} {
				changed := must.Flipped(data, i, bit)
				keep := []batch.Keep{batch.KeepAll, batch.KeepURL}[i%2]
				out, err := passKept(Options{Keep: keep}, func(int64) bool { return true }, changed)
				must.Need(t, err != nil || len(out) <= 2*len(data)+4096, "%s: byte %d: %d bytes of output", name, i, len(out))
			}
		}
	}
}
