package findings

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher/lint"
)

// examples are the bad examples of all codes, with what is found in them.
func examples() (names []string, reports []lint.Report) {
	for _, code := range lint.Codes() {
		names = append(names, "bad/"+code.Name+" ä#?.txt")
		reports = append(reports, lint.Body(code.Bad, lint.Options{}))
	}
	names = append(names, "https://example.com/robots.txt", "/srv/robots.txt", "stdin")
	return names, append(reports, reports[len(reports)-3:]...)
}

// write writes all examples.
func write(t *testing.T, w Writer) (found []lint.Finding) {
	t.Helper()
	names, reports := examples()
	for i, name := range names {
		must.Do(t, w.Add(name, reports[i].Findings))
		found = append(found, reports[i].Findings...)
	}
	must.Do(t, w.Close())
	return found
}

// A SARIF log is valid by the schema of OASIS, and a library reads all findings from it.
func TestSARIF(t *testing.T) {
	var b bytes.Buffer
	found := write(t, NewSARIF(&b, "1.2.3"))
	log := must.Get(sarif.FromBytes(b.Bytes(), sarif.WithStrictValidation()))(t)
	run := log.Runs[0]
	must.Need(t, len(run.Results) == len(found) && len(run.Tool.Driver.Rules) == len(lint.Codes()) && *run.Tool.Driver.Version == "1.2.3",
		"%d results and %d rules", len(run.Results), len(run.Tool.Driver.Rules))
	for i, result := range run.Results {
		place := result.Locations[0].PhysicalLocation
		f := found[i]
		if *result.RuleID != f.Code || result.Level != f.Severity.String() || *result.Message.Text != f.Message ||
			*place.Region.StartLine != f.Line || *place.Region.StartColumn != f.Column || (len(result.RelatedLocations) == 1) != (f.Related > 0) {
			t.Errorf("result %d: %+v", i, f)
		}
	}
	must.Equal(t, strings.Join(run.NewlineSequences, ""), "\r\n\n\r") // a line of a robots.txt may end with a CR alone
	uri := *run.Results[len(run.Results)-1].Locations[0].PhysicalLocation.ArtifactLocation.URI
	first := *run.Results[0].Locations[0].PhysicalLocation.ArtifactLocation.URI
	must.Be(t, uri == "stdin" && first == "bad/html-body%20%C3%A4%23%3F.txt" && strings.Contains(b.String(), `"uri":"file:///srv/robots.txt"`),
		"URIs %s, %s", first, uri)
}

// A log without results is valid, too.
func TestEmptySARIF(t *testing.T) {
	var b bytes.Buffer
	must.Do(t, NewSARIF(&b, "1").Close())
	log, err := sarif.FromBytes(b.Bytes(), sarif.WithStrictValidation())
	must.Be(t, err == nil && len(log.Runs) == 1 && len(log.Runs[0].Results) == 0, "%v: %s", err, &b)
}

