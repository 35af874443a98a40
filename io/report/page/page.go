package page

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"strings"
)

// Page is a report.
type Page struct {
	// Title is its heading.
	Title string
	// Finding says in sentences what was found, the most important first.
	Finding []string
	Facts   []Fact
	// Sections come in their order; those without parts and text are left out.
	Sections []Section
	// Foot are the last lines: what was read, when and by what.
	Foot []string
}

// Fact is a number with its name.
type Fact struct{ Value, Name string }

// Section is a part of a page with a heading.
type Section struct {
	Title, Text string
	Parts       []Part
}

// Part is what a section is made of: a *Table or a chart.
type Part interface{ write(*writer) }

//go:embed page.css
var style string

//go:embed page.js
var script string

// Write writes the page as HTML. It needs no other file, and loads none.
func (p *Page) Write(w io.Writer) error {
	out := &writer{Writer: bufio.NewWriter(w)}
	out.head(p.Title)
	out.line("<header><h1>%s</h1>", p.Title)
	if len(p.Finding) > 0 {
		out.line(`<p class="finding">%s</p>`, p.Finding[0])
	}
	if len(p.Finding) > 1 {
		out.line("<p>%s</p>", strings.Join(p.Finding[1:], " "))
	}
	out.line("</header>\n<main>")
	if len(p.Facts) > 0 {
		out.line(`<dl class="facts">`)
		for _, fact := range p.Facts {
			out.line("<div><dt>%s</dt><dd>%s</dd></div>", fact.Name, fact.Value)
		}
		out.line("</dl>")
	}
	for i := range p.Sections {
		out.section(&p.Sections[i])
	}
	out.line("</main>\n<footer>")
	for _, line := range p.Foot {
		out.line("<p>%s</p>", line)
	}
	out.line("</footer>")
	out.raw("<script>" + script + "</script>\n</body>\n</html>\n")
	return out.Flush()
}

// writer writes HTML. After an error it writes nothing, and Flush returns the error.
type writer struct {
	*bufio.Writer
}

// raw writes HTML as it is.
func (w *writer) raw(text string) { _, _ = w.WriteString(text) }

// line writes a line of HTML, formatted as by fmt.Printf. Strings among the arguments are escaped, and
// the blank before a percent sign becomes one at which no line is broken.
func (w *writer) line(format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = html.EscapeString(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), " %", "\u00a0%"))
		}
	}
	fmt.Fprintf(w, format+"\n", args...)
}

// head writes the start of the page. Its content security policy permits only the style and the
// script that the page itself has.
func (w *writer) head(title string) {
	sum := sha256.Sum256([]byte(script))
	policy := "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'"
	w.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	w.line(`<meta http-equiv="Content-Security-Policy" content="%s">`, policy)
	w.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n")
	w.line("<title>%s</title>", title)
	w.raw("<style>" + style + "</style>\n</head>\n<body>\n")
}

// section writes a section; nothing for one without text and parts.
func (w *writer) section(s *Section) {
	if s.Text == "" && len(s.Parts) == 0 {
		return
	}
	w.line("<section><h2>%s</h2>", s.Title)
	if s.Text != "" {
		w.line("<p>%s</p>", s.Text)
	}
	for _, part := range s.Parts {
		part.write(w)
	}
	w.line("</section>")
}
