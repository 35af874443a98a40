package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher/reference"
)

// replayedHistories is the number of random histories that the program is asked about.
var replayedHistories = flag.Int("histories", 100, "number of random `histories` to replay, in tables and in WARC files each")

const (
	aDay = 24 * 60 * 60
	// replayBatch is the number of histories that are in the same files: the program is run a few times
	// for all of them.
	replayBatch = 250
)

// replayStart is day 0 of the histories.
var replayStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Unix()

// replayed are random histories, each of a few hosts that redirect to each other, in two
// sources: as the program reads them, and as the model does.
type replayed struct {
	random *rand.Rand
	warc   bool
	files  [2]bytes.Buffer
	// parts has the files cut in three, if part tells which is that of a fetch.
	parts  [2][3]bytes.Buffer
	part   func(*replayedFetch) int
	pages  int  // of 12 URLs, how many are of pages; 0 means 1
	lost   bool // what revisits refer to may be in no part, or in a later one
	models []reference.Captures
	newest int64 // second of a capture

	histories int
	updated   string // what the last update said
}

// replayedFetch is a fetch, as a row of a table or a record.
type replayedFetch struct {
	reference.Capture
	// nothing: it says nothing, so the model has none.
	nothing  bool
	fraction float64
	row      map[string]any
	record   []string
	damage   func(record string) string
}

func (r *replayed) one(values ...any) any { return values[r.random.IntN(len(values))] }

// body is a body that the files of a WARC have in any case, so that revisits find it.
func (r *replayed) body() string {
	return fmt.Sprintf("User-agent: *\nDisallow: /%d\n", r.random.IntN(3))
}

func replayHost(history, host int) string {
	return fmt.Sprintf("%c%d.example", 'a'+rune(host), history)
}

// add adds a history.
func (r *replayed) add(number int) {
	hosts := 1 + r.random.IntN(4)
	url := func() string {
		path := "robots.txt"
		if r.random.IntN(12) < max(r.pages, 1) {
			path = "r"
		}
		return fmt.Sprintf("http://%s/%s", replayHost(number, r.random.IntN(hosts+1)), path)
	}
	fetches := make([]replayedFetch, 1+r.random.IntN(20))
	for i := range fetches {
		f := &fetches[i]
		f.Source, f.URL = r.random.IntN(2), url()
		f.Second = replayStart + int64(r.random.IntN(90))*aDay + int64(r.random.IntN(2))
		f.fraction = []float64{0, 0, 0.25, 0.5}[r.random.IntN(4)]
		if i > 0 && fetches[i-1].Second != 0 && r.random.IntN(4) == 0 {
			f.URL, f.Second = fetches[i-1].URL, fetches[i-1].Second
		}
		if r.warc {
			r.fillRecord(f, url)
		} else {
			r.fillRow(f, url)
		}
		r.write(f)
		r.newest = max(r.newest, f.Second)
	}
	slices.SortStableFunc(fetches, func(a, b replayedFetch) int {
		return cmp.Or(cmp.Compare(a.Second, b.Second), cmp.Compare(a.fraction, b.fraction))
	})
	var model reference.Captures
	for _, f := range fetches {
		if !f.nothing {
			model.All = append(model.All, f.Capture)
		}
	}
	r.models = append(r.models, model)
}

// fillRow makes a fetch one of a table, in one of the forms in which tables have it.
func (r *replayed) fillRow(f *replayedFetch, url func() string) {
	f.row = map[string]any{"url": f.URL}
	null := func() any { return r.one(nil, "") }
	if r.random.IntN(12) == 0 {
		f.Second, f.fraction = 0, 0
		f.row["fetched_at"] = r.one(nil, "", "nan")
	}
	status := func(status int) {
		f.Status = status
		f.row["status"] = r.one(status, fmt.Sprint(status), fmt.Sprintf("%d.0", status), json.RawMessage(fmt.Sprintf("%d.0", status)))
	}
	switch r.random.IntN(16) {
	case 0, 1, 2, 3:
		status(200 + 3*r.random.IntN(2))
		f.Body = r.body()
		f.row["body"], f.row["error"] = f.Body, r.one(nil, false, 0, "None", "nan", "False", "")
	case 4:
		f.Body = r.body()
		f.row["body"], f.row["status"] = f.Body, r.one(nil, "", "nan")
	case 5:
		status(200)
		f.row["body"] = ""
	case 6:
		status(200 + 4*r.random.IntN(2))
		f.nothing, f.row["body"] = true, nil
	case 7:
		f.nothing, f.row["body"] = true, null()
	case 8, 9:
		status(304)
		f.row["body"] = null()
	case 10:
		status(0)
		f.Status, f.row["body"] = -1, r.one(nil, "", r.body())
	case 11:
		if f.Failed, f.row["error"] = true, r.one("timeout", true, 1, "404"); r.random.IntN(2) == 0 {
			f.Unread, f.row["error"], f.row["status"], f.row["body"] = true, nil, r.one("200 OK", "200.5", "x"), r.body()
		}
	case 12:
		status([]int{404, 410, 401, 403, 451, 429}[r.random.IntN(6)])
		f.row["body"] = r.one(nil, "", r.body())
	case 13:
		status([]int{500, 503, 503, 503, -1, 102, 999}[r.random.IntN(7)])
	default:
		status(301 + r.random.IntN(2))
		if f.Target = url(); r.random.IntN(6) == 0 {
			f.Target = ""
		}
		f.row["location"] = f.Target
	}
	if f.Second != 0 {
		when := time.Unix(f.Second, int64(f.fraction*1e9)).UTC().Format(time.RFC3339Nano)
		f.row["fetched_at"] = r.one(when, json.RawMessage(fmt.Sprintf("%.2f", float64(f.Second)+f.fraction)))
		if f.fraction == 0 && r.random.IntN(2) == 0 {
			f.row["fetched_at"] = f.Second
		}
	}
}

