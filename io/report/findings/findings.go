package findings

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"robotsbatch/io/report"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/matcher/lint"
)

// Writer writes findings, file by file.
type Writer interface {
	// Add writes what was found in the robots.txt of that name.
	Add(name string, found []lint.Finding) error
	// Close writes the end; it does not close what is written to.
	Close() error
}

// lineWriter writes a line for each finding.
type lineWriter struct {
	w    io.Writer
	line func(name string, f *lint.Finding) string
}

// Add implements Writer.
func (l lineWriter) Add(name string, found []lint.Finding) error {
	var b strings.Builder
	for i := range found {
		b.WriteString(l.line(name, &found[i]) + "\n")
	}
	_, err := io.WriteString(l.w, b.String())
	return err
}

// Close implements Writer.
func (l lineWriter) Close() error { return nil }

// NewText returns a Writer of lines for people: file:line:column: severity: message [code].
func NewText(w io.Writer) Writer {
	return lineWriter{w, func(name string, f *lint.Finding) string {
		severity := f.Severity.String()
		if f.Profile != "" {
			severity += " (" + f.Profile + ")"
		}
		return report.Printable(fmt.Sprintf("%s:%d:%d: %s: %s [%s]", name, f.Line, f.Column, severity, f.Message, f.Code))
	}}
}

// NewJSON returns a Writer of JSON, an object a line for each finding.
func NewJSON(w io.Writer) Writer {
	return lineWriter{w, func(name string, f *lint.Finding) string {
		return encodeJSON(jsonFinding{name, f.Line, f.Column, f.Severity.String(), f.Code, f.Message, f.Profile, f.Related})
	}}
}

// jsonFinding is a finding in the form of the JSON output.
type jsonFinding struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Severity string `json:"severity"`
	Code     string `json:"code"`
	Message  string `json:"message"`
	Profile  string `json:"profile,omitempty"`
	Related  int    `json:"related_line,omitempty"`
}

// Options say which findings count. The zero value takes all, and fails for each.
type Options struct {
	// Least is the least severity of a finding that is written and counted.
	Least lint.Severity
	// FailOn is the least severity of a finding for which Find returns that it fails; Never for none.
	// A finding need not be written for that.
	FailOn lint.Severity
	// Ignore are codes of findings that are left out.
	Ignore []string
}

// Never is more severe than any finding.
const Never = lint.Error + 1

// Find writes the findings in each robots.txt of the sources to out, and counts those that it wrote.
// fails reports whether a finding is at least as severe as FailOn. It does not close out.
func Find(ctx context.Context, sources ruleset.Options, o Options, out Writer) (tally *Counts, fails bool, err error) {
	tally = new(Counts)
	err = ruleset.Bodies(ctx, sources, func(body *ruleset.Body) error {
		found := lint.Body(body.Text, lint.Options{Limit: sources.Limit, Cut: body.Cut, Ignore: o.Ignore, Packed: body.Packed, Profile: body.Profile})
		shown := slices.DeleteFunc(found.Findings, func(f lint.Finding) bool {
			fails = fails || f.Severity >= o.FailOn
			return f.Severity < o.Least
		})
		tally.Add(shown, found.More)
		return out.Add(body.Name, shown)
	})
	return tally, fails, err
}

// Counts counts findings.
type Counts struct {
	// Files counts the robots.txt, and Clean those in which nothing was found.
	Files, Clean int64
	// More counts findings beyond the first lint.MaxFindings of a file.
	More int64

	severities [lint.Error + 1]int64 // the number of findings of each severity
	codes      map[string]*codeCount
}

// codeCount counts a code: its findings, and the files that have any.
type codeCount struct {
	findings, files int64
	severity        lint.Severity
}

// Add counts the findings of a robots.txt: by severity, by code, and each code once for the file. more is
// the number of findings that were not kept.
func (t *Counts) Add(found []lint.Finding, more int) {
	t.Files++
	t.More += int64(more)
	if len(found) == 0 {
		t.Clean++
	}
	if t.codes == nil {
		t.codes = make(map[string]*codeCount)
	}
	here := make(map[string]bool) // the codes in this file
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

// String returns the counts by severity on one line.
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

// WriteCounts writes a line for each code: its findings, and the files that have any. The most
// severe and most frequent come first.
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
