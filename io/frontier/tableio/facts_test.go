package tableio

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables"
	"robotsbatch/matcher"
	"robotsbatch/matcher/partition"
	"robotsbatch/matcher/robotstxt"
)

func factColumns(t testing.TB) []batch.VerdictColumn {
	t.Helper()
	var with []*batch.ColumnKind
	for _, name := range batch.WithNames() {
		kind := must.Get(batch.ParseWith(name))(t)
		if kind.Use != nil || kind.Licenses {
			continue // package evaluate tests columns about uses
		}
		with = append(with, kind)
	}
	columns := must.Get(batch.VerdictColumns(batch.ColumnOptions{Agents: []string{"*", "CCBot"}, With: with}))(t)
	return columns[2:]
}

// someFacts are of every kind, also such that only some things are known.
func someFacts() []matcher.Facts {
	const none = matcher.NoCrawlDelay
	return []matcher.Facts{
		{},
		{Status: 200, Fetched: 1_772_366_400, Records: &matcher.Records{CrawlDelays: []float64{none, 0.5}, Sitemaps: []string{"https://a.example/1", "é"}, Digest: "0f"}},
		{Status: 404, Fetched: 1_772_280_000, Until: 1_772_300_000},
		{Records: &matcher.Records{CrawlDelays: []float64{10, none}}},
		{Status: 301, Kind: robotstxt.HTMLKind, Records: &matcher.Records{CrawlDelays: []float64{0, 1e300}, Sitemaps: []string{""}}},
		{Fetched: -86_400, Kind: robotstxt.TextKind, Records: &matcher.Records{CrawlDelays: []float64{none, none}, Sitemaps: slices.Repeat([]string{"s"}, 100)}},
	}
}

const factsAsOf = 1_772_366_460

