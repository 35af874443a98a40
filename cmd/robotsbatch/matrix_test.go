package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/io/store/must"
)

// Every command says the same of a host, whatever holds the rules: a folder, a single file, a
// pack, a pack with a history, a table of captures, a WARC file, or two of them; and whatever
// was fetched of its robots.txt. Commands are run with their default flags: pipe once read no
// captures without -workers.

const matrixRules = "User-agent: *\nDisallow: /d\n"

// outcome is what commands say of a host.
type outcome struct {
	verdicts        string // on /d and on /x, and the reason of the latter
	class           string // in a survey; empty for no row
	access, blocked string
}

var (
	byRules     = outcome{"false true no_rule_matched", "with_rules", "rules", "some"}
	noFile      = outcome{"true true unavailable", "no_file", "unavailable", "none"}
	refused     = outcome{"true true unavailable", "refused", "unavailable", "none"}
	nowhere     = outcome{"true true unavailable", "other", "unavailable", "none"}
	unreachable = outcome{"false false unreachable", "unreachable", "unreachable", "all"}
	givenUp     = outcome{"true true unreachable_30_days", "unreachable", "unreachable", "none"}
	historyCut  = outcome{"null null history_cut", "unreachable", "history_cut", ""}
	unknown     = outcome{"true true no_robots", "", "", ""}
)

// matrixHost is a host, and what was fetched of it.
type matrixHost struct {
	host, name string
	// fetches has a line for each fetch: "h" for the host, or "t" for what it redirects to; a
	// day, or "-" for none; the status; "rules", or what else a WARC has in its place. A line of
	// a table that is JSON is the row itself.
	fetches string
	outcome
	status string // of the fetch that decides, where it has a time
}

var matrixPlain = []matrixHost{
	{"a.example", "200", "h 03-01 200 rules", byRules, "200"},
	{"b.example", "200", "h 03-01 200 rules", byRules, "200"},
}

// matrixFetches are what may be fetched; those of a host that a source cannot have are left out.
var matrixFetches = []matrixHost{
	{"h0.example", "200", "h 03-01 200 rules", byRules, "200"},
	{"h1.example", "304 alone", "h 03-01 304", unreachable, "304"},
	{"h2.example", "304 after a 200", "h 02-01 200 rules\nh 02-02 404\nh 03-01 304", byRules, "304"},
	{"h3.example", "status 0", "h 03-01 0", unreachable, ""},
	{"h4.example", "status 0 and a null body", `{"status":0,"body":null}`, unreachable, ""},
	{"h5.example", "an error", `{"error":"timeout"}`, unreachable, ""},
	{"h6.example", "2xx with a null body", `{"status":200,"body":null}`, unknown, ""},
	{"h7.example", "2xx without a body", `{"status":204}`, unknown, ""},
	{"h8.example", "nothing but a null body", `{"body":null}`, unknown, ""},
	{"h9.example", "200 as a float", `{"status":200.0,"error":false,"body":"User-agent: *\nDisallow: /d\n"}`, byRules, "200"},
	{"h10.example", "404 as a float, as text", `{"status":"404.0","error":"nan"}`, noFile, "404"},
	{"h11.example", "redirect of 59 days ago whose target failed yesterday", "h 01-01 301 t\nt 01-01 200 rules\nt 02-28 503", unreachable, "301"},
	{"h12.example", "one timeout and a newer capture of another host", "h 01-01 504", unreachable, "504"},
	{"h13.example", "failures for 30 days", "h 01-01 503\nh 02-10 503", givenUp, "503"},
	{"h14.example", "failure without a time", "h - 503\nh 02-10 503", unreachable, "503"},
	{"h15.example", "failure without a time, then failures for 30 days", "h - 503\nh 01-01 503\nh 02-10 503", givenUp, "503"},
	{"h16.example", "redirect to a 404", "h 03-01 301 t\nt 03-01 404", noFile, "301"},
	{"h17.example", "redirect to a 401", "h 03-01 301 t\nt 03-01 401", refused, "301"},
	{"h18.example", "redirect to nowhere", "h 03-01 301 t", nowhere, "301"},
	{"h19.example", "revisit of a 200", "h 02-01 200 rules\nh 02-02 404\nh 03-01 revisit WARC-Payload-Digest: text:User-agent: *\\nDisallow: /d\\n", byRules, "200"},
	{"h20.example", "revisit that is a 304", "h 02-01 200 rules\nh 02-02 404\nh 03-01 revisit WARC-Profile: x/server-not-modified", byRules, "304"},
	{"h21.example", "revisit of what no file has", "h 02-01 200 rules\nh 03-01 revisit WARC-Payload-Digest: text:else", unreachable, ""},
	{"h22.example", "broken record without a date", "h - 200 rules", unreachable, ""},
	{"h23.example", "gzip under a plain name", "gzip", byRules, "200"},
}

