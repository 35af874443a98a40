package captures

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher/access"
)

// fakeTable is a TableSource of records.
type fakeTable struct {
	schema  *arrow.Schema
	records []arrow.Record
}

func (f *fakeTable) Schema() *arrow.Schema { return f.schema }
func (f *fakeTable) Close() error          { return nil }

func (f *fakeTable) Next(context.Context) (batch.Piece, error) {
	if len(f.records) == 0 {
		return nil, io.EOF
	}
	p := fakePiece{f.records[0]}
	f.records = f.records[1:]
	return p, nil
}

type fakePiece struct{ record arrow.Record }

func (p fakePiece) Name() string                  { return "fake: batch 0" }
func (p fakePiece) Size() int64                   { return 0 }
func (p fakePiece) Decode() (*batch.Batch, error) { return &batch.Batch{Table: p.record}, nil }

// tableOf is a table whose rows are JSON, each batch twice.
func tableOf(t *testing.T, rows string, fields ...arrow.Field) *fakeTable {
	t.Helper()
	schema := arrow.NewSchema(fields, nil)
	record, _, err := array.RecordFromJSON(memory.NewGoAllocator(), schema, strings.NewReader(rows))
	must.Do(t, err)
	return &fakeTable{schema, []arrow.Record{record, record.NewSlice(1, record.NumRows())}}
}

func field(name string, dt arrow.DataType) arrow.Field {
	return arrow.Field{Name: name, Type: dt, Nullable: true}
}

// readTable reads all captures of a table, as lines, and what is broken.
func readTable(t *testing.T, r *Table) (lines []string) {
	t.Helper()
	var x Capture
	for {
		if err := r.Next(&x); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		when := "never"
		if !x.Time.IsZero() {
			when = x.Time.UTC().Format(time.RFC3339Nano)
		}
		lines = append(lines, fmt.Sprintf("%s %d %t %s %q %q", x.URL, x.Status, x.Failed, when, x.Location, x.Body))
	}
	r.Close()
	return lines
}

func TestTableTypes(t *testing.T) {
	const rows = `[{"url":"http://a/robots.txt"},
		{"url":"http://b/robots.txt","body":"Ym9keQ==","status":200,"fetched_at":%s,"error":null,"location":"/l"},
		{"url":"http://c/robots.txt","status":503},
		{"url":"http://d/robots.txt","error":%s}]`
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	bytes := arrow.BinaryTypes.Binary
	second, nano := &arrow.TimestampType{Unit: arrow.Second}, &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}
	for i, test := range []struct {
		url, body, status, fetched, failed arrow.DataType
		time, err, want                    string
	}{
		{arrow.BinaryTypes.String, bytes, arrow.PrimitiveTypes.Int32, second, arrow.BinaryTypes.String, `"2026-03-01 12:00:00"`, `"timeout"`, "12:00:00Z"},
		{arrow.BinaryTypes.LargeString, arrow.BinaryTypes.LargeBinary, arrow.PrimitiveTypes.Uint16, nano, arrow.FixedWidthTypes.Boolean, `"2026-03-01 12:00:00.5"`, `true`, "12:00:00.5Z"},
		{dictionary, bytes, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64, dictionary, `1772366400`, `"x"`, "12:00:00Z"},
		{arrow.BinaryTypes.String, bytes, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint32, arrow.BinaryTypes.String, `1772366400`, `"x"`, "12:00:00Z"},
		{arrow.BinaryTypes.String, bytes, arrow.PrimitiveTypes.Int16, arrow.BinaryTypes.String, arrow.BinaryTypes.String, `"20260301120000"`, `"x"`, "12:00:00Z"},
	} {
		source := tableOf(t, fmt.Sprintf(rows, test.time, test.err),
			field("url", test.url), field("body", test.body), field("status", test.status), field("fetched_at", test.fetched),
			field("error", test.failed), field("location", arrow.BinaryTypes.String), field("other", arrow.ListOf(arrow.PrimitiveTypes.Int8)))
		var broken []string
		table, err := NewTable(source, TableOptions{Name: "t", Broken: func(err error) { broken = append(broken, err.Error()) }})
		must.Need(t, err == nil, "%d: %v", i, err)
		once := []string{
			`http://b/robots.txt 200 false 2026-03-01T` + test.want + ` "/l" "body"`,
			`http://c/robots.txt 503 false never "" ""`,
			`http://d/robots.txt 0 true never "" ""`,
		}
		must.EqualSlices(t, readTable(t, table), append(slices.Clone(once), once...), i)
		must.EqualSlices(t, broken, []string{"t: row 0 skipped: it has neither body, nor status, nor error"}, i)
	}
}

