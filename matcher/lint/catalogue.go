package lint

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"robotsbatch/matcher/spelling"
)

// catalogue is the text from which the manual and the tests are made.
//
//go:embed catalogue.md
var catalogue string

// Code is a kind of finding.
type Code struct {
	// Name is how outputs write it, such as missing-slash.
	Name string
	// Severity is how grave it is.
	Severity Severity
	// Text is the description, in Markdown.
	Text string
	// Bad is a body with such a finding, Good the same body without.
	Bad, Good []byte
	// Section is its whole section of the catalogue, in Markdown.
	Section string
}

// Summary returns the first sentence of Text.
func (c *Code) Summary() string {
	summary, _, _ := strings.Cut(strings.Join(strings.Fields(c.Text), " "), ". ")
	return strings.TrimSuffix(summary, ".") + "."
}

// Codes returns all codes, in the order of the catalogue.
var Codes = sync.OnceValue(func() []Code {
	var codes []Code
	for _, section := range strings.Split(catalogue, "\n## ")[1:] {
		code, err := parseCode(section)
		if err != nil {
			panic(err) // the tests parse the catalogue too, so this cannot happen
		}
		codes = append(codes, code)
	}
	return codes
})

// severityOf returns the severity of a code; it panics if the catalogue does not have the code.
func severityOf(name string) Severity {
	return Codes()[slices.IndexFunc(Codes(), func(c Code) bool { return c.Name == name })].Severity
}

// parseCode parses a section of the catalogue without its "## ": a title "name: severity", the
// description, and two indented examples after the lines "Bad:" and "Good:".
func parseCode(section string) (c Code, err error) {
	title, text, _ := strings.Cut(section, "\n")
	name, severity, _ := strings.Cut(title, ": ")
	rank := slices.Index(severityNames[:], severity)
	if rank < 0 {
		return c, fmt.Errorf("%s: severity %q", name, severity)
	}
	c.Name, c.Severity, c.Section = name, Severity(rank), "## "+strings.TrimRight(section, "\n")+"\n"
	about, examples, _ := strings.Cut(text, "\nBad:\n")
	bad, good, found := strings.Cut(examples, "\nGood:\n")
	if !found {
		return c, fmt.Errorf("%s: no examples", name)
	}
	c.Text = strings.TrimSpace(about)
	if c.Bad, err = example(bad); err == nil {
		c.Good, err = example(good)
	}
	return c, err
}

var (
	repeatedLine = regexp.MustCompile(`^(.*) \(× ([0-9,]+)\)$`)
	repeatedText = regexp.MustCompile(`\{([^{}]*) × ([0-9,]+)\}`)
)

// repeat expands a match of one of these expressions, given by its submatches: it returns the text
// with end after it, the given number of times.
func repeat(match []string, end string) string {
	times, _ := strconv.Atoi(strings.ReplaceAll(match[2], ",", "")) // the expression has digits and commas
	return strings.Repeat(match[1]+end, times)
}

// example decodes an indented example. In it, \xFF is a byte, "(× 1,000)" at the end of a
// line repeats the line, and "{a × 10}" repeats a text.
func example(text string) ([]byte, error) {
	var body []byte
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		line = strings.TrimPrefix(strings.TrimRight(line, "\n"), "    ")
		line = repeatedText.ReplaceAllStringFunc(line, func(s string) string { return repeat(repeatedText.FindStringSubmatch(s), "") })
		unescaped, err := strconv.Unquote(`"` + strings.ReplaceAll(line, `"`, `\"`) + `"`)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		if found := repeatedLine.FindStringSubmatch(unescaped); found != nil {
			unescaped = strings.TrimSuffix(repeat(found, "\n"), "\n")
		}
		body = append(append(body, unescaped...), '\n')
	}
	return body, nil
}

// CodeNames returns the names of all codes, in the order of the catalogue.
func CodeNames() []string {
	var names []string
	for _, code := range Codes() {
		names = append(names, code.Name)
	}
	return names
}

// CheckCode returns an error for a name that no code has. It suggests a similar name.
func CheckCode(name string) error {
	names := CodeNames()
	if slices.Contains(names, name) {
		return nil
	}
	if near := spelling.Nearest(name, names); near != "" {
		return fmt.Errorf("there is no such code: did you mean %s?", near)
	}
	return errors.New("there is no such code; robotsbatch help lint lists them")
}
