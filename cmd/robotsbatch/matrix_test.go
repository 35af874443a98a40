package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Every command gives a URL the same verdict, whatever holds the rules: a folder, a single
// file, a pack, a pack with a history, a table of captures, a WARC file, or two of them.
// Commands are run with their default flags: pipe once read no captures without -workers.

const matrixRules = "User-agent: *\nDisallow: /d\n"

// matrixURLs have a verdict for each host: the first is denied, the second allowed.
var matrixURLs = map[string][2]string{
	"a.example": {"https://a.example/d", "https://a.example/x"},
	"b.example": {"https://b.example/d", "https://b.example/x"},
}

// matrixSources make sources of rules for hosts, in a folder, and return the name for -rules.
var matrixSources = []struct {
	name string
	make func(t *testing.T, folder string, hosts []string) (rules string)
	// single says that it has one host, which -for names.
	single bool
}{
	{name: "folder", make: folderSource},
	{name: "single file", make: singleSource, single: true},
	{name: "pack", make: packSource()},
	{name: "pack with history", make: packSource("-history")},
	{name: "table", make: tableSource},
	{name: "WARC", make: warcSource},
}

func folderSource(t *testing.T, folder string, hosts []string) string {
	name := filepath.Join(folder, "robots")
	for _, host := range hosts {
		writeHost(t, name, host, matrixRules)
	}
	return name
}

// writeHost writes a host's robots.txt to a folder.
func writeHost(t *testing.T, folder, host, text string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	writeText(t, filepath.Join(folder, host), text)
}

func singleSource(t *testing.T, folder string, _ []string) string {
	name := filepath.Join(folder, "robots.txt")
	writeText(t, name, matrixRules)
	return name
}

func packSource(flags ...string) func(*testing.T, string, []string) string {
	return func(t *testing.T, folder string, hosts []string) string {
		name := filepath.Join(folder, "site.rules")
		args := append([]string{"compile", "-quiet", "-rules", tableSource(t, folder, hosts), "-out", name}, flags...)
		runOf(t, name, args...)
		return name
	}
}

func tableSource(t *testing.T, folder string, hosts []string) string {
	var lines []byte
	for _, host := range hosts {
		line, err := json.Marshal(map[string]any{
			"authority": host, "status": 200, "fetched_at": "2026-03-01T12:00:00Z", "body": matrixRules,
		})
		if err != nil {
			t.Fatal(err)
		}
		lines = append(append(lines, line...), '\n')
	}
	name := filepath.Join(folder, "captures.jsonl")
	writeText(t, name, string(lines))
	return name
}

func warcSource(t *testing.T, folder string, hosts []string) string {
	var file []byte
	for _, host := range hosts {
		file = append(file, warcRecord([]string{"2026-03-01T12:00:00Z", "https://" + host + "/robots.txt", "200 OK", matrixRules})...)
	}
	name := filepath.Join(folder, "crawl.warc")
	writeText(t, name, string(file))
	return name
}

// matrixCell is one way to have rules: flags, and the hosts that they know.
type matrixCell struct {
	flags, known []string
	source       string // the only one, if there is one
}

// matrixCells are all sources alone, and each two of them, which have a host each.
func matrixCells(t *testing.T) map[string]matrixCell {
	t.Helper()
	cells := make(map[string]matrixCell)
	folder := func() string {
		name := filepath.Join(t.TempDir(), "rules")
		if err := os.Mkdir(name, 0o777); err != nil {
			t.Fatal(err)
		}
		return name
	}
	flagsOf := func(single bool, rules, host string) []string {
		flags := []string{"-rules", rules}
		if single {
			flags = append(flags, "-for", host)
		}
		return flags
	}
	both := []string{"a.example", "b.example"}
	for _, first := range matrixSources {
		known := both
		if first.single {
			known = both[:1]
		}
		rules := first.make(t, folder(), known)
		cells[first.name] = matrixCell{flags: flagsOf(first.single, rules, both[0]), known: known, source: rules}
		for _, second := range matrixSources {
			if first.single && second.single {
				continue // there may be one
			}
			flags := flagsOf(first.single, first.make(t, folder(), both[:1]), both[0])
			flags = append(flags, flagsOf(second.single, second.make(t, folder(), both[1:]), both[1])...)
			cells[first.name+", then "+second.name] = matrixCell{flags: flags, known: both}
		}
	}
	return cells
}

// matrixCommands run a command and report what it makes of a URL of a known host, the
// denied one or the allowed one.
var matrixCommands = []struct {
	name string
	// denied returns the URLs that the command says are denied.
	denied func(t *testing.T, c matrixCell, urls []string) []string
	// alone says that the command takes one source.
	alone bool
}{
	{name: "job", denied: deniedByJob},
	{name: "pipe", denied: deniedByPipe},
	{name: "explain", denied: deniedByExplain},
	{name: "hosts", denied: deniedByHosts},
	{name: "survey", denied: deniedBySurvey},
	{name: "export", denied: deniedByExport},
	{name: "diff of URLs", denied: deniedByDiff, alone: true},
	{name: "diff of access", denied: deniedByAccess, alone: true},
}

func TestEveryWayToAskGivesTheSameAnswer(t *testing.T) {
	t.Chdir(t.TempDir())
	var urls, denied []string
	for _, host := range []string{"a.example", "b.example"} {
		urls = append(urls, matrixURLs[host][0], matrixURLs[host][1])
	}
	for name, cell := range matrixCells(t) {
		denied = denied[:0]
		for _, host := range cell.known {
			denied = append(denied, matrixURLs[host][0])
		}
		for _, command := range matrixCommands {
			if command.alone && cell.source == "" {
				continue
			}
			t.Run(command.name+"/"+name, func(t *testing.T) {
				if got := command.denied(t, cell, urls); !slices.Equal(got, denied) {
					t.Errorf("denied are %q, want %q", got, denied)
				}
			})
		}
	}
}

