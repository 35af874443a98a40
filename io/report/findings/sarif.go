package findings

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"robotsbatch/matcher/lint"
)

// NewSARIF returns a Writer of one SARIF 2.1.0 log with one run. Results are written as
// they come, so that findings in a whole crawl need no memory. version is the program's.
func NewSARIF(w io.Writer, version string) Writer {
	return &sarifWriter{w: w, head: sarifHead(version)}
}

type sarifWriter struct {
	w    io.Writer
	head string // what is written before the first result; empty after that
}

type (
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifRule struct {
		ID      string    `json:"id"`
		Short   sarifText `json:"shortDescription"`
		Help    sarifText `json:"help"`
		Default struct {
			Level string `json:"level"`
		} `json:"defaultConfiguration"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
	sarifLocation struct {
		ID       int `json:"id,omitempty"`
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region sarifRegion `json:"region"`
		} `json:"physicalLocation"`
		Message *sarifText `json:"message,omitempty"`
	}
	sarifResult struct {
		RuleID     string            `json:"ruleId"`
		Level      string            `json:"level"`
		Message    sarifText         `json:"message"`
		Locations  []sarifLocation   `json:"locations"`
		Related    []sarifLocation   `json:"relatedLocations,omitempty"`
		Properties map[string]string `json:"properties,omitempty"`
	}
)

// sarifHead returns the start of the log, before the results. version is the program's.
func sarifHead(version string) string {
	driver := sarifDriver{Name: "robotsbatch", Version: version}
	for _, code := range lint.Codes() {
		rule := sarifRule{ID: code.Name, Short: sarifText{Text: code.Summary()}, Help: sarifText{Text: plain(code.Text), Markdown: code.Section}}
		rule.Default.Level = code.Severity.String()
		driver.Rules = append(driver.Rules, rule)
	}
	return fmt.Sprintf(`{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{"tool":{"driver":%s},"columnKind":"unicodeCodePoints","newlineSequences":["\r\n","\n","\r"],"results":[`, encodeJSON(driver))
}

// plain returns a text of the catalogue on one line, with single blanks.
func plain(text string) string { return strings.Join(strings.Fields(text), " ") }

// encodeJSON returns v as JSON without a line end.
func encodeJSON(v any) string {
	var b strings.Builder
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	_ = out.Encode(v) // texts and numbers can always be encoded
	return strings.TrimSuffix(b.String(), "\n")
}

// Add writes a result for each finding.
func (s *sarifWriter) Add(name string, found []lint.Finding) error {
	for i := range found {
		before := ",\n"
		if s.head != "" {
			before, s.head = s.head+"\n", ""
		}
		if _, err := io.WriteString(s.w, before+encodeJSON(newResult(uriOf(name), &found[i]))); err != nil {
			return err
		}
	}
	return nil
}

// Close writes the end of the log.
func (s *sarifWriter) Close() error {
	end := "\n]}]}\n"
	if s.head != "" {
		end = s.head + "]}]}\n"
	}
	_, err := io.WriteString(s.w, end)
	return err
}

// newResult returns a finding as a SARIF result. uri is that of the robots.txt.
func newResult(uri string, f *lint.Finding) sarifResult {
	r := sarifResult{RuleID: f.Code, Level: f.Severity.String(), Message: sarifText{Text: f.Message}}
	r.Locations = []sarifLocation{location(uri, sarifRegion{f.Line, f.Column})}
	if f.Related > 0 {
		related := location(uri, sarifRegion{StartLine: f.Related})
		related.ID, related.Message = 1, &sarifText{Text: fmt.Sprintf("line %d", f.Related)}
		r.Related = []sarifLocation{related}
	}
	if f.Profile != "" {
		r.Properties = map[string]string{"profile": f.Profile}
	}
	return r
}

func location(uri string, region sarifRegion) (l sarifLocation) {
	l.Physical.Artifact.URI, l.Physical.Region = uri, region
	return l
}

// uriOf returns the name of a robots.txt as a URI reference: a URL as it is, a file's path escaped.
func uriOf(name string) string {
	if u, err := url.Parse(name); err == nil && u.Scheme != "" && u.Host != "" {
		return u.String()
	}
	slashed := filepath.ToSlash(name)
	if filepath.IsAbs(name) {
		return (&url.URL{Scheme: "file", Path: slashed}).String()
	}
	return (&url.URL{Path: slashed}).String()
}
