package parquetio

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/encode"
	"robotsbatch/io/tables/parquet/layout"
	"robotsbatch/io/tables/parquet/layout/layouttest"
)

var update = flag.Bool("update", false, "rewrite the golden text in testdata")

// designRows are the row groups of the example that DESIGN.md carries through. What lies
// below /private is denied.
var designRows = [][]struct {
	url  string
	size int32 // 0 for null
}{
	{{"https://a.test/", 10}, {"https://a.test/news", 20}},
	{{"https://a.test/private", 30}, {"https://a.test/faq", 0}},
	{{"https://a.test/private/x", 40}, {"https://a.test/private/y", 50}},
}

// TestDesign keeps the example of DESIGN.md true: testdata/design.txt has the bytes of a
// table and of what comes out of it. With -update it writes that anew.
func TestDesign(t *testing.T) {
	in := designFile(t)
	d := &dump{t: t, data: in}
	d.title("in.parquet")
	d.file()
	before := d.seen

	all, chosen := designOutput(t, in, Options{}, true), designOutput(t, in, Options{}, false)
	d.data, d.copiedFrom, d.before = all, in, before
	d.title("out.parquet of robotsbatch -in in.parquet -out out.parquet")
	d.file()
	d.data = chosen
	d.title("the same with -emit allowed, in short")
	d.ranges()
	d.data = designOutput(t, in, Options{Keep: batch.KeepURL}, true)
	d.title("the first one with -columns url, in short")
	d.ranges()

	const golden = "testdata/design.txt"
	if *update {
		must.Do(t, os.WriteFile(golden, d.Bytes(), 0o666))
	}
	want := must.Get(os.ReadFile(golden))(t)
	must.Be(t, bytes.Equal(d.Bytes(), want), "%s is not what comes out; go test -run TestDesign -update writes it anew. Now it is\n%s", golden, d.String())
	checkDesignQuotes(t, string(want))
}

// checkDesignQuotes checks that DESIGN.md has the example's URLs, and that the dumped
// lines that it quotes are in the golden text.
func checkDesignQuotes(t *testing.T, golden string) {
	t.Helper()
	text := must.Get(os.ReadFile("../../tables/DESIGN.md"))(t)
	for _, group := range designRows {
		for _, row := range group {
			must.Be(t, strings.Contains(string(text), row.url), "DESIGN.md does not have %q of the example", row.url)
		}
	}
	quoted := 0
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); len(line) > 5 && strings.Trim(line[:5], "0123456789 ") == "" && strings.Contains(line, "  ") {
			if quoted++; !strings.Contains(golden, line) {
				t.Errorf("DESIGN.md quotes %q, which testdata/design.txt does not have", line)
			}
		}
	}
	must.Be(t, quoted != 0, "DESIGN.md quotes no byte of testdata/design.txt")
}

// designFile makes the example's table: not compressed, and without an Arrow schema.
func designFile(t *testing.T) []byte {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}, {Name: "size", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, nil)
	stored := must.Get(columns.FromArrow(schema))(t)
	stored.Stored = nil
	encoder := must.Get(encode.NewEncoder(stored, compress.None, 0))(t)
	var file bytes.Buffer
	w := must.Get(encode.NewWriter(&file, encoder))(t)
	for _, group := range designRows {
		b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
		for _, row := range group {
			b.Field(0).(*array.StringBuilder).Append(row.url)
			b.Field(1).(*array.Int32Builder).AppendValues([]int32{row.size}, []bool{row.size > 0})
		}
		columns := []*array.Data{b.Field(0).NewArray().Data().(*array.Data), b.Field(1).NewArray().Data().(*array.Data)}
		rows := must.Get(encoder.Shred(int64(len(group)), columns, memory.NewGoAllocator()))(t)
		must.Do(t, w.Write(must.Get(encoder.Encode(rows))(t)))
	}
	must.Do(t, w.Close("example"))
	return file.Bytes()
}

