package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"robotsbatch/io/store/must"
)

// TestMain lets the test program act as a runner. Its arguments give the verdicts alone,
// those of the whole job, and what else it prints.
func TestMain(m *testing.M) {
	if len(os.Args) == 8 && os.Args[1] == "fake" {
		if err := fake(os.Args[2], os.Args[6], os.Args[7]); err != nil {
			fmt.Fprintln(os.Stderr, "noise\nfake:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// threeTimes is printed by a fake runner whose whole job takes three times as long.
const threeTimes = `"job_cpu_ns_per_url":3e6,"parse_ns_per_url":25e4,`

func fake(how, out, passes string) error {
	if how == "crash" {
		return errors.New("as asked")
	}
	if how == "fickle" {
		n, _ := strconv.Atoi(passes)
		how = strings.Repeat(strconv.Itoa(n&1), 3) + "/000/" + threeTimes
	}
	parts := strings.Split(how, "/")
	verdicts := []byte(parts[0] + parts[1])
	for i := range verdicts {
		verdicts[i] -= '0'
	}
	fmt.Printf(`{"version":"1","cpu_ns_per_url":1e6,"wall_ns_per_url":2e6,%s"job_wall_ns_per_url":4e6,"parse_ms":3}`+"\n", parts[2])
	return os.WriteFile(out, verdicts, 0o666)
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		name = filepath.Join(dir, name)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666)))
		return name
	}
	encoder := must.Get(zstd.NewWriter(nil))(t)
	list := encoder.EncodeAll([]byte("http://h.example/a\nhttp://h.example/%61\nhttp://h.example/b\nhttp://other.example/\n"), nil)
	self := os.Args[0] + "\tfake"
	o := options{
		urls:  write("urls.zst", string(list)),
		rules: filepath.Dir(write("rules/h.example", "User-agent: *\nDisallow: /a\n")),
		agent: "CCBot", count: 2, data: "URLs", runs: filepath.Join(dir, "runs"), chart: filepath.Join(dir, "chart"),
		runners: write("runners", "ours\tGo 1\t"+self+"\t001/001/\"job_cpu_ns_per_url\":1e6,\nraw\tRust 2\t"+self+"\t011/002/"+threeTimes+"\n"+
			"short\tC\t"+self+"\t01/01/"+threeTimes+"\nuntimed\tC\t"+self+"\t011/011/\n"+
			"crash\tC\t"+self+"\tcrash\nfickle\tC\t"+self+"\tfickle\nabsent\tJava\t\tjavac is not installed\n"),
	}
	var page bytes.Buffer
	must.Do(t, run(o, &page))
	for _, want := range []string{
		"4 URLs, 3 of them in ASCII on hosts with a robots.txt, 1 robots.txt files (1 needed); agent CCBot; medians of 2 rounds.",
		"| library alone: CPU ns a URL | times ours | from the URL: CPU ns | times ours | same verdict | other verdicts from the URL |",
		"| ours | 1 | Go 1 | 1,000,000 | 1.0 | 1,000,000 | 1.0 | – | 0 | 3.0 | – |",
		"| raw | 1 | Rust 2 | 1,000,000 | 1.0 | 3,000,000 | 3.0 | 66.667 % | 2 | 3.0 | 25 % |",
		"| short | | C | not measured: wrote 4 verdicts for 3 URLs, want two each |",
		"| untimed | | C | not measured: printed ",
		": want the times of the library alone and of the whole job |",
		"not measured: exit status 1: fake: as asked",
		"| fickle | | C | not measured: other verdicts than in the run before |",
		"| absent | | Java | not measured: javac is not installed |",
		"| raw | " + encoding + " | 1 | `http://h.example/%61 (Disallow: /a)` |",
	} {
		must.Be(t, strings.Contains(page.String(), want), "the record has no %q:\n%s", want, &page)
	}
	lines, err := os.ReadFile(o.runs)
	must.Be(t, err == nil && strings.Count(string(lines), "\n") == 4, "%d lines, want two rounds of two runners (error %v)", strings.Count(string(lines), "\n"), err)
	if want := `{"round":1,"name":"raw","version":"1","language":"Rust 2","urls":3,"passes":166,` +
		`"cpu_ns_per_url":1000000,"wall_ns_per_url":2000000,` +
		`"job_cpu_ns_per_url":3000000,"job_wall_ns_per_url":4000000,"job_differ":2,"parse_ms":3,"parse_ns_per_url":250000}`; !strings.Contains(string(lines), want) {
		t.Errorf("the runs have no %s:\n%s", want, lines)
	}
	svg := must.Get(os.ReadFile(o.chart))(t)
	decoder := xml.NewDecoder(strings.NewReader(string(svg)))
	for err == nil {
		_, err = decoder.Token()
	}
	must.Equal(t, err, io.EOF, "chart")
	n := strings.Count(string(svg), `class="inner"`)
	must.Be(t, n == 1 && strings.Contains(string(svg), `>3,000,000 <tspan class="small">1,000,000 alone, 25 % parsing<`),
		"the chart has %d bars within others, want one, of the library that is not ours:\n%s", n, svg)
}

