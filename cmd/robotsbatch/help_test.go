package main

import (
	"bytes"
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
			case *string, *[]string, func(string) error, cli.Choice:
				must.Be(t, o.Argument != "", "-%s has no name for its value", o.Name)
			default:
				t.Errorf("-%s goes to a %T", o.Name, bound)
			}
			must.Be(t, o.Short != "" && !strings.HasSuffix(o.Short, ".") && (o.More == "" || strings.HasSuffix(o.More, ".")) && slices.Contains(program.Topics, o.Topic),
				"-%s: %q, %q, %q", o.Name, o.Short, o.More, o.Topic)
			if choice, ok := o.Value.(cli.Choice); ok {
				for _, word := range choice.Words {
					fresh := c.New().Flags().Only(o.Name)[0].Value.(cli.Choice)
					must.Be(t, fresh.Set(word) == nil, "-%s does not take %s", o.Name, word)
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
			_, err := c.New().Flags().Parse([]string{arg}, ignore)
			must.Be(t, err == nil, "%s: %v", c.Name, err)
			_, err = c.New().Flags().Parse([]string{arg, arg}, ignore)
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
		must.WriteFile(t, file, text)
		out, err := exec.Command(shell, "-n", file).CombinedOutput()
		must.Be(t, err == nil, "%s: %v: %s", shell, err, out)
	}
	if _, err := exec.LookPath("bash"); err == nil {
		file := filepath.Join(t.TempDir(), "completion")
		must.WriteFile(t, file, program.Texts()["bash"]())
		out, err := exec.Command("bash", "-c", fmt.Sprintf(`source %s; COMP_WORDS=(robotsbatch -emit d); COMP_CWORD=2; _robotsbatch; echo "${COMPREPLY[@]}"`, file)).Output()
		must.Equal(t, string(out), "denied\n", "-emit d is completed to", err)
	}
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

// guesses are command lines that people try first, and what the first line of the answer
// has.
var guesses = []struct{ args, want string }{
	{"urls.txt", "-rules is missing: name a folder of robots.txt files, a rule pack or captures"},
	{"urls.txt -rules robots", "url,allowed"},
	{"--in=urls.txt --rules=robots", "url,allowed"},
	{"-i urls.txt -rules robots", "there is no flag -i: did you mean -in?"},
	{"-input urls.txt -rules robots", "did you mean -in?"},
	{"urls.txt -rules robots -o x.csv", "did you mean -out?"},
	{"urls.txt -rules robots --output x.csv", "did you mean -out?"},
	{"urls.txt -rules robots -out x.xlsx", "-out x.xlsx: no format has this ending: use .arrow"},
	{"urls.txt -rules robots -out x.json", "use .arrow, .arrows, .parquet, .csv, .tsv, .jsonl"},
	{"urls.txt -rules robots -format csv", "did you mean -out-format?"},
	{"-V", "robotsbatch 0."},
	{"urls.txt -rules robots -j 4", "did you mean -workers?"},
	{"hosts urls.txt -rules robots -max-age -200000d", "want a time span of a second or more"},
	{"urls.txt -rules robots -threads 4", "did you mean -workers?"},
	{"urls.txt -rules robots -n 1", "there is no flag -n"},
	{"urls.txt -rules robots -user-agent CCBot", "did you mean -agent?"},
	{"urls.txt -rules robots -ua CCBot", "did you mean -agent?"},
	{"urls.txt -rules robots -bot CCBot", "did you mean -agent?"},
	{"urls.txt -rules robots -agent CC_Bot/2.0", "looks like a User-Agent header; give its product token: CC_Bot"},
	{"urls.txt -rules robots -agent ȺȺȺȺȺȺȺȺȺȺȺȺ(Compatible;B/1", "looks like a User-Agent header; give its product token: B"},
	{"urls.txt -rules robots -agent Mozilla/5.0", "give the crawler's product token, such as CCBot"},
	{"urls.txt -rules robots -agents urls.txt", "-agents urls.txt: line 1: \"https://example.com/a\" is no product token: write the agents alone"},
	{"urls.txt -rules robots -use train_ai -out x.csv", "is not a key of draft-ietf-aipref-vocab-08: did you mean train-ai?"},
	{"urls.txt -rules robots -fetch-list nowhere.txt", "-fetch-list: nowhere.txt: no such file"},
	{"urls.txt -robots robots", "did you mean -rules?"},
	{"urls.txt -robots-txt robots", "did you mean -rules?"},
	{"urls.txt -rules robot", "-rules robot: no such file or directory"},
	{"urls.txt -rules https://example.com/robots.txt", "https:// cannot be opened"},
	{"-in https://example.com/a -rules robots", "for one URL use robotsbatch explain -rules RULES https://example.com/a"},
	{"https://example.com/a -rules robots", "for one URL use robotsbatch explain"},
	{"check urls.txt -rules robots", "without one a list is judged, as in robotsbatch urls.txt -rules robots"},
	{"filter urls.txt -rules robots", "unknown command \"filter\": the commands are help"},
	{"fetch urls.txt", "unknown command \"fetch\""},
	{"urls.txt -rules robots -memory 200MB -out x.csv", "2 rows"},
	{"urls.txt -rules robots -memory 1.5G", "-memory 1.5G: want a whole number with a unit, such as 512MiB"},
	{"urls.txt -rules robots -n 5", "there is no flag -n: did you mean -limit?"},
	{"urls.txt -rules robots -limit 1 -out x.csv", "only the first 1 row"},
	{"urls.txt -rules robots -memory 1", "-memory 1: want at least 16MiB"},
	{"urls.txt -rules robots -report r.pdf", "-report r.pdf is a page in HTML"},
	{"urls.txt -rules robots -emit deny", "want all, allowed, denied"},
	{"urls.txt -rules robots -allowed", "did you mean -emit?"},
	{"urls.txt -rules robots -resume", "need an -out that stays"},
	{"urls.txt -rules robots -as-of column:when", "is a list of URLs and has no column \"when\""},
	{"nested.jsonl -rules robots -out x.jsonl", "name the key of the URL with -url-column; the first object has \"meta.url\", \"meta\""},
	{"nowhere.txt -rules robots", "nowhere.txt: no such file or directory"},
	{"other.txt -rules robots -out x.csv", "none of the URLs' hosts is in -rules"},
	{"explain https://example.com/a", "-rules is missing"},
	{"lint example.com", "example.com: no such file or directory"},
	{"compile -rules robots -agent CCBot", "there is no flag -agent here"},
	{"compile robots", "-out is missing: name the rule pack to write, such as site.rules"},
	{"help nonsense", "there is no help on \"nonsense\""},
}

func TestGuesses(t *testing.T) {
	t.Chdir(t.TempDir())
	must.WriteFile(t, filepath.Join("robots", "example.com"), "User-agent: *\nDisallow: /a\n")
	must.WriteFile(t, "urls.txt", "https://example.com/a\nhttps://example.com/b\n")
	must.WriteFile(t, "other.txt", "https://other.test/a\n")
	must.WriteFile(t, "nested.jsonl", `{"meta":{"url":"https://example.com/a"},"n":1}`+"\n")
	for _, guess := range guesses {
		var said bytes.Buffer
		run(t.Context(), strings.Fields(guess.args), nil, &said, &said)
		first, _, _ := strings.Cut(said.String(), "\n")
		must.Be(t, strings.Contains(first, guess.want), "robotsbatch %s: %s, want %s", guess.args, first, guess.want)
	}
}

// Eight questions are found by help and a word.
func TestHelpFindsQuestions(t *testing.T) {
	for word, topic := range map[string]string{
		"date": "history", "training": "# A filter for training data", "cluster": "arrays", "missing": "-assume",
		"limits": "memory", "null": "verdicts", "one": "explain", "exit": "summary",
	} {
		var said bytes.Buffer
		status := run(t.Context(), []string{"help", word}, nil, &said, &said)
		must.Be(t, status == exitDone && strings.Contains("\n"+said.String(), "\n"+topic), "help %s has no %s:\n%s", word, topic, &said)
	}
}