// designOutput lets the example pass through, all rows or those that are allowed.
func designOutput(t *testing.T, in []byte, o Options, all bool) []byte {
	t.Helper()
	s := must.Get(openPassing(in, o))(t)
	defer s.Close()
	var out output
	sink := must.Get(newPassing(&out, s, false))(t)
	for range designRows {
		p := must.Get(s.Next(t.Context()))(t)
		b := must.Get(p.Decode())(t)
		v := &batch.Verdicts{}
		v.Reset(b.URLs.Len(), batch.Want{Agents: 1})
		for row := range b.URLs.Len() {
			v.Agents[0].Set(row, !bytes.Contains(b.URLs.Value(row), []byte("/private")))
		}
		tablestest.Select(v, func(row int) bool { return all || !v.Agents[0].Denied(row) })
		b.Start = func(do func()) { do() }
		must.Do(t, sink.Write(must.Get(sink.Encode(b, v))(t)))
	}
	must.Do(t, sink.Close())
	return out.Bytes()
}

// dump prints the bytes of a Parquet file with their meaning.
type dump struct {
	bytes.Buffer
	t    testing.TB
	data []byte
	at   int // in data

	// copiedFrom is the file that chunks of data may be copied from, nil for none, and
	// before what its footer has.
	copiedFrom   []byte
	before, seen map[string]string
	added        bool // what is printed is in no structure of before
	brief        bool // of a structure only what differs is printed
	ends         int  // bytes to come, each of which ends a structure
}

// structure names the fields of a structure of parquet.thrift, by their numbers.
type structure map[int16]field

type field struct {
	name string
	of   structure // of a structure, or of a list's elements
	enum []string  // names of numbers
}

var (
	types       = []string{"BOOLEAN", "INT32", 6: "BYTE_ARRAY"}
	encodings   = []string{"PLAIN", 3: "RLE"}
	repetitions = []string{"REQUIRED", "OPTIONAL"}

	statisticsFields = structure{3: {name: "null_count"}, 5: {name: "max_value"}, 6: {name: "min_value"}}
	metaFields       = structure{
		1: {name: "type", enum: types}, 2: {name: "encodings", enum: encodings}, 3: {name: "path_in_schema"},
		4: {name: "codec", enum: []string{"UNCOMPRESSED"}}, 5: {name: "num_values"}, 6: {name: "total_uncompressed_size"},
		7: {name: "total_compressed_size"}, 9: {name: "data_page_offset"}, 12: {name: "statistics", of: statisticsFields},
	}
	chunkFields = structure{2: {name: "file_offset"}, 3: {name: "meta_data", of: metaFields}}
	groupFields = structure{
		1: {name: "columns", of: chunkFields}, 2: {name: "total_byte_size"}, 3: {name: "num_rows"},
		5: {name: "file_offset"}, 6: {name: "total_compressed_size"}, 7: {name: "ordinal"},
	}
	elementFields = structure{
		1: {name: "type", enum: types}, 3: {name: "repetition_type", enum: repetitions}, 4: {name: "name"}, 5: {name: "num_children"},
		6: {name: "converted_type", enum: []string{"UTF8"}}, 10: {name: "logicalType", of: structure{1: {name: "STRING"}}},
	}
	fileFields = structure{
		1: {name: "version"}, 2: {name: "schema", of: elementFields}, 3: {name: "num_rows"}, 4: {name: "row_groups", of: groupFields},
		5: {name: "key_value_metadata", of: structure{1: {name: "key"}, 2: {name: "value"}}}, 6: {name: "created_by"},
		7: {name: "column_orders", of: structure{1: {name: "TYPE_ORDER"}}},
	}
	pageFields = structure{
		1: {name: "type", enum: []string{"DATA_PAGE"}}, 2: {name: "uncompressed_page_size"}, 3: {name: "compressed_page_size"}, 4: {name: "crc"},
		5: {name: "data_page_header", of: structure{
			1: {name: "num_values"}, 2: {name: "encoding", enum: encodings},
			3: {name: "definition_level_encoding", enum: encodings}, 4: {name: "repetition_level_encoding", enum: encodings},
		}},
	}
)

