package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
)

var update = flag.Bool("update", false, "rewrite the golden text in testdata")

// raceOptions keep a program under the race detector from waiting for a second
// before it exits.
const raceOptions = "atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	os.Setenv("GORACE", raceOptions)
	if programs[filepath.Base(os.Args[0])] == nil {
		debug.SetGCPercent(800) // the tests allocate much and keep little
	}
	testscript.Main(m, programs)
}

// programs are what tests run as processes.
var programs = map[string]func(){
	"robotsbatch": main,
	"mkarrow":     makeArrow,
	"arrowcat":    printArrow,
	"mkwarc":      makeWARC,
	"cutlast":     cutLast,
	"flip":        flip,
}

// TestScripts runs scripts, one after the other, because a run of the program in this process
// is in the script's folder.
func TestScripts(t *testing.T) {
	scripts := must.Get(filepath.Abs("testdata/script"))(t)
	samples := must.Get(filepath.Abs(sample))(t)
	testscript.RunT(inTurns{t}, testscript.Params{
		Dir:                 scripts,
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("GORACE", raceOptions)
			// A third of what such a short process takes would be collecting what its packages set up.
			e.Setenv("GOGC", "400")
			e.Setenv("SAMPLE", samples)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"run":    runHere,
			"status": status,
			"sites":  serveSites,
			"fetch":  fetchSites,
		},
	})
}

// inTurns is a test whose scripts wait for each other.
type inTurns struct{ *testing.T }

func (inTurns) Parallel()     {}
func (inTurns) Verbose() bool { return testing.Verbose() }
func (t inTurns) Run(name string, script func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { script(inTurns{t}) })
}

// run robotsbatch args...: the program succeeds, or with ! fails. It runs in this process, which
// takes a fifth of the time of a process of its own, and without stdin and the script's environment:
// exec is for runs that need them.
func runHere(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || args[0] != "robotsbatch" {
		ts.Fatalf("usage: run robotsbatch args...")
	}
	if got := statusOf(ts, args[1:]); (got == exitDone) == neg {
		ts.Fatalf("exit status %d", got)
	}
}

// statusOf runs the program in this process and in the folder of a script.
func statusOf(ts *testscript.TestScript, args []string) int {
	before, err := os.Getwd()
	ts.Check(err)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	defer func() { ts.Check(os.Chdir(before)) }()
	return run(context.Background(), args, strings.NewReader(""), ts.Stdout(), ts.Stderr())
}

// status N program args...: the program ends with exit status N. robotsbatch runs in this
// process unless it reads stdin or the script's environment.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if args[1] == "robotsbatch" && !slices.ContainsFunc(args[2:], takesMore) {
		got = statusOf(ts, args[2:])
	} else if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// takesMore reports whether a run with an argument takes more than its arguments.
func takesMore(arg string) bool {
	return arg == "-" || arg == "pipe" || strings.HasPrefix(arg, "auto/")
}

// cutLast cuts a file within its last line.
func cutLast() {
	name := os.Args[1]
	info, err := os.Stat(name)
	if err == nil {
		err = os.Truncate(name, info.Size()-3)
	}
	if err != nil {
		panic(err)
	}
}

// flip changes a bit of a byte of a file; a negative offset counts from the
// end.
func flip() {
	data, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	at, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	if at < 0 {
		at += len(data)
	}
	data[at] ^= 4
	if err := os.WriteFile(os.Args[1], data, 0o666); err != nil {
		panic(err)
	}
}