// fillRecord makes a fetch a record: a response, a revisit, or one that is broken.
func (r *replayed) fillRecord(f *replayedFetch, url func() string) {
	f.damage = func(record string) string { return record }
	status, text := "", ""
	answer := func(code int) { f.Status, status = code, fmt.Sprintf("%d Text", code) }
	switch r.random.IntN(16) {
	case 0, 1, 2, 3:
		answer(200 + 3*r.random.IntN(2))
		f.Body = r.body()
		text = f.Body
	case 4:
		answer(200 + 4*r.random.IntN(2))
	case 5, 6:
		answer(304)
	case 7: // of the same payload
		f.Status, f.Body, status = 200, r.body(), "revisit"
		text = "WARC-Profile: x/identical-payload-digest|WARC-Payload-Digest: text:" + strings.ReplaceAll(f.Body, "\n", `\n`)
	case 8: // of one that is nowhere, or not modified
		f.Failed, status, text = true, "revisit", "WARC-Payload-Digest: text:nowhere"
		if r.random.IntN(2) == 0 {
			f.Failed, f.Status, text = false, 304, "WARC-Profile: x/server-not-modified"
		}
	case 9:
		answer(0)
		f.Status, status, text = -1, "000 None", r.body()
	case 10:
		answer([]int{404, 410, 401, 403, 451, 429}[r.random.IntN(6)])
		text = r.body()
	case 11, 12:
		answer([]int{500, 503, 503, 503, 102, 999}[r.random.IntN(6)])
	case 13: // broken: without a date, or no HTTP
		f.Failed, f.Unread, status, text = true, true, "200 OK", r.body()
		if r.random.IntN(2) == 0 {
			f.damage = func(record string) string { return strings.Replace(record, "HTTP/1.1", "HTML/1.1", 1) }
		} else {
			f.damage = func(record string) string { return strings.Replace(record, "WARC-Date", "Date", 1) }
			f.Second, f.fraction = 0, 0
		}
	default:
		answer(301 + r.random.IntN(2))
		if f.Target = url(); r.random.IntN(6) == 0 {
			f.Target = ""
		}
		text = f.Target
	}
	f.record = []string{time.Unix(f.Second, int64(f.fraction*1e9)).UTC().Format(time.RFC3339Nano), f.URL, status, text}
}

// write writes a fetch to the file of its source.
func (r *replayed) write(f *replayedFetch) {
	part := -1
	if r.part != nil {
		part = r.part(f)
	}
	r.writeTo(f, part)
}

func (r *replayed) writeTo(f *replayedFetch, part int) {
	var text []byte
	if r.warc {
		text = []byte(f.damage(string(warcRecord(f.record))))
	} else {
		row, err := json.Marshal(f.row)
		if err != nil {
			panic(err)
		}
		text = append(row, '\n')
	}
	r.files[f.Source].Write(text)
	if part >= 0 {
		r.parts[f.Source][part].Write(text)
	}
}

// newReplayed makes histories and writes their files, whose names it returns.
func newReplayed(t *testing.T, random *rand.Rand, warc bool, histories int) (r *replayed, names [2]string) {
	t.Helper()
	r = &replayed{random: random, warc: warc}
	return r, r.writeAll(t, histories)
}