// table is what was fetched as rows; known is false if they cannot say it.
func (h *matrixHost) table() (rows string, known bool) {
	for line := range strings.Lines(h.fetches) {
		row := map[string]any{"url": "https://" + h.host + "/robots.txt", "fetched_at": "2026-03-01T12:00:00Z"}
		if line[0] == '{' {
			text, _ := json.Marshal(row)
			rows += strings.TrimSuffix(string(text), "}") + "," + strings.TrimPrefix(line, "{") + "\n"
			continue
		}
		f := h.fields(line)
		if f == nil || f[2] == "revisit" || f[0] == "" && f[2] == "200" {
			return "", false
		}
		row["fetched_at"], row["url"], row["status"] = f[0], f[1], f[2]
		if f[2] == "301" {
			row["location"] = f[3]
		} else if f[3] != "" {
			row["body"] = f[3]
		}
		text, _ := json.Marshal(row)
		rows += string(text) + "\n"
	}
	return rows, true
}

// fields are the time of a fetch, its URL, its status and what else it has; nil for none.
func (h *matrixHost) fields(line string) []string {
	f := append(strings.SplitN(strings.TrimSpace(line), " ", 4), "")
	if len(f) < 4 {
		return nil
	}
	url := func(host string) string { return "https://" + strings.TrimPrefix(host, "h") + h.host + "/robots.txt" }
	date, more := "2026-"+f[1]+"T12:00:00Z", f[3]
	switch {
	case f[1] == "-":
		date = ""
	case more == "t":
		more = url(more)
	}
	if more == "rules" {
		more = matrixRules
	}
	return []string{date, url(f[0]), f[2], more}
}

// records are what was fetched as records of a WARC file.
func (h *matrixHost) records() (records string, known bool) {
	fetches := h.fetches
	if fetches == "gzip" {
		fetches = "h 03-01 200 " + gzipOf(matrixRules)
	}
	if fetches[0] == '{' {
		return "", false
	}
	lines := []string{fetches}
	if h.fetches == fetches {
		lines = strings.Split(fetches, "\n")
	}
	for _, line := range lines {
		f := h.fields(line)
		if f[2] == "0" {
			f[2] = "000"
		}
		record := string(warcRecord(f))
		if f[0] == "" {
			record = strings.Replace(record, "WARC-Date", "Date", 1)
		}
		records += record
	}
	return records, true
}

// file is what was fetched as a file of a folder.
func (h *matrixHost) file() (text string, known bool) {
	switch h.fetches {
	case "gzip":
		return gzipOf(matrixRules), true
	case matrixPlain[0].fetches:
		return matrixRules, true
	}
	return "", false
}

// matrixSources make sources of rules for hosts, in a folder, and return the name for -rules
// and the hosts that the source can have.
var matrixSources = []struct {
	name string
	make func(t *testing.T, folder string, hosts []matrixHost) (rules string, known []matrixHost)
	// single says that it has one host, which -for names.
	single bool
}{
	{name: "folder", make: folderSource},
	{name: "single file", make: singleSource, single: true},
	{name: "pack", make: packSource(tableSource)},
	{name: "pack with history", make: packSource(tableSource, "-history")},
	{name: "table", make: tableSource},
	{name: "WARC", make: warcSource},
	{name: "pack of WARC", make: packSource(warcSource)},
	{name: "pack with history of WARC", make: packSource(warcSource, "-history")},
}