// TestFactColumns compares columns with the rows' facts one by one, for rows in
// runs and without order, and for those that are selected.
func TestFactColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, rows := range []int{1, 8, 100, 1000} {
		for _, most := range []int{1, 50} {
			for _, emit := range []bool{false, true} {
				var of []int32
				for len(of) < rows {
					host := int32(rng.IntN(len(someFacts())+1)) - 1
					of = append(of, slices.Repeat([]int32{host}, min(1+rng.IntN(most), rows-len(of)))...)
				}
				v := factVerdicts(t, of)
				var want []string
				if emit {
					v.Selected = make([]byte, (rows+7)/8)
				}
				for row, of := range of {
					if emit {
						if rng.IntN(3) == 0 {
							continue
						}
						v.Selected[row/8] |= 1 << (row % 8)
					}
					want = append(want, factText(of))
				}
				if got := columnsText(t, v); !slices.Equal(got, want) {
					t.Fatalf("%d rows in runs of up to %d, emit %v:\n%s\nwant\n%s", rows, most, emit, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		}
	}
}

// factAuthorities are those of hosts, by turns.
var factAuthorities = []string{"http://a.example", "http://10.0.0.1"}

// factVerdicts are verdicts whose rows have hosts, given by an index into someFacts; -1
// for none.
func factVerdicts(t *testing.T, of []int32) *batch.Verdicts {
	v := &batch.Verdicts{Rows: len(of), SelectedRows: len(of), Agents: make([]batch.AgentVerdicts, 2)}
	facts := someFacts()
	for _, c := range factColumns(t) {
		values := batch.Values{Kind: c.Kind, Agent: c.Agent}
		for _, host := range of {
			number := int32(-1)
			if host >= 0 && c.Kind.Value != nil {
				h := batch.Host{Authority: []byte(factAuthorities[host%2]), Facts: &facts[host], Time: factsAsOf}
				number = values.Add(c.Kind.Value(&h, c.Agent))
			}
			values.Of = append(values.Of, number)
		}
		v.Columns = append(v.Columns, values)
	}
	return v
}

func factText(of int32) string {
	if of < 0 {
		return "- - - - - - - - - - - - - -"
	}
	f := someFacts()[of]
	optional := func(known bool, value any) string {
		if !known {
			return "-"
		}
		return fmt.Sprint(value)
	}
	var fields []string
	for agent := range 2 {
		delay, known := f.CrawlDelay(agent)
		fields = append(fields, optional(known, delay))
	}
	sitemaps, digest, authority := "-", "-", factAuthorities[of%2]
	if f.Records != nil {
		digest = cmp.Or(f.Records.Digest, "-")
		sitemaps = fmt.Sprintf("%q", f.Records.Sitemaps)
	}
	return strings.Join(append(fields, sitemaps, optional(f.Status != 0, f.Status), optional(f.Fetched != 0, 1000*f.Fetched), optional(f.Until != 0, 1000*f.Until),
		optional(f.Fetched != 0, factsAsOf-f.Fetched), optional(f.Kind != robotstxt.NoKind, f.Kind),
		digest, authority, authority+"/robots.txt", optional(of%2 == 0, "a.example"), "-" /* a row's own, which package evaluate tests */, fmt.Sprint(partition.Hash([]byte(authority)))), " ")
}

// columnsText writes the rows of an output of facts alone.
func columnsText(t *testing.T, v *batch.Verdicts) []string {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	o := must.Get(NewOutput(batch.Layout{Keep: batch.KeepNone, Verdicts: factColumns(t)}, nil, mem))(t)
	var record arrow.Record
	err := o.Shares(&batch.Batch{}, v, func(s *Share) (err error) {
		record, err = s.Record()
		return err
	})
	must.Do(t, err)
	if record == nil {
		return nil
	}
	defer record.Release()
	var list []string
	for row := range int(record.NumRows()) {
		var fields []string
		for _, column := range record.Columns() {
			fields = append(fields, valueText(column, row))
		}
		list = append(list, strings.Join(fields, " "))
	}
	return list
}

func valueText(column arrow.Array, row int) string {
	if column.IsNull(row) {
		return "-"
	}
	switch c := column.(type) {
	case *array.Float64:
		return fmt.Sprint(c.Value(row))
	case *array.Timestamp:
		return fmt.Sprint(int64(c.Value(row)))
	case *array.List:
		start, end := c.ValueOffsets(row)
		texts := []string{}
		for i := start; i < end; i++ {
			texts = append(texts, c.ListValues().(*array.String).Value(int(i)))
		}
		return fmt.Sprintf("%q", texts)
	}
	return column.ValueStr(row)
}

func TestFactFields(t *testing.T) {
	o := must.Get(NewOutput(batch.Layout{Keep: batch.KeepNone, Verdicts: factColumns(t)}, nil, memory.DefaultAllocator))(t)
	var fields []string
	for _, f := range o.Schema().Fields() {
		fields = append(fields, fmt.Sprintf("%s %s %v", f.Name, f.Type, f.Nullable))
	}
	want := []string{
		"crawl_delay_all float64 true", "crawl_delay_ccbot float64 true", "sitemaps list<item: utf8, nullable> true",
		"robots_status int32 true", "robots_fetched_at timestamp[ms, tz=UTC] true", "robots_until timestamp[ms, tz=UTC] true", "age int64 true",
		"body_kind utf8 true", "body_digest utf8 true", "authority utf8 true", "robots_url utf8 true",
		"registered_domain utf8 true", "url_surtkey utf8 true", "authority_hash int64 true",
	}
	must.EqualSlices(t, fields, want)
	for _, column := range factColumns(t) {
		o, err := NewOutput(batch.Layout{Keep: batch.KeepNone, Verdicts: []batch.VerdictColumn{column}}, nil, memory.DefaultAllocator)
		must.Do(t, err)
		err = o.Shares(&batch.Batch{}, &batch.Verdicts{Rows: 1, SelectedRows: 1}, func(s *Share) error {
			_, err := s.Columns()
			return err
		})
		must.Say(t, err, column.Name)
	}
}

// A time is the same moment whatever type the column has.
func TestTimesOfEveryType(t *testing.T) {
	const noon = 1772366400 // 2026-03-01T12:00:00Z
	text := `["2026-03-01T12:00:00Z",null,"20260301120000","x"]`
	wantText := []int64{noon, batch.NoTime, noon, batch.NoTime}
	wantDigits := []int64{noon, batch.NoTime, noon, batch.TooFine}
	digits := fmt.Sprintf(`[%d,null,20260301120000,1772366400000]`, noon)
	for _, test := range []struct {
		dt   arrow.DataType
		json string
		want []int64
	}{
		{&arrow.TimestampType{Unit: arrow.Second}, `["2026-03-01 12:00:00",null]`, []int64{noon, batch.NoTime}},
		{&arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}, `["2026-03-01 12:00:00.999",null]`, []int64{noon, batch.NoTime}},
		{&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "America/New_York"}, `["2026-03-01 12:00:00",null]`, []int64{noon, batch.NoTime}},
		{&arrow.TimestampType{Unit: arrow.Nanosecond}, `["1969-12-31 23:59:59.5"]`, []int64{-1}},
		{arrow.FixedWidthTypes.Date32, `["2026-03-01",null]`, []int64{noon + 12*60*60 - 1, batch.NoTime}},
		{arrow.FixedWidthTypes.Date64, `["2026-03-01",null]`, []int64{noon + 12*60*60 - 1, batch.NoTime}},
		{arrow.PrimitiveTypes.Int32, `[1772366400,null,0]`, []int64{noon, batch.NoTime, 0}},
		{arrow.PrimitiveTypes.Uint32, `[1772366400,null,0]`, []int64{noon, batch.NoTime, 0}},
		{arrow.PrimitiveTypes.Int64, digits, wantDigits},
		{arrow.PrimitiveTypes.Uint64, digits, wantDigits},
		{arrow.PrimitiveTypes.Float64, `[1772366400,null,1772366400.9,20260301120000,1772366400000,1e300,-0.5]`, []int64{noon, batch.NoTime, noon, noon, batch.TooFine, batch.NoTime, -1}},
		{arrow.BinaryTypes.String, text, wantText},
		{arrow.BinaryTypes.LargeString, text, wantText},
		{arrow.BinaryTypes.StringView, text, wantText},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, text, wantText},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int64}, digits, wantDigits},
		{arrow.Null, `[null,null]`, []int64{batch.NoTime, batch.NoTime}},
	} {
		t.Run(test.dt.String(), func(t *testing.T) {
			must.Need(t, holdsTimes(test.dt), "the type holds no times")
			a := tablestest.FromJSON(t, test.dt, test.json)
			checkTimes(t, a, test.want)
			if a.Len() > 1 {
				checkTimes(t, array.NewSlice(a, 1, int64(a.Len())), test.want[1:])
			}
		})
	}
	for _, dt := range []arrow.DataType{arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Float32, arrow.ListOf(arrow.PrimitiveTypes.Int64)} {
		must.Be(t, !holdsTimes(dt), "%s holds times", dt)
	}
}

