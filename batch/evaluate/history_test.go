package evaluate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/batch/internal/batchtest"
	"robotsbatch/bench/ruletable"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/urls"
)

// moments are what was known of authorities over time, by key.
type moments map[string][]moment

type moment struct {
	from, seen int64
	between    []int64 // other times of fetches
	origin     matcher.Origin
	number     int // of what is known, apart from being stale
}

func (m moments) Lookup(authority []byte, o *matcher.Origin) error {
	return fmt.Errorf("%s is looked up without a time", authority)
}

func (m moments) AppendSpans(spans []matcher.Span, authority []byte) ([]matcher.Span, error) {
	for i, x := range m[string(authority)] {
		spans = append(spans, matcher.Span{From: x.from, Fetched: x.from, Seen: x.seen, Access: x.origin.Access, Stale: x.origin.Stale, Body: uint32(i)})
	}
	return spans, nil
}

func (m moments) OpenSpan(authority []byte, s *matcher.Span, o *matcher.Origin) error {
	*o = m[string(authority)][s.Body].origin
	return nil
}

func (m moments) AppendTimes(times []int64, authority []byte, s *matcher.Span) ([]int64, error) {
	times = append(append(times, s.Fetched), m[string(authority)][s.Body].between...)
	if s.Seen != s.Fetched {
		times = append(times, s.Seen)
	}
	return times, nil
}

// timed is a list whose rows have times.
type timed struct {
	*list
	moments moments
	times   []int64
	said    map[question]string // what alone said
}

// question is what a row alone is asked: number and stale are those of a moment, -1 for none.
type question struct {
	row     string
	number  int
	stale   bool
	missing access.Missing
}

const lastTime = 100

// makeTimed gives a random list times, and its authorities histories of what the list
// knows of others.
func makeTimed(rng *rand.Rand) *timed {
	x := &timed{list: makeList(rng.IntN), moments: make(moments), said: make(map[question]string)}
	x.options.Columns, x.options.AsOf = nil, lastTime/2
	var keys []string
	var known []matcher.Origin
	var scratch urls.Scratch
	for _, host := range x.hosts {
		key, _, err := scratch.Split([]byte(host))
		if err != nil {
			continue
		}
		var o matcher.Origin
		if x.origins.Lookup(key, &o); o.Access != access.Unknown {
			known = append(known, o)
		}
		keys = append(keys, string(key))
	}
	for _, key := range keys {
		if len(known) == 0 || rng.IntN(8) == 0 {
			continue
		}
		delete(x.moments, key)
		from := int64(max(0, rng.IntN(lastTime/2)-lastTime/20))
		for range 1 + rng.IntN([]int{1, 3, 40}[rng.IntN(3)]) {
			seen := from + int64(rng.IntN(6))
			number := rng.IntN(len(known))
			o := known[number]
			o.Stale = rng.IntN(4) == 0
			between := make([]int64, 0, 5)
			for t := from + 1; t < seen; t++ {
				if rng.IntN(2) == 0 {
					between = append(between, t)
				}
			}
			x.moments[key] = append(x.moments[key], moment{from, seen, between, o, number})
			from = seen + 1 + int64(rng.IntN(10))
		}
	}
	for range x.rows {
		t := int64(rng.IntN(lastTime))
		if n := len(x.times); n > 0 && rng.IntN(2) == 0 {
			t = x.times[n-1]
		}
		switch rng.IntN(30) {
		case 0:
			t = batch.NoTime
		case 1:
			t = -t
		}
		x.times = append(x.times, t)
	}
	return x
}

// evaluate returns the verdicts of all rows, with reasons and rules if they are explained, and
// what is counted.
func (x *timed) evaluate(t *testing.T) (got []string, counted batch.Counters) {
	t.Helper()
	options := x.options
	options.Timelines = x.moments
	e := New(x.moments, options)
	e.blockRows = x.block
	var v batch.Verdicts
	first := 0
	for _, column := range x.columns() {
		b := batch.Batch{URLs: column, Times: x.times[first : first+column.Len()]}
		must.Do(t, e.Evaluate(&b, &v))
		for row := range v.Rows {
			got = append(got, shown(&v, row, options.Explain))
		}
		first += v.Rows
		counted.Add(&v.Counters)
	}
	return got, counted
}

func shown(v *batch.Verdicts, row int, explain bool) string {
	text := batchtest.Letters(v, row)
	for i := range v.Agents {
		if a := &v.Agents[i]; explain {
			text += " " + a.Reasons[row].String()
			if rule := a.Rules[row]; rule >= 0 {
				text += fmt.Sprint(" ", a.Explanations[rule])
			}
		}
	}
	return text
}

