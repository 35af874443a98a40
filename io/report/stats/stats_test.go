package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/report/export"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher/usage"
)

// rowKeys are the columns of rows, as a survey has them.
var rowKeys = []int{authorityKey, domainKey, agentKey, agentClassKey, classKey, blockedKey, rootKey, byKey}

// survey is a record of lines with the columns of rowKeys, with "-" for null.
func survey(t *testing.T, rows ...string) arrow.Record {
	t.Helper()
	var fields []arrow.Field
	for _, key := range rowKeys {
		fields = append(fields, arrow.Field{Name: keys[key].name, Type: arrow.BinaryTypes.String, Nullable: true})
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
	"http://a.test a.test Bot - with_rules all true name", "https://a.test a.test Bot - with_rules all true everyone",
	"http://a.test a.test Other - with_rules none false -", "https://a.test a.test Other - html some true everyone",
	"http://b.test b.test Bot - with_rules some true name", "http://b.test b.test Other - unreachable all true -",
	"http://www.b.test b.test Bot - html none false everyone", "http://www.b.test b.test Other - with_rules - false name",
	"http://127.0.0.1 - Bot - no_file none false -", "http://127.0.0.1 - Other - with_rules - false name",
	"http://c.test c.test Bot - unreachable all true -", "https://c.test c.test Bot - old_copy all true name",
}

func counted(t *testing.T, o Options) string {
	t.Helper()
	tally := newSiteCounter(o)
	for _, part := range [][]string{rows[:3], rows[3:]} {
		record := survey(t, part...)
		must.Do(t, tally.Add(record))
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

// textOf has a count's month, rank and agent, its classes, and its figures in their order.
func textOf(c *Count) string {
	text := fmt.Sprintf("{%s %d %s %v", c.Month, c.Rank, c.Agent, c.Classes)
	for _, f := range deniedFigures {
		text += fmt.Sprintf(" %d", f.Of(c))
	}
	return text + "}"
}

// Each site is in one class; only those of the base that were reached deny anything.
func TestCounts(t *testing.T) {
	// Month, rank, agent; with rules, html, refused, no file, other, old copy, unreachable;
	// full, by name and by *, root, partial, by name and by *, none, undecided.
	authorities := "{ 0 any of 2 [5 0 0 0 0 1 1] 2 1 1 3 1 1 0 0 2}\n{ 0 Bot [3 1 0 1 0 1 1] 2 1 1 3 1 1 0 2 0}\n{ 0 Other [3 1 0 0 0 0 1] 0 0 0 1 1 0 1 1 2}\n"
	for _, test := range []struct {
		what    string
		options Options
		want    string
	}{
		{"authorities", Options{Site: ByAuthority}, authorities},
		{"hosts", Options{Site: ByHost}, "{ 0 any of 2 [4 0 0 0 0 1 0] 1 1 0 2 1 1 0 0 2}\n{ 0 Bot [2 1 0 1 0 1 0] 1 1 0 2 1 1 0 2 0}\n{ 0 Other [3 0 0 0 0 0 1] 0 0 0 0 1 0 1 0 2}\n"},
		// That b.test was unreachable says nothing, as one of its hosts was not.
		{"domains", Options{}, "{ 0 any of 2 [3 0 0 0 0 1 0] 1 1 0 1 1 1 0 0 1}\n{ 0 Bot [2 0 0 1 0 1 0] 1 1 0 1 1 1 0 1 0}\n{ 0 Other [3 0 0 0 0 0 0] 0 0 0 0 1 0 1 0 2}\n"},
		{"those with rules", Options{Base: BaseRules}, "{ 0 any of 2 [3 0 0 0 0 1 0] 1 1 0 1 1 1 0 0 1}\n{ 0 Bot [2 0 0 1 0 1 0] 1 1 0 1 1 1 0 0 0}\n{ 0 Other [3 0 0 0 0 0 0] 0 0 0 0 1 0 1 0 2}\n"},
	} {
		must.Equal(t, counted(t, test.options), test.want, test.what)
	}
}

// The base of shares is what was asked for, and is written.
func TestBase(t *testing.T) {
	for base, want := range map[Base]string{BaseReached: "reached,3,1,0.3333333333333333", BaseRules: "rules,2,1,0.5", BaseAll: "all,4,1,0.25"} {
		tally := newSiteCounter(Options{Base: base})
		must.Do(t, tally.Add(survey(t, rows...)))
		var csv, text strings.Builder
		for _, err := range []error{tally.Table().WriteCSV(&csv), tally.Table().WriteText(&text)} {
			must.Do(t, err)
		}
		want = "all,Bot,4,3,2,0,0,1,0,1,0," + want
		must.Be(t, strings.Contains(csv.String(), want), "%s: %s, want %s", base, csv.String(), want)
		must.Be(t, strings.Contains(text.String(), "3 reached (3 with_rules, 0 html, 0 refused, 0 no_file, 0 other), 1 old_copy, 0 unreachable; shares of those "+base.Sites()), "%s: %s", base, text.String())
	}
}

// An entry of a list means the domain, host or authority that it belongs to, no list is longer
// than it is, and a line of it is one site.
func TestRanks(t *testing.T) {
	list := "# best first\nhttps://www.b.test\nx.test\n150,a.test\n200,http://A.test:80\n"
	for site, want := range map[Site]string{
		ByDomain:    "100: 1 of 2, 200: 2 of 3", // www.b.test is b.test
		ByHost:      "100: 1 of 2, 200: 2 of 3",
		ByAuthority: "100: 1 of 2, 200: 3 of 4", // http://www.b.test, https://a.test and http://a.test
	} {
		ranks := must.Get(readRanks(strings.NewReader(list), site))(t)
		tally := newSiteCounter(Options{Ranks: ranks, Site: site})
		must.Do(t, tally.Add(survey(t, rows...)))
		var got []string
		for _, c := range tally.Table().Counts {
			if c.Rank > 0 && c.Agent == "Bot" {
				got = append(got, fmt.Sprintf("%d: %d of %d", c.Rank, c.Sites(), c.Listed))
			}
		}
		must.Equal(t, strings.Join(got, ", "), want, site)
	}
	// A line without a scheme is one authority: https, or http where that alone is known.
	tally := newSiteCounter(Options{Site: ByAuthority})
	if tally.options.Ranks, _ = readRanks(strings.NewReader("www.b.test\na.test\n"), ByAuthority); tally.options.Ranks.of("http://a.test", map[string]int{"https://a.test": 0}) != 0 ||
		tally.options.Ranks.of("http://www.b.test", nil) != 1 {
		t.Error("http is ranked beside https, or not at all")
	}
}

// A line of several agents counts the sites that deny at least one of them, in each class of the
// list and of all but everyone.
func TestAnyOf(t *testing.T) {
	tally := newSiteCounter(Options{})
	err := tally.Add(survey(t, "http://a.test a.test A x with_rules all true name", "http://a.test a.test B x with_rules none false everyone",
		"http://a.test a.test C - with_rules some false everyone", "http://a.test a.test * - with_rules all true everyone",
		"http://b.test b.test A x with_rules some true everyone", "http://b.test b.test B x with_rules some false name",
		"http://b.test b.test C - with_rules none false -", "http://b.test b.test * - with_rules all true everyone",
		"http://c.test c.test A x with_rules none false -", "http://c.test c.test B x with_rules none false name",
		"http://c.test c.test C - with_rules none false -", "http://c.test c.test * - with_rules all true everyone"))
	must.Do(t, err)
	var got []string
	for _, c := range tally.Table().Counts[:2] {
		got = append(got, textOf(&c))
	}
	want := []string{"{ 0 any of 3 [3 0 0 0 0 0 0] 1 1 0 2 1 1 0 1 0}", "{ 0 any of 2, x [3 0 0 0 0 0 0] 1 1 0 2 1 1 0 1 0}"}
	must.EqualSlices(t, got, want)
}

// history has months, of which there are captures but of those that begin with "-".
func history(names ...string) (h export.History) {
	for _, name := range names {
		h.Months = append(h.Months, export.Month{Name: strings.TrimPrefix(name, "-"), Captured: name[0] != '-'})
	}
	return h
}

// Sites are counted in each month in which something is known of them, whether they are
// flushed one by one or all at the end; and again those with a capture in each month.
func TestMonths(t *testing.T) {
	for _, flush := range []bool{false, true} {
		tally := newSiteCounter(Options{History: history("2026-01", "-2026-02", "2026-03")})
		for _, line := range strings.Split(`https://a.test a.test Bot all name 0 captured
https://a.test a.test Bot none - 1 -
https://a.test a.test Bot none - 2 captured
https://www.b.test b.test Bot all everyone 1 -
https://www.b.test b.test Bot all everyone 2 captured
https://c.test c.test Bot some everyone 2 captured`, "\n") {
			w := strings.Fields(line)
			s := must.Get(stateOf(export.WithRules, w[3], w[3] == "all", w[4]))(t)
			if w[6] == "captured" {
				s |= isCaptured
			}
			if flush && w[5] == "0" {
				tally.Flush()
			}
			tally.add(w[0], w[1], tally.agent(w[2], ""), int(w[5][0]-'0'), s)
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
		want := "{2026-01 0 Bot [1 0 0 0 0 0 0] 1 1 0 1 0 0 0 0 0} {2026-01 -1 Bot [1 0 0 0 0 0 0] 1 1 0 1 0 0 0 0 0} " +
			"{2026-02 0 Bot [2 0 0 0 0 0 0] 1 0 1 1 0 0 0 1 0} {2026-02 -1 Bot [1 0 0 0 0 0 0] 0 0 0 0 0 0 0 1 0} " +
			"{2026-03 0 Bot [3 0 0 0 0 0 0] 1 0 1 1 1 0 1 1 0} {2026-03 -1 Bot [1 0 0 0 0 0 0] 0 0 0 0 0 0 0 1 0}"
		must.Equal(t, got, want, "flush", flush)
		var text strings.Builder
		must.Do(t, table.WriteText(&text))
		for _, want := range []string{
			"2026-02          2          2            0         0    50.00%\n2026-03          3          3            0         0    33.33%\n",
			"\npanel sites (registered domains) with a capture in each month: 1\n",
			"2026-03          1          1            0         0     0.00%\n",
		} {
			must.Be(t, strings.Contains(text.String(), want), "%s, want %s", text.String(), want)
		}
	}
}

func TestAddRefusesWhatIsNoSurvey(t *testing.T) {
	err := newSiteCounter(Options{}).Add(survey(t, "http://a.test a.test Bot - with_rules maybe false name"))
	must.Say(t, err, `the column blocked has "maybe"`)
	err = newSiteCounter(Options{}).Add(survey(t, "http://a.test a.test Bot - nowhere none false name"))
	must.Say(t, err, `the column class has "nowhere", instead of with_rules or another class`)
	for _, root := range []string{"yes", "-", "1.0"} {
		err = newSiteCounter(Options{}).Add(survey(t, "http://a.test a.test Bot - with_rules all "+root+" name"))
		must.Say(t, err, "the column root has ", root)
	}
	other := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.Null}}, nil), []arrow.Array{array.NewNull(1)}, 1)
	must.Say(t, newSiteCounter(Options{}).Add(other), `there is no column "authority"`)
}