func TestTableSchemas(t *testing.T) {
	text := arrow.BinaryTypes.String
	for want, fields := range map[string][]arrow.Field{
		`columns url or authority, in lower case, and body; this one has "url"`: {field("url", text)},
		`this one has "body"`:                                       {field("body", text)},
		`2 columns have the name "body"`:                            {field("url", text), field("body", text), field("body", text)},
		`column "status" cannot be bool: it takes numbers`:          {field("url", text), field("body", text), field("status", arrow.FixedWidthTypes.Boolean)},
		`has the columns url or authority, in lower case, and body`: {field("authority", text), field("filename", text), field("offset", text), field("length", text)},
		`column "fetched_at" cannot be bool`:                        {field("url", text), field("body", text), field("fetched_at", arrow.FixedWidthTypes.Boolean)},
		`column "body" cannot be int8`:                              {field("url", text), field("body", arrow.PrimitiveTypes.Int8)},
	} {
		must.Say(t, must.Err(NewTable(&fakeTable{schema: arrow.NewSchema(fields, nil)}, TableOptions{Name: "t"})), want)
	}
}

// TestStatus: a status that is none is not taken for another.
func TestStatus(t *testing.T) {
	for _, status := range []float64{-1 << 60, -200, 99_999, 1<<32 + 200, 1 << 62} {
		var r row
		must.Do(t, r.setStatusNumber(status))
		var x Capture
		r.capture(&x)
		x.URL = []byte("http://a.example/robots.txt")
		must.Equal(t, collect(t, time.Time{}, access.Policy{}, []Capture{x}).describe("http://a.example"), "deny", "status", status)
	}
}

// A status, a time and an error may be written as pandas writes them where a value is missing.
func TestFloatsAndNothings(t *testing.T) {
	text, float := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64
	for name, test := range map[string]struct {
		status, fetched, failed arrow.DataType
		rows                    string
	}{
		"texts": {text, text, text, `[{"url":"http://a/robots.txt","body":"x","status":"200.0","fetched_at":"1772366400.5","error":"False"},
			{"url":"http://b/robots.txt","body":"","status":"nan","fetched_at":"nan","error":"timeout"},
			{"url":"http://c/robots.txt","body":"x","status":"404.0","fetched_at":"None","error":"NaN"}]`},
		"floats": {float, float, float, `[{"url":"http://a/robots.txt","body":"x","status":200,"fetched_at":1772366400.5,"error":0},
			{"url":"http://b/robots.txt","status":null,"error":1},
			{"url":"http://c/robots.txt","body":"x","status":404,"fetched_at":null,"error":null}]`},
		"booleans": {arrow.PrimitiveTypes.Float32, text, arrow.FixedWidthTypes.Boolean, `[{"url":"http://a/robots.txt","body":"x","status":200,"fetched_at":"1772366400.50","error":false},
			{"url":"http://b/robots.txt","status":null,"error":true},
			{"url":"http://c/robots.txt","body":"x","status":404}]`},
	} {
		source := tableOf(t, test.rows, field("url", text), field("body", text), field("status", test.status), field("fetched_at", test.fetched), field("error", test.failed))
		source.records = source.records[:1]
		table := must.Get(NewTable(source, TableOptions{Name: "t", Broken: func(err error) { t.Errorf("%s: %v", name, err) }}))(t)
		body := []string{`"x"`, `""`, `"x"`}
		var want []string
		for i, line := range []string{"http://a/robots.txt 200 false 2026-03-01T12:00:00.5Z", "http://b/robots.txt 0 true never", "http://c/robots.txt 404 false never"} {
			want = append(want, line+` "" `+body[i])
		}
		must.EqualSlices(t, readTable(t, table), want, name)
	}
}