// alone is what a row gets when its authority is known by one moment, or by none.
func (x *timed) alone(t *testing.T, row int, known *moment) string {
	t.Helper()
	ask := question{row: x.rows[row], number: -1, missing: x.options.Missing}
	if known != nil {
		ask.number, ask.stale = known.number, known.origin.Stale
	}
	if said, ok := x.said[ask]; ok {
		return said
	}
	var table ruletable.Table
	var scratch urls.Scratch
	if key, _, err := scratch.Split([]byte(x.rows[row])); err == nil && known != nil {
		table.Add(key, known.origin)
	}
	options := x.options
	options.AsOf, options.EverDenied = 0, false
	var v batch.Verdicts
	e := New(&table, options)
	must.Do(t, e.Evaluate(&batch.Batch{URLs: x.column(x.rows[row : row+1])}, &v))
	x.said[ask] = shown(&v, 0, options.Explain)
	return x.said[ask]
}

// naive decides a row by its time. What has no time, 0, is earlier than any row.
func (x *timed) naive(t *testing.T, row int) string {
	var scratch urls.Scratch
	key, _, err := scratch.Split([]byte(x.rows[row]))
	if err != nil || x.rows[row] == nullRow {
		return x.alone(t, row, nil)
	}
	agents := x.options.Agents
	at := x.times[row]
	if at == batch.NoTime {
		text := strings.Repeat("-", agents)
		if x.options.Explain {
			text += strings.Repeat(" no_time", agents)
		}
		return text
	}
	known := x.moments[string(key)]
	now := -1
	for i := range known {
		if known[i].from <= at || known[i].from == 0 {
			now = i
		}
	}
	if now < 0 && x.options.BeforeFirst == access.BeforeUse && len(known) > 0 {
		now = 0
	}
	var text string
	switch {
	case now >= 0:
		text = x.alone(t, row, &known[now])
	case len(known) > 0:
		missing := x.options.Missing
		x.options.Missing = x.options.BeforeFirst.Verdict(missing)
		text = strings.ReplaceAll(x.alone(t, row, nil), "no_robots", "no_capture_yet")
		x.options.Missing = missing
	default:
		text = x.alone(t, row, nil)
	}
	if !x.options.EverDenied {
		return text
	}
	for i := now + 1; i < len(known); i++ {
		if known[i].from > x.options.AsOf {
			break
		}
		later := x.alone(t, row, &known[i])
		text = denyToo(text, later, agents)
	}
	return text
}

// outdated reports whether the fetch that is the newest at a row's time was too old then.
func (x *timed) outdated(row int) bool {
	var scratch urls.Scratch
	key, _, err := scratch.Split([]byte(x.rows[row]))
	at := x.times[row]
	if err != nil || x.rows[row] == nullRow || at == batch.NoTime {
		return false
	}
	newest := int64(-1)
	for _, m := range x.moments[string(key)] {
		for _, fetched := range append([]int64{m.from, m.seen}, m.between...) {
			if fetched != 0 && fetched <= at {
				newest = max(newest, fetched)
			}
		}
	}
	return newest >= 0 && at-newest > x.options.MaxAge
}

// denyToo takes a later verdict, without explanations, for each agent that has none yet or
// is allowed.
func denyToo(text, later string, agents int) string {
	letters := []byte(text)
	for i := range agents {
		if later[i] == 'd' {
			letters[i] = 'd'
		}
	}
	return string(letters)
}

// Each row is decided by what was known at its own time, in any list.
func TestEachRowIsDecidedByItsTime(t *testing.T) {
	lists := must.Short(12, uint64(60))
	for seed := range lists {
		rng := rand.New(rand.NewPCG(seed, 21))
		x := makeTimed(rng)
		x.options.Explain = rng.IntN(3) == 0
		x.options.BeforeFirst = access.BeforeFirst(rng.IntN(int(access.BeforeNull) + 1))
		x.options.EverDenied = !x.options.Explain && rng.IntN(3) == 0
		x.options.MaxAge = 1 + int64(rng.IntN(8))
		got, counted := x.evaluate(t)
		outdated := counted.Outdated
		for row := range x.rows {
			if x.outdated(row) {
				outdated--
			}
			want := x.naive(t, row)
			must.Need(t, got[row] == want, "seed %d, row %d %q at %d: %s, want %s (%+v)", seed, row, x.rows[row], x.times[row], got[row], want, x.options)
		}
		must.Equal(t, outdated, 0, "seed", seed, "too many rows are outdated")
	}
}