// TestChartShowsTheFastest: on one linear scale a bar of 46 ns beside one of 30,000 ns has
// less than a pixel.
func TestChartShowsTheFastest(t *testing.T) {
	of := func(name string, nanos float64) runner {
		return runner{name: name, language: "Go 1", results: []result{{CPU: nanos, JobCPU: nanos}}}
	}
	svg := drawChart([]runner{of("ours", 46), of("other", 500), of("slow", 30_000)})
	for _, want := range []string{
		"the first 1,000 ns, enlarged",
		`<rect class="bar own" x="190" y="256" width="17.0"`, // of 370 pixels for 1,000 ns
		`<rect class="bar" x="190" y="286" width="185.0"`,
		`<rect class="bar" x="190" y="158" width="222.0"`, // of 370 pixels for 50,000 ns
	} {
		must.Be(t, strings.Contains(svg, want), "no %s in\n%s", want, svg)
	}
	svg = drawChart([]runner{of("ours", 46), of("other", 100)})
	must.Be(t, !strings.Contains(svg, "enlarged"), "two panels for times that one shows")
}

func TestRunChecksOurs(t *testing.T) {
	dir, rows := t.TempDir(), []row{{"h", "http://h/a", "/a"}}
	must.Do(t, os.WriteFile(filepath.Join(dir, "h"), []byte("User-agent: *\nDisallow: /"), 0o666))
	j := must.Get(newJudge(dir, "CCBot", rows))(t)
	must.Do(t, j.check(rows, []byte{0}))
	must.Fail(t, j.check(rows, []byte{1}), "wrong verdict went unnoticed")
}

func TestNumbers(t *testing.T) {
	for x, want := range map[float64]string{0.04: "0.0", 1.96: "2.0", 9.94: "9.9", 9.96: "10", 12.5: "13", 4321.4: "4,321", 1e6: "1,000,000"} {
		must.Equal(t, number(x), want, "number", x)
	}
	must.Equal(t, share(999_999, 1_000_000), "99.999 %", "share")
	r := runner{results: []result{{CPU: 5, JobCPU: 9}, {CPU: 1, JobCPU: 9}, {CPU: 2, JobCPU: 7}, {CPU: 3, JobCPU: 10}}}
	must.Equal(t, r.median(cpu), 2.5, "median")
	must.Equal(t, r.median(jobCPU), 9, "median of the whole job")
}

// TestOwnRunner measures this project's runner.
func TestOwnRunner(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the runner is for Unix")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "robotsbatch")
	out, err := exec.Command("go", "build", "-o", program, "./robotsbatch").CombinedOutput()
	must.Need(t, err == nil, "%v: %s", err, out)
	rows := []row{
		{"a.example", "http://a.example/x", "/x"},
		{"b.example", "https://b.example/?q#f", "/?q"},
		{"a.example", "HTTP://A.example:80/y", "/y"},
	}
	for name, body := range map[string]string{"a.example": "User-agent: *\nDisallow: /x\n", "b.example": "User-agent: CCBot\nDisallow: /?q$"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(body), 0o666))
	}
	own := runner{name: "own", command: []string{program}}
	m := &measurement{runners: []runner{own, own}, rules: dir, list: filepath.Join(dir, "urls.tsv"), agent: "CCBot", dir: dir}
	must.Do(t, (&frontier{rows: rows}).write(m.list))
	must.Do(t, m.run(len(rows), 1))
	for _, r := range m.runners {
		must.Need(t, r.skipped == "", "%v", r.skipped)
		want := []byte{0, 0, 1}
		must.Be(t, bytes.Equal(r.verdicts, want), "verdicts %d, want %d", r.verdicts, want)
		got := r.results[0]
		must.Be(t, got.JobDiffer == 0 && got.JobCPU == got.CPU && got.JobWall == got.Wall && got.Version == "unknown", "measured %+v, want one time for both", got)
	}
}