// A null body of a 2xx says nothing; an empty one is a robots.txt. Status 0 is no answer.
func TestNullBodiesAndStatusZero(t *testing.T) {
	text := arrow.BinaryTypes.String
	source := tableOf(t, `[{"url":"http://a/robots.txt","status":200},{"url":"http://b/robots.txt","status":200,"body":""},
		{"url":"http://c/robots.txt","status":0},{"url":"http://d/robots.txt","status":404},{"url":"http://e/robots.txt","status":0,"body":"x"}]`,
		field("url", text), field("body", text), field("status", arrow.PrimitiveTypes.Int64))
	source.records = source.records[:1]
	var broken []string
	table := must.Get(NewTable(source, TableOptions{Name: "t", Broken: func(err error) { broken = append(broken, err.Error()) }}))(t)
	var captures []Capture
	for {
		var x Capture
		if err := table.Next(&x); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		x.URL, x.Body = slices.Clone(x.URL), slices.Clone(x.Body)
		captures = append(captures, x)
	}
	o := collect(t, time.Time{}, access.Policy{}, captures)
	for host, want := range map[string]string{"a": "unknown", "b": "rules", "c": "deny", "d": "allow", "e": "deny"} {
		must.Equal(t, o.describe("http://"+host), want, host)
	}
	must.Be(t, len(broken) == 1 && strings.Contains(broken[0], "it has a 2xx status and a null body"), "broken: %q", broken)
}

// A column that looks like one that is missing is named. Those of indexes are read of rows
// without a body, and are named where there are bodies.
func TestColumnsAlike(t *testing.T) {
	text, number := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64
	for _, test := range []struct {
		like string
		dt   arrow.DataType
		rows string
		want string // the column's name; empty for no note
	}{
		{"status_code", number, `[{"url":"http://a/robots.txt","status_code":404,"body":"x","text":"y"},{"url":"http://b/robots.txt","status_code":200,"body":"x"}]`, "status"},
		{"statusCode", number, `[{"url":"http://a/robots.txt","statusCode":503,"body":"x"}]`, "status"},
		{"error_message", text, `[{"url":"http://a/robots.txt","error_message":"timeout","body":"x"}]`, "error"},
		{"fetch_status", number, `[{"url":"http://a/robots.txt","fetch_status":404,"body":"x"}]`, "status"},
		{"fetch_status", number, `[{"url":"http://a/robots.txt","fetch_status":404}]`, ""},
		{"timestamp", text, `[{"url":"http://a/robots.txt","timestamp":"20260301000000","body":"x"}]`, "fetched_at"},
		{"redirect", text, `[{"url":"http://a/robots.txt","body":"x"}]`, ""},
	} {
		source := tableOf(t, test.rows, field("url", text), field("body", text), field(test.like, test.dt), field("text", text))
		var notes, want []string
		table := must.Get(NewTable(source, TableOptions{Name: "t", Note: func(m option.Message) { notes = append(notes, fmt.Sprint(m)) }}))(t)
		readTable(t, table)
		if test.want != "" {
			want = append(want, fmt.Sprintf("t has a column %q, which is not read: the one of a table of captures is called %q", test.like, test.want))
		}
		must.EqualSlices(t, notes, want, test.rows)
	}
}

// Bodies of which the line ends are escaped have no rules, which is said once.
func TestEscapedLineEnds(t *testing.T) {
	text := arrow.BinaryTypes.String
	source := tableOf(t, `[{"url":"http://a/robots.txt","body":"User-agent: *\nDisallow: /\\n"},{"url":"http://p/robots.txt","body":"<script>a='\\n'</script>"},
		{"url":"http://q/robots.txt","body":"User-agent: *\\nDisallow: /","status":404},{"url":"http://b/robots.txt","body":"User-agent: *\\nDisallow: /"},
		{"authority":"c","body":"User-agent: *\\nDisallow: /"}]`, field("url", text), field("authority", text), field("body", text), field("status", arrow.PrimitiveTypes.Int64))
	var notes []string
	readTable(t, must.Get(NewTable(source, TableOptions{Name: "t", Note: func(m option.Message) { notes = append(notes, fmt.Sprint(m)) }}))(t))
	must.Be(t, len(notes) == 1 && strings.HasPrefix(notes[0], `t: the body of "http://b/robots.txt" has \n in place of line ends`), "%q", notes)
}

// A table whose answers have no body is refused, whatever its format: jsonl without the key.
func TestTableWithoutBodies(t *testing.T) {
	text := arrow.BinaryTypes.String
	for rows, refused := range map[string]bool{
		`[{"url":"http://a/robots.txt","status":200},{"url":"http://b/robots.txt","status":404}]`: true,
		`[{"url":"http://a/robots.txt","status":503},{"url":"http://b/robots.txt","status":404}]`: false,
	} {
		table, err := NewTable(tableOf(t, rows, field("url", text), field("body", text), field("status", arrow.PrimitiveTypes.Int64)), TableOptions{Name: "t"})
		for err == nil {
			err = table.Next(new(Capture))
		}
		must.Equal(t, refused, err != io.EOF, rows, err)
	}
}