// writeAll makes histories and writes their files, whole and in parts.
func (r *replayed) writeAll(t *testing.T, histories int) (names [2]string) {
	t.Helper()
	for source := range r.files { // so that neither is empty, and that revisits find all bodies
		for i := range 3 {
			f := replayedFetch{Capture: reference.Capture{Source: source, URL: fmt.Sprintf("http://bodies%d%d.example/robots.txt", source, i), Second: replayStart, Status: 200}}
			f.Body = fmt.Sprintf("User-agent: *\nDisallow: /%d\n", i)
			f.row = map[string]any{"url": f.URL, "status": 200, "fetched_at": f.Second, "body": f.Body}
			f.record = []string{"2026-01-01T00:00:00Z", f.URL, "200 OK", f.Body}
			f.damage = strings.Clone
			if !r.lost {
				r.write(&f)
			}
			if i > 0 && r.part != nil { // and no part is without any
				f.URL = strings.Replace(f.URL, "bodies", "part", 1)
				f.row["url"], f.record[1] = f.URL, f.URL
				r.writeTo(&f, i)
			}
		}
	}
	for number := range histories {
		r.add(number)
	}
	for source := range r.files {
		end := "jsonl"
		if r.warc {
			end = "warc"
		}
		names[source] = fmt.Sprintf("%d.%s", source, end)
		must.WriteFile(t, names[source], r.files[source].String())
		for part := range r.parts[source] {
			if r.part != nil {
				must.WriteFile(t, fmt.Sprintf("%d-%d.%s", source, part, end), r.parts[source][part].String())
			}
		}
	}
	return names
}

// replayedRow is a row that is asked for.
type replayedRow struct {
	history, host, path int
	second              int64
}

// rows are rows of all hosts and paths, at the given second, or at random ones if it is 0.
func (r *replayed) rows(second int64) (rows []replayedRow) {
	for history := range r.models {
		for host := range 5 {
			for range 3 {
				at := second
				if at == 0 {
					at = replayStart + int64(r.random.IntN(125)-3)*aDay + int64(r.random.IntN(3)-1)
				}
				for path := range 3 {
					rows = append(rows, replayedRow{history, host, path, at})
				}
				if second != 0 {
					break
				}
			}
		}
	}
	return rows
}

func writeRows(t *testing.T, rows []replayedRow) {
	t.Helper()
	text := []byte("url,when\n")
	for _, row := range rows {
		text = fmt.Appendf(text, "http://%s/%d,%d\n", replayHost(row.history, row.host), row.path, row.second)
	}
	must.Do(t, os.WriteFile("rows.csv", text, 0o666))
}

// verdict is the model's line for a row: the columns of -explain, robots_status,
// robots_fetched_at and age.
func (r *replayed) verdict(row replayedRow) string {
	model := &r.models[row.history]
	url := "http://" + replayHost(row.history, row.host) + "/robots.txt"
	known := model.At(url, row.second)
	verdict, path := "", fmt.Sprintf("/%d", row.path)
	switch known.Access {
	case "":
		reason := "no_robots"
		if slices.ContainsFunc(model.All, func(c reference.Capture) bool { return c.URL == url }) {
			reason = "no_capture_yet"
		}
		return "true," + reason + ",,,,,,"
	case "rules":
		switch {
		case strings.HasSuffix(known.Body, path+"\n"):
			verdict = "false,disallow_rule,Disallow: " + path + ",2,*"
		case known.Stale:
			verdict = "true,stale_rules,,,"
		case known.Body == "":
			verdict = "true,no_group,,,"
		default:
			verdict = "true,no_rule_matched,,,"
		}
	case "deny":
		verdict = "false,unreachable,,,"
	case "given up":
		verdict = "true,unreachable_30_days,,,"
	default:
		verdict = "true,unavailable,,,"
	}
	status, fetched, age := "", "", ""
	if known.Status != 0 {
		status = fmt.Sprint(known.Status)
	}
	if known.Second != 0 {
		fetched = time.Unix(known.Second, 0).UTC().Format("2006-01-02 15:04:05Z")
		age = fmt.Sprint(row.second - known.Second)
	}
	return strings.Join([]string{verdict, status, fetched, age}, ",")
}

// everDenied is the model's verdict with -ever-denied.
func (r *replayed) everDenied(row replayedRow) string {
	denied := func(second int64) bool {
		row.second = second
		return strings.HasPrefix(r.verdict(row), "false")
	}
	start := row.second
	ever := denied(start)
	for _, c := range r.models[row.history].All {
		ever = ever || c.Second > start && denied(c.Second)
	}
	return fmt.Sprint(!ever)
}