func TestSelectRows(t *testing.T) {
	files := map[string]bool{"a.example": true, "b.example_443": true, "c.example_8080": true, "d.example": true}
	for _, test := range []struct {
		url  string
		want row
	}{
		{"http://a.example", row{"a.example", "http://a.example", "/"}},
		{" HTTPS://A.example:443/x?y#z\r", row{"a.example", "HTTPS://A.example:443/x?y#z", "/x?y"}},
		{"https://a.example:8080/", row{}},
		{"ftp://a.example/", row{}},
		{"https://b.example/", row{"b.example_443", "https://b.example/", "/"}},
		{"http://b.example/", row{}},
		{"http://b.example:443/", row{}},
		{"http://c.example:8080/;p", row{"c.example_8080", "http://c.example:8080/;p", "/;p"}},
		{"http://c.example/", row{}},
		{"http://d.example/\u00e9", row{}},
		{"http://d.example/a\tb", row{}},
		{"mailto:a@d.example", row{}},
		{"", row{}},
	} {
		f := selectRows([]byte(test.url+"\n"), files)
		var want []row
		if test.want != (row{}) {
			want = []row{test.want}
		}
		must.EqualSlices(t, f.rows, want, test.url, "rows")
	}
}

func TestKind(t *testing.T) {
	tests := []struct {
		name, body, url, path string
		verdict               byte // the peer's
		want                  string
	}{
		{"no answer", "User-agent: *\nDisallow: /", "http://h/a", "/a", 2, noAnswer},
		{"robots.txt", "User-agent: *\nDisallow: /", "http://h/robots.txt", "/robots.txt", 0, robotsTxt},
		{"long crawl-delay", "User-agent: *\nCrawl-delay: 600\nDisallow: /b", "http://h/a", "/a", 0, longDelay},
		{"crawl-delay ends the list", "User-agent: CCBot\nCrawl-delay: 1\n\nUser-agent: other\nDisallow: /", "http://h/a", "/a", 1, delayEnds},
		{"fragment", "User-agent: *\nDisallow: /*media", "http://h/#media", "/", 0, fragment},
		{"dot segments", "User-agent: *\nDisallow: /b/", "http://h/a/../b/", "/a/../b/", 0, dots},
		{"escape in the URL", "User-agent: *\nAllow: /\nDisallow: /private", "http://h/%70rivate", "/%70rivate", 1, encoding},
		{"escape in the rule", "User-agent: *\nAllow: /\nDisallow: /~a%7Eb", "http://h/~a~b", "/~a~b", 1, encoding},
		{"raw character in the URL", "User-agent: *\nAllow: /\nDisallow: /a", "http://h/a b", "/a b", 1, encoding},
		{"shorter rule", "User-agent: *\nDisallow: /a\nAllow: /a/b", "http://h/a/b", "/a/b", 0, precedence},
		{"tie", "User-agent: *\nDisallow: /a\nAllow: /a", "http://h/a", "/a", 0, precedence},
		{"other groups", "User-agent: CCBot\nDisallow: /a\n\nUser-agent: *\nDisallow: /b", "http://h/a", "/a", 1, groups},
		{"wildcard", "User-agent: *\nDisallow: /*.gif$", "http://h/a.gif", "/a.gif", 1, wildcard},
		{"query", "User-agent: *\nDisallow: /a?b", "http://h/a?b", "/a?b", 1, query},
		{"other", "User-agent: *\nDisallow: /a", "http://h/a", "/a", 1, other},
	}
	dir := t.TempDir()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			must.Do(t, os.WriteFile(filepath.Join(dir, test.name), []byte(test.body), 0o666))
			r := row{test.name, test.url, test.path}
			j := must.Get(newJudge(dir, "CCBot", []row{r}))(t)
			d, rule := j.decision(r, 0)
			must.Need(t, test.verdict >= 2 || d.Allowed != (test.verdict == 1), "there is no disagreement")
			must.Equal(t, j.kind(r, d, rule, test.verdict), test.want)
		})
	}
}
