package reference

import "strings"

// blank is the white space that is trimmed from keys and values: space,
// horizontal tab, vertical tab and form feed.
const blank = " \t\v\f"

// googleLine is how many octets of a line Google's parser keeps.
const googleLine = 16663

// File is a parsed body.
type File struct {
	// Groups in file order, not merged.
	Groups []Group
	// Limited says that the size limit ended the reading before the body's end.
	Limited bool
}

// Group is one run of user-agent lines and the rules after it (RFC 9309
// §2.2.1).
type Group struct {
	Agents []Agent
	Rules  []Rule
}

// Agent is one user-agent line.
type Agent struct {
	// Value as written, trimmed; may be empty.
	Value string
	// Line number, from 1.
	Line int
}

// Rule is one allow or disallow line (RFC 9309 §2.2.2).
type Rule struct {
	// Allow is true for allow, false for disallow.
	Allow bool
	// Pattern as written, trimmed; may be empty.
	Pattern string
	// Text is the line as written, trimmed and without comment.
	Text string
	// Line number, from 1.
	Line int
}

// Parse reads a body (RFC 9309 §2.2). It never fails: what is not a
// user-agent, allow or disallow line is passed over. The size limit is in
// octets; less than MinLimit means MinLimit.
func Parse(body []byte, p Profile, limit int) File {
	text, limited := bodyText(body, p, limit)
	file := File{Limited: limited}
	listOpen := false // whether the last such line was a user-agent line
	for i, line := range splitLines(text) {
		line = trimLine(line, p)
		key, value := keyAndValue(line)
		kind := kindOf(key, p)
		if kind == userAgent && !listOpen {
			file.Groups = append(file.Groups, Group{})
		}
		if kind == other || len(file.Groups) == 0 {
			continue // a rule before the first user-agent line is nobody's
		}
		listOpen = kind == userAgent
		group := &file.Groups[len(file.Groups)-1]
		if kind == userAgent {
			group.Agents = append(group.Agents, Agent{Value: value, Line: i + 1})
		} else {
			group.Rules = append(group.Rules, Rule{Allow: kind == allow, Pattern: value, Text: line, Line: i + 1})
		}
	}
	return file
}

// splitLines splits at CR, LF and CRLF, which is one line end.
func splitLines(text string) []string {
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
}

// trimLine gives what counts of a line: up to a NUL, as in a C string, without
// comment and trimmed.
// Google: of an over-long line the beginning.
func trimLine(line string, p Profile) string {
	if p == Google && len(line) > googleLine {
		line = line[:googleLine]
	}
	line, _, _ = strings.Cut(line, "\x00")
	line, _, _ = strings.Cut(line, "#")
	return strings.Trim(line, blank)
}

// keyAndValue splits a trimmed line at its first colon. A line without any
// colon counts when it is exactly two words. No key: the line says nothing.
func keyAndValue(line string) (key, value string) {
	key, value, ok := strings.Cut(line, ":")
	if !ok {
		words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
		if len(words) != 2 {
			return "", ""
		}
		key, value = words[0], words[1]
	}
	return strings.Trim(key, blank), strings.Trim(value, blank)
}

// kind is what a line is about.
type kind int

const (
	other kind = iota
	userAgent
	allow
	disallow
)

// keys are the spellings of the keys that matter, in the order of trial.
var keys = []struct {
	kind     kind
	spelling string
}{
	{userAgent, "user-agent"},
	{userAgent, "useragent"},
	{userAgent, "user agent"},
	{allow, "allow"},
	{disallow, "disallow"},
	{disallow, "dissallow"},
	{disallow, "dissalow"},
	{disallow, "disalow"},
	{disallow, "diasllow"},
	{disallow, "disallaw"},
}

// kindOf finds the kind of a key, whose case does not matter.
// RFC9309: the whole key must be equal to a spelling.
// Google: the key must start with one, so that "disallowed" is a disallow.
func kindOf(key string, p Profile) kind {
	key = lower(key)
	for _, k := range keys {
		if key == k.spelling || p == Google && strings.HasPrefix(key, k.spelling) {
			return k.kind
		}
	}
	return other
}

// lower makes A-Z lower case and leaves every other octet as it is.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