// extension is an extension of the null type. It has only the methods that reading times needs.
type extension struct{ arrow.ExtensionType }

func (extension) ID() arrow.Type              { return arrow.EXTENSION }
func (extension) StorageType() arrow.DataType { return arrow.Null }
func (extension) String() string              { return "extension" }

// An extension of the null type has no times, as the null type has none.
func TestTimesOfExtension(t *testing.T) {
	must.Need(t, holdsTimes(extension{}), "the type holds no times")
	d := array.NewData(extension{}, 2, []*memory.Buffer{nil}, nil, 2, 0)
	must.EqualSlices(t, must.Get(times(d))(t), []int64{batch.NoTime, batch.NoTime})
}

func checkTimes(t *testing.T, a arrow.Array, want []int64) {
	t.Helper()
	got := must.Get(times(a.Data().(*array.Data)))(t)
	for row := range want {
		must.Equal(t, got[row], want[row], "row", row)
	}
}

// Every type of numbers gives its values, nulls included, also of a slice.
func TestTakeExtra(t *testing.T) {
	mem := memory.NewGoAllocator()
	for _, dt := range []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
		arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int32},
		arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64),
	} {
		schema := arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}, {Name: "n", Type: dt, Nullable: true}}, nil)
		b := array.NewRecordBuilder(mem, schema)
		for _, value := range []string{"9", "7", "", "7", "1"} {
			b.Field(0).(*array.StringBuilder).Append("https://example.com/")
			if value == "" {
				b.Field(1).AppendNull()
			} else if err := b.Field(1).AppendValueFromString(value); err != nil {
				t.Fatalf("%s: %v", dt, err)
			}
		}
		record := b.NewRecord().NewSlice(1, 5)
		l, err := Locate(schema, "", batch.KeepURL, batch.ExtraColumns{Weight: "n"})
		var rows batch.Batch
		if err == nil {
			err = l.TakeExtra(&rows, record)
		}
		if err != nil {
			t.Errorf("%s: %v", dt, err)
			continue
		}
		got := ""
		for i := range 4 {
			switch n := rows.Weights; {
			case n.Null(i):
				got += " null"
			case n.Floats != nil:
				got += fmt.Sprint(" ", n.Floats[i])
			default:
				got += fmt.Sprint(" ", n.Ints[i])
			}
		}
		must.Be(t, got == " 7 null 7 1" && rows.Weights.Unsigned == (dt.ID() == arrow.UINT64), "%s:%s", dt, got)
		columns := l.Columns()
		must.Be(t, len(columns) == 2 && columns[1] == 1, "%s: columns %d", dt, columns)
	}
}

