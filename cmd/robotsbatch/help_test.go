package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func printed(print func(io.Writer)) string {
	var b strings.Builder
	print(&b)
	return b.String()
}

// Each flag of a command is in its help once, and says where its value goes.
func TestOptions(t *testing.T) {
	for _, c := range allCommands() {
		help := printed(c.help)
		fs := newFlagSet(c, newConfig()) // which panics at a name that is there twice
		for i := range options {
			o := &options[i]
			if o.commands&c.set == 0 {
				continue
			}
			if fs.Lookup(o.name) == nil {
				t.Errorf("%s does not take -%s", c.name, o.name)
			}
			if n := len(regexp.MustCompile(`(?m)^  -`+o.name+`( |$)`).FindAllString(help, -1)); n != 1 {
				t.Errorf("%s: -%s is in the help %d times", c.name, o.name, n)
			}
		}
	}
	for i := range options {
		o := &options[i]
		switch bound := o.bind(newConfig()).(type) {
		case *bool:
			if o.argument != "" {
				t.Errorf("-%s takes a %s and is a boolean", o.name, o.argument)
			}
		case *string, func(string) error:
			if o.argument == "" {
				t.Errorf("-%s has no name for its value", o.name)
			}
		default:
			t.Errorf("-%s goes to a %T", o.name, bound)
		}
		if o.short == "" || strings.HasSuffix(o.short, ".") || o.more != "" && !strings.HasSuffix(o.more, ".") || !slices.Contains(topics, o.topic) {
			t.Errorf("-%s: %q, %q, %q", o.name, o.short, o.more, o.topic)
		}
		for _, word := range o.words {
			if set, ok := o.bind(newConfig()).(func(string) error); !ok || set(word) != nil {
				t.Errorf("-%s does not take %s", o.name, word)
			}
		}
	}
}

// A flag that takes one value cannot be given two.
func TestOptionsOnce(t *testing.T) {
	values := map[string]string{
		"max-line": "2KiB", "robots-limit": "600KiB", "as-of": "2026-03-01", "max-age": "1h", "max-invalid": "1", "workers": "1", "batch-rows": "1",
		"memory": "64MiB", "delimiter": ";", "store-timeout": "1m", "with": "age",
	}
	for _, c := range allCommands() {
		for i := range options {
			o := &options[i]
			if o.commands&c.set == 0 {
				continue
			}
			arg := "-" + o.name
			if o.argument != "" {
				value := values[o.name]
				if value == "" && o.words != nil {
					value = o.words[0]
				}
				if value == "" {
					value = "x"
				}
				arg += "=" + value
			}
			if err := parseFlags(newFlagSet(c, newConfig()), []string{arg}); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			err := parseFlags(newFlagSet(c, newConfig()), []string{arg, arg})
			if twice := err != nil && strings.Contains(err.Error(), "can be given once") && isUsage(err); twice == o.repeat {
				t.Errorf("%s %s twice: %v", c.name, arg, err)
			}
		}
	}
}

func TestHelpFits(t *testing.T) {
	texts := []string{printed(shortHelp)}
	if n := strings.Count(texts[0], "\n"); n > 40 {
		t.Errorf("the short help has %d lines", n)
	}
	for _, c := range allCommands() {
		texts = append(texts, printed(c.help))
	}
	for _, text := range texts {
		for line := range strings.Lines(text) {
			if len([]rune(line)) > helpWidth+1 {
				t.Errorf("%d characters: %s", len([]rune(line)), line)
			}
		}
	}
}

// The shells that are there take their completions.
func TestCompletions(t *testing.T) {
	for shell, print := range map[string]func(io.Writer){"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion} {
		text := printed(print)
		for i := range options {
			if !regexp.MustCompile(`-(o )?` + options[i].name + `\b`).MatchString(text) {
				t.Errorf("%s: there is no -%s", shell, options[i].name)
			}
		}
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		file := filepath.Join(t.TempDir(), "completion")
		writeText(t, file, text)
		if out, err := exec.Command(shell, "-n", file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", shell, err, out)
		}
	}
	if _, err := exec.LookPath("bash"); err == nil {
		file := filepath.Join(t.TempDir(), "completion")
		writeText(t, file, printed(bashCompletion))
		out, err := exec.Command("bash", "-c", fmt.Sprintf(`source %s; COMP_WORDS=(robotsbatch -emit d); COMP_CWORD=2; _robotsbatch; echo "${COMPREPLY[@]}"`, file)).Output()
		if string(out) != "denied\n" {
			t.Errorf("-emit d is completed to %q, %v", out, err)
		}
	}
}

func writeText(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// The manual page has every flag, and nothing that groff would take for a request.
func TestManPage(t *testing.T) {
	page := printed(manPage)
	for i := range options {
		if !strings.Contains(page, `\fB\-`+strings.ReplaceAll(options[i].name, "-", `\-`)+`\fR`) {
			t.Errorf("there is no -%s", options[i].name)
		}
	}
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, ".") && !regexp.MustCompile(`^\.(TH|SH|TP|PP|nf|fi)( |$)`).MatchString(strings.TrimSpace(line)) {
			t.Errorf("a line that groff takes for a request: %s", line)
		}
	}
}