// said runs the program and returns its stdout.
func said(t *testing.T, stdin []byte, wantStatus int, args ...string) []byte {
	t.Helper()
	var out, err bytes.Buffer
	if status := run(t.Context(), args, bytes.NewReader(stdin), &out, &err); status != wantStatus {
		t.Fatalf("%q: exit status %d: %s", args, status, &err)
	}
	return out.Bytes()
}

func deniedByJob(t *testing.T, c matrixCell, urls []string) (denied []string) {
	writeText(t, "urls.txt", strings.Join(urls, "\n"))
	for _, row := range tableOf(t, said(t, nil, exitDone, append([]string{"-in", "urls.txt"}, c.flags...)...)) {
		if row["allowed"] == "false" {
			denied = append(denied, row["url"])
		}
	}
	return denied
}

func deniedByPipe(t *testing.T, c matrixCell, urls []string) (denied []string) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewStringBuilder(memory.NewGoAllocator())
	b.AppendValues(urls, nil)
	var stream bytes.Buffer
	w := ipc.NewWriter(&stream, ipc.WithSchema(schema))
	if err := w.Write(array.NewRecord(schema, []arrow.Array{b.NewArray()}, int64(len(urls)))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewReader(bytes.NewReader(said(t, stream.Bytes(), exitDone, append([]string{"pipe"}, c.flags...)...)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	for r.Next() {
		for row := range int(r.Record().NumRows()) {
			if r.Record().Column(1).ValueStr(row) == "false" {
				denied = append(denied, r.Record().Column(0).ValueStr(row))
			}
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return denied
}

func deniedByExplain(t *testing.T, c matrixCell, urls []string) (denied []string) {
	args := append(append([]string{"explain", "-json"}, c.flags...), urls...)
	for line := range bytes.Lines(said(t, nil, exitFailed, args...)) { // the worst verdict
		var why struct {
			URL    string `json:"url"`
			Agents []struct {
				Allowed *bool `json:"allowed"`
			} `json:"agents"`
		}
		if err := json.Unmarshal(line, &why); err != nil {
			t.Fatal(err)
		}
		if allowed := why.Agents[0].Allowed; allowed != nil && !*allowed {
			denied = append(denied, why.URL)
		}
	}
	return denied
}

// deniedByHosts takes a host as known that need not be fetched for want of rules.
func deniedByHosts(t *testing.T, c matrixCell, urls []string) (denied []string) {
	writeText(t, "urls.txt", strings.Join(urls, "\n"))
	missing := make(map[string]bool)
	for _, row := range tableOf(t, said(t, nil, exitDone, append([]string{"hosts", "-in", "urls.txt"}, c.flags...)...)) {
		if row["reason"] == "missing" {
			missing[row["url"]] = true
		}
	}
	for _, host := range []string{"a.example", "b.example"} {
		if !missing["https://"+host+"/robots.txt"] {
			denied = append(denied, matrixURLs[host][0])
		}
	}
	return denied
}

func deniedBySurvey(t *testing.T, c matrixCell, _ []string) (denied []string) {
	return deniedByTable(t, "blocked", "some", append([]string{"survey", "-agent", "*"}, c.flags...))
}

func deniedByExport(t *testing.T, c matrixCell, _ []string) (denied []string) {
	return deniedByTable(t, "value", "/d", append([]string{"export", "-table", "rules"}, c.flags...))
}

// deniedByTable takes a host's first URL as denied if a row of it has that value.
func deniedByTable(t *testing.T, column, value string, args []string) (denied []string) {
	t.Helper()
	for _, row := range tableOf(t, said(t, nil, exitDone, args...)) {
		if host, https := strings.CutPrefix(row["authority"], "https://"); https && row[column] == value {
			denied = append(denied, matrixURLs[host][0])
		}
	}
	slices.Sort(denied)
	return denied
}

// deniedByDiff compares with rules that deny nothing.
func deniedByDiff(t *testing.T, c matrixCell, urls []string) (denied []string) {
	writeText(t, "urls.txt", strings.Join(urls, "\n"))
	args := append([]string{"diff", matrixFree(t), c.source, "-in", "urls.txt", "-out", "-", "-out-format", "csv"}, c.flags[2:]...)
	for _, row := range tableOf(t, said(t, nil, exitDone, args...)) {
		if row["new_allowed"] == "false" {
			denied = append(denied, row["url"])
		}
	}
	return denied
}

// deniedByAccess takes the first URL of a host as denied if its access is closed.
func deniedByAccess(t *testing.T, c matrixCell, _ []string) (denied []string) {
	args := append([]string{"diff", matrixFree(t), c.source, "-out", "-", "-out-format", "csv"}, c.flags[2:]...)
	for _, row := range tableOf(t, said(t, nil, exitDone, args...)) {
		if host, https := strings.CutPrefix(row["authority"], "https://"); https && row["new_blocked"] == "some" {
			denied = append(denied, matrixURLs[host][0])
		}
	}
	slices.Sort(denied)
	return slices.Compact(denied)
}

// matrixFree makes a folder of rules that deny nothing.
func matrixFree(t *testing.T) string {
	t.Helper()
	for host := range matrixURLs {
		writeHost(t, "free", host, "User-agent: *\nDisallow:\n")
	}
	return "free"
}