// ask runs the job on rows.csv, and compares each line with the model's.
func (r *replayed) ask(t *testing.T, rows []replayedRow, want func(replayedRow) string, flags ...string) {
	t.Helper()
	args := append([]string{"-in", "rows.csv", "-out", "-", "-columns", "verdict", "-quiet"}, flags...)
	lines := strings.Split(string(said(t, nil, exitDone, args...)), "\n")
	must.Need(t, len(lines) == len(rows)+2, "%q: %d lines, want %d", flags, len(lines), len(rows)+2)
	for i, row := range rows {
		if got, want := lines[1+i], want(row); got != want {
			t.Fatalf("%q: %s/%d at %s:\n got %s\nwant %s\n%+v", flags, replayHost(row.history, row.host), row.path,
				time.Unix(row.second, 0).UTC().Format(time.RFC3339), got, want, r.models[row.history].All)
		}
	}
}

// Every way to ask about random histories gives what a model says that was written from the
// manual's sentences: tables and WARC files, packs and packs with a history, at the row's time,
// at one time for all rows, and at the newest.
func TestEveryWayIsAReplay(t *testing.T) {
	left := must.Short(min(*replayedHistories, 20), *replayedHistories)
	for batch := uint64(0); left > 0; batch++ {
		histories := min(left, replayBatch)
		left -= histories
		for _, warc := range []bool{false, true} {
			random := rand.New(rand.NewPCG(batch, 37))
			t.Chdir(t.TempDir())
			r, names := newReplayed(t, random, warc, histories)
			r.askEveryWay(t, names)
		}
	}
}

func (r *replayed) askEveryWay(t *testing.T, names [2]string) {
	t.Helper()
	captured := []string{"-rules", names[0], "-rules", names[1]}
	if r.random.IntN(3) == 0 {
		captured = append(captured, "-assume", "429=allow,redirect=deny")
		for i := range r.models {
			r.models[i].Allow429, r.models[i].DenyUnresolved = true, true
		}
	}
	compile := func(name string, flags ...string) []string {
		said(t, nil, exitDone, slices.Concat([]string{"compile", "-quiet", "-out", name}, captured, flags)...)
		return []string{"-rules", name}
	}
	facts := []string{"-explain", "-with", "robots_status,robots_fetched_at,age"}
	history := compile("history.rules", "-history")

	rows := r.rows(0)
	writeRows(t, rows)
	for _, rules := range [][]string{captured, history} {
		r.ask(t, rows, r.verdict, slices.Concat(rules, facts, []string{"-as-of", "column:when"})...)
		r.ask(t, rows, r.everDenied, slices.Concat(rules, []string{"-as-of", "column:when", "-ever-denied"})...)
	}
	for range 2 {
		second := replayStart + int64(r.random.IntN(110))*aDay + int64(r.random.IntN(2))
		at := []string{"-as-of", time.Unix(second, 0).UTC().Format(time.RFC3339)}
		rows := r.rows(second)
		writeRows(t, rows)
		for _, rules := range [][]string{captured, history, compile("then.rules", at...)} {
			r.ask(t, rows, r.verdict, slices.Concat(rules, facts, at)...)
		}
	}
	rows = r.rows(r.newest)
	writeRows(t, rows)
	for _, rules := range [][]string{captured, history, compile("newest.rules")} {
		r.ask(t, rows, r.verdict, slices.Concat(rules, facts)...)
	}
}

var updatedHistories = flag.Int("updates", 100, "number of random `histories` that are cut into parts, in tables and in WARC files each")

// A pack to which captures are added is, byte for byte, one that is compiled of everything at
// once: captures are cut at random times, or anyhow, with redirects, outages, answers "not
// modified" and revisits across the cuts; with and without a history, and at a time.
func TestUpdateIsCompilingAtOnce(t *testing.T) {
	for r := range cutReplays(t) {
		flags, all, updated := r.update(t)
		must.Be(t, bytes.Equal(all, updated), "%q: another pack\n%s", flags, diffPacks(t))
	}
}

// A revisit of what neither the pack nor the new captures have may refer to what the pack did not
// keep: it denies, and that is said. One whose 2xx comes later has its body.
func TestUpdateOfRevisitsAllowsNothingMore(t *testing.T) {
	allowsNothingMore(t, func(r *replayed) { r.warc, r.lost, r.pages = true, true, 1+7*r.random.IntN(2) })
}

// Where most captures are of pages, a pack drops those that no redirect leads to. What a later
// redirect leads to may be among them: then the host is denied, and that is said. Otherwise each
// verdict is that of a pack that is compiled of everything at once.
func TestUpdateOfPagesAllowsNothingMore(t *testing.T) {
	allowsNothingMore(t, func(r *replayed) { r.pages = 8 })
}

