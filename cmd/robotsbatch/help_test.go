package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/store/must"
)

// Each flag of a command is in its help once, and says where its value goes.
func TestOptions(t *testing.T) {
	for _, c := range program.All() {
		help := program.Help(c)
		for _, o := range c.New().Flags() {
			n := len(regexp.MustCompile(`(?m)^  -`+o.Name+`( |$)`).FindAllString(help, -1))
			must.Be(t, n == 1, "%s: -%s is in the help %d times", c.Name, o.Name, n)
			switch bound := o.Value.(type) {
			case *bool:
				must.Equal(t, o.Argument, "", "-", o.Name, "is a boolean: its argument")
			case *string, func(string) error, cli.Choice:
				must.Be(t, o.Argument != "", "-%s has no name for its value", o.Name)
			default:
				t.Errorf("-%s goes to a %T", o.Name, bound)
			}
			must.Be(t, o.Short != "" && !strings.HasSuffix(o.Short, ".") && (o.More == "" || strings.HasSuffix(o.More, ".")) && slices.Contains(program.Topics, o.Topic),
				"-%s: %q, %q, %q", o.Name, o.Short, o.More, o.Topic)
			if choice, ok := o.Value.(cli.Choice); ok {
				for _, word := range choice.Words {
					if fresh := c.New().Flags().Only(o.Name)[0].Value.(cli.Choice); fresh.Set(word) != nil {
						t.Errorf("-%s does not take %s", o.Name, word)
					}
				}
			}
		}
	}
}

// A flag that takes one value cannot be given two.
func TestOptionsOnce(t *testing.T) {
	values := map[string]string{
		"max-line": "2KiB", "robots-limit": "600KiB", "as-of": "2026-03-01", "max-age": "1h", "limit": "1", "max-invalid": "1", "max-no-robots": "1", "workers": "1", "batch-rows": "1", "partitions": "1",
		"memory": "64MiB", "delimiter": ";", "store-timeout": "1m", "ignore": "dead-rule", "with": "age", "for": "a.example",
	}
	ignore := func(*cli.Flag, string) {}
	for _, c := range program.All() {
		for _, o := range c.New().Flags() {
			arg := "-" + o.Name
			if o.Argument != "" {
				value := values[o.Name]
				if choice, ok := o.Value.(cli.Choice); ok && value == "" {
					value = choice.Words[0]
				}
				if value == "" {
					value = "x"
				}
				arg += "=" + value
			}
			if _, err := c.New().Flags().Parse([]string{arg}, ignore); err != nil {
				t.Errorf("%s: %v", c.Name, err)
			}
			_, err := c.New().Flags().Parse([]string{arg, arg}, ignore)
			twice := err != nil && strings.Contains(err.Error(), "can be given once") && errors.As(err, new(*option.UsageError))
			must.Be(t, twice != o.Repeat, "%s %s twice: %v", c.Name, arg, err)
		}
	}
}

func TestHelpFits(t *testing.T) {
	texts := []string{program.ShortHelp()}
	n := strings.Count(texts[0], "\n")
	must.Be(t, n <= 40, "the short help has %d lines", n)
	first, _, _ := strings.Cut(program.Help(program.Main), "Rarely needed:")
	n = strings.Count(first, "\n  -")
	must.Be(t, n <= 25, "%d flags stand before those that are rarely needed", n)
	for _, c := range program.All() {
		texts = append(texts, program.Help(c))
	}
	for _, text := range texts {
		for line := range strings.Lines(text) {
			must.Be(t, len([]rune(line)) <= 81, "%d characters: %s", len([]rune(line)), line)
		}
	}
}

// The shells that are there take their completions.
func TestCompletions(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		text := program.Texts()[shell]()
		for _, name := range program.Names() {
			must.Be(t, regexp.MustCompile(`-(o )?`+name+`\b`).MatchString(text), "%s: there is no -%s", shell, name)
		}
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		file := filepath.Join(t.TempDir(), "completion")
		writeText(t, file, text)
		out, err := exec.Command(shell, "-n", file).CombinedOutput()
		must.Be(t, err == nil, "%s: %v: %s", shell, err, out)
	}
	if _, err := exec.LookPath("bash"); err == nil {
		file := filepath.Join(t.TempDir(), "completion")
		writeText(t, file, program.Texts()["bash"]())
		out, err := exec.Command("bash", "-c", fmt.Sprintf(`source %s; COMP_WORDS=(robotsbatch -emit d); COMP_CWORD=2; _robotsbatch; echo "${COMPREPLY[@]}"`, file)).Output()
		must.Equal(t, string(out), "denied\n", "-emit d is completed to", err)
	}
}

func writeText(t *testing.T, name, text string) {
	t.Helper()
	must.Do(t, os.WriteFile(name, []byte(text), 0o666))
}

// The manual page has every flag, and nothing that groff would take for a request.
func TestManPage(t *testing.T) {
	page := program.Texts()["man"]()
	for _, name := range program.Names() {
		must.Be(t, strings.Contains(page, `\fB\-`+strings.ReplaceAll(name, "-", `\-`)+`\fR`), "there is no -%s", name)
	}
	for line := range strings.Lines(page) {
		must.Be(t, !strings.HasPrefix(line, ".") || regexp.MustCompile(`^\.(TH|SH|TP|PP|nf|fi)( |$)`).MatchString(strings.TrimSpace(line)),
			"a line that groff takes for a request: %s", line)
	}
}

// TestOptionsAreFlags: every option that a library's message may name is a flag.
func TestOptionsAreFlags(t *testing.T) {
	source := must.Get(os.ReadFile("../../batch/option/option.go"))(t)
	names := regexp.MustCompile(`(?m)^\t\w+ +Name = "(.*)"$`).FindAllSubmatch(source, -1)
	must.Need(t, len(names) >= 20, "found %d options", len(names))
	for _, name := range names {
		must.Be(t, slices.Contains(program.Names(), string(name[1])), "there is no flag for the option %s", name[1])
	}
}
