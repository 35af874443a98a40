package findings

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"robotsbatch/io/report"
	"robotsbatch/matcher/lint"
)

// Writer writes findings, file by file.
type Writer interface {
	// Add writes what was found in the robots.txt of that name.
	Add(name string, found []lint.Finding) error
	// Close writes the end; it does not close what is written to.
	Close() error
}

// NewText returns a Writer of lines for people: file:line:column: severity: message [code].
func NewText(w io.Writer) Writer { return textWriter{w} }

type textWriter struct{ w io.Writer }

func (t textWriter) Add(name string, found []lint.Finding) error {
	var b strings.Builder
	for i := range found {
		f := &found[i]
		severity := f.Severity.String()
		if f.Profile != "" {
			severity += " (" + f.Profile + ")"
		}
		b.WriteString(report.Printable(fmt.Sprintf("%s:%d:%d: %s: %s [%s]", name, f.Line, f.Column, severity, f.Message, f.Code)))
		b.WriteByte('\n')
	}
	_, err := io.WriteString(t.w, b.String())
	return err
}

func (t textWriter) Close() error { return nil }

// NewJSON returns a Writer of JSON, an object a line for each finding.
func NewJSON(w io.Writer) Writer {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return jsonWriter{out}
}

type jsonWriter struct{ out *json.Encoder }

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

func (j jsonWriter) Add(name string, found []lint.Finding) error {
	for _, f := range found {
		if err := j.out.Encode(jsonFinding{name, f.Line, f.Column, f.Severity.String(), f.Code, f.Message, f.Profile, f.Related}); err != nil {
			return err
		}
	}
	return nil
}

func (j jsonWriter) Close() error { return nil }