// Rows of which nothing is known are those with such a reason for at least one agent, and are
// counted alike without reasons.
func TestRowsOfNothingKnownAreCountedByReason(t *testing.T) {
	early := int64(0)
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 23))
		x := makeTimed(rng)
		x.options.EverDenied, x.options.BeforeFirst = seed%2 == 0, access.BeforeFirst(seed%5)
		x.options.Missing = []access.Missing{access.MissingAllow, access.MissingDeny, access.MissingNull}[seed%3]
		_, plain := x.evaluate(t)
		x.options.Explain = true
		got, explained := x.evaluate(t)
		must.Be(t, plain == explained, "seed %d: %+v is counted, and %+v with reasons", seed, plain, explained)
		var want batch.Counters
		for _, text := range got {
			switch {
			case strings.Contains(text, "no_robots"):
				want.NoRobots++
			case strings.Contains(text, "no_capture_yet"):
				want.NoCaptureYet++
			}
		}
		if plain.NoRobots != want.NoRobots || plain.NoCaptureYet != want.NoCaptureYet || plain.OfNothing() != want.OfNothing() {
			t.Errorf("seed %d: %d rows are without robots.txt and %d before the first capture; %d and %d have the reasons",
				seed, plain.NoRobots, plain.NoCaptureYet, want.NoRobots, want.NoCaptureYet)
		}
		early += want.NoCaptureYet
	}
	must.Be(t, early != 0, "no row is before the first capture of its authority")
}

// shuffle returns the list with its rows in another order.
func (x *timed) shuffle(rng *rand.Rand) (other *timed, order []int) {
	order = rng.Perm(len(x.rows))
	list := *x.list
	other = &timed{list: &list, moments: x.moments}
	other.list.rows, other.times = nil, nil
	for _, row := range order {
		other.list.rows = append(other.list.rows, x.rows[row])
		other.times = append(other.times, x.times[row])
	}
	return other, order
}

// Rows get the same verdicts in any order.
func TestTimedRowsInAnyOrder(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 22))
		x := makeTimed(rng)
		x.options.EverDenied = seed%2 == 0
		want, counted := x.evaluate(t)
		other, order := x.shuffle(rng)
		got, otherCounted := other.evaluate(t)
		must.Equal(t, otherCounted, counted, "seed", seed, "in another order")
		for i, row := range order {
			must.Need(t, got[i] == want[row], "seed %d: %q at %d is %s, and was %s", seed, x.rows[row], x.times[row], got[i], want[row])
		}
	}
}

// A row that a later moment denies is explained by the rule of that moment.
func TestEverDeniedIsExplainedByTheFirstDenial(t *testing.T) {
	origin := func(body string) matcher.Origin {
		var o matcher.Origin
		must.Do(t, batchtest.Table(t, map[string]string{"http://a": body}, "*").Lookup([]byte("http://a"), &o))
		return o
	}
	m := moments{"http://a": {
		{from: 10, seen: 19, origin: origin("")},
		{from: 20, seen: 29, origin: origin("User-agent: *\nDisallow: /x\n")},
		{from: 30, seen: 39, origin: origin("User-agent: *\nDisallow: /\n")},
		{from: 40, seen: 49, origin: matcher.Origin{Access: access.DisallowAll}},
	}}
	rows := []string{"http://a/x", "http://a/y", "http://a/robots.txt", "http://a/x", "http://a/y"}
	times := []int64{10, 10, 10, 5, 30}
	for _, test := range []struct {
		asOf int64
		want string
	}{
		{100, "disallow_rule 2 disallow_rule 2 robots_txt 0 disallow_rule 2 disallow_rule 2"},
		{29, "disallow_rule 2 no_group 0 robots_txt 0 disallow_rule 2 disallow_rule 2"},
		{19, "no_group 0 no_group 0 robots_txt 0 no_capture_yet 0 disallow_rule 2"},
	} {
		e := New(m, Options{Timelines: m, Explain: true, EverDenied: true, AsOf: test.asOf})
		var v batch.Verdicts
		must.Do(t, e.Evaluate(&batch.Batch{URLs: batchtest.URLs(rows...), Times: times}, &v))
		var got []string
		for row := range rows {
			line := 0
			if rule := v.Agents[0].Rules[row]; rule >= 0 {
				line = v.Agents[0].Explanations[rule].Line
			}
			got = append(got, fmt.Sprint(v.Agents[0].Reasons[row], " ", line))
		}
		must.Equal(t, strings.Join(got, " "), test.want, "as of", test.asOf)
	}
}