// Data frames write booleans as True and False.
func TestRootOfDataFrames(t *testing.T) {
	for root, want := range map[string]int64{"True": 1, "TRUE": 1, "1": 1, "False": 0, "0": 0} {
		tally := newSiteCounter(Options{})
		must.Do(t, tally.Add(survey(t, "http://a.test a.test Bot - with_rules all "+root+" name")))
		must.Equal(t, tally.Table().Counts[0].Root, want, root)
	}
}

// The powers of ten up to the highest rank do not overflow, which would never end.
func TestHighestRank(t *testing.T) {
	r := must.Get(readRanks(strings.NewReader(fmt.Sprintf("%d,a.test\n", math.MaxInt)), ByDomain))(t)
	must.Equal(t, r.top[len(r.top)-1], math.MaxInt)
}

func TestReadRanks(t *testing.T) {
	for text, want := range map[string]string{
		"a.test\nB.test.\na.test\n":                "map[a.test:1 b.test:2] [3]",
		"rank,domain\r\n5,a.test\r\n1001,b.test\n": "map[a.test:5 b.test:1001] [100 1000 1001]",
		"http://www.a.test:80\n":                   "map[a.test:1] [1]",
		"200,a.test\n7,a.test\n9,b.test\n":         "map[a.test:7 b.test:9] [100 200]",
	} {
		r := must.Get(readRanks(strings.NewReader(text), ByDomain))(t)
		must.Equal(t, fmt.Sprint(r.rank, r.top), want, text)
	}
	for text, want := range map[string]string{
		"": "no domains", "1,a.test\nx,b.test": `line 2: "x" is not a rank`, "0,a.test": `line 1: "0" is not a rank`, strings.Repeat("a", 1<<17): "line 1 is too long", "a.test\na b\n": `line 2: "a b" is not a host`,
	} {
		must.Say(t, must.Err(readRanks(strings.NewReader(text), ByDomain)), want, text)
	}
}

