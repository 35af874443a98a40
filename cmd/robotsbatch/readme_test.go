package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What the README shows is what the program prints, but for the time it took.
func TestReadme(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	verdicts := filepath.Join(t.TempDir(), "verdicts.csv")
	t.Chdir(root)
	run := func(line string) string {
		t.Helper()
		args := strings.Fields(line)
		if args[0] == "-in" {
			args = append(args, "-out", verdicts)
		}
		var out bytes.Buffer
		if status := run(t.Context(), args, nil, &out, &out); status > exitFailed {
			t.Fatalf("%s: exit status %d: %s", line, status, &out)
		}
		return out.String()
	}
	flags := " -rules bench/corpus/sample/rules -agent CCBot"

	summary := run("-in bench/corpus/sample/frontier.arrow" + flags)
	summary = regexp.MustCompile(`[0-9.]+ s, .*\n`).ReplaceAllString(summary, "")
	wantInside(t, string(readme), summary)
	rows, err := os.ReadFile(verdicts)
	if err != nil {
		t.Fatal(err)
	}
	wantInside(t, string(readme), strings.Join(strings.SplitAfter(string(rows), "\n")[:3], ""))
	wantInside(t, string(readme), run("explain"+flags+" https://blogbook4.net.example/import%2F/recipe-family-83798.html"))

	pack := filepath.Join(t.TempDir(), "site.rules")
	made := run("compile -rules bench/corpus/sample/rules -out " + pack)
	made, _, _ = strings.Cut(made, pack) // the rest is its size and the time it took
	wantInside(t, string(readme), made+"site.rules has")
	if again := run("-in bench/corpus/sample/frontier.arrow -agent CCBot -rules " + pack); !strings.HasPrefix(again, summary) {
		t.Errorf("by the folder %s, by its pack %s", summary, again)
	}
	wantInside(t, string(readme), run("inspect "+pack+" https://www.artistconcert29.test"))
}

func wantInside(t *testing.T, text, part string) {
	t.Helper()
	if part == "" || !strings.Contains(text, part) {
		t.Errorf("README.md does not have:\n%s", part)
	}
}
