package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/goleak"

	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// arrowBytes is an Arrow stream or file without rows, of many columns if wide.
func arrowBytes(t testing.TB, file, wide bool) []byte {
	t.Helper()
	fields := []arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}}
	for i := 0; wide && i < 2000; i++ {
		fields = append(fields, arrow.Field{Name: strings.Repeat("x", 1+i%50), Type: arrow.PrimitiveTypes.Int64})
	}
	return tablestest.WriteArrow(t, !file, arrow.NewSchema(fields, nil), nil)
}

func TestDetect(t *testing.T) {
	stream, wide := arrowBytes(t, false, false), arrowBytes(t, false, true)
	for _, test := range []struct {
		what, head, name string
		want             Format
	}{
		{"Arrow file", string(arrowBytes(t, true, false)), "", Arrow},
		{"Arrow file, other name", string(arrowBytes(t, true, false)), "urls.txt", Arrow},
		{"Arrow stream", string(stream), "", ArrowS},
		{"Arrow stream under the file's name", string(stream), "urls.arrow", ArrowS},
		{"Arrow stream, wide", string(wide), "", ArrowS},
		{"Arrow stream, end only", "\xFF\xFF\xFF\xFF\x00\x00\x00\x00", "", Unknown},
		{"Parquet", "PAR1\x15\x04", "", Parquet},
		{"WARC", "WARC/1.0\r\n", "", WARC},
		{"rule pack", RulePackMagic + "\x01\x00\x00\x00", "", RulePack},
		{"rule pack of another name", RulePackMagic, "rules.txt", RulePack},

		{"the name decides", "url,x\nhttp://a.example/,1\n", "urls.csv", CSV},
		{"the name decides against URLs", "http://a.example/\n", "urls.tsv", TSV},
		{"the name decides, whatever is in it", "\x00\x01\x02", "urls.txt", Text},
		{"empty, with a name", "", "urls.jsonl", JSONL},
		{"cut Arrow file", "ARRO", "urls.arrow", Arrow},

		{"empty, no name", "", "", Text},
		{"empty, a name that says nothing", "", "urls", Text},
		{"URLs", "http://a.example/\nhttps://b.example/\n", "", Text},
		{"URLs with mark, CRLF and blank lines", "\xEF\xBB\xBF\r\n  \r\n http://a.example/\r\n", "urls.lst", Text},
		{"URLs, without the last line end", "ftp://a.example/x", "part-00000", Text},
		{"URLs, some of them bad", "a.example\nhttp://a.example/\nbad\nHTTP://b.example/", "", Text},
		{"hosts", "a.example\nb.example\n", "", Unknown},
		{"csv without a name", "url,rank\nhttp://a.example/,1\n", "", Text},
		{"csv, URL second", "rank,url\n1,http://a.example/\n", "", Unknown},
		{"jsonl without a name", `{"url":"http://a.example/"}` + "\n", "", JSONL},
		{"jsonl with mark and white space", "\xEF\xBB\xBF\r\n { \"url\": 1}\n", "part-00000", JSONL},
		{"an object without members", "{}\n{}\n", "", JSONL},
		{"one object over lines", "{\n  \"url\": 1\n}\n", "", Unknown},
		{"an array", "[{\"url\": 1}]\n", "", Unknown},
		{"a brace", "{", "", Unknown},
		{"the name decides against an object", `{"url":1}` + "\n", "urls.csv", CSV},
		{"cdxj without a name", "com,a)/ 2025 {\"url\": \"http://a.example/\"}\n", "", Unknown},
		{"blank lines alone", "\n\n\n", "", Unknown},
		{"binary", "http://\x00", "", Unknown},
		{"no scheme", "://a\n", "", Unknown},
	} {
		t.Run(test.what, func(t *testing.T) {
			head := []byte(test.head)
			must.Equal(t, Detect(head[:min(len(head), HeadSize)], test.name), test.want)
		})
	}
}

