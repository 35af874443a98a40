// Package agentlist reads lists of agents. A list has a chain of product tokens per line,
// or is JSON like the list of https://github.com/ai-robots-txt: an object whose keys are
// the agents, with their functions.
package agentlist

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"robotsbatch/matcher"
)

const (
	// MaxSize is the number of bytes that a list may have: 1 MiB.
	MaxSize = 1 << 20
	// maxAgents is the number of agents that a list may have.
	maxAgents = 10_000
)

// Parse parses a list. It skips empty lines, lines that start with "#", and the rest of a
// line from a blank and "#" on. Each other line is a chain as matcher.ParseChain reads it.
// A line, and a key of JSON, may also be the value of a user-agent line: "iaskspider/2.0" and
// "Kangaroo Bot" mean iaskspider and Kangaroo. An agent that is repeated, in whatever case,
// counts once. An error names the first bad lines or keys.
func Parse(text []byte) ([]Agent, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("it has more than %d MiB, which is no list of agents", MaxSize>>20)
	}
	if bytes.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }) { // such as a NUL
		return nil, errors.New("it is not text: write the agents in a text file, one a line")
	}
	l := list{seen: make(map[string]bool)}
	var err error
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		err = l.addJSON(text)
	} else {
		err = l.addLines(string(text))
	}
	switch {
	case err != nil:
		return nil, err
	case len(l.agents) == 0:
		return nil, errors.New("it has no agents: write one a line, such as GPTBot")
	case len(l.agents) > maxAgents:
		return nil, fmt.Errorf("it has %d agents, and %d is the most", len(l.agents), maxAgents)
	}
	return l.agents, nil
}

// Agent is an agent of a list.
type Agent struct {
	Chain matcher.Chain
	// Class is what the list says of its function, such as "AI Assistants"; empty for nothing.
	Class string
}

// list collects agents, each once.
type list struct {
	agents []Agent
	seen   map[string]bool
}

// add adds an agent, unless its chain is there already, in whatever case.
func (l *list) add(chain matcher.Chain, class string) {
	key := strings.ToLower(chain.String())
	if !l.seen[key] {
		l.seen[key] = true
		l.agents = append(l.agents, Agent{chain, class})
	}
}

// addLines adds the chains of a text, one a line. The error names the bad lines.
func (l *list) addLines(text string) error {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	var bad []error
	for i, line := range strings.Split(text, "\n") {
		number := i + 1
		if line = withoutComment(line); line == "" {
			continue
		}
		if key, _, ok := strings.Cut(line, ":"); ok && strings.EqualFold(strings.TrimSpace(key), "user-agent") {
			bad = append(bad, fmt.Errorf("line %d is a line of a robots.txt: write the agents alone, one a line", number))
			continue
		}
		chain, err := parse(line, ",();") // of a list of names, or of a User-Agent header
		if err != nil {
			bad = append(bad, fmt.Errorf("line %d: %w", number, err))
			continue
		}
		l.add(chain, "")
	}
	return joined(bad)
}

// shownBad is the number of bad lines or keys that are named.
const shownBad = 3

// joined returns an error, on one line, of the first shownBad of these and the number of the others; nil
// for none.
func joined(all []error) (err error) {
	if more := len(all) - shownBad; more > 0 {
		all = append(all[:shownBad], fmt.Errorf("and %d more", more))
	}
	for _, next := range all {
		if err != nil {
			next = fmt.Errorf("%w; %w", err, next)
		}
		err = next
	}
	return err
}

// parse returns the agents of a line, which is a chain or the value of a user-agent line, such as
// "iaskspider/2.0" or "Kangaroo Bot", of which the first word counts. A line with any of the bytes in
// notInValue must be a chain; if it is none, the error is that of matcher.ParseChain.
func parse(line, notInValue string) (matcher.Chain, error) {
	refused := fmt.Errorf("%q is no product token: write the agents alone, one a line, such as GPTBot", line)
	if strings.ContainsAny(line, foreignMarks) || strings.ContainsFunc(line, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return nil, refused
	}
	chain, err := matcher.ParseChain(line)
	if err == nil || strings.ContainsAny(line, notInValue) {
		return chain, err
	}
	token, _, _ := strings.Cut(line, "/")
	words := strings.Fields(token)
	switch {
	case len(words) == 0 || strings.EqualFold(words[0], "Mozilla"):
		return nil, err // a browser's header: the error names the token in it, which is not its first word
	case !strings.ContainsFunc(words[0], unicode.IsLetter), strings.HasSuffix(words[0], ":"):
		return nil, refused // a list's mark, such as - or 1., a URL, or a key and its value
	}
	return matcher.ParseChain(words[0])
}

// foreignMarks are bytes of other notations, such as YAML and HTML. No group is for an agent with one.
const foreignMarks = "\"'`#<>[]{}"

// withoutComment returns a line without its comment, trimmed.
func withoutComment(line string) string {
	line = " " + strings.TrimSpace(line) // so that a # at its start follows a blank as well
	for _, mark := range []string{" #", "\t#"} {
		line, _, _ = strings.Cut(line, mark)
	}
	return strings.TrimSpace(line)
}

// addJSON adds the agents that are the keys of an object, in their order, each with the class or the
// function that its value names. The error names the bad keys, or says that the JSON is broken.
func (l *list) addJSON(text []byte) error {
	var bad []error
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil { // the brace
		return fmt.Errorf("the JSON is broken: %w", err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return fmt.Errorf("the JSON is broken: %w", err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return fmt.Errorf("the JSON is broken after the key %q: %w", key, err)
		}
		name := key.(string)                              // keys are strings
		chain, err := parse(strings.TrimSpace(name), ",") // a key is one agent, so that a comma makes it bad
		switch {
		case value[0] == '[': // a list of agents, and its key is none
			bad = append(bad, fmt.Errorf("the key %q has a list: make each agent a key, with an object or a text", name))
			continue
		case err != nil || len(chain) > 1:
			bad = append(bad, fmt.Errorf("the key %q names no agent", name))
			continue
		}
		var described struct{ Class, Function string }
		_ = json.Unmarshal(value, &described) // a value of another form leaves it empty
		l.add(chain, strings.TrimSpace(cmp.Or(described.Class, described.Function)))
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("the JSON is broken: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the JSON goes on after its object")
	}
	return joined(bad)
}