// withoutTimes are hosts of a source that knows neither times nor statuses.
func withoutTimes(hosts []matrixHost) (known []matrixHost) {
	for _, h := range hosts {
		h.status = ""
		known = append(known, h)
	}
	return known
}

func folderSource(t *testing.T, folder string, hosts []matrixHost) (string, []matrixHost) {
	name := filepath.Join(folder, "robots")
	hosts = slices.DeleteFunc(withoutTimes(hosts), func(h matrixHost) bool {
		text, known := h.file()
		if known {
			must.WriteFile(t, filepath.Join(name, h.host), text)
		}
		return !known
	})
	return name, hosts
}

func singleSource(t *testing.T, folder string, hosts []matrixHost) (string, []matrixHost) {
	name := filepath.Join(folder, "robots.txt")
	must.WriteFile(t, name, matrixRules)
	return name, withoutTimes(hosts[:1])
}

func packSource(of func(*testing.T, string, []matrixHost) (string, []matrixHost), flags ...string) func(*testing.T, string, []matrixHost) (string, []matrixHost) {
	return func(t *testing.T, folder string, hosts []matrixHost) (string, []matrixHost) {
		name := filepath.Join(folder, "site.rules")
		rules, known := of(t, folder, hosts)
		said(t, nil, exitDone, append([]string{"compile", "-quiet", "-rules", rules, "-out", name}, flags...)...)
		return name, known
	}
}

func tableSource(t *testing.T, folder string, hosts []matrixHost) (string, []matrixHost) {
	return fileSource(t, filepath.Join(folder, "captures.jsonl"), hosts, (*matrixHost).table)
}

func warcSource(t *testing.T, folder string, hosts []matrixHost) (string, []matrixHost) {
	return fileSource(t, filepath.Join(folder, "crawl.warc"), hosts, (*matrixHost).records)
}

func fileSource(t *testing.T, name string, hosts []matrixHost, form func(*matrixHost) (string, bool)) (_ string, known []matrixHost) {
	text := ""
	for _, h := range hosts {
		if more, can := form(&h); can {
			text += more
			known = append(known, h)
		}
	}
	must.WriteFile(t, name, text)
	return name, known
}

// matrixCell is one way to have rules: flags, and the hosts that are asked for.
type matrixCell struct {
	flags  []string
	hosts  []matrixHost
	source string // the only one, if there is one
}

// matrixCells are all sources alone, with all that may be fetched, and each two of them, which
// have a host each.
func matrixCells(t *testing.T) map[string]matrixCell {
	t.Helper()
	cells := make(map[string]matrixCell)
	folder := func() string {
		name := filepath.Join(t.TempDir(), "rules")
		must.Do(t, os.Mkdir(name, 0o777))
		return name
	}
	flagsOf := func(single bool, rules, host string) []string {
		flags := []string{"-rules", rules}
		if single {
			flags = append(flags, "-for", host)
		}
		return flags
	}
	for _, first := range matrixSources {
		rules, hosts := first.make(t, folder(), matrixFetches)
		hosts = append(hosts, matrixHost{host: "nobody.example", name: "nothing", outcome: unknown})
		cells[first.name] = matrixCell{flags: flagsOf(first.single, rules, hosts[0].host), hosts: hosts, source: rules}
		for _, second := range matrixSources {
			if first.single && second.single || strings.HasSuffix(first.name+second.name, " of WARC") {
				continue // there may be one; it is a pack
			}
			rules, a := first.make(t, folder(), matrixPlain[:1])
			other, b := second.make(t, folder(), matrixPlain[1:])
			cells[first.name+", then "+second.name] = matrixCell{
				flags: append(flagsOf(first.single, rules, a[0].host), flagsOf(second.single, other, b[0].host)...),
				hosts: append(a, b...),
			}
		}
	}
	cells["pack with history that was cut"] = cutCell(t, folder())
	return cells
}

