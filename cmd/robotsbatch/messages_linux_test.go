package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

// exitsOf are the exit statuses that the help of a command lists.
func exitsOf(command string) (statuses []string) {
	c := program.Command(command)
	if c == nil {
		c = program.Main
	}
	for _, e := range c.Exits {
		statuses = append(statuses, e.Status)
	}
	return statuses
}

// A message has the name of what it is about once, whoever opens that: a file that
// cannot be read, a folder where a file should be, a file that is missing, empty or cut. The
// exit status is one of those in the help.
func TestMessagesNameOnce(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		name = filepath.Join(folder, name)
		must.Do(t, os.WriteFile(name, []byte(text), 0o666))
		return name
	}
	urls, agents, rules := write("urls.txt", "https://a.example/\n"), write("agents.txt", "CCBot\n"), filepath.Join(sample, "rules")
	subfolder := filepath.Join(folder, "folder")
	must.Do(t, os.Mkdir(subfolder, 0o777))
	arrow := readFile(t, filepath.Join(sample, "frontier.arrow"))
	parquet := filepath.Join(folder, "whole.parquet")
	mustRun(t, "-in", urls, "-rules", rules, "-out", parquet)
	for _, name := range []string{
		"/proc/self/mem", subfolder, filepath.Join(folder, "missing"), write("empty.arrow", ""), write("cut.arrow", string(arrow[:len(arrow)/2])),
		write("cut.parquet", string(readFile(t, parquet)[:100])), write("cut.rules", "robotsbatch rules"), write("cut.gz", "\x1f\x8b\x08"),
		write("cut.zst", "\x28\xb5\x2f\xfd"), write("cut.warc", "WARC/1.0\r\n"),
	} {
		for _, args := range [][]string{
			{"-in", name, "-rules", rules},
			{"-in", urls, "-rules", name},
			{"-in", urls, "-rules", rules, "-agents", name},
			{"-files-from", name, "-rules", rules},
			{"verify", name},
			{"lint", name},
			{"survey", "-as", "text", name},
			{"verify", "-merge", name},
			{"explain", "-rules", name, "https://a.example/"},
			{"compile", "-rules", name, "-out", filepath.Join(folder, "made.rules")},
			{"export", "-rules", name, "-table", "rules"},
			{"survey", "-rules", name, "-agents", agents},
			{"diff", rules, name},
			{"diff", rules, rules, "-in", name},
			{"hosts", "-in", name, "-rules", rules},
		} {
			status, _, stderr := runWith(t.Context(), "", args...)
			if says := exitsOf(args[0]); !slices.Contains(says, strconv.Itoa(status)) {
				t.Errorf("%s: exit status %d, and the help says %q", strings.Join(args, " "), status, says)
			}
			for line := range strings.Lines(stderr) {
				if strings.Count(line, name) > 1 {
					t.Errorf("%s: %s", strings.Join(args, " "), line)
				}
			}
		}
	}
}
