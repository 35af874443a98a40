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

// Unreadable is what is said of a use in a form that has no meaning. That is not silence.
const Unreadable = "unreadable"

// Preferences returns what a body says of uses of a path, with its query, by their keys:
// "allowed" or "disallowed", for the signal "use" its grade, or Unreadable. A key that is not
// there is unknown. The result is nil if the path may not be fetched.
//
// Lines before the first group are nobody's, so what they say is Unreadable for everybody
// whose own lines say nothing.
func Preferences(body []byte, directive string, uses, chain []string, path string, p Profile) map[string]string {
	if !Decide(Parse(body, p, 0), chain, path, p).Allowed {
		return nil
	}
	groups, before := Statements(body, directive, p, 0)
	statements, _ := statementsFor(groups, chain, p)
	said := make(map[string]string)
	for _, use := range uses {
		value := selected(statements, directive, use, path, p)
		if value == "" && selected(before, directive, use, path, p) != "" {
			value = Unreadable
		}
		if value != "" {
			said[use] = value
		}
	}
	return said
}

// selected returns what the statements that apply to a path say of a use; empty if they say
// nothing.
//
// attach-05 §3.1: the statement with the longest path that matches applies, and one without a
// path is for all paths. Statements of identical paths apply separately. Statements of
// other paths of the same length do so as well: the draft leaves that open.
func selected(statements []Statement, directive, use, path string, p Profile) string {
	longest := 0 // of a statement without a path; one that does not match has -1
	for _, s := range statements {
		longest = max(longest, statementLength(s, path, p))
	}
	combined := ""
	for _, s := range statements {
		if statementLength(s, path, p) == longest {
			combined = mostRestrictive(combined, Stated(directive, s.Value, use))
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
// unknown. What can be read wins over what cannot.
func mostRestrictive(a, b string) string {
	for _, value := range []string{"disallowed", "allowed", "immediate", "reference", "full", Unreadable} {
		if a == value || b == value {
			return value
		}
	}
	return ""
}

// Stated returns what one statement says of a use; empty if it says nothing.
func Stated(directive, statement, use string) string {
	if directive == ContentSignal {
		return statedBySignals(statement, use)
	}
	dictionary, err := httpsfv.UnmarshalDictionary([]string{statement})
	if err != nil {
		return Unreadable
	}
	if member, ok := dictionary.Get(use); ok {
		switch item, _ := member.(httpsfv.Item); item.Value {
		case httpsfv.Token("y"):
			return "allowed"
		case httpsfv.Token("n"):
			return "disallowed"
		}
		return Unreadable
	}
	// The keys of older drafts that were about what the use is about.
	older := map[string][]string{"train-ai": {"train-genai", "ai", "tdm", "bots"}, "ai-use": {"ai", "tdm", "bots"}}
	for _, key := range older[use] {
		member, _ := dictionary.Get(key)
		if item, ok := member.(httpsfv.Item); ok && item.Value == httpsfv.Token("n") {
			return Unreadable
		}
	}
	return ""
}

// statedBySignals returns what a list of signals says of a use.
func statedBySignals(list, use string) string {
	preference := map[string]string{"yes": "allowed", "no": "disallowed"}
	grade := map[string]string{"immediate": "immediate", "reference": "reference", "full": "full"}
	meanings := map[string]map[string]string{"search": preference, "ai-input": preference, "ai-train": preference, "use": grade}
	meaning, known := meanings[use]
	stated := ""
	for _, signal := range strings.Split(list, ",") {
		key, value, _ := strings.Cut(signal, "=")
		key, value = lower(strings.Trim(key, " \t")), lower(strings.Trim(value, " \t"))
		switch {
		case known && key == use && meaning[value] != "":
			stated = mostRestrictive(stated, meaning[value])
		case known && key == use:
			stated = mostRestrictive(stated, Unreadable)
		}
		// Something else than commas and equals signs divides the list.
		if strings.Trim(key, letters+"0123456789-_.*") != "" || strings.Contains(value, "=") {
			stated = mostRestrictive(stated, Unreadable)
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
		case scheme == "" || !isOneOf(scheme[0], letters) || strings.Trim(scheme, letters+"0123456789+-.") != "": // no scheme
		case rest == "" || hasAuthority && isOneOf(rest[0], "/?"): // names nothing: after "//" must come an authority
		case strings.ContainsFunc(rest, func(r rune) bool { return r <= ' ' || r >= 0x7F || strings.ContainsRune("\"<>\\^`{|}", r) }): // a byte that no URI has
		case !slices.Contains(licenses, s.Value):
			licenses = append(licenses, s.Value)
		}
	}
	return licenses
}