// Facts say which fetch was used, how old it was at the row's time, and until when it held.
func TestTimedFacts(t *testing.T) {
	m := moments{"http://a": {
		{from: 100, seen: 150, between: []int64{110, 140}, origin: matcher.Origin{Access: access.AllowAll, Facts: matcher.Facts{Status: 404}}},
		{from: 200, seen: 200, origin: matcher.Origin{Access: access.DisallowAll, Facts: matcher.Facts{Status: 503}}},
	}}
	times := []int64{99, 100, 139, 149, 150, 151, 199, 200, 300, batch.NoTime}
	urls := slices.Repeat([]string{"http://a/"}, len(times))
	e := New(m, Options{Timelines: m, Columns: columnsOf(1, "robots_status", "robots_fetched_at", "robots_until", "age"), AsOf: 7, MaxAge: 40})
	var v batch.Verdicts
	must.Do(t, e.Evaluate(&batch.Batch{URLs: batchtest.URLs(urls...), Times: times}, &v))
	var got []string
	for row := range times {
		got = append(got, rowText(&v, row))
	}
	want := "- - - -|404 100 200 0|404 110 200 29|404 140 200 9|404 150 200 0|404 150 200 1|404 150 200 49|503 200 - 0|503 200 - 100|- - - -"
	must.Equal(t, strings.Join(got, "|"), want)
	must.Be(t, v.Outdated == 2 && v.NoTime == 1 && v.NoCaptureYet == 1, "%d outdated, %d without a time, %d too early", v.Outdated, v.NoTime, v.NoCaptureYet)
}

// A batch without times is an error, not a batch without verdicts.
func TestTimelinesNeedTimes(t *testing.T) {
	m := moments{}
	var v batch.Verdicts
	must.Fail(t, New(m, Options{Timelines: m}).Evaluate(&batch.Batch{URLs: batchtest.URLs("http://a/")}, &v))
}

// The domain of a row has nothing to do with its time.
func TestRowsWithoutTimeHaveDomains(t *testing.T) {
	m := moments{}
	var v batch.Verdicts
	e := New(m, Options{Timelines: m, Columns: columnsOf(1, "registered_domain")})
	b := batch.Batch{URLs: batchtest.URLs("http://www.a.example/", "http://b.example/"), Times: []int64{batch.NoTime, 7}}
	must.Do(t, e.Evaluate(&b, &v))
	for row, want := range []string{"a.example", "b.example"} {
		must.Equal(t, rowText(&v, row), strconv.Quote(want), "row", row)
	}
}

// The first time is that of the first row that has one, in whatever order batches are
// evaluated; of a batch that could not be evaluated it is none.
func TestFirstTime(t *testing.T) {
	const no = batch.NoTime
	failing := errors.New("no rules")
	for _, test := range []struct {
		name    string
		batches []batch.Batch
		fails   bool
		seconds int64
		found   bool
	}{
		{name: "no batch"},
		{name: "rows without times", batches: []batch.Batch{{Times: []int64{no, batch.TooFine}}, {FirstRow: 2}}},
		{name: "in a later row", batches: []batch.Batch{{Times: []int64{no, batch.TooFine, 7, 5}}}, seconds: 7, found: true},
		{name: "1970", batches: []batch.Batch{{Times: []int64{0}}}, found: true},
		{name: "batches out of order", batches: []batch.Batch{{FirstRow: 20, Times: []int64{3}}, {FirstRow: 10, Times: []int64{no, 9}}, {FirstRow: 30, Times: []int64{1}}}, seconds: 9, found: true},
		{name: "a failure", batches: []batch.Batch{{Times: []int64{3}}}, fails: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var first FirstTime
			for i := range test.batches {
				var inner batch.Evaluator = evaluatorFunc(func() error { return nil })
				if test.fails {
					inner = evaluatorFunc(func() error { return failing })
				}
				err := first.Watch(inner).Evaluate(&test.batches[i], nil)
				must.Need(t, (err != nil) == test.fails, "%v", err)
			}
			at, found := first.Time()
			must.Be(t, found == test.found && at.Unix() == test.seconds, "%v, %v; want second %d, %v", at, found, test.seconds, test.found)
		})
	}
}

type evaluatorFunc func() error

func (f evaluatorFunc) Evaluate(*batch.Batch, *batch.Verdicts) error { return f() }

// damaged are moments that cannot be read any more after some calls of AppendTimes.
type damaged struct {
	moments
	left int
}

func (d *damaged) AppendTimes(times []int64, authority []byte, s *matcher.Span) ([]int64, error) {
	if d.left--; d.left < 0 {
		return nil, errors.New("damaged")
	}
	return d.moments.AppendTimes(times, authority, s)
}

// An error of AppendTimes without times is that of the batch, whatever was read before.
func TestTimesThatCannotBeRead(t *testing.T) {
	known := []moment{{from: 100, seen: 150, origin: matcher.Origin{Access: access.AllowAll}}}
	for left := range 4 {
		d := &damaged{moments{"http://a": known, "http://b": known}, left}
		e := New(d, Options{Timelines: d, Columns: columnsOf(1, "robots_fetched_at"), AsOf: 7})
		var v batch.Verdicts
		err := e.Evaluate(&batch.Batch{URLs: batchtest.URLs("http://a/", "http://b/"), Times: []int64{120, 120}}, &v)
		must.Say(t, err, "damaged", left)
	}
}
