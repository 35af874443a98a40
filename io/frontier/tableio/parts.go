package tableio

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/tables"
)

// urlName is the default name of the URL column, and that of the column of joined URLs.
const urlName = "url"

// joinedField is the field of joined URLs.
var joinedField = arrow.Field{Name: urlName, Type: arrow.BinaryTypes.String, Nullable: true}

// Parts are the columns over which URLs are split, as in Common Crawl's index: protocol, host and
// path, and optionally the explicit port and the query. It has the index of each column, -1 if there is none.
type Parts [partCount]int

// The parts of a URL, as indices.
const (
	protocol = iota
	host
	port
	path
	query
	partCount
)

// partNames are the names of the columns of the parts.
var partNames = [partCount]string{"url_protocol", "url_host_name", "url_port", "url_path", "url_query"}

// findParts returns the columns over which URLs are split; nil if the schema lacks protocol, host or path. It is an
// error if port or query are there and cannot be read: without them a URL would be another one.
func findParts(schema *arrow.Schema) (*Parts, error) {
	p := new(Parts)
	for part, name := range partNames {
		p[part] = -1
		if found := schema.FieldIndices(name); len(found) == 1 {
			if dt := schema.Field(found[0]).Type; isText(dt) || part == port && isNumber(dt) {
				p[part] = found[0]
			}
		}
	}
	if p[protocol] < 0 || p[host] < 0 || p[path] < 0 {
		return nil, nil
	}
	for _, part := range []int{port, query} {
		found := schema.FieldIndices(partNames[part])
		allNull := len(found) == 1 && schema.Field(found[0]).Type.ID() == arrow.NULL // as good as none
		if cannotBeRead := p[part] < 0 && len(found) > 0; cannotBeRead && !allNull {
			return nil, option.Errorf("column %q is there %d times, the first of type %s, and is a part of the URLs: it takes one column of strings or, for a port, numbers", partNames[part], len(found), schema.Field(found[0]).Type)
		}
	}
	return p, nil
}

// Columns returns the indices of the columns, without those that there are not.
func (p *Parts) Columns() []int {
	return slices.DeleteFunc(slices.Clone(p[:]), func(column int) bool { return column < 0 })
}

// join returns the URLs of a table's rows, as an array of strings. A URL is
// null if protocol or host is null, or if the host has a byte that would end it. A null
// query is left out; an empty one becomes a question mark. The arrays must have been
// checked; limit is the most bytes of all URLs.
func (p *Parts) join(table arrow.Record, limit int64) (*array.Data, error) {
	var texts [partCount]batch.Column // empty for numbers of ports, and for parts that there are not
	portIsNumber := p[port] >= 0 && !isText(table.Schema().Field(p[port]).Type)
	for part, column := range p {
		if column < 0 || part == port && portIsNumber {
			continue
		}
		var err error
		if texts[part], err = URLs(table.Column(column).Data().(*array.Data), limit); err != nil {
			return nil, columnError(table.ColumnName(column), err)
		}
	}
	var ports arrow.Array // nil unless they are numbers
	if portIsNumber {
		plain := tables.Plain(table.Column(p[port]).Data().(*array.Data), memory.NewGoAllocator())
		defer plain.Release()
		ports = array.MakeFromData(plain)
		defer ports.Release()
	}
	b := array.NewStringBuilder(memory.NewGoAllocator())
	defer b.Release()
	b.Reserve(int(table.NumRows()))
	var url []byte
	total := int64(0)
	for row := range int(table.NumRows()) {
		if texts[protocol].Null(row) || texts[host].Null(row) || !isWhole(texts[host].Value(row)) {
			b.AppendNull()
			continue
		}
		url = p.appendURL(url[:0], &texts, ports, row)
		if total += int64(len(url)); total > min(limit, math.MaxInt32) {
			return nil, option.Errorf("the URLs of one batch take more than %d bytes: lower %s", min(limit, math.MaxInt32), option.BatchRows)
		}
		b.BinaryBuilder.Append(url)
	}
	urls := b.NewArray() // its memory lives as long as it is referenced
	return urls.Data().(*array.Data), nil
}

// isWhole reports whether a host is not empty and has no byte that would end it in a URL.
func isWhole(host []byte) bool {
	return len(host) > 0 && !strings.ContainsAny(string(host), "/?#;@")
}

// appendURL appends the URL of a row, whose protocol and host are not null. texts has the parts; ports has the ports if
// they are numbers, and is nil otherwise.
func (p *Parts) appendURL(url []byte, texts *[partCount]batch.Column, ports arrow.Array, row int) []byte {
	url = append(append(url, texts[protocol].Value(row)...), "://"...)
	name := string(texts[host].Value(row))
	if strings.Contains(name, ":") && name[0] != '[' { // IPv6 without its brackets
		name = "[" + name + "]"
	}
	url = append(url, name...)
	if ports != nil && ports.IsValid(row) {
		url = appendPort(url, ports.ValueStr(row))
	} else if ports == nil && p[port] >= 0 && !texts[port].Null(row) {
		url = appendPort(url, string(texts[port].Value(row)))
	}
	if !texts[path].Null(row) {
		value := texts[path].Value(row)
		if len(value) > 0 && value[0] != '/' {
			url = append(url, '/')
		}
		url = append(url, value...)
	}
	if p[query] >= 0 && !texts[query].Null(row) {
		url = append(append(url, '?'), texts[query].Value(row)...)
	}
	return url
}

// appendPort appends the port in a text to a URL, if there is one. It may be written as a float; no text, a negative
// number or NaN stand for no port. A text that is not a port is appended as it is, so that the URL is invalid.
func appendPort(url []byte, text string) []byte {
	switch n, err := strconv.ParseFloat(text, 64); {
	case text == "":
	case err != nil || n > math.MaxUint16 || n > math.Trunc(n): // the last: a fraction above 0
		url = append(append(url, ':'), text...)
	case n >= 0:
		url = strconv.AppendInt(append(url, ':'), int64(n), 10)
	}
	return url
}
