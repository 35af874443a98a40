package captures

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/io/frontier/jsonl"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher/urls"
)

// seedRows are rows of tables of captures: url, authority, body, status, when
// fetched, location and error.
var seedRows = [][7]string{
	{"http://a.example/robots.txt", "", "User-agent: *\nDisallow: /x\n", "200", "2026-03-01T12:00:00Z", "", ""},
	{"", "b.example:8443", "", "301", "20260301120000", "/other", ""},
	{"", "https://c.example", "", "503", "1772366400", "", "timeout"},
	{"no url", "", "x", "-1", "never", "http://", ""},
	{"", "e.example", "", "", "20260301120000", "/other", ""},
	{"http://f.example/robots.txt", "", "", "", "", "", "false"},
	{"http://d.example/a", "d.example", "\xff", "99999999999999999999", "0000-00-00", "//h", "\x00"},
}

// FuzzRow compares a row in JSON with the same in an Arrow table, and looks at
// the captures that come of it.
func FuzzRow(f *testing.F) {
	for _, r := range seedRows {
		f.Add(r[0], r[1], r[2], r[3], r[4], r[5], r[6])
	}
	f.Fuzz(func(t *testing.T, url, authority, body, status, fetched, location, failed string) {
		values := [tableColumns]string{
			urlColumn: url, authorityColumn: authority, bodyColumn: body, statusColumn: status,
			fetchedColumn: fetched, locationColumn: location, errorColumn: failed,
		}
		object := make(map[string]string)
		var fields []arrow.Field
		var arrays []arrow.Array
		for i, value := range values {
			if !utf8.ValidString(value) {
				return // JSON has other bytes
			}
			object[columns[i].name] = value
			b := array.NewStringBuilder(memory.NewGoAllocator())
			b.Append(value)
			fields, arrays = append(fields, field(columns[i].name, arrow.BinaryTypes.String)), append(arrays, b.NewArray())
		}
		line := must.Get(json.Marshal(object))(t)
		schema := arrow.NewSchema(fields, nil)
		table := must.Get(NewTable(&fakeTable{schema, []arrow.Record{array.NewRecord(schema, arrays, 1)}}, TableOptions{}))(t)
		objects := captureLines(t, objectTable(t, line, TableOptions{}))
		must.Equal(t, objects, captureLines(t, table), line)
	})
}

// captureLines writes down what a table says.
func captureLines(t *testing.T, r *Table) string {
	var b strings.Builder
	defer r.Close()
	for {
		var x Capture
		switch err := r.Next(&x); {
		case err == io.EOF:
			return b.String()
		case errors.Is(err, errNoBodies):
			return b.String() + "no bodies\n"
		case errors.Is(err, errNoRows):
			return b.String() + "no rows\n"
		case err != nil:
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %d %v %v %q %q\n", x.URL, x.Status, x.Time.UTC(), x.Failed, x.Location, x.Body)
	}
}

// objectTable is a table of lines of objects.
func objectTable(t *testing.T, data []byte, o TableOptions) *Table {
	t.Helper()
	return must.Get(NewTable(jsonl.NewSource(bytes.NewReader(data), lines.Options{Columns: true, Named: Keys()}), o))(t)
}

// FuzzObjects reads any bytes: no row is an error, only a table without bodies is, or one of which no
// row can be read, and those that are captures can be added to a set.
func FuzzObjects(f *testing.F) {
	f.Add([]byte(`{"url":"http://a.example/robots.txt","body":"User-agent: *","status":"200","fetched_at":1}` + "\n\n{}\nx"))
	f.Add([]byte(`{"url":"http://a.example/robots.txt","status":200}`))
	f.Add([]byte(`{"url":"http://a.example/robots.txt","status":"x"}` + "\n" + `{"url":"http://b.example/robots.txt","status":"x"}`))
	f.Add([]byte(`{"authority":"b.example","status":true}`))
	f.Add([]byte(`{"authority":"b.example","status":301,"location":"http://a.example/robots.txt","error":true}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		broken := 0
		r := objectTable(t, data, TableOptions{Broken: func(error) { broken++ }})
		defer r.Close()
		var scratch urls.Scratch
		rows := 0
		for {
			var x Capture
			if err := r.Next(&x); err == io.EOF || errors.Is(err, errNoBodies) || errors.Is(err, errNoRows) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			rows++
			scratch.Split(x.URL)
		}
		if n := strings.Count(string(data), "\n") + 1; rows > 2*n || broken > n { // a broken row may be captures, too
			t.Fatalf("%d captures and %d broken rows of %d lines", rows, broken, n)
		}
	})
}