// cutCell has a host whose history is too long, at a time of which nothing was kept.
func cutCell(t *testing.T, folder string) matrixCell {
	t.Helper()
	cut := matrixHost{"cut.example", "history cut", "", historyCut, ""}
	rows := []byte(`{"url":"https://cut.example/robots.txt","status":200,"fetched_at":1000000000,"body":"User-agent: *\nDisallow: /\n"}` + "\n")
	for i := range 1<<14 + 10 {
		rows = fmt.Appendf(rows, `{"url":"https://cut.example/robots.txt","status":%d,"fetched_at":%d}`+"\n", 404+6*(i%2), 1000000001+i)
	}
	table, pack := filepath.Join(folder, "captures.jsonl"), filepath.Join(folder, "cut.rules")
	must.WriteFile(t, table, string(rows))
	said(t, nil, exitDone, "compile", "-quiet", "-history", "-rules", table, "-out", pack)
	return matrixCell{flags: []string{"-rules", pack, "-as-of", "2001-09-09T01:46:45Z"}, hosts: []matrixHost{cut}, source: pack}
}

// urls are two of each host: matrixRules deny the first.
func (c *matrixCell) urls() (urls []string) {
	for _, h := range c.hosts {
		urls = append(urls, "https://"+h.host+"/d", "https://"+h.host+"/x")
	}
	return urls
}

// answer joins what is said of both URLs of each host.
func (c *matrixCell) answer(verdict, reason map[string]string) map[string]string {
	said := make(map[string]string)
	for _, h := range c.hosts {
		d, x := "https://"+h.host+"/d", "https://"+h.host+"/x"
		said[h.host] = strings.TrimSpace(strings.Join([]string{verdict[d], verdict[x], reason[x]}, " "))
	}
	return said
}

// matrixCommands ask a command about all hosts of a cell.
var matrixCommands = []struct {
	name string
	// ask returns what the command says, by host, and want what it must say.
	ask  func(t *testing.T, c matrixCell) map[string]string
	want func(h *matrixHost) string
	// alone says that the command takes one source.
	alone bool
}{
	{name: "job", ask: askJob, want: verdictsOf},
	{name: "pipe", ask: askPipe, want: verdictsOf},
	{name: "Python", ask: askPython, want: verdictsOf},
	{name: "explain", ask: askExplain, want: verdictsOf},
	{name: "hosts", ask: askHosts, want: func(h *matrixHost) string {
		if h.outcome == unknown {
			return "missing"
		}
		return "known " + h.status
	}},
	{name: "survey", ask: askSurvey, want: func(h *matrixHost) string { return h.class + " " + h.blocked }},
	{name: "export", ask: askExport, want: func(h *matrixHost) string {
		if h.outcome == byRules {
			return strings.Join([]string{h.class, h.access, h.status, "/d"}, " ")
		}
		return strings.Join([]string{h.class, h.access, h.status, ""}, " ")
	}},
	{name: "diff of URLs", ask: askDiff, alone: true, want: func(h *matrixHost) string {
		return h.verdicts[:strings.LastIndexByte(h.verdicts, ' ')]
	}},
	{name: "diff of access", ask: askAccess, alone: true, want: func(h *matrixHost) string { return h.blocked }},
}

func verdictsOf(h *matrixHost) string { return h.verdicts }

func TestEveryWayToAskGivesTheSameAnswer(t *testing.T) {
	t.Chdir(t.TempDir())
	cells := matrixCells(t)
	for _, name := range slices.Sorted(maps.Keys(cells)) {
		cell := cells[name]
		for _, command := range matrixCommands {
			if command.alone && cell.source == "" || command.name == "Python" && *python == "" {
				continue
			}
			t.Run(command.name+"/"+name, func(t *testing.T) {
				got := command.ask(t, cell)
				for _, h := range cell.hosts {
					t.Run(h.name, func(t *testing.T) { must.Equal(t, got[h.host], command.want(&h), h.host) })
				}
			})
		}
	}
}

// said runs the program and returns its stdout.
func said(t *testing.T, stdin []byte, wantStatus int, args ...string) []byte {
	t.Helper()
	var out, err bytes.Buffer
	status := run(t.Context(), args, bytes.NewReader(stdin), &out, &err)
	must.Need(t, status == wantStatus, "%q: exit status %d: %s", args, status, &err)
	return out.Bytes()
}

