package lint

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"robotsbatch/matcher/robotstxt"
)

// checker checks a body under a profile.
type checker struct {
	file    *robotstxt.File
	profile robotstxt.Profile
	limited bool // the file is longer than the part that counts
	isText  bool // not HTML, binary or UTF-16
	lines   [][]byte
	report  Report
}

func newChecker(counted []byte, p robotstxt.Profile, limited bool) *checker {
	o := robotstxt.Options{Profile: p, Limit: len(counted)}
	c := &checker{file: robotstxt.Parse(counted, o), profile: p, limited: limited, isText: true}
	for _, line := range robotstxt.Lines(robotstxt.Text(counted, o)) {
		c.lines = append(c.lines, line)
	}
	return c
}

// add adds a finding at a byte of a line; 0 is the start of the line.
func (c *checker) add(code string, line, at int, format string, args ...any) {
	c.addRelated(code, line, at, 0, format, args...)
}

func (c *checker) addRelated(code string, line, at, related int, format string, args ...any) {
	if len(c.report.Findings) == maxFound {
		c.report.More++
		return
	}
	column := 1
	if line <= len(c.lines) && line > 0 {
		text := c.lines[line-1]
		column += utf8.RuneCount(text[:min(at, len(text))])
	}
	c.report.Findings = append(c.report.Findings, Finding{
		Line: max(line, 1), Column: column, Code: code, Severity: severityOf(code), Message: fmt.Sprintf(format, args...), Related: related,
	})
}

// content returns the part of a line that counts: without comment and anything after a NUL,
// trimmed.
func content(line []byte) []byte {
	if i := bytes.IndexAny(line, "\x00#"); i >= 0 {
		line = line[:i]
	}
	return bytes.Trim(line, blanks)
}

const blanks = " \t\v\f"

// pair is a line with a colon.
type pair struct {
	key, value []byte // trimmed
	// keyAt and valueAt are offsets in the line.
	keyAt, valueAt int
}

// pairOf splits a line at its first colon; ok is false if it has none.
func pairOf(line []byte) (r pair, ok bool) {
	text := content(line)
	key, value, ok := bytes.Cut(text, []byte(":"))
	start := len(line) - len(bytes.TrimLeft(line, blanks))
	r.key, r.keyAt = bytes.TrimRight(key, blanks), start
	r.value = bytes.TrimLeft(value, blanks)
	r.valueAt = start + len(text) - len(r.value)
	return r, ok
}

// valueAt returns the offset of a record's value in its line, with or without colon.
func valueAt(line, value []byte) int {
	start := len(line) - len(bytes.TrimLeft(line, blanks))
	return max(0, start+len(content(line))-len(value))
}

// quote quotes a text for a message. Unprintable bytes become \xFF, and a long text is cut.
func quote(text []byte) string {
	const most = 60 // characters
	cut := ""
	if utf8.RuneCount(text) > most {
		end := 0
		for range most {
			_, size := utf8.DecodeRune(text[end:])
			end += size
		}
		text, cut = text[:end], "…"
	}
	quoted := fmt.Sprintf("%q", text)
	return quoted[:len(quoted)-1] + cut + `"`
}