// A row with an error is a fetch without an answer, whatever is in the record that it names.
func TestFailedRowWithRecord(t *testing.T) {
	r := row{url: []byte("https://a.example/robots.txt"), file: []byte("a.warc"), length: 9, failed: true}
	var x Capture
	if r.capture(&x); r.finish() != nil || !x.Failed || len(x.File) > 0 {
		t.Errorf("%+v, %v", x, r.finish())
	}
}

// Indexes write a dash for what is not there. What of a row cannot be read is in the record that
// it names, if it names one.
func TestRowsOfIndexes(t *testing.T) {
	for _, test := range []struct {
		body, status, fetched, file, offset, length string
		want                                        string
	}{
		{"null", "-", "-", "a.warc", "0", "9", "record 0 false false"},
		{"null", "200 OK", "soon", "a.warc", "0", "9", "record 0 false false"},
		{"null", "404", "1", "a.warc", "0", "9", "record 404 false true"},
		{"null", "200", "1", "a.warc", "0", "-", "row 200 true true"},
		{"null", "200", "1", "a.warc", "-", "9", "row 200 true true"},
		{"null", "404", "1", "-", "-", "-", "row 404 false true"},
		{`"x"`, "-", "-", "-", "-", "-", "row 0 false false"},
		{`"x"`, "200 OK", "1", "a.warc", "0", "9", "row 0 true true"},
	} {
		text := arrow.BinaryTypes.String
		rows := fmt.Sprintf(`[{"url":"http://a/robots.txt","body":%s,"status":%q,"fetched_at":%q,"filename":%q,"offset":%q,"length":%q}]`,
			test.body, test.status, test.fetched, test.file, test.offset, test.length)
		table := must.Get(NewTable(tableOf(t, rows, field("url", text), field("body", text), field("status", text), field("fetched_at", text),
			field("filename", text), field("offset", text), field("length", text)), TableOptions{Name: "t"}))(t)
		var x Capture
		must.Do(t, table.Next(&x))
		from := "row"
		if len(x.File) > 0 {
			from = "record"
		}
		must.Equal(t, fmt.Sprint(from, " ", x.Status, " ", x.Failed, " ", !x.Time.IsZero()), test.want, rows)
	}
}

// Columns count by what their rows have: the name in other case, a type that has no values, an index's
// beside bodies. What cannot be read is no silence, which may allow.
func TestTablesOfOthers(t *testing.T) {
	text, number, second := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64, &arrow.TimestampType{Unit: arrow.Second}
	index := []arrow.Field{field("warc_filename", text), field("warc_record_offset", number), field("warc_record_length", number), field("fetch_status", number)}
	for _, test := range []struct {
		name, rows string
		fields     []arrow.Field
		want       []string
	}{
		{
			"other case", `[{"url":"http://a/robots.txt","Body":"x","STATUS":503}]`,
			[]arrow.Field{field("url", text), field("Body", text), field("STATUS", number)},
			[]string{`http://a/robots.txt 503 false never "" "x"`},
		},
		{
			"blanks around names", `[{"url":"http://a/robots.txt"," Body ":"x"," status":503}]`,
			[]arrow.Field{field("url", text), field(" Body ", text), field(" status", number)},
			[]string{`http://a/robots.txt 503 false never "" "x"`},
		},
		{
			"words for null", `[{"url":"http://a/robots.txt","body":"None","status":200},{"url":"NULL","authority":"http://b","body":"\\N","status":404},{"url":"nan","authority":"http://c","body":"nano"}]`,
			[]arrow.Field{field("url", text), field("authority", text), field("body", text), field("status", number)},
			[]string{`http://b/robots.txt 404 false never "" ""`, `http://c/robots.txt 0 false never "" "nano"`},
		},
		{
			"both cases", `[{"url":"http://a/robots.txt","body":"x","Body":"y"}]`,
			[]arrow.Field{field("url", text), field("Body", text), field("body", text)},
			[]string{`http://a/robots.txt 0 false never "" "x"`},
		},
		{
			"null types", `[{"url":"http://a/robots.txt","body":"x"}]`,
			[]arrow.Field{field("url", text), field("body", text), field("status", arrow.Null), field("fetched_at", arrow.Null), field("authority", arrow.Null)},
			[]string{`http://a/robots.txt 0 false never "" "x"`},
		},
		{
			"milliseconds as seconds", `[{"url":"http://a/robots.txt","body":"x","fetched_at":1772366400000},{"url":"http://b/robots.txt","body":"x","fetched_at":-62135596800}]`,
			[]arrow.Field{field("url", text), field("body", text), field("fetched_at", second)},
			[]string{`http://a/robots.txt 0 true never "" "x"`, `http://b/robots.txt 0 false never "" "x"`},
		},
		{
			"blanks", `[{"authority":" a:80 ","body":"x"}]`,
			[]arrow.Field{field("authority", text), field("body", text)},
			[]string{`http://a:80/robots.txt 0 false never "" "x"`},
		},
		{
			"authorities that are URLs", `[{"authority":"http://a:80/robots.txt","body":"x"},{"authority":"b?c/","body":"x"},{"authority":"d","body":"x"}]`,
			[]arrow.Field{field("authority", text), field("body", text)},
			[]string{
				`http://a:80/robots.txt 0 true never "" "x"`,
				`http://b/robots.txt 0 true never "" "x"`, `https://b/robots.txt 0 true never "" "x"`,
				`http://d/robots.txt 0 false never "" "x"`, `https://d/robots.txt 0 false never "" "x"`,
			},
		},
		{
			"index beside bodies", `[{"url":"http://a/robots.txt","body":"x","fetch_status":503},{"url":"http://b/robots.txt","fetch_status":503,"warc_filename":"f","warc_record_offset":1,"warc_record_length":2}]`,
			append([]arrow.Field{field("url", text), field("body", text)}, index...),
			[]string{`http://a/robots.txt 503 false never "" "x"`, `http://b/robots.txt 503 false never "" ""`},
		},
	} {
		source := tableOf(t, test.rows, test.fields...)
		source.records = source.records[:1]
		must.EqualSlices(t, readTable(t, must.Get(NewTable(source, TableOptions{Name: "t"}))(t)), test.want, test.name)
	}
}