// orNull makes an empty value one that can be seen.
func orNull(value string) string {
	if value == "" || value == "(null)" {
		return "null"
	}
	return value
}

func askJob(t *testing.T, c matrixCell) map[string]string {
	must.WriteFile(t, "urls.txt", strings.Join(c.urls(), "\n"))
	return c.answerOf(tableOf(t, said(t, nil, exitDone, append([]string{"-in", "urls.txt", "-explain"}, c.flags...)...)), "allowed", "reason")
}

// answerOf joins what rows say of both URLs of each host.
func (c *matrixCell) answerOf(rows []map[string]string, verdict, reason string) map[string]string {
	verdicts, reasons := make(map[string]string), make(map[string]string)
	for _, row := range rows {
		verdicts[row["url"]], reasons[row["url"]] = orNull(row[verdict]), row[reason]
	}
	return c.answer(verdicts, reasons)
}

func askPipe(t *testing.T, c matrixCell) map[string]string {
	schema := arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewStringBuilder(memory.NewGoAllocator())
	b.AppendValues(c.urls(), nil)
	var stream bytes.Buffer
	w := ipc.NewWriter(&stream, ipc.WithSchema(schema))
	must.Do(t, w.Write(array.NewRecord(schema, []arrow.Array{b.NewArray()}, int64(2*len(c.hosts)))))
	must.Do(t, w.Close())
	r := must.Get(ipc.NewReader(bytes.NewReader(said(t, stream.Bytes(), exitDone, append([]string{"pipe", "-explain"}, c.flags...)...))))(t)
	defer r.Release()
	var rows []map[string]string
	for r.Next() {
		for row := range int(r.Record().NumRows()) {
			values := make(map[string]string)
			for i, field := range r.Schema().Fields() {
				values[field.Name] = r.Record().Column(i).ValueStr(row)
			}
			rows = append(rows, values)
		}
	}
	must.Do(t, r.Err())
	return c.answerOf(rows, "allowed", "reason")
}

// python is the interpreter by which the Python package is asked.
var python = flag.String("python", "", "`interpreter` with pyarrow, to ask the Python package")

func askPython(t *testing.T, c matrixCell) map[string]string {
	options := map[string]any{"explain": true}
	var rules []string
	for i := 0; i < len(c.flags); i += 2 {
		switch flag, value := c.flags[i], c.flags[i+1]; flag {
		case "-rules":
			rules = append(rules, value)
		case "-for":
			options["for_"] = value
		default:
			options[strings.ReplaceAll(flag[1:], "-", "_")] = value
		}
	}
	options["rules"] = rules
	text := must.Get(json.Marshal([]any{c.urls(), options}))(t)
	binary := must.Get(exec.LookPath("robotsbatch"))(t)
	const program = `import sys, json, pyarrow, robotsbatch
urls, options = json.load(sys.stdin)
table = pyarrow.table({"url": urls})
rows = robotsbatch.evaluate(table, **options).to_pylist()
assert robotsbatch.reader(table, **options).read_all().to_pylist() == rows
for row in rows:
    print(json.dumps({"url": row["url"], "allowed": json.dumps(row["allowed"]), "reason": row["reason"]}))`
	cmd := exec.Command(*python, "-c", program)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), os.Stderr
	cmd.Env = append(os.Environ(), "ROBOTSBATCH_BIN="+binary, "PYTHONPATH="+pythonPackage)
	out := must.Get(cmd.Output())(t)
	var rows []map[string]string
	for line := range bytes.Lines(out) {
		row := make(map[string]string)
		must.Do(t, json.Unmarshal(line, &row))
		rows = append(rows, row)
	}
	return c.answerOf(rows, "allowed", "reason")
}

// pythonPackage is the Python package's source.
var pythonPackage, _ = filepath.Abs("../../scripts/python/src")