// number is a number with its name, if it has one.
func (f *field) number(v int64) string {
	if v >= 0 && v < int64(len(f.enum)) {
		return fmt.Sprintf("%d, %s", v, f.enum[v])
	}
	return fmt.Sprint(v)
}

// title begins a file.
func (d *dump) title(format string, args ...any) {
	if d.Len() > 0 {
		d.WriteByte('\n')
	}
	fmt.Fprintf(d, format+"\n\n", args...)
	d.at, d.seen = 0, make(map[string]string)
}

// next prints the next n bytes, in brief only if they are marked as others than before.
func (d *dump) next(n int, format string, args ...any) {
	d.printEnds()
	meaning := fmt.Sprintf(format, args...)
	if d.brief && !strings.Contains(meaning, " ← ") {
		d.at += n
		return
	}
	for first := true; first || n > 0; first = false {
		some := min(n, 12)
		d.WriteString(strings.TrimRight(fmt.Sprintf("%5d  %-35s  %s", d.at, fmt.Sprintf("% x", d.data[d.at:d.at+some]), meaning), " ") + "\n")
		meaning, d.at, n = "", d.at+some, n-some
	}
}

// printEnds prints the bytes that end structures.
func (d *dump) printEnds() {
	if n := d.ends; n > 0 {
		d.ends = 0
		d.next(n, "%s", map[bool]string{true: "end", false: "ends"}[n == 1])
	}
}

// file prints a whole file, but of row groups only the first one's insides.
func (d *dump) file() {
	f := footerOf(d.t, d.data)
	d.next(4, "%q", layout.Magic)
	for i, g := range f.Groups {
		for j, c := range g.Chunks {
			fmt.Fprintf(d, "row group %d, column %s\n", i, f.Path(j))
			pages := part(d.data, c.Pages)
			switch from := bytes.Index(d.copiedFrom, pages); {
			case d.copiedFrom != nil && from >= 0:
				d.place(c.Pages, "copied from byte %d on", from)
			case i > 0:
				d.place(c.Pages, "like that of row group 0")
			default:
				d.page(c, f.Leaves[j])
			}
		}
	}
	d.WriteString("footer\n")
	d.fields(fileFields, d.data[f.End:len(d.data)-8], "", 0)
	d.printEnds()
	d.next(4, "bytes of the footer: %d", binary.LittleEndian.Uint32(d.data[d.at:]))
	d.next(4, "%q", layout.Magic)
}

// place prints where a range lies instead of its bytes.
func (d *dump) place(r layout.Range, format string, args ...any) {
	fmt.Fprintf(d, "%5d  %-35s  %s\n", r.Offset, fmt.Sprintf("… %d bytes", r.Length), fmt.Sprintf(format, args...))
	d.at = int(r.Offset + r.Length)
}

// page prints the one page of a chunk.
func (d *dump) page(c layout.Chunk, leaf layout.Leaf) {
	page, err := layouttest.NextPage(part(d.data, c.Pages), &c, 1<<20)
	must.Do(d.t, err)
	d.at = int(c.Pages.Offset)
	before := d.before
	d.before = nil
	d.fields(pageFields, page.Header, "", 0)
	d.before = before
	d.printEnds()
	if leaf.MaxDefinition > 0 {
		n := int(binary.LittleEndian.Uint32(d.data[d.at:]))
		d.next(4, "bytes of levels: %d", n)
		d.next(n, "levels: 1 for a value, 0 for null")
	}
	end := int(c.Pages.Offset + c.Pages.Length)
	for d.at < end && c.Type == layout.ByteArray {
		n := int(binary.LittleEndian.Uint32(d.data[d.at:]))
		d.next(4, "bytes of a value: %d", n)
		d.next(n, "%q", d.data[d.at:d.at+n])
	}
	for d.at < end && c.Type == layout.Int32 {
		d.next(4, "%d", binary.LittleEndian.Uint32(d.data[d.at:]))
	}
	if d.at < end {
		d.next(end-d.at, "a bit each")
	}
}

