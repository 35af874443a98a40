package lint

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"robotsbatch/matcher/robotstxt"
)

// checker checks a body under a profile. Line numbers are from 1; a position in a line is an
// offset in bytes.
type checker struct {
	file    *robotstxt.File
	profile robotstxt.Profile
	limited bool     // the file is longer than the part that counts
	isText  bool     // not HTML, binary or UTF-16
	ignore  []string // codes
	packed  bool     // only findings about rules are wanted; see Options.Packed
	lines   [][]byte // as written; line n is element n-1
	found   bySeverity
}

// parse parses the part of a body that counts, under c.profile, and adds findings for the parser's
// warnings.
func (c *checker) parse(counted []byte) {
	o := robotstxt.Options{Profile: c.profile, Limit: len(counted), Warn: c.addWarning}
	for _, line := range robotstxt.Lines(robotstxt.Text(counted, o)) {
		c.lines = append(c.lines, line)
	}
	c.file = robotstxt.Parse(counted, o)
}

// add adds a finding at an offset of a line. The message is formatted as by fmt.Sprintf.
func (c *checker) add(code string, line, offset int, format string, args ...any) {
	c.addRelated(code, line, offset, 0, format, args...)
}

// addRelated is add for a finding with a related line; 0 for none.
func (c *checker) addRelated(code string, line, offset, related int, format string, args ...any) {
	// A body that is no text has no rules: the finding that says so is also wanted of a pack.
	if slices.Contains(c.ignore, code) || c.packed && c.isText && !slices.Contains(onRules, code) {
		return
	}
	severity := severityOf(code)
	found := &c.found[severity]
	if found.isBeyond(line) {
		found.more++
		return
	}
	column := 1
	if line <= len(c.lines) && line > 0 {
		text := c.lines[line-1]
		column += utf8.RuneCount(text[:min(offset, len(text))])
	}
	found.add(Finding{
		Line: max(line, 1), Column: column, Code: code, Severity: severity, Message: fmt.Sprintf(format, args...), Related: related,
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

// pairOf splits the content of a line at its first colon; ok is false if it has none.
func pairOf(line []byte) (r pair, ok bool) {
	key, value, ok := bytes.Cut(content(line), []byte(":"))
	r.key, r.keyAt = bytes.TrimRight(key, blanks), indent(line)
	r.value = bytes.TrimLeft(value, blanks)
	r.valueAt = valueAt(line, r.value)
	return r, ok
}

// indent returns the offset of the first byte of a line that is not blank.
func indent(line []byte) int { return len(line) - len(bytes.TrimLeft(line, blanks)) }

// valueAt returns the offset of a record's value, which ends the content of its line.
func valueAt(line, value []byte) int { return max(0, indent(line)+len(content(line))-len(value)) }

// quote quotes a text for a message. Unprintable bytes become escapes such as \x01, and a text
// of more than 60 characters is cut and marked.
func quote(text []byte) string {
	const most = 60 // characters
	characters := 0
	for at := range string(text) {
		if characters++; characters > most {
			quoted := fmt.Sprintf("%q", text[:at])
			return strings.TrimSuffix(quoted, `"`) + `…"`
		}
	}
	return fmt.Sprintf("%q", text)
}
