package findings

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"robotsbatch/io/report"
	"robotsbatch/matcher/lint"
)

// Counts counts findings.
type Counts struct {
	// Files counts the robots.txt, and Clean those in which nothing was found.
	Files, Clean int64
	// More counts what was found beyond lint.MaxFindings in a file.
	More int64

	severities [lint.Error + 1]int64
	codes      map[string]*codeCount
}

// codeCount counts a code: its findings, and the files that have any.
type codeCount struct {
	findings, files int64
	severity        lint.Severity
}

// Add counts what was found in a robots.txt, and more that was not kept.
func (t *Counts) Add(found []lint.Finding, more int) {
	t.Files++
	t.More += int64(more)
	if len(found) == 0 {
		t.Clean++
	}
	if t.codes == nil {
		t.codes = make(map[string]*codeCount)
	}
	here := make(map[string]bool)
	for i := range found {
		f := &found[i]
		t.severities[f.Severity]++
		c := t.codes[f.Code]
		if c == nil {
			c = &codeCount{severity: f.Severity}
			t.codes[f.Code] = c
		}
		c.findings++
		if !here[f.Code] {
			here[f.Code] = true
			c.files++
		}
	}
}

// String sums up in one line.
func (t *Counts) String() string {
	if t.Clean == t.Files {
		return fmt.Sprintf("%s: nothing found", report.Count(t.Files, "robots.txt", "robots.txt"))
	}
	text := fmt.Sprintf("%s, %s with findings: %s, %s, %s", report.Count(t.Files, "robots.txt", "robots.txt"), report.Number(t.Files-t.Clean),
		report.Count(t.severities[lint.Error], "error", "errors"), report.Count(t.severities[lint.Warning], "warning", "warnings"),
		report.Count(t.severities[lint.Note], "note", "notes"))
	if t.More > 0 {
		text += fmt.Sprintf("; and %s more, of which a file has at most %s", report.Number(t.More), report.Number(lint.MaxFindings))
	}
	return text
}

// WriteCounts writes how often each code was found, and in how many files, the gravest and
// most frequent first.
func (t *Counts) WriteCounts(w io.Writer) error {
	names := slices.SortedFunc(maps.Keys(t.codes), func(a, b string) int {
		x, y := t.codes[a], t.codes[b]
		return cmp.Or(cmp.Compare(y.severity, x.severity), cmp.Compare(y.files, x.files), cmp.Compare(a, b))
	})
	var b strings.Builder
	for _, name := range names {
		c := t.codes[name]
		fmt.Fprintf(&b, "%8s %-22s %s in %s\n", c.severity, name, report.Number(c.findings), report.Count(c.files, "file", "files"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
