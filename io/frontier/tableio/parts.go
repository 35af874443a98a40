package tableio

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/tables"
)

// Names of the columns of Common Crawl's index that a URL is split into.
const (
	protocolColumn = "url_protocol"
	hostColumn     = "url_host_name"
	portColumn     = "url_port"
	pathColumn     = "url_path"
	queryColumn    = "url_query"
)

// joinedColumn is the name of the column of joined URLs.
const joinedColumn = "url"

var joinedField = arrow.Field{Name: joinedColumn, Type: arrow.BinaryTypes.String, Nullable: true}

// Parts are the columns of split URLs, as in Common Crawl's index: protocol, host and
// path, and optionally the explicit port and the query. Each is an index into the
// schema, or -1.
type Parts struct {
	protocol, host, port, path, query int
}

// findParts returns the columns that URLs are split into; nil if the schema has none. It is an
// error if port or query are there and cannot be read: without them a URL would be another one.
func findParts(schema *arrow.Schema) (*Parts, error) {
	find := func(name string, fits func(arrow.DataType) bool) int {
		if found := schema.FieldIndices(name); len(found) == 1 && fits(schema.Field(found[0]).Type) {
			return found[0]
		}
		return -1
	}
	text := func(dt arrow.DataType) bool { return holdsURLs(dt, true) }
	p := &Parts{
		protocol: find(protocolColumn, text), host: find(hostColumn, text), path: find(pathColumn, text),
		query: find(queryColumn, text),
		port:  find(portColumn, func(dt arrow.DataType) bool { return text(dt) || isNumber(dt) }),
	}
	if p.protocol < 0 || p.host < 0 || p.path < 0 {
		return nil, nil
	}
	for i, name := range []string{portColumn, queryColumn} {
		if found := schema.FieldIndices(name); []int{p.port, p.query}[i] < 0 && len(found) > 0 && (len(found) > 1 || schema.Field(found[0]).Type.ID() != arrow.NULL) {
			return nil, option.Errorf("column %q is there %d times, the first of type %s, and is a part of the URLs: it takes one column of strings or, for a port, numbers", name, len(found), schema.Field(found[0]).Type)
		}
	}
	return p, nil
}

// Columns returns the indices of the columns that there are.
func (p *Parts) Columns() []int {
	var columns []int
	for _, column := range []int{p.protocol, p.host, p.port, p.path, p.query} {
		if column >= 0 {
			columns = append(columns, column)
		}
	}
	return columns
}

// Join returns a table of one column "url" with the URLs of a table's rows. A URL is
// null if protocol or host is null, or if the host has a byte that would end it. A null
// query is left out; an empty one becomes a question mark. The arrays must have been
// checked; limit is the most bytes of all URLs.
func (p *Parts) Join(table arrow.Record, limit int64) (arrow.Record, error) {
	var parts [5]batch.Column // protocol, host, path, query, and a port that is text
	numbers := p.port >= 0 && !holdsURLs(table.Schema().Field(p.port).Type, true)
	for i, index := range []int{p.protocol, p.host, p.path, p.query, p.port} {
		if index < 0 || index == p.port && numbers {
			continue
		}
		var err error
		if parts[i], err = URLs(table.Column(index).Data().(*array.Data), limit); err != nil {
			return nil, fmt.Errorf("column %q: %w", table.ColumnName(index), err)
		}
	}
	var port arrow.Array
	if numbers {
		plain := tables.Plain(table.Column(p.port).Data().(*array.Data), memory.NewGoAllocator())
		defer plain.Release()
		port = array.MakeFromData(plain)
		defer port.Release()
	}
	b := array.NewStringBuilder(memory.NewGoAllocator())
	defer b.Release()
	b.Reserve(int(table.NumRows()))
	var url []byte
	total := int64(0)
	for row := range int(table.NumRows()) {
		if parts[0].Null(row) || parts[1].Null(row) || !isWhole(parts[1].Value(row)) {
			b.AppendNull()
			continue
		}
		url = p.appendURL(url[:0], &parts, port, row)
		if total += int64(len(url)); total > min(limit, math.MaxInt32) {
			return nil, option.Errorf("the URLs of one batch take more than %d bytes: lower %s", min(limit, math.MaxInt32), option.BatchRows)
		}
		b.BinaryBuilder.Append(url)
	}
	urls := b.NewArray()
	defer urls.Release()
	schema := arrow.NewSchema([]arrow.Field{joinedField}, nil)
	return array.NewRecord(schema, []arrow.Array{urls}, table.NumRows()), nil
}

// isWhole reports whether a host has no byte that would end it in a URL.
func isWhole(host []byte) bool {
	return len(host) > 0 && !strings.ContainsAny(string(host), "/?#;@")
}

// appendURL appends the URL of a row, whose protocol and host are not null. parts are protocol, host,
// path, query and port; port has numbers instead, or is nil.
func (p *Parts) appendURL(url []byte, parts *[5]batch.Column, port arrow.Array, row int) []byte {
	url = append(append(url, parts[0].Value(row)...), "://"...)
	host := string(parts[1].Value(row))
	if strings.Contains(host, ":") && host[0] != '[' { // IPv6 without its brackets
		host = "[" + host + "]"
	}
	url = append(url, host...)
	text := ""
	if port != nil && port.IsValid(row) {
		text = port.ValueStr(row)
	} else if port == nil && p.port >= 0 && !parts[4].Null(row) {
		text = string(parts[4].Value(row))
	}
	if n, err := strconv.ParseFloat(text, 64); text != "" && (err != nil || n > math.MaxUint16 || n > math.Trunc(n)) {
		url = append(append(url, ':'), text...) // which no URL has
	} else if text != "" && n >= 0 { // some say -1 or NaN for none
		url = strconv.AppendInt(append(url, ':'), int64(n), 10)
	}
	if !parts[2].Null(row) {
		path := parts[2].Value(row)
		if len(path) > 0 && path[0] != '/' {
			url = append(url, '/')
		}
		url = append(url, path...)
	}
	if p.query >= 0 && !parts[3].Null(row) {
		url = append(append(url, '?'), parts[3].Value(row)...)
	}
	return url
}
