package stats

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

var columnNames = []string{"authority", "registered_domain", "agent", "blocked", "by", "access"}

// survey is a record of lines of authority, registered domain, agent, blocked, by and access,
// with "-" for null.
func survey(t *testing.T, rows ...string) arrow.Record {
	t.Helper()
	var fields []arrow.Field
	for _, name := range columnNames {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true})
	}
	b := array.NewRecordBuilder(memory.NewGoAllocator(), arrow.NewSchema(fields, nil))
	defer b.Release()
	for _, line := range rows {
		for i, word := range strings.Fields(line) {
			if word == "-" {
				b.Field(i).AppendNull()
			} else {
				b.Field(i).(*array.StringBuilder).Append(word)
			}
		}
	}
	return b.NewRecord()
}

var rows = []string{
	"http://a.test a.test Bot all name rules", "https://a.test a.test Bot all everyone rules",
	"http://a.test a.test Other none - rules", "https://a.test a.test Other some everyone rules",
	"http://b.test b.test Bot some name rules", "http://b.test b.test Other all - unreachable",
	"http://www.b.test b.test Bot none everyone rules", "http://www.b.test b.test Other - name rules",
	"http://127.0.0.1 - Bot none - unavailable", "http://127.0.0.1 - Other - name rules",
	"http://c.test c.test Bot all - unreachable", "https://c.test c.test Bot all - unreachable",
}

func counted(t *testing.T, o Options) string {
	t.Helper()
	tally := newSiteCounter(o)
	for _, part := range [][]string{rows[:3], rows[3:]} {
		record := survey(t, part...)
		if err := tally.Add(record); err != nil {
			t.Fatal(err)
		}
		for _, column := range record.Columns() { // as a source does that uses its memory again
			clear(column.Data().Buffers()[2].Bytes())
		}
	}
	var b strings.Builder
	for _, c := range tally.Table().Counts {
		fmt.Fprintln(&b, textOf(&c))
	}
	return b.String()
}

// textOf has a count's month, rank and agent, and its figures in their order.
func textOf(c *Count) string {
	text := fmt.Sprintf("{%s %d %s", c.Month, c.Rank, c.Agent)
	for _, f := range slices.Concat(deniedFigures, byWhomFigures) {
		text += fmt.Sprintf(" %d", f.of(c))
	}
	return text + "}"
}

func TestCounts(t *testing.T) {
	ranks, err := readRanks(strings.NewReader("# best first\nhttps://www.b.test\nx.test\n200,a.test\n"))
	if err != nil {
		t.Fatal(err)
	}
	// Month, rank, agent; sites, full, partial, none, undecided, unreachable; full by name and
	// by *, partial.
	for _, test := range []struct {
		what    string
		options Options
		want    string
	}{
		{"authorities", Options{Site: ByAuthority}, "{ 0 Bot 7 2 1 2 0 2 1 1 1 0}\n{ 0 Other 5 0 1 1 2 1 0 0 0 1}\n"},
		{"hosts", Options{Site: ByHost}, "{ 0 Bot 5 1 1 2 0 1 1 0 1 0}\n{ 0 Other 4 0 1 0 2 1 0 0 0 1}\n"},
		// That b.test was unreachable says nothing, as one of its hosts was not.
		{"domains", Options{}, "{ 0 Bot 4 1 1 1 0 1 1 0 1 0}\n{ 0 Other 3 0 1 0 2 0 0 0 0 1}\n"},
		{"ranks", Options{Ranks: ranks}, "{ 0 Bot 4 1 1 1 0 1 1 0 1 0}\n{ 0 Other 3 0 1 0 2 0 0 0 0 1}\n" +
			"{ 1000 Bot 1 1 0 0 0 0 1 0 0 0}\n{ 1000 Other 1 0 1 0 0 0 0 0 0 1}\n"},
	} {
		if got := counted(t, test.options); got != test.want {
			t.Errorf("%s:\n%swant\n%s", test.what, got, test.want)
		}
	}
}

// Sites are counted in each month in which something is known of them, whether they are
// flushed one by one or all at the end.
func TestMonths(t *testing.T) {
	for _, flush := range []bool{false, true} {
		tally := newSiteCounter(Options{Months: []string{"2026-01", "2026-02", "2026-03"}})
		for _, line := range strings.Split(`https://a.test a.test Bot all name 0
https://a.test a.test Bot none - 1
https://a.test a.test Bot none - 2
https://www.b.test b.test Bot all everyone 1
https://www.b.test b.test Bot all everyone 2
https://c.test c.test Bot some everyone 2`, "\n") {
			w := strings.Fields(line)
			s, err := stateOf(w[3], w[4], "rules")
			if err != nil {
				t.Fatal(err)
			}
			if flush && w[5] == "0" {
				tally.Flush()
			}
			tally.addState(w[0], w[1], tally.Agent(w[2]), int(w[5][0]-'0'), s)
			if flush && w[5] == "2" {
				tally.Flush()
			}
		}
		table := tally.Table()
		var texts []string
		for _, c := range table.Counts {
			texts = append(texts, textOf(&c))
		}
		got := strings.Join(texts, " ")
		if want := "{2026-01 0 Bot 1 1 0 0 0 0 1 0 0 0} {2026-02 0 Bot 2 1 0 1 0 0 0 1 0 0} {2026-03 0 Bot 3 1 1 1 0 0 0 1 0 1}"; got != want {
			t.Errorf("flush %v: %s, want %s", flush, got, want)
		}
		var text strings.Builder
		if err := table.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		if want := "2026-01          1            0   100.00%\n2026-02          2            0    50.00%\n2026-03          3            0    33.33%\n"; !strings.HasSuffix(text.String(), want) {
			t.Errorf("%s, want %s", text.String(), want)
		}
	}
}

func TestAddRefusesWhatIsNoSurvey(t *testing.T) {
	err := newSiteCounter(Options{}).Add(survey(t, "http://a.test a.test Bot maybe name rules"))
	if err == nil || !strings.Contains(err.Error(), `the column blocked has "maybe"`) {
		t.Error(err)
	}
	other := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.Null}}, nil), []arrow.Array{array.NewNull(1)}, 1)
	if err := newSiteCounter(Options{}).Add(other); err == nil || !strings.Contains(err.Error(), `there is no column "authority"`) {
		t.Error(err)
	}
}

func TestReadRanks(t *testing.T) {
	for text, want := range map[string]string{
		"a.test\nB.test.\na.test\n":                "map[a.test:1 b.test:2] [100]",
		"rank,domain\r\n5,a.test\r\n1001,b.test\n": "map[a.test:5 b.test:1001] [100 1000 10000]",
		"http://a.test:80\n":                       "map[a.test:1] [100]",
	} {
		r, err := readRanks(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(r.rank, r.top); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"": "no domains", "1,a.test\nx,b.test": `line 2: "x" is not a rank`, "0,a.test": `line 1: "0" is not a rank`, strings.Repeat("a", 1<<17): "line 1 is too long",
	} {
		if _, err := readRanks(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}