func askExplain(t *testing.T, c matrixCell) map[string]string {
	args := append(append([]string{"explain", "-json"}, c.flags...), c.urls()...)
	status := exitFailed // the worst verdict
	if c.hosts[0].outcome == historyCut {
		status = exitUsage
	}
	verdicts, reasons := make(map[string]string), make(map[string]string)
	for line := range bytes.Lines(said(t, nil, status, args...)) {
		var why struct {
			URL    string `json:"url"`
			Agents []struct {
				Allowed *bool  `json:"allowed"`
				Reason  string `json:"reason"`
			} `json:"agents"`
		}
		must.Do(t, json.Unmarshal(line, &why))
		verdicts[why.URL], reasons[why.URL] = "null", why.Agents[0].Reason
		if allowed := why.Agents[0].Allowed; allowed != nil {
			verdicts[why.URL] = fmt.Sprint(*allowed)
		}
	}
	return c.answer(verdicts, reasons)
}

func askHosts(t *testing.T, c matrixCell) map[string]string {
	must.WriteFile(t, "urls.txt", strings.Join(c.urls(), "\n"))
	known := make(map[string]string)
	for _, h := range c.hosts {
		known[h.host] = "known "
	}
	for _, row := range tableOf(t, said(t, nil, exitDone, append([]string{"hosts", "-in", "urls.txt"}, c.flags...)...)) {
		host := strings.TrimSuffix(strings.TrimPrefix(row["url"], "https://"), "/robots.txt")
		if known[host] += row["status"]; row["reason"] == "missing" {
			known[host] = "missing"
		}
	}
	return known
}

// columnsOf are values of a table's columns, by host.
func columnsOf(t *testing.T, c matrixCell, columns []string, args ...string) map[string]string {
	t.Helper()
	values := make(map[string]string)
	for _, h := range c.hosts {
		values[h.host] = strings.Repeat(" ", len(columns)-1) // for one without a row
	}
	for _, row := range tableOf(t, said(t, nil, exitDone, append(args, c.flags...)...)) {
		if host, https := strings.CutPrefix(row["authority"], "https://"); https {
			var list []string
			for _, name := range columns {
				list = append(list, row[name])
			}
			values[host] = strings.Join(list, " ")
		}
	}
	return values
}

func askSurvey(t *testing.T, c matrixCell) map[string]string {
	return columnsOf(t, c, []string{"class", "blocked"}, "survey", "-agent", "*")
}

func askExport(t *testing.T, c matrixCell) map[string]string {
	values := columnsOf(t, c, []string{"class", "access", "status"}, "export", "-table", "access")
	for host, rule := range columnsOf(t, c, []string{"value"}, "export", "-table", "rules") {
		values[host] += " " + rule
	}
	return values
}

// askDiff compares with rules that deny nothing.
func askDiff(t *testing.T, c matrixCell) map[string]string {
	must.WriteFile(t, "urls.txt", strings.Join(c.urls(), "\n"))
	args := append([]string{"diff", matrixFree(t, c), c.source, "-in", "urls.txt", "-out", "-", "-out-format", "csv"}, c.flags[2:]...)
	rows := tableOf(t, said(t, nil, exitDone, args...))
	for _, url := range c.urls() {
		if !slices.ContainsFunc(rows, func(row map[string]string) bool { return row["url"] == url }) {
			rows = append(rows, map[string]string{"url": url, "new_allowed": "true"})
		}
	}
	return c.answerOf(rows, "new_allowed", "")
}

// askAccess compares with rules that deny nothing: of such a host there is no row.
func askAccess(t *testing.T, c matrixCell) map[string]string {
	args := append([]string{"diff", matrixFree(t, c), c.source, "-out", "-", "-out-format", "csv"}, c.flags[2:]...)
	blocked := make(map[string]string)
	for _, h := range c.hosts {
		blocked[h.host] = "none"
	}
	for _, row := range tableOf(t, said(t, nil, exitDone, args...)) {
		if host, https := strings.CutPrefix(row["authority"], "https://"); https {
			blocked[host] = row["new_blocked"]
		}
	}
	return blocked
}

// matrixFree makes a folder of rules that deny nothing.
func matrixFree(t *testing.T, c matrixCell) string {
	t.Helper()
	name := t.TempDir()
	for _, h := range c.hosts {
		must.WriteFile(t, filepath.Join(name, h.host), "User-agent: *\nDisallow:\n")
	}
	return name
}