// ofObjects counts a survey that is a text of JSON objects.
func ofObjects(t *testing.T, text string, o Options) (*SiteCounter, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "survey.jsonl")
	must.Do(t, os.WriteFile(name, []byte(text), 0o600))
	return OfSurvey(t.Context(), frontier.Input{Path: name}, frontier.Options{Memory: 64 << 20, Options: lines.Options{BatchRows: 2}}, o)
}

// The memory of a host with many ports is not cleared again for each later host.
func TestSitesOfManyPorts(t *testing.T) {
	counter := newSiteCounter(Options{Site: ByAuthority})
	for _, ports := range []int{1, mostSpare + 1, 1} {
		counter.enter([]byte("com,example\x00"), []byte("com,example"))
		for port := range ports {
			counter.add(fmt.Sprintf("http://example.com:%d", port), "example.com", 0, 0, firstClass)
		}
		counter.leave()
		for _, spare := range counter.spare {
			must.Equal(t, len(spare.states) <= mostSpare, true, ports, "ports")
		}
	}
}

// A survey as JSON is counted as the table is.
func TestAddJSONL(t *testing.T) {
	for _, o := range []Options{{}, {Site: ByAuthority}} {
		var text strings.Builder
		for _, row := range rows {
			text.WriteString("{")
			for i, word := range strings.Fields(row) {
				if rowKeys[i] != rootKey {
					word = fmt.Sprintf("%q", word)
				}
				if word == `"-"` {
					word = "null"
				}
				fmt.Fprintf(&text, "%q:%s,", keys[rowKeys[i]].name, word)
			}
			text.WriteString("\"rules\":3}\n\n")
		}
		tally := must.Get(ofObjects(t, text.String(), o))(t)
		var got strings.Builder
		for _, c := range tally.Table().Counts {
			fmt.Fprintln(&got, textOf(&c))
		}
		must.Equal(t, got.String(), counted(t, o), o)
	}
}