// TestDetectBrokenStreams changes what an Arrow stream starts with.
func TestDetectBrokenStreams(t *testing.T) {
	set := func(at int, value uint32) []byte {
		head := bytes.Clone(arrowBytes(t, false, false))
		binary.LittleEndian.PutUint32(head[at:], value)
		return head
	}
	for name, head := range map[string][]byte{
		"no marker":                    set(0, 0xFFFFFFFE),
		"length not a multiple of 8":   set(4, 100),
		"negative length":              set(4, 0xFFFFFFF8),
		"huge length":                  set(4, 1<<31-8),
		"root before the first byte":   set(8, 0),
		"root after the last byte":     set(8, 1<<20),
		"vtable after the last byte":   set(8+int(binary.LittleEndian.Uint32(arrowBytes(t, false, false)[8:])), 0x80000000),
		"vtable before the first one":  set(8+int(binary.LittleEndian.Uint32(arrowBytes(t, false, false)[8:])), 0x7FFFFFFF),
		"only marker and length there": arrowBytes(t, false, false)[:8],
	} {
		must.Equal(t, Detect(head, ""), Unknown, name)
	}
}

func FuzzDetect(f *testing.F) {
	f.Add(arrowBytes(f, false, false), "")
	f.Add(arrowBytes(f, true, false), "a.csv.gz")
	f.Add([]byte("http://a.example/\n"), "urls")
	f.Fuzz(func(t *testing.T, head []byte, name string) {
		got := Detect(head, name)
		must.Be(t, int(got) < len(table), "format %d", got)
		if _, _, r, err := Sniff(bytes.NewReader(head), name); err == nil {
			r.Close()
		}
	})
}

func TestParse(t *testing.T) {
	for name, want := range map[string]Format{
		"arrow": Arrow, "arrows": ArrowS, "parquet": Parquet, "text": Text,
		"csv": CSV, "tsv": TSV, "jsonl": JSONL, "cdxj": CDXJ,
	} {
		got, ok := Parse(name, Format.Readable)
		must.Be(t, got == want && ok, "Parse(%q) = %s, %v", name, got, ok)
		must.Equal(t, got.String(), name, "written")
	}
	for _, name := range []string{"", "unknown", "txt", "CSV", "warc", "rules"} {
		got, ok := Parse(name, Format.Readable)
		must.Be(t, !ok, "Parse(%q) = %s", name, got)
	}
	got, ok := Parse("cdx", Format.Writable)
	must.Be(t, !ok, "%s is written", got)
}

func TestByName(t *testing.T) {
	for _, test := range []struct {
		name   string
		format Format
		codec  compress.Codec
	}{
		{"", Unknown, compress.None},
		{"verdicts", Unknown, compress.None},
		{"verdicts.arrow", Arrow, compress.None},
		{"verdicts.arrows", ArrowS, compress.None},
		{"verdicts.parquet", Parquet, compress.None},
		{"verdicts.csv", CSV, compress.None},
		{"dir.csv/verdicts", Unknown, compress.None},
		{"Verdicts.CSV.GZ", CSV, compress.Gzip},
		{"verdicts.tsv.zst", TSV, compress.Zstd},
		{"verdicts.jsonl.zst", JSONL, compress.Zstd},
		{"verdicts.ndjson", JSONL, compress.None},
		{"verdicts.txt.gz", Text, compress.Gzip},
		{"verdicts.gz", Unknown, compress.Gzip},
		{"verdicts.arrow.gz", Arrow, compress.Gzip},
		{"index.cdxj", CDXJ, compress.None},
		{"crawl.warc.gz", WARC, compress.Gzip},
		{"site.rules", RulePack, compress.None},
	} {
		format, codec := ByName(test.name)
		must.Be(t, format == test.format && codec == test.codec, "ByName(%q) = %s, %s", test.name, format, codec)
	}
}

func packed(t *testing.T, content string, c compress.Codec) []byte {
	t.Helper()
	return must.Get(compress.AppendCompressed(nil, []byte(content), c))(t)
}

