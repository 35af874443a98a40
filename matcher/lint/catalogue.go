package lint

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// catalogue is the text that the manual and the tests come from.
//
//go:embed catalogue.md
var catalogue string

// Code is a kind of finding.
type Code struct {
	// Name is what outputs write, such as missing-slash.
	Name string
	// Severity is how grave it is.
	Severity Severity
	// Text says what it is about, in Markdown.
	Text string
	// Bad has such a finding, and Good is the same without.
	Bad, Good []byte
	// Section is all that the catalogue says of it, in Markdown.
	Section string
}

// Summary is the first sentence of Text.
func (c *Code) Summary() string {
	summary, _, _ := strings.Cut(strings.Join(strings.Fields(c.Text), " "), ". ")
	return strings.TrimSuffix(summary, ".") + "."
}

// Codes are all codes, in the order of the catalogue.
var Codes = sync.OnceValue(func() []Code {
	var codes []Code
	for _, section := range strings.Split(catalogue, "\n## ")[1:] {
		code, err := parseCode(section)
		if err != nil {
			panic(err) // a test reads the text, too
		}
		codes = append(codes, code)
	}
	return codes
})

var severities = sync.OnceValue(func() map[string]Severity {
	m := make(map[string]Severity)
	for _, code := range Codes() {
		m[code.Name] = code.Severity
	}
	return m
})

// severityOf is the severity of a code, which must be in the catalogue.
func severityOf(name string) Severity {
	severity, ok := severities()[name]
	if !ok {
		panic("lint: the catalogue does not have " + name)
	}
	return severity
}

// parseSeverity reads a severity as String writes it.
func parseSeverity(name string) (Severity, bool) {
	for i, n := range severityNames {
		if n == name {
			return Severity(i), true
		}
	}
	return 0, false
}

// parseCode reads a section of the catalogue, which begins with "name: severity".
func parseCode(section string) (c Code, err error) {
	title, text, _ := strings.Cut(section, "\n")
	name, severity, _ := strings.Cut(title, ": ")
	var ok bool
	if c.Severity, ok = parseSeverity(severity); !ok {
		return c, fmt.Errorf("lint: %s: severity %q", name, severity)
	}
	c.Name, c.Section = name, "## "+strings.TrimRight(section, "\n")+"\n"
	about, examples, _ := strings.Cut(text, "\nBad:\n")
	bad, good, found := strings.Cut(examples, "\nGood:\n")
	if !found {
		return c, fmt.Errorf("lint: %s: no examples", name)
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

// repeat is a repeated text, by what one of these expressions found.
func repeat(found []string, end string) string {
	times, _ := strconv.Atoi(strings.ReplaceAll(found[2], ",", ""))
	return strings.Repeat(found[1]+end, times)
}

// example reads an indented example, in which \xFF is a byte, "(× 1,000)" at the end of a
// line repeats the line, and "{a × 10}" a text.
func example(text string) ([]byte, error) {
	var body []byte
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		line = strings.TrimPrefix(strings.TrimRight(line, "\n"), "    ")
		line = repeatedText.ReplaceAllStringFunc(line, func(s string) string { return repeat(repeatedText.FindStringSubmatch(s), "") })
		unescaped, err := strconv.Unquote(`"` + strings.ReplaceAll(line, `"`, `\"`) + `"`)
		if err != nil {
			return nil, fmt.Errorf("lint: %q: %w", line, err)
		}
		if found := repeatedLine.FindStringSubmatch(unescaped); found != nil {
			unescaped = strings.TrimSuffix(repeat(found, "\n"), "\n")
		}
		body = append(append(body, unescaped...), '\n')
	}
	return body, nil
}
