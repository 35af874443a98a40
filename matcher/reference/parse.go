package reference

import "strings"

// blank is the white space that is trimmed from keys and values: space, horizontal tab,
// vertical tab and form feed.
const blank = " \t\v\f"

// googleLine is the number of bytes of a line Google's parser keeps.
const googleLine = 16663

// File is a parsed body.
type File struct {
	// Groups are in file order, not merged.
	Groups []Group
	// Limited means that the body was cut at the size limit.
	Limited bool
}

// Group is a sequence of user-agent lines and the rules after it (RFC 9309 §2.2.1).
type Group struct {
	Agents []Agent
	Rules  []Rule
}

// Agent is one user-agent line.
type Agent struct {
	// Value is as written, trimmed; it may be empty.
	Value string
	// Line is the line number, from 1.
	Line int
}

// Rule is one allow or disallow line (RFC 9309 §2.2.2).
type Rule struct {
	// Allow is true for allow, false for disallow.
	Allow bool
	// Pattern is as written, trimmed; it may be empty.
	Pattern string
	// Text is the line as written, trimmed and without comment.
	Text string
	// Line is the line number, from 1.
	Line int

	// matched are Pattern, ready to be matched, and what else the rule matches.
	matched []Pattern
}

// Parse parses a body (RFC 9309 §2.2). It never fails: it skips lines that are not
// user-agent, allow or disallow lines. The size limit is in bytes; a limit below minLimit
// means minLimit.
func Parse(body []byte, p Profile, limit int) File {
	text, limited := bodyText(body, p, limit)
	file := File{Limited: limited}
	listOpen := false // the last of these lines was a user-agent line
	for i, line := range splitLines(text) {
		line = trimLine(line, p)
		key, value := keyAndValue(line)
		kind := kindOf(key, p)
		if kind == userAgent && !listOpen {
			file.Groups = append(file.Groups, Group{})
		}
		if kind == other || len(file.Groups) == 0 {
			continue // rules before the first user-agent line are ignored
		}
		listOpen = kind == userAgent
		group := &file.Groups[len(file.Groups)-1]
		if kind == userAgent {
			group.Agents = append(group.Agents, Agent{Value: value, Line: i + 1})
		} else {
			group.Rules = append(group.Rules, Rule{kind == allow, value, line, i + 1, patternsOf(value, kind, p)})
		}
	}
	return file
}

// splitLines splits at CR, LF and CRLF; a CRLF is one line end.
func splitLines(text string) []string { return strings.Split(lineEnds.Replace(text), "\n") }

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// trimLine returns the part of a line that counts: up to a NUL, as in a C string, without
// comment, trimmed.
// Google: an over-long line is cut first.
func trimLine(line string, p Profile) string {
	if p == Google && len(line) > googleLine {
		line = line[:googleLine]
	}
	line, _, _ = strings.Cut(line, "\x00")
	line, _, _ = strings.Cut(line, "#")
	return strings.Trim(line, blank)
}

// keyAndValue splits a trimmed line at its first colon. A line without colon counts if it
// has exactly two words. An empty key means that the line is ignored.
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

// kind is the kind of a line.
type kind int

const (
	other kind = iota
	userAgent
	allow
	disallow
)

// spellings has for each kind of line the spellings of its key that count. None is the start of
// another.
var spellings = map[kind][]string{
	userAgent: {"user-agent", "useragent", "user agent"},
	allow:     {"allow"},
	disallow:  {"disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"},
}

// kindOf returns the kind of a key, ignoring case.
// RFC9309: the whole key must be equal to a spelling. Google: the key must start with one,
// so that "disallowed" is a disallow.
func kindOf(key string, p Profile) kind {
	key = lower(key)
	for kind, known := range spellings {
		for _, spelling := range known {
			if key == spelling || p == Google && strings.HasPrefix(key, spelling) {
				return kind
			}
		}
	}
	return other
}

// lower changes A-Z to lower case and leaves every other byte unchanged.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