func TestSniff(t *testing.T) {
	urls := strings.Repeat("http://a.example/\n", 10_000)
	for _, test := range []struct {
		what, content string
		codec         compress.Codec
		name          string
		want          Format
	}{
		{"plain text", urls, compress.None, "", Text},
		{"text, gzip", urls, compress.Gzip, "stdin", Text},
		{"text, zstd", urls, compress.Zstd, "urls.zst", Text},
		{"csv, zstd", "url\nhttp://a.example/\n", compress.Zstd, "urls.csv.zst", CSV},
		{"csv that only seems compressed", "url\nhttp://a.example/\n", compress.None, "urls.csv.gz", CSV},
		{"Arrow stream, zstd", string(arrowBytes(t, false, true)), compress.Zstd, "", ArrowS},
		{"empty", "", compress.None, "", Text},
		{"empty Arrow file", "", compress.None, "urls.arrow", Arrow},
		{"empty, gzip", "", compress.Gzip, "urls.txt.gz", Text},
	} {
		t.Run(test.what, func(t *testing.T) {
			data := packed(t, test.content, test.codec)
			for _, in := range []io.Reader{bytes.NewReader(data), iotest.HalfReader(bytes.NewReader(data))} {
				format, codec, r, err := Sniff(in, test.name)
				must.Do(t, err)
				must.Be(t, format == test.want && codec == test.codec, "%s, %s, want %s, %s", format, codec, test.want, test.codec)
				got, err := io.ReadAll(r)
				must.Be(t, err == nil && string(got) == test.content, "%d bytes came back with error %v, want %d", len(got), err, len(test.content))
				must.Do(t, r.Close())
			}
		})
	}
}

func TestSniffErrors(t *testing.T) {
	broken := errors.New("the disk is broken")
	gz := packed(t, "http://a.example/\n", compress.Gzip)
	for _, test := range []struct {
		what string
		in   io.Reader
		name string
		want error // nil is any
	}{
		{"nothing can be read", iotest.ErrReader(broken), "urls.txt", broken},
		{"cut gzip header", bytes.NewReader(gz[:5]), "urls.txt.gz", io.ErrUnexpectedEOF},
		{"cut gzip content", bytes.NewReader(gz[:11]), "urls.txt.gz", io.ErrUnexpectedEOF},
		{"cut to nothing", bytes.NewReader(nil), "urls.txt.gz", io.ErrUnexpectedEOF},
		{"cut within the magic number", strings.NewReader("\x28\xB5\x2F"), "urls.txt.zst", io.ErrUnexpectedEOF},
		{"no gzip after all", strings.NewReader("\x1f\x8b\xff\xff\xff\xff\xff\xff\xff\xff\xff"), "urls.txt.gz", nil},
	} {
		t.Run(test.what, func(t *testing.T) {
			_, _, r, err := Sniff(test.in, test.name)
			if err == nil {
				r.Close()
				t.Fatal("no error")
			}
			must.Be(t, (test.want == nil || errors.Is(err, test.want)) && strings.Contains(err.Error(), test.name), "error %v", err)
		})
	}
}

// TestSniffThenBreak reads an input that is cut off later: its beginning comes
// out, then the error.
func TestSniffThenBreak(t *testing.T) {
	urls := strings.Repeat("http://a.example/\n", 100)
	gz := packed(t, urls, compress.Gzip)
	format, _, r, err := Sniff(bytes.NewReader(gz[:len(gz)-1]), "urls.gz")
	must.Need(t, err == nil && format == Text, "%v, %v", format, err)
	defer r.Close()
	got, err := io.ReadAll(r)
	must.Be(t, string(got) == urls && errors.Is(err, io.ErrUnexpectedEOF), "%d bytes and error %v", len(got), err)
}

// A byte order mark tells UTF-16, which is read as UTF-8.
func TestSniffUTF16(t *testing.T) {
	text := "url,é\nhttps://example.com/\U0001F600\n"
	for name, order := range map[string]binary.AppendByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian} {
		data := order.AppendUint16(nil, 0xFEFF)
		for _, unit := range utf16.Encode([]rune(text)) {
			data = order.AppendUint16(data, unit)
		}
		for _, codec := range []compress.Codec{compress.None, compress.Gzip, compress.Zstd} {
			packed := must.Get(compress.AppendCompressed(nil, data, codec))(t)
			f, _, r, err := Sniff(bytes.NewReader(packed), "in.csv")
			must.Do(t, err)
			got, err := io.ReadAll(r)
			must.Be(t, err == nil && f == CSV && string(got) == text, "%s, %s: %s %q, %v", name, codec, f, got, err)
			must.Do(t, r.Close())
		}
	}
	for _, data := range []string{"\xFF\xFE\x00\x00u\x00\x00\x00", "\x00\x00\xFE\xFF\x00\x00\x00u"} {
		_, _, _, err := Sniff(strings.NewReader(data), "in.csv")
		must.Be(t, err != nil && strings.Contains(err.Error(), "in.csv: the text is UTF-32"), "error %v", err)
	}
}