// tableOf is a csv as rows, each with its values by column.
func tableOf(t *testing.T, data []byte) []map[string]string {
	t.Helper()
	records := must.Get(csv.NewReader(bytes.NewReader(data)).ReadAll())(t)
	var rows []map[string]string
	for _, record := range records[1:] {
		row := make(map[string]string)
		for i, name := range records[0] {
			row[name] = record[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// TestSiteTables: a table of sites has the numbers of rows that the counts have, of each class,
// for each agent and for any of them.
func TestSiteTables(t *testing.T) {
	rules := must.Get(filepath.Abs(filepath.Join(sample, "rules")))(t)
	t.Chdir(t.TempDir())
	survey := []string{"survey", "-rules", rules, "-agent", "*", "-agent", "GPTBot", "-agent", "CCBot", "-agent", "Googlebot"}
	for _, by := range []string{"domain", "authority"} {
		mustRun(t, append(survey, "-by", by, "-out", "sites.parquet", "-batch-rows", "7")...)
		sites := tableOf(t, []byte(mustRun(t, "-in", "sites.parquet", "-url-column", map[string]string{"domain": "registered_domain", "authority": "authority"}[by], "-rules", rules, "-out", "-", "-out-format", "csv")))
		must.Need(t, len(sites) >= 10, "%d sites", len(sites))
		for _, count := range tableOf(t, []byte(mustRun(t, append(survey, "-by", by, "-as", "csv")...))) {
			column := map[string]string{"*": "blocked_all", "GPTBot": "blocked_gptbot", "CCBot": "blocked_ccbot", "Googlebot": "blocked_googlebot", "any of 3": "blocked"}[count["agent"]]
			counted := make(map[string]int)
			for _, site := range sites {
				counted[site[column]]++
				if site["root"] == "true" {
					counted["root"]++
				}
			}
			must.Be(t, column != "blocked" || count["root"] == strconv.Itoa(counted["root"]), "by %s: %d with root, want %s", by, counted["root"], count["root"])
			for value, name := range map[string]string{"all": "full", "some": "partial", "none": "none"} {
				must.Equal(t, count[name], strconv.Itoa(counted[value]), "by", by, value, count["agent"], counted[value])
			}
		}
	}
	var b bytes.Buffer
	b.WriteString(mustRun(t, append(survey, "-by", "domain", "-out", "-")...))
	must.Be(t, bytes.HasPrefix(b.Bytes(), []byte("registered_domain,class,root,blocked,blocked_all,blocked_gptbot,blocked_ccbot,blocked_googlebot\n")),
		"%.200s", b.Bytes())
}

// workplace makes a folder with rules and changes to it.
func workplace(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	must.Do(t, os.Mkdir("rules", 0o777))
	must.WriteFile(t, filepath.Join("rules", "example.com"), "User-agent: *\nDisallow: /private\n")
}

// serveSites starts a server with two sites: that of 127.0.0.1 has a robots.txt, and
// localhost has none. It writes urls.txt, a list of URLs of both and of a site that
// refuses connections.
func serveSites(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: sites")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/robots.txt" || strings.HasPrefix(r.Host, "localhost") {
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, "User-agent: *\nDisallow: /private\n")
	}))
	ts.Defer(server.Close)
	refusing, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Check(refusing.Close())
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	ts.Check(err)
	ts.Setenv("SITE", "127.0.0.1:"+port)
	ts.Setenv("NONE", "localhost:"+port)
	ts.Setenv("REFUSES", refusing.Addr().String())
	list := fmt.Sprintf("http://127.0.0.1:%s/\nhttp://127.0.0.1:%[1]s/private/x\nhttp://localhost:%[1]s/private/x\nhttp://%[2]s/a\n", port, refusing.Addr())
	ts.Check(os.WriteFile(ts.MkAbs("urls.txt"), []byte(list), 0o666))
}

// fetchSites does what "wget -i LIST --warc-file=NAME" does: it fetches the URLs of a list
// into NAME.warc.gz, which has no record of what could not be fetched.
func fetchSites(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fetch LIST NAME")
	}
	client := http.Client{Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var file []byte
	for url := range strings.Lines(ts.ReadFile(args[0])) {
		url = strings.TrimSpace(url)
		answer, err := client.Get(url)
		if err != nil {
			continue
		}
		body, err := io.ReadAll(answer.Body)
		ts.Check(err)
		answer.Body.Close()
		record := warcRecord([]string{time.Now().UTC().Format(time.RFC3339), url, strconv.Itoa(answer.StatusCode), string(body)})
		file, err = compress.AppendCompressed(file, record, compress.Gzip)
		ts.Check(err)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]+".warc.gz"), file, 0o666))
}
