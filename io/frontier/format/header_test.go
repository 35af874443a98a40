package format

import (
	"io"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

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
		{"url,rank\n1,2\n", "urls.tsv", TSV}, // the name says so
	} {
		got, _, r, err := Sniff(strings.NewReader(test.text), test.name)
		if err != nil || got != test.want {
			t.Errorf("%q, named %q: %s, %v, want %s", test.text, test.name, got, err, test.want)
			continue
		}
		if text, err := io.ReadAll(r); err != nil || string(text) != test.text {
			t.Errorf("%q: read %q, %v", test.text, text, err)
		}
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
		if _, _, _, err := Sniff(strings.NewReader(test.text), "urls.txt"); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %s", test.text, err, test.want)
		}
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
		if err := Foreign([]byte(text)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
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