// hosts repeats a line for hosts in turn.
func hosts(line string, of ...string) string {
	var b strings.Builder
	for i := range leastLines {
		fmt.Fprintf(&b, line, of[i%len(of)])
	}
	return b.String()
}

// Lines that go on after the URL are told from URLs with blanks and |.
func TestLinesThatGoOnAfterTheURL(t *testing.T) {
	for _, test := range []struct {
		head string
		want byte // the separator; 0 for a list of URLs
	}{
		{"https://a.example/x.pdf\t12\nhttps://a.example/y\t3\n", '\t'},
		{"https://a.example/x.pdf\t12", '\t'},
		{"https://a.example/x.pdf\ttext of the page\nhttps://a.example/y\n", '\t'},
		{"\uFEFF\r\nhttps://a.example/x\t\tz\r\nhttps://a.example/y\t\t\r\n", '\t'},
		{"https://a.example/x.pdf 12\nhttps://a.example/y   3\n", ' '},
		{"https://a.example/x 2026-03-01T12:00:00Z 200\nhttps://a.example/y 2026-03-02T12:00:00Z 404\n", ' '},
		{"https://a.example/x https://b.example/\nhttps://a.example/y https://b.example/z\n", ' '},
		{"https://a.example/x|12\nhttps://a.example/y?q|3\n", '|'},
		{"https://a.example/x | 12 | 5\nhttps://a.example/y | 3 | 6\n", '|'},
		{hosts("https://%s/x.pdf,12\n", "a.example", "b.example", "www.c.example"), ','},
		{hosts("https://%s;12;2026-03-01\n", "a.example", "b.example", "c.example"), ';'},
		{"https://a.example/" + strings.Repeat("x", HeadSize-25) + "\t1\nhttps://a", '\t'},

		{"https://a.example/x\nhttps://a.example/y\n", 0},
		{"https://a.example/x\t\n\thttps://a.example/y\n", 0}, // trimmed
		{"https://a.example/x\nhttps://a.example/y\nhttps://a.example/z\t1\n", 0},
		{"https://a.example/Going Deep\nhttps://a.example/SAGE III\n", 0},
		{"https://a.example/Part 1\nhttps://a.example/Part 2.pdf\n", 0},
		{"https://a.example/Part 1\nhttps://a.example/\n", 0},
		{"https://a.example/Part 1\n", 0},
		{"https://a.example/Part 1\nhttps://a.example/Part 1 2\n", 0},
		{"https://a.example/?cat=news|15981\nhttps://a.example/?cat=news|16505\n", 0},
		{hosts("https://%s/x,12\n", "a.example", "b.a.example", "www.a.example:80", "A.example"), 0}, // a site may have such URLs
		{"https://a.example/x,12\nhttps://b.example/y,3\nhttps://c.example/y,3\n", 0},                // few
		{hosts("https://%s/?q=1,12\n", "a.example", "b.example", "c.example"), 0},
		{hosts("https://%s/x,12\n", "a.example", "b.example", "c.example") + "https://b.example/y\n", 0},
		{"https://a.example/x|y\nhttps://a.example/y|z\n", 0},
		{"a.example/x\t1\n", 0},
		{"", 0},
	} {
		err := CheckTrailing([]byte(test.head))
		found := (*trailingError)(nil)
		if errors.As(err, &found); test.want == 0 && err != nil || test.want != 0 && (found == nil || found.separator != test.want) {
			t.Errorf("%.80q: %v, want %q", test.head, err, test.want)
		}
	}
}