func allowsNothingMore(t *testing.T, prepare func(*replayed)) {
	t.Helper()
	const denied = "false,unreachable,,,"
	rows, differ := 0, 0
	for r := range cutReplays(t) {
		prepare(r)
		flags, _, _ := r.update(t)
		job := []string{"-in", "rows.csv", "-out", "-", "-columns", "verdict", "-quiet", "-explain"}
		second := r.newest
		if slices.Contains(flags, "-history") {
			second = 0
			job = append(job, "-as-of", "column:when")
		}
		writeRows(t, r.rows(second))
		all, updated := said(t, nil, exitDone, append(job, "-rules", "all.rules")...), said(t, nil, exitDone, append(job, "-rules", "new.rules")...)
		want := strings.Split(string(all), "\n")
		for i, got := range strings.Split(string(updated), "\n") {
			if rows++; got == want[i] {
				continue
			}
			if differ++; got != denied || !strings.Contains(r.updated, "denied because what decides may be a capture that the old pack did not keep") {
				text, _ := os.ReadFile("rows.csv")
				t.Errorf("%q: %s: %s, want %s", flags, strings.Split(string(text), "\n")[i], got, want[i])
			}
		}
	}
	t.Logf("%d of %d rows are denied", differ, rows)
	must.Be(t, (differ != 0 || testing.Short()) && 10*differ <= rows, "%d of %d rows are denied", differ, rows)
}

// cutReplays yields random histories that are cut into three parts, and then written.
func cutReplays(t *testing.T) iter.Seq[*replayed] {
	return func(yield func(*replayed) bool) {
		left := must.Short(min(*updatedHistories, 20), *updatedHistories)
		for batch := uint64(0); left > 0; batch++ {
			histories := min(left, 10)
			left -= histories
			for _, warc := range []bool{false, true} {
				t.Chdir(t.TempDir())
				random := rand.New(rand.NewPCG(batch, 41))
				cuts := [2]int{random.IntN(90), random.IntN(90)}
				slices.Sort(cuts[:])
				anyhow := random.IntN(3) == 0
				r := &replayed{random: random, warc: warc, histories: histories}
				r.part = func(f *replayedFetch) int {
					if strings.Contains(f.URL, "bodies") || !r.lost && slices.ContainsFunc(f.record, func(s string) bool { return strings.HasSuffix(s, ":nowhere") }) {
						return 0
					}
					if anyhow {
						return random.IntN(3)
					}
					day := int((f.Second - replayStart) / aDay)
					if f.Second == 0 || day < cuts[0] {
						return 0
					}
					if day < cuts[1] {
						return 1
					}
					return 2
				}
				if !yield(r) {
					return
				}
			}
		}
	}
}

// update writes the parts, and compiles them at once, as all.rules, and one after another, as
// new.rules.
func (r *replayed) update(t *testing.T) (flags []string, all, updated []byte) {
	t.Helper()
	r.writeAll(t, r.histories)
	end := "jsonl"
	if r.warc {
		end = "warc"
	}
	if r.random.IntN(3) == 0 {
		flags = append(flags, "-assume", "429=allow,redirect=deny")
	}
	if r.random.IntN(2) == 0 {
		flags = append(flags, "-history")
	}
	if r.random.IntN(3) == 0 {
		second := replayStart + int64(r.random.IntN(110))*aDay
		flags = append(flags, "-as-of", time.Unix(second, 0).UTC().Format(time.RFC3339))
	}
	sources := 1 + r.random.IntN(2)
	compile := func(name, part string, more ...string) []byte {
		args := []string{"compile", "-allow-no-rules", "-out", name}
		for source := range sources {
			args = append(args, "-rules", fmt.Sprintf("%d-%s.%s", source, part, end))
		}
		var out, err bytes.Buffer
		status := run(t.Context(), slices.Concat(args, flags, more), strings.NewReader(""), &out, &err)
		must.Need(t, status == exitDone, "%q: exit status %d: %s", args, status, &err)
		r.updated = err.String()
		data, fault := os.ReadFile(name)
		must.Do(t, fault)
		said(t, nil, exitDone, "verify", name)
		return data
	}
	all = compile("all.rules", "*")
	compile("old.rules", "0")
	compile("old.rules", "1", "-update", "old.rules")
	return flags, all, compile("new.rules", "2", "-update", "old.rules")
}

// diffPacks shows where all.rules and new.rules differ.
func diffPacks(t *testing.T) string {
	return string(said(t, nil, exitDone, "diff", "-rules", "all.rules", "-against", "new.rules"))
}
