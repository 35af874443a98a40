package reference

import (
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"
)

// The directives about the use of what is fetched, by their keys in lower case.
const (
	ContentUsage  = "content-usage"
	ContentSignal = "content-signal"
	license       = "license"
)

// Statement is one line of a directive.
type Statement struct {
	// Path is as written; it is empty if the line has none.
	Path string
	// Value is what follows the path.
	Value string
	// Line is the line number, from 1.
	Line int
}

// StatementGroup is a group with its statements of a directive.
type StatementGroup struct {
	Agents     []Agent
	Statements []Statement
}

// Statements parses the statements of a directive: those of each group, and those before
// the first group.
//
// draft-ietf-aipref-attach-05 §3: a Content-Usage line is a rule of its group, like allow
// and disallow. So it ends a list of user-agent lines. The lines of the other directives do
// not: RFC 9309 §2.2.4.
func Statements(body []byte, directive string, p Profile, limit int) (groups []StatementGroup, before []Statement) {
	text, _ := bodyText(body, p, limit)
	listOpen := false // no rule came after the last user-agent line
	for i, line := range splitLines(text) {
		line = trimLine(line, p)
		key, value := keyAndValue(line)
		if lower(key) == directive && strings.Contains(line, ":") {
			statement := splitStatement(directive, value)
			statement.Line = i + 1
			if len(groups) == 0 {
				before = append(before, statement)
				continue
			}
			group := &groups[len(groups)-1]
			group.Statements = append(group.Statements, statement)
			if directive == ContentUsage {
				listOpen = false
			}
			continue
		}
		switch kindOf(key, p) {
		case userAgent:
			if !listOpen {
				groups = append(groups, StatementGroup{})
				listOpen = true
			}
			group := &groups[len(groups)-1]
			group.Agents = append(group.Agents, Agent{Value: value, Line: i + 1})
		case allow, disallow:
			listOpen = false
		}
	}
	return groups, before
}

// splitStatement splits a value. attach-05 §3.2: there is a path if the first character is
// a slash; it ends before the first space or tab, and the rest is the statement.
func splitStatement(directive, value string) Statement {
	if directive == license || !strings.HasPrefix(value, "/") {
		return Statement{Value: value}
	}
	end := strings.IndexAny(value, " \t")
	if end < 0 {
		end = len(value)
	}
	return Statement{Path: value[:end], Value: strings.Trim(value[end:], " \t")}
}

// statementsFor merges the statements of all groups of the first name of a chain that has a
// group, else of the groups for everyone. found reports whether there is a group.
func statementsFor(groups []StatementGroup, chain []string, p Profile) (statements []Statement, found bool) {
	for _, name := range append(chain[:len(chain):len(chain)], everyone) {
		for _, group := range groups {
			if slices.ContainsFunc(group.Agents, func(a Agent) bool { return concerns(a.Value, name, p) }) {
				statements = append(statements, group.Statements...)
				found = true
			}
		}
		if found {
			break
		}
	}
	return statements, found
}

// Preferences returns what a body says of the uses of a path, with its query, by their
// keys: "allowed" or "disallowed", and for the signal "use" its grade. A key that is not
// there is unknown. The result is nil if the path may not be fetched.
//
// attach-05 §3.1: the longest path that matches selects the statement, and a line without a
// path is for all paths. Statements of identical paths apply separately. Statements of
// other paths of the same length do so as well: the draft leaves that open.
func Preferences(body []byte, directive string, chain []string, path string, p Profile) map[string]string {
	if !Decide(Parse(body, p, 0), chain, path, p).Allowed {
		return nil
	}
	groups, _ := Statements(body, directive, p, 0)
	statements, _ := statementsFor(groups, chain, p)
	longest := 0
	for _, s := range statements {
		longest = max(longest, statementLength(s, path, p))
	}
	combined := make(map[string]string)
	for _, s := range statements {
		if statementLength(s, path, p) != longest {
			continue
		}
		for key, value := range Stated(directive, s.Value) {
			combined[key] = mostRestrictive(combined[key], value)
		}
	}
	return combined
}

// statementLength returns the length of the statement's path if it matches, 0 if it has no
// path, and -1 if it does not match.
func statementLength(s Statement, path string, p Profile) int {
	if s.Path == "" {
		return 0
	}
	if pattern := NewPattern(s.Path, p); pattern.Match(NewPath(path, p)) {
		return pattern.Length()
	}
	return -1
}

// mostRestrictive combines two values of a key (vocab-08 §5.1). Either may be empty:
// unknown.
func mostRestrictive(a, b string) string {
	for _, value := range []string{"disallowed", "allowed", "immediate", "reference", "full"} {
		if a == value || b == value {
			return value
		}
	}
	return ""
}

// Stated returns what one statement says, by key.
func Stated(directive, statement string) map[string]string {
	if directive == ContentSignal {
		return statedBySignals(statement)
	}
	dictionary, err := httpsfv.UnmarshalDictionary([]string{statement})
	if err != nil {
		return nil
	}
	stated := make(map[string]string)
	for _, key := range dictionary.Names() {
		member, _ := dictionary.Get(key)
		item, ok := member.(httpsfv.Item)
		switch {
		case ok && item.Value == httpsfv.Token("y"):
			stated[key] = "allowed"
		case ok && item.Value == httpsfv.Token("n"):
			stated[key] = "disallowed"
		}
	}
	return stated
}

// statedBySignals returns what a list of signals says.
func statedBySignals(list string) map[string]string {
	preference := map[string]string{"yes": "allowed", "no": "disallowed"}
	grade := map[string]string{"immediate": "immediate", "reference": "reference", "full": "full"}
	meanings := map[string]map[string]string{"search": preference, "ai-input": preference, "ai-train": preference, "use": grade}
	stated := make(map[string]string)
	for _, signal := range strings.Split(list, ",") {
		key, value, _ := strings.Cut(signal, "=")
		key, value = lower(strings.Trim(key, " \t")), lower(strings.Trim(value, " \t"))
		if meaning := meanings[key][value]; meaning != "" {
			stated[key] = mostRestrictive(stated[key], meaning)
		}
	}
	return stated
}

// Licenses returns the licences of a chain: those of its groups, else those before all
// groups (RSL 1.0 §4.4).
func Licenses(body []byte, chain []string, p Profile) []string {
	groups, before := Statements(body, license, p, 0)
	own, _ := statementsFor(groups, chain, p)
	if licenses := absolute(own); licenses != nil {
		return licenses
	}
	return absolute(before)
}

// absolute returns the values that are absolute URIs, each once.
func absolute(statements []Statement) (licenses []string) {
	for _, s := range statements {
		scheme, rest, _ := strings.Cut(s.Value, ":")
		rest, hasAuthority := strings.CutPrefix(rest, "//")
		switch {
		case scheme == "" || !isOneOf(scheme[0], letters) || strings.Trim(scheme, letters+"0123456789+-.") != "":
		case rest == "" || hasAuthority && isOneOf(rest[0], "/?"):
		case strings.ContainsFunc(rest, func(r rune) bool { return r <= ' ' || r >= 0x7F || strings.ContainsRune("\"<>\\^`{|}", r) }):
		case !slices.Contains(licenses, s.Value):
			licenses = append(licenses, s.Value)
		}
	}
	return licenses
}