func TestAddJSONLRefuses(t *testing.T) {
	good := `{"authority":"http://a.test","agent":"Bot","class":"with_rules","blocked":"all","by":"name","root":true}` + "\n"
	for text, want := range map[string]string{
		good:                                       `no line has a key "registered_domain": this is not a table that robotsbatch survey wrote`,
		good + "\n[]\n":                            "line 3: it is not a JSON object",
		good + `{"authority":"http://a.test"}`:     "line 2: it has no authority or no agent: this is not a table",
		`{"agent":"Bot"}`:                          "line 1: it has no authority or no agent",
		strings.Replace(good, "all", "most", 1):    `line 1: the column blocked has "most"`,
		`{"authority":1,"agent":"Bot"}`:            "line 1: ",
		good + strings.Repeat("x", 2<<20) + "\n":   "line 2",
		`{"authority":"http://a.test","agent":"B"`: "line 1: ",
	} {
		_, err := ofObjects(t, text, Options{})
		must.Be(t, err != nil && strings.Contains(err.Error(), want), "%.60q: %v, want %s", text, err, want)
	}
	older := `{"authority":"http://a.test","registered_domain":null,"agent":"Bot","blocked":"all","by":"name","access":"rules"}` + "\n"
	_, err := ofObjects(t, older, Options{})
	want := `line 1: it is a survey of an earlier version: make it again with robotsbatch survey`
	must.Be(t, err != nil && strings.Contains(err.Error(), want), "%v, want %s", err, want)
	domain := strings.Replace(good, "}", `,"registered_domain":null,"agent_class":null}`, 1)
	_, err = ofObjects(t, domain, Options{Uses: []usage.Use{{Key: "train-ai"}}})
	want = `no line has a key "use_train_ai": make the survey again with use train-ai`
	must.Be(t, err != nil && strings.Contains(err.Error(), want), "%v, want %s", err, want)
}