// The sign of the narrow types is kept.
func TestTakeExtraKeepsSigns(t *testing.T) {
	b := array.NewInt8Builder(memory.NewGoAllocator())
	b.AppendValues([]int8{math.MinInt8, -1}, nil)
	n, err := tables.NumbersOf(b.NewArray().Data().(*array.Data))
	must.Be(t, err == nil && n.Ints[0] == math.MinInt8 && n.Ints[1] == -1, "%d, %v", n.Ints, err)
}

// TestListsOfAgents compares a column of lists with the rows' lists, for all rows and for
// those that are selected.
func TestListsOfAgents(t *testing.T) {
	columns, err := batch.VerdictColumns(batch.ColumnOptions{Agents: []string{"A", "Bot", ""}, Combined: true, ListOnly: true})
	must.Do(t, err)
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	o := must.Get(NewOutput(batch.Layout{Keep: batch.KeepNone, Verdicts: columns}, nil, mem))(t)
	field := o.Schema().Field(0)
	must.Be(t, arrow.TypeEqual(field.Type, arrow.ListOf(arrow.BinaryTypes.String)) && field.Nullable, "the column is %v", field)
	v := &batch.Verdicts{
		Rows: 6, SelectedRows: 6, Agents: make([]batch.AgentVerdicts, 1), Members: 3,
		Denied: [][]int32{nil, {0, 2}, {1}}, DeniedOf: []int32{1, -1, 0, 2, 1, 1},
	}
	texts := []string{`["A",""]`, "(null)", "[]", `["Bot"]`, `["A",""]`, `["A",""]`}
	for _, selected := range []byte{0, 0b101101, 0b000010, 0b111111} {
		want := texts
		v.Selected = nil
		if selected != 0 {
			v.Selected, want = []byte{selected}, nil
			for row, text := range texts {
				if selected>>row&1 != 0 {
					want = append(want, text)
				}
			}
		}
		var got []string
		err := o.Shares(&batch.Batch{}, v, func(s *Share) error {
			return look(s, func(column arrow.Array) {
				for row := range column.Len() {
					got = append(got, column.ValueStr(row))
				}
			})
		})
		must.Be(t, err == nil && slices.Equal(got, want), "rows %06b: %s, %v, want %s", selected, fmt.Sprint(got), err, want)
	}
	v.DeniedOf = nil
	must.Fail(t, o.Shares(&batch.Batch{}, v, func(s *Share) error { _, err := s.Record(); return err }), "verdicts without lists are written")
}

// look has do look at the first column of a share.
func look(s *Share, do func(column arrow.Array)) error {
	record, err := s.Record()
	if err == nil {
		do(record.Column(0))
		record.Release()
	}
	return err
}

// The lists of agents of a row group take memory by row and by distinct list, not by the
// names in them, where a format stores names by number.
func TestLongListsOfManyRows(t *testing.T) {
	const agents, pieces, rows = 100, 10, 20_000
	names := make([]string, agents)
	all := make([]int32, agents)
	for i := range names {
		names[i], all[i] = fmt.Sprint("agent", i), int32(i)
	}
	columns := must.Get(batch.VerdictColumns(batch.ColumnOptions{Agents: names, Combined: true, ListOnly: true}))(t)
	lists := [][]int32{nil, all, {2, 98}, {1}}
	for _, coded := range []bool{false, true} {
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		o := must.Get(NewVerdicts(batch.Layout{Verdicts: columns, Memory: 4 << 20}, nil, mem))(t)
		if coded {
			o.CodeAgents()
		}
		a := NewAssembly(pieces)
		for piece := range pieces {
			v := &batch.Verdicts{Rows: rows, SelectedRows: rows, Agents: make([]batch.AgentVerdicts, 1), Members: agents, Denied: lists[:2+piece%3]}
			for row := range rows {
				v.DeniedOf = append(v.DeniedOf, int32(row%(len(v.Denied)+1))-1)
			}
			_, _, err := a.Add(o, piece, &batch.Batch{}, v, nil)
			must.Do(t, err)
		}
		made, err := a.Columns(o)
		if !coded {
			must.Fail(t, err, "names in each row fit the memory")
			continue
		}
		must.Do(t, err)
		column := array.MakeFromData(made[0]).(*array.Dictionary)
		texts := column.Dictionary().(*array.List)
		for row := range pieces * rows {
			denied := lists[:2+row/rows%3]
			if number := row%rows%(len(denied)+1) - 1; number < 0 {
				must.Need(t, column.IsNull(row), "row %d is not null", row)
			} else {
				low, high := texts.ValueOffsets(column.GetValueIndex(row))
				got := texts.ListValues().(*array.Dictionary).Indices().(*array.Int32).Int32Values()[low:high]
				must.Need(t, slices.Equal(got, denied[number]), "row %d has %d, want %d", row, got, denied[number])
			}
		}
		column.Release()
		tables.Release(made)
		mem.AssertSize(t, 0)
	}
}