// ranges prints where the chunks of a file lie, and which are copied.
func (d *dump) ranges() {
	f := footerOf(d.t, d.data)
	for i, g := range f.Groups {
		fmt.Fprintf(d, "row group %d, rows: %d\n", i, g.Rows)
		for j, c := range g.Chunks {
			from := bytes.Index(d.copiedFrom, part(d.data, c.Pages))
			if from >= 0 {
				d.place(c.Pages, "column %s, copied from byte %d on", f.Path(j), from)
			} else {
				d.place(c.Pages, "column %s, encoded", f.Path(j))
			}
		}
	}
}

// fields prints a structure.
func (d *dump) fields(names structure, data []byte, path string, depth int) {
	fields, _, err := layout.ReadRaw(data)
	must.Do(d.t, err)
	for _, f := range fields {
		known, ok := names[f.ID]
		if !ok {
			d.t.Fatalf("%s: field %d has no name", path, f.ID)
		}
		d.field(known, f, path+"."+known.name, depth)
	}
	d.ends++
}

func (d *dump) field(known field, f layout.Raw, path string, depth int) {
	name := strings.Repeat("  ", depth) + known.name
	switch f.Kind {
	case layout.RawStruct:
		d.next(1, "%s", name)
		d.fields(known.of, f.Value, path, depth+1)
	case layout.RawList:
		_, elements, err := f.Elements()
		must.Do(d.t, err)
		head := 1 + len(f.Value) - len(bytes.Join(elements, nil))
		d.next(head, "%s: %d%s", name, len(elements), d.compare(path, fmt.Sprint(len(elements))))
		for i, e := range elements {
			d.element(known, e, fmt.Sprintf("%s[%d]", path, i), i, depth+1)
		}
	case layout.RawBinary:
		d.next(1+len(f.Value), "%s: %q%s", name, f.Text(), d.compare(path, fmt.Sprintf("%q", f.Text())))
	default:
		d.next(1+len(f.Value), "%s: %s%s", name, known.number(f.Int()), d.compare(path, fmt.Sprint(f.Int())))
	}
}

// element prints an element of a list. Of row groups but the first it prints what differs.
func (d *dump) element(list field, data []byte, path string, i, depth int) {
	defer func(added, brief bool) { d.added, d.brief = added, brief }(d.added, d.brief)
	indent := strings.Repeat("  ", depth)
	if list.of == nil {
		if len(data) > 1 {
			d.next(len(data), "%s%q", indent, data[1:])
		} else {
			d.next(len(data), "%s%s", indent, list.number(int64(data[0]>>1)))
		}
		return
	}
	d.printEnds()
	mark := d.compare(path, "")
	rest := ""
	if list.name == "row_groups" && i > 0 {
		d.brief, rest = true, fmt.Sprintf("… %d bytes", len(data))
	}
	if !d.brief || rest != "" {
		fmt.Fprintf(d, "%5d  %-35s  %s%s %d%s\n", d.at, rest, indent, strings.TrimSuffix(list.name, "s"), i, mark)
	}
	d.added = d.added || mark != ""
	d.fields(list.of, data, path, depth+1)
	if rest != "" {
		d.printEnds()
	}
}

// compare says how a value differs from that in the file before.
func (d *dump) compare(path, value string) string {
	d.seen[path] = value
	if d.before == nil || d.added {
		return ""
	}
	switch was, ok := d.before[path]; {
	case !ok:
		return "  ← added"
	case was != value:
		return "  ← was " + was
	}
	return ""
}