// Sites are counted as a recount of what their authorities state counts them, however they
// are flushed.
func TestUsesAreARecount(t *testing.T) {
	uses := []usage.Use{{Key: "train-ai"}, usage.SignalUse}
	values := []string{"", "allowed", "disallowed", usage.Mixed, "full", "unreadable"}
	months := []string{"2026-01", "2026-02"}
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		tally := newSiteCounter(Options{Uses: uses, History: history(months...), Site: ByHost})
		want := make(map[string]int64)
		for site := range 20 {
			host := fmt.Sprintf("s%d.test", site)
			stated := make(map[string][]string) // by agent, use and month
			for _, scheme := range []string{"http", "https"} {
				for agent := range 2 {
					for month := range months {
						class := []export.Class{export.WithRules, export.NoFile, export.Unreachable}[random.IntN(3)]
						for use := range uses {
							text := ""
							if class == export.WithRules {
								text = values[random.IntN(len(values))]
							}
							said := must.Get(usage.ParseValues(text))(t)
							name := fmt.Sprint("A", agent)
							tally.add(scheme+"://"+host, host, tally.subject(tally.agent(name, ""), use), month, useStateOf(class, said))
							key := fmt.Sprint(months[month], " ", name, " ", uses[use])
							if class == export.Unreachable {
								text = "unreachable"
							}
							stated[key] = append(stated[key], text)
						}
					}
				}
			}
			for key, texts := range stated {
				want[key+" "+outcomeOf(texts)]++
			}
			if random.IntN(2) == 0 {
				tally.Flush()
			}
		}
		got := make(map[string]int64)
		for _, c := range tally.Table().Counts {
			key := fmt.Sprint(c.Month, " ", c.Agent, " ", c.Use, " ")
			sum := int64(0)
			for _, column := range useFigures[1:] {
				if n := column.Of(&c); n > 0 {
					got[key+column.Name] = n
					sum += n
				}
			}
			if n := c.Classes[export.Unreachable]; n > 0 {
				got[key+"unreachable"] = n
			}
			must.Need(t, sum == c.Reached() && c.Sites() == 20 && c.Reached() == 20-c.Classes[export.Unreachable] && c.Base == sum && c.Stated() == sum-c.None,
				"%d: %+v does not sum up", seed, c)
		}
		must.Need(t, fmt.Sprint(got) == fmt.Sprint(want), "%d: %v, want %v", seed, got, want)
	}
}

// outcomeOf is what a site states whose authorities state this.
func outcomeOf(texts []string) string {
	reached, found := false, ""
	for _, text := range texts {
		if text == "unreachable" {
			continue
		}
		reached = true
		switch {
		case text == "" || text == found:
		case found == "":
			found = text
		default:
			found = usage.Mixed
		}
	}
	switch {
	case !reached:
		return "unreachable"
	case found == "":
		return "none"
	}
	return found
}

// The formats have the same numbers.
func TestUsesInEveryFormat(t *testing.T) {
	tally := newSiteCounter(Options{Uses: []usage.Use{usage.SignalUse, {Key: "train-ai"}}})
	add := func(site string, use int, class export.Class, said usage.Values) {
		tally.add("https://"+site, site, tally.subject(tally.agent("*", ""), use), 0, useStateOf(class, said))
	}
	add("a.test", 1, export.WithRules, usage.Values(0).With(usage.Disallowed))
	add("a.test", 0, export.WithRules, usage.Values(0).With(usage.Reference))
	add("b.test", 1, export.Unreachable, 0)
	table := tally.Table()
	var text, csv, json strings.Builder
	for _, err := range []error{table.WriteText(&text), table.WriteCSV(&csv), table.WriteJSON(&json)} {
		must.Do(t, err)
	}
	want := "all,*,train-ai,2,1,1,0,0,0,0,0,1,reached,1,1,1,0,0,1,1,0,0,0,0,0,0,0,0,0,0,0\n"
	must.Be(t, strings.HasSuffix(csv.String(), want) && strings.Contains(csv.String(), "all,*,signal:use,1,1,1,0,0,0,0,0,0,reached,1,1,1,0,0,0,0,0,0,1,1,"), "%s, want %s", csv.String(), want)
	if want := `"base": 1,
    "stated": 1,
    "stated_share": 1,
    "allowed": 0,`; !strings.Contains(json.String(), want) {
		t.Errorf("%s, want %s", json.String(), want)
	}
	lines := strings.Split(text.String(), "\n")
	got := strings.Join(strings.Fields(lines[len(lines)-2]), " ")
	must.Be(t, got == "* train-ai 1 1 100.00% 0 0.00% 1 100.00% 0 0.00% 0 0.00% 0", "%s", text.String())
	must.Be(t, strings.Contains(lines[2], "reference") && !strings.Contains(lines[2], "full"), "columns %s: want those of grades that some site states", lines[2])
}