// JSON has an object a line, and text a line a finding, in which nothing talks to a
// terminal.
func TestLines(t *testing.T) {
	var j, text bytes.Buffer
	found := write(t, NewJSON(&j))
	write(t, NewText(&text))
	lines := bufio.NewScanner(&text)
	for line := range strings.Lines(j.String()) {
		var f jsonFinding
		must.Do(t, json.Unmarshal([]byte(line), &f))
		if want := found[0]; f.Line != want.Line || f.Column != want.Column || f.Code != want.Code || f.Severity != want.Severity.String() ||
			f.Message != want.Message || f.Profile != want.Profile || f.Related != want.Related || f.File == "" {
			t.Errorf("%s: want %+v", line, want)
		}
		if found = found[1:]; !lines.Scan() || !strings.HasSuffix(lines.Text(), f.Message+" ["+f.Code+"]") || !strings.HasPrefix(lines.Text(), f.File+":") {
			t.Errorf("%s, and as text %s", line, lines.Text())
		}
	}
	must.Be(t, len(found) == 0 && !lines.Scan(), "%d findings are missing, or text is left: %s", len(found), lines.Text())
	var b bytes.Buffer
	err := NewText(&b).Add("a\x1b[2Jb", []lint.Finding{{Line: 1, Column: 2, Code: "x", Profile: "google", Message: "m"}})
	must.Be(t, err == nil && b.String() == "a%1B[2Jb:1:2: note (google): m [x]\n", "%q, %v", &b, err)
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestFailingWriter(t *testing.T) {
	found := []lint.Finding{{Line: 1, Column: 1}}
	for _, w := range []Writer{NewText(broken{}), NewJSON(broken{}), NewSARIF(broken{}, "1")} {
		must.Be(t, w.Add("a", found) != nil, "%T does not fail", w)
	}
}

func TestCounts(t *testing.T) {
	var tally Counts
	for range 2 {
		tally.Add([]lint.Finding{{Code: "a", Severity: lint.Note}, {Code: "b", Severity: lint.Error}, {Code: "a", Severity: lint.Note}}, 0)
	}
	tally.Add(nil, 7)
	must.Equal(t, tally.String(), "3 robots.txt, 2 with findings: 2 errors, 0 warnings, 4 notes; and 7 more, of which a file has at most 1,000")
	var b strings.Builder
	err := tally.WriteCounts(&b)
	must.Be(t, err == nil && b.String() == "   error b                      2 in 2 files\n    note a                      4 in 2 files\n", "%q, %v", &b, err)
	must.Equal(t, new(Counts).String(), "0 robots.txt: nothing found")
}

// codes is a Writer that keeps the codes that were found by file.
type codes map[string][]string

func (c codes) Add(name string, found []lint.Finding) error {
	c[filepath.Base(name)] = []string{}
	for _, f := range found {
		c[filepath.Base(name)] = append(c[filepath.Base(name)], f.Code)
	}
	return nil
}

func (c codes) Close() error { return nil }

// Find shows what is severe enough and not ignored, and fails by what is not ignored, whether
// it is shown or not.
func TestFind(t *testing.T) {
	folder := t.TempDir()
	bad := lint.Codes()[0]
	for name, text := range map[string]string{"bad.example": string(bad.Bad), "good.example": "User-agent: *\nDisallow: /a\n"} {
		must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	// Ignored findings take no place of others in a file with more than lint.MaxFindings.
	must.Do(t, os.WriteFile(filepath.Join(folder, "long.example"), []byte("User-agent: *\n"+strings.Repeat("Sitemap: x\n", lint.MaxFindings)+"Disallow\n"), 0o600))
	got := make(codes)
	_, fails, err := Find(t.Context(), ruleset.Options{Sources: []string{filepath.Join(folder, "long.example")}}, Options{FailOn: lint.Error, Ignore: []string{"relative-sitemap"}}, got)
	must.Do(t, err)
	must.Be(t, fails && slices.Equal(got["long.example"], []string{"broken-record"}), "%v, fails %v", got, fails)
	must.Do(t, os.Remove(filepath.Join(folder, "long.example")))
	report := lint.Body(bad.Bad, lint.Options{})
	all, worst := []string{}, lint.Severity(0)
	for _, f := range report.Findings {
		all, worst = append(all, f.Code), max(worst, f.Severity)
	}
	must.Need(t, len(all) != 0, "nothing is found in the example")
	for _, test := range []struct {
		name  string
		o     Options
		shown []string
		fails bool
	}{
		{"all", Options{FailOn: worst}, all, true},
		{"never fail", Options{FailOn: Never}, all, false},
		{"not severe enough to fail", Options{FailOn: worst + 1}, all, false},
		{"not severe enough to show", Options{Least: worst + 1, FailOn: worst}, []string{}, true},
		{"ignored", Options{FailOn: worst, Ignore: all}, []string{}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := make(codes)
			counts, fails, err := Find(t.Context(), ruleset.Options{Sources: []string{folder}}, test.o, got)
			must.Do(t, err)
			want := (codes{"bad.example": test.shown, "good.example": {}})
			must.Be(t, fails == test.fails && maps.EqualFunc(got, want, slices.Equal), "%v, fails %v; want %v, %v", got, fails, want, test.fails)
			clean := int64(1)
			if len(test.shown) == 0 {
				clean = 2
			}
			must.Be(t, counts.Files == 2 && counts.Clean == clean, "%d files, %d clean", counts.Files, counts.Clean)
		})
	}
}
