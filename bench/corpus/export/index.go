package export

import (
	"bytes"
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/bench/corpus"
)

// word is the type of a column with few values. In Parquet, which uses dictionaries for
// them anyway, these are strings.
var word = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}

// indexFields are the columns of Common Crawl's index, in its order. Only the languages
// differ: here they are a list.
var indexFields = []arrow.Field{
	{Name: "url_surtkey", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "url", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "url_host_name", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "url_host_tld", Type: word, Nullable: true},
	{Name: "url_host_2nd_last_part", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "url_host_3rd_last_part", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "url_host_4th_last_part", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "url_host_5th_last_part", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "url_host_registry_suffix", Type: word, Nullable: true},
	{Name: "url_host_registered_domain", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "url_host_private_suffix", Type: word, Nullable: true},
	{Name: "url_host_private_domain", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "url_host_name_reversed", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "url_protocol", Type: word, Nullable: true},
	{Name: "url_port", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	{Name: "url_path", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "url_query", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "fetch_time", Type: arrow.FixedWidthTypes.Timestamp_ms},
	{Name: "fetch_status", Type: arrow.PrimitiveTypes.Int16},
	{Name: "fetch_redirect", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "content_digest", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "content_mime_type", Type: word, Nullable: true},
	{Name: "content_mime_detected", Type: word, Nullable: true},
	{Name: "content_charset", Type: word, Nullable: true},
	{Name: "content_languages", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
	{Name: "content_truncated", Type: word, Nullable: true},
	{Name: "warc_filename", Type: arrow.BinaryTypes.String},
	{Name: "warc_record_offset", Type: arrow.PrimitiveTypes.Int32},
	{Name: "warc_record_length", Type: arrow.PrimitiveTypes.Int32},
	{Name: "warc_segment", Type: arrow.BinaryTypes.String},
}

// These are the values of columns with few values. Rows choose by number; values are
// repeated in the list to make them frequent.
var (
	suffixes  = []string{"example", "test"}
	protocols = []string{"http", "https"}
	mimeTypes = []string{"text/html", "text/html", "text/html", "text/html", "text/html", "application/xhtml+xml", "application/pdf", "text/plain"}
	charsets  = []string{"UTF-8", "UTF-8", "UTF-8", "UTF-8", "ISO-8859-1", "windows-1251", ""}
	languages = []string{"eng", "eng", "eng", "deu", "rus", "zho", "fra", "spa"}
	truncated = []string{"length", "time", "disconnect"}
)

// indexRow appends the columns of a row.
type indexRow struct {
	builder *array.RecordBuilder
	next    int // the next column to append to
	host    []string
	key     []byte
}

// indexTable has the columns of Common Crawl's index. Words are dictionaries or strings.
func indexTable(c *corpus.Corpus, dictionaries bool) table {
	fields := slices.Clone(indexFields)
	for i := range fields {
		if fields[i].Type == word && !dictionaries {
			fields[i].Type = arrow.BinaryTypes.String
		}
	}
	builder := newBuilder(c, fields)
	words := map[string][]string{
		"url_host_tld": suffixes, "url_host_registry_suffix": suffixes, "url_host_private_suffix": suffixes, "url_protocol": protocols,
		"content_mime_type": mimeTypes, "content_mime_detected": mimeTypes, "content_charset": charsets, "content_truncated": truncated,
	}
	for i, field := range fields {
		if b, ok := builder.Field(i).(*array.BinaryDictionaryBuilder); ok {
			// A file may have only one dictionary per column, so it has all values from the
			// start.
			insertWords(b, words[field.Name])
		}
	}
	r := &indexRow{builder: builder}
	return table{builder, r.add}
}

// insertWords puts all values into the dictionary of b.
func insertWords(b *array.BinaryDictionaryBuilder, values []string) {
	list := array.NewStringBuilder(memory.DefaultAllocator)
	defer list.Release()
	list.AppendValues(slices.Compact(slices.Sorted(slices.Values(values))), nil)
	dictionary := list.NewStringArray()
	defer dictionary.Release()
	if err := b.InsertStringDictValues(dictionary); err != nil {
		panic(err) // it is a column of strings
	}
}

// column returns the builder of the next column.
func (r *indexRow) column() array.Builder {
	r.next++
	return r.builder.Field(r.next - 1)
}

// text appends a string, or null for "".
func (r *indexRow) text(value string) {
	switch b := r.column().(type) {
	case *array.StringBuilder:
		if value == "" {
			b.AppendNull()
		} else {
			b.Append(value)
		}
	case *array.BinaryDictionaryBuilder:
		if value == "" {
			b.AppendNull()
		} else if err := b.AppendString(value); err != nil {
			panic(err) // the dictionary has fewer values than indices
		}
	}
}

// number appends an integer.
func (r *indexRow) number(value int) { r.column().(*array.Int32Builder).Append(int32(value)) }

// add appends a row. Its numbers look random but depend only on the row's number.
func (r *indexRow) add(row int64, o *corpus.Origin, url []byte) {
	r.next = 0
	mixed := uint64(row+1) * 0x9E3779B97F4A7C15
	path, query := pathOf(url)
	r.addHost(o, url, path, query)
	r.text(o.Scheme)
	if o.Port == 0 {
		r.column().AppendNull()
	} else {
		r.number(o.Port)
	}
	r.text(path)
	r.text(query)
	r.addContent(row, mixed, o, url)
	segment := fmt.Sprintf("17356896%02d.%d", row>>20%100, row>>17%8)
	r.text(fmt.Sprintf("crawl-data/CC-MAIN-2025-05/segments/%s/warc/CC-MAIN-20250101000000-%05d.warc.gz", segment, row>>14))
	r.number(int(row&(1<<14-1))*61_000 + int(mixed>>48))
	r.number(int(900 + mixed>>46))
	r.text(segment)
}

// addHost appends the columns about the URL and its host.
func (r *indexRow) addHost(o *corpus.Origin, url []byte, path, query string) {
	r.host = append(r.host[:0], strings.Split(o.Host, ".")...)
	slices.Reverse(r.host)
	r.key = append(append(r.key[:0], strings.Join(r.host, ",")...), ')')
	r.key = append(r.key, strings.ToLower(path)...)
	if query != "" {
		r.key = append(append(r.key, '?'), strings.ToLower(query)...)
	}
	label := func(n int) string {
		if n > len(r.host) {
			return ""
		}
		return r.host[n-1]
	}
	domain := o.Host
	if len(r.host) > 2 {
		domain = r.host[1] + "." + r.host[0]
	}
	r.text(string(r.key))
	r.column().(*array.StringBuilder).BinaryBuilder.Append(url)
	r.text(o.Host)
	for n := range 5 {
		r.text(label(n + 1))
	}
	r.text(label(1))
	r.text(domain)
	r.text(label(1))
	r.text(domain)
	r.text(strings.Join(r.host, "."))
}

// addContent appends the columns about the fetched content.
func (r *indexRow) addContent(row int64, mixed uint64, o *corpus.Origin, url []byte) {
	r.column().(*array.TimestampBuilder).Append(arrow.Timestamp(firstFound*1000 + row*37 + int64(mixed>>56)))
	status, redirect := 200, ""
	if mixed%23 == 0 {
		status, redirect = 301, o.Scheme+"://"+o.Host+"/"
	}
	r.column().(*array.Int16Builder).Append(int16(status))
	r.text(redirect)
	digest := sha1.Sum(url)
	r.text(base32.StdEncoding.EncodeToString(digest[:]))
	r.text(mimeTypes[mixed>>40%uint64(len(mimeTypes))])
	r.text(mimeTypes[mixed>>37%uint64(len(mimeTypes))])
	r.text(charsets[mixed>>34%uint64(len(charsets))])
	r.languages(int(mixed>>31)%4, int(mixed>>28&0xFF))
	cut := ""
	if mixed>>20%50 == 0 {
		cut = truncated[mixed>>30%uint64(len(truncated))]
	}
	r.text(cut)
}

// languages appends a list of n languages, or null for none.
func (r *indexRow) languages(n, first int) {
	list := r.column().(*array.ListBuilder)
	if n == 0 {
		list.AppendNull()
		return
	}
	list.Append(true)
	for i := range n {
		list.ValueBuilder().(*array.StringBuilder).Append(languages[(first+i)%len(languages)])
	}
}

// pathOf returns the path and the query of a URL as written; "" if it has none.
func pathOf(url []byte) (path, query string) {
	_, rest, found := bytes.Cut(url, []byte("//"))
	slash := bytes.IndexByte(rest, '/')
	if !found || slash < 0 {
		return "", ""
	}
	rest, _, _ = bytes.Cut(rest[slash:], []byte("#"))
	before, after, _ := bytes.Cut(rest, []byte("?"))
	return string(before), string(after)
}