// TestSniffKnowsTableByHeader: csv on stdin, or named as a list, was once read as a list of
// URLs, each with its line's other fields in it.
func TestSniffKnowsTableByHeader(t *testing.T) {
	for _, test := range []struct {
		text, name string
		want       Format
	}{
		{"url,rank\nhttp://a.example/,1\n", "", CSV},
		{"rank,url\n1,http://a.example/\n", "part-0", CSV},
		{"\xEF\xBB\xBFrank;\"URL\"\r\n1;http://a.example/\r\n", "", CSV},
		{"rank\turl\n1\thttp://a.example/\n", "urls.txt", TSV},
		{"page,rank\n\"http://a.example/\",1\n", "urls.txt", CSV},
		{"page|rank\nhttp://a.example/|1\n", "", CSV},
		{"url\nhttp://a.example/\nhttps://b.example/\n", "", CSV},

		{"http://a.example/,1\nhttp://b.example/,2\n", "", Text},
		{"url\nhttp://a.example/x,y\n", "", Text}, // unquoted, it would be two fields
		{"hello, world\nhttp://a.example/\n", "urls.txt", Text},
		{"a,b\nhttp://a.example/\n", "", Text},
		{"a.example\nhttp://a.example/\n", "", Text},
		{"url,rank", "", Unknown},
		{"User-agent: *\nDisallow: /\n", "", Unknown},
		{"{\"url\":1}\n", "", JSONL},
		{"{\"url\":1}\n", "urls.txt", JSONL},
		{"com,a)/ 20260301120000 {\"url\":\"http://a.example/\"}\n", "urls.txt", CDXJ},
		{"{url}\nhttp://a.example/\n", "urls.txt", Text},
		{"url,rank\n1,2\n", "urls.tsv", TSV}, // the name says so
	} {
		got, _, r, err := Sniff(strings.NewReader(test.text), test.name)
		if err != nil || got != test.want {
			t.Errorf("%q, named %q: %s, %v, want %s", test.text, test.name, got, err, test.want)
			continue
		}
		text, err := io.ReadAll(r)
		must.Be(t, err == nil && string(text) == test.text, "%q: read %q, %v", test.text, text, err)
		r.Close()
	}
}

// TestSniffSaysWhatToDo: what no format is, and what a common program makes one of, was
// once a list in which no row is a URL.
func TestSniffSaysWhatToDo(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"BZh91AY&SY\x12\x34", "urls.txt: it is bzip2, which is not read: pipe it in decompressed, as bzcat writes it"},
		{"\xFD7zXZ\x00\x00\x04", "xzcat"},
		{"\x04\x22\x4D\x18\x64\x40", "lz4cat"},
		{"\x5D\x00\x00\x80\x00", "lzcat"},
		{"\x1F\x9D\x90", "uncompress"},
		{"url,x\rhttps://a.example/,1\r", "CR alone"},
		{"\uFEFFhttps://a.example/\rhttps://a.example/b", "CR alone"},
		{"PK\x03\x04\x14", "unzip -p"},
		{"[{\"url\": \"http://a.example/\"}]", "it is a JSON array, and jsonl has an object a line: pipe it in as jq -c '.[]' writes it"},
		{" [\n  {\"url\": 1}", "jq -c '.[]'"},
		{"[\"http://a.example/\"]", "a list has a URL a line: pipe it in as jq -r '.[]' writes it"},
		{"{\n  \"url\": 1\n}\n", "jq -c . writes it"},
	} {
		_, _, _, err := Sniff(strings.NewReader(test.text), "urls.txt")
		must.Be(t, err != nil && strings.Contains(err.Error(), test.want), "%q: %v, want %s", test.text, err, test.want)
	}
	for _, text := range []string{"BZhang\n", "[::1]\n", "[a]\n", "{}\n", "{", "[", "{\"a\":[{\"b\":1}]}"} {
		_, _, r, err := Sniff(strings.NewReader(text), "urls.txt")
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		r.Close()
	}
}

func TestForeign(t *testing.T) {
	tar := make([]byte, 512)
	copy(tar[257:], "ustar")
	for text, want := range map[string]string{
		"SQLite format 3\x00": "sqlite3", "ORC\xFF\x00": "pyarrow.orc", "FEA1\x00\x00": "version 2", "Obj\x01\x04": "Avro", string(tar): "tar xOf", "\n<!DOCTYPE html>": "HTML",
		"\xEF\xBB\xBF<?xml version": "<loc>", "<urlset>": "sitemap", "ORChestra.example\n": "", "http://a.example/<html>\n": "", "": "",
	} {
		err := Foreign([]byte(text))
		must.Be(t, (err == nil) == (want == "") && (err == nil || strings.Contains(err.Error(), want)), "%.20q: %v, want %s", text, err, want)
	}
}

func TestSchemeless(t *testing.T) {
	for text, want := range map[string]string{
		"example.com\nwww.example.com/a\n": "example.com", "\xEF\xBB\xBF\r\n example.com/a?b \r\n": "example.com/a?b",
		"example.com\nhttps://a.example/\n": "", "": "", "no URL\n": "", "a.b,1\n": "", "example\n": "", ".com\n": "", "a.\n": "",
	} {
		must.Equal(t, string(Schemeless([]byte(text))), want, text)
	}
}