// A dash is no target of a redirect.
func TestRedirectOfAnIndex(t *testing.T) {
	text := arrow.BinaryTypes.String
	table := must.Get(NewTable(tableOf(t, `[{"url":"http://a/robots.txt","body":null,"status":"301","redirect":"-"}]`,
		field("url", text), field("body", text), field("status", text), field("redirect", text)), TableOptions{Name: "t"}))(t)
	var x Capture
	must.Do(t, table.Next(&x))
	must.Be(t, x.Status == 301 && len(x.Location) == 0, "status %d, location %q", x.Status, x.Location)
}

// A table is refused if several rows cannot be read and none can: it is likely another one.
func TestTableThatCannotBeRead(t *testing.T) {
	const broken, whole = `{"url":"http://a/robots.txt","body":"x","status":"200 OK"}`, `{"url":"http://b/robots.txt","body":"x"}`
	text := arrow.BinaryTypes.String
	for rows, refused := range map[string]bool{
		broken:                              false,
		broken + "," + broken:               true,
		broken + "," + broken + "," + whole: false,
		broken + `,{"url":"http://c/robots.txt"}`: false,
	} {
		source := tableOf(t, "["+rows+"]", field("url", text), field("body", text), field("status", text))
		source.records = source.records[:1]
		table, err := NewTable(source, TableOptions{Name: "t"})
		for err == nil {
			err = table.Next(new(Capture))
		}
		must.Equal(t, refused, err != io.EOF, rows, err)
	}
}

// An authority is what is between "//" and the next slash: a row without one is skipped, and one
// with a path is a fetch without an answer.
func TestAuthorities(t *testing.T) {
	for authority, want := range map[string]string{
		"a.test":            "http://a.test/robots.txt https://a.test/robots.txt",
		" //a.test/ ":       "http://a.test/robots.txt https://a.test/robots.txt",
		"https://a.test:8/": "https://a.test:8/robots.txt",
		"//a.test/x":        "http://a.test/robots.txt failed https://a.test/robots.txt failed",
		"https://a.test?":   "https://a.test/robots.txt failed",
		"a.test/https://b":  "http://a.test/robots.txt failed https://a.test/robots.txt failed",
		"https://":          "",
		"https:///x":        "",
		"//":                "",
	} {
		text := arrow.BinaryTypes.String
		source := tableOf(t, fmt.Sprintf(`[{"authority":%q,"body":"x"}]`, authority), field("authority", text), field("body", text))
		source.records = source.records[:1]
		table := must.Get(NewTable(source, TableOptions{Name: "t"}))(t)
		var got []string
		for x := (Capture{}); table.Next(&x) == nil; {
			if got = append(got, string(x.URL)); x.Failed {
				got = append(got, "failed")
			}
		}
		must.Equal(t, strings.Join(got, " "), want, authority)
	}
}