// Rows that take too much memory come in shares, each once and in order.
func TestShares(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var list, want []string
	const rows = 1000
	v := &batch.Verdicts{Rows: rows, Selected: make([]byte, rows/8)}
	for i := range rows {
		list = append(list, fmt.Sprintf("%d %s", i, strings.Repeat("a", rng.IntN(100))))
		if rng.IntN(3) > 0 {
			v.Selected[i>>3] |= 1 << (i & 7)
			v.SelectedRows++
			want = append(want, list[i])
		}
	}
	b := &batch.Batch{URLs: listColumn(list)}
	for _, limit := range []int64{1 << 20, 100_000, 8 * 1024} {
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		o := must.Get(NewOutput(batch.Layout{URLColumn: "url", Memory: limit}, nil, mem))(t)
		var got []string
		shares := 0
		must.Do(t, o.Shares(b, v, func(s *Share) error {
			return look(s, func(column arrow.Array) {
				must.Be(t, s.mem.taken <= limit/8, "%d bytes for a share", s.mem.taken)
				shares++
				for i := range column.Len() {
					got = append(got, column.(*array.String).Value(i))
				}
			})
		}))
		must.Be(t, slices.Equal(got, want) && (shares > 1) == (limit < 1<<20), "with %d bytes, %d rows in %d shares, want %d", limit, len(got), shares, len(want))
		if shares == 1 { // else the garbage collector has what was refused halfway
			mem.AssertSize(t, 0)
		}
	}
}

func listColumn(values []string) batch.Column {
	column := batch.Column{Offsets32: []int32{0}}
	for _, value := range values {
		column.Data = append(column.Data, value...)
		column.Offsets32 = append(column.Offsets32, int32(len(column.Data)))
	}
	return column
}

// A row that is too large by itself is an error, and so are rows that come to too
// much before compression.
func TestSharesOfLargeRows(t *testing.T) {
	o, err := NewOutput(batch.Layout{URLColumn: "url", Memory: 1000}, nil, memory.NewGoAllocator())
	must.Do(t, err)
	columns := func(s *Share) error {
		columns, err := s.Columns()
		tables.Release(columns)
		return err
	}
	b := &batch.Batch{URLs: listColumn([]string{"a", strings.Repeat("b", 1000), "c"})}
	must.Say(t, o.Shares(b, &batch.Verdicts{Rows: 3, SelectedRows: 3}, columns), "raise memory")
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	const rows = 300
	entry := tablestest.FromJSON(t, dt.ValueType, `["`+strings.Repeat("a", 1<<20)+`"]`)
	indices := array.NewInt8Builder(memory.NewGoAllocator())
	indices.AppendValues(make([]int8, rows), nil)
	record := tablestest.NewRecord([]string{"url"}, array.NewDictionaryArray(dt, indices.NewArray(), entry))
	o = must.Get(NewOutput(batch.Layout{URLColumn: "url", Memory: 32 << 20}, record.Schema(), memory.NewGoAllocator()))(t)
	shares := 0
	err = o.Shares(&batch.Batch{Table: record}, &batch.Verdicts{Rows: rows, SelectedRows: rows}, func(s *Share) error {
		return look(s, func(column arrow.Array) {
			shares++
			tables.Plain(column.Data().(*array.Data), s.Memory()).Release()
		})
	})
	must.Be(t, err != nil && strings.Contains(err.Error(), "lower batch-rows") && shares >= 2, "%d shares and error %v", shares, err)
}
