package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"robotsbatch/batch/manifest"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/store/must"
)

// Files that were written when a format was settled are read, and answer as they did then. If
// this fails, a change of the program broke files that somebody keeps: take it back, or
// raise the number of the format (io/rules/rulepack/layout.go, batch/manifest/manifest.go), have
// the older one refused with what to do, as below, and add a file of the new one to
// testdata/formats. Files that are there are never written again.
func TestFormats(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.CopyFS(dir, os.DirFS("testdata/formats")))
	t.Chdir(dir)
	// answers are the last two columns of a job's csv, for the URLs of the list.
	job := []string{"-in", "list.txt", "-agent", "Bot", "-agent", "GPTBot", "-quiet"}
	answers := func(args ...string) string {
		out := mustRun(t, append(append(job[:len(job):len(job)], "-columns", "verdict", "-out-format", "csv", "-out", "-"), args...)...)
		return strings.NewReplacer("true", "1", "false", "0", "\n", " ").Replace(out)
	}
	const head = "allowed_bot,allowed_gptbot "
	for args, want := range map[string]string{
		"-rules pack-18.rules":                   "1,0 0,0 1,0 0,0 1,1 , 1,1 1,0 ",
		"-rules pack-19.rules":                   "1,1 1,1 1,1 1,1 1,1 , 1,0 1,1 ",
		"-rules pack-19.rules -as-of 2026-01-20": "1,1 1,1 1,1 1,1 1,1 , 1,0 0,0 ",
	} {
		must.Equal(t, answers(strings.Fields(args)...), head+want, args)
	}
	t.Run("survey", func(t *testing.T) {
		got := mustRun(t, "survey", "-as", "csv", "-quiet", "survey.parquet")
		const want = `rank,agent,sites,reached,with_rules,html,refused,no_file,other,old_copy,unreachable,of,base,full,full_share,full_named,full_everyone,root,root_share,partial,partial_share,partial_named,partial_everyone,none,undecided
all,GPTBot,2,2,2,0,0,0,0,0,0,reached,2,1,0.5,1,0,1,0.5,1,0.5,0,1,0,0
all,*,2,2,2,0,0,0,0,0,0,reached,2,0,0,0,0,0,0,2,1,0,2,0,0
`
		must.Equal(t, got, want)
	})
	t.Run("manifest", func(t *testing.T) {
		const name = "verdicts/_robotsbatch.manifest.jsonl"
		text := readFile(t, name)
		m := must.Get(manifest.ReadBytes(text))(t)
		done := m.Outputs[0]
		for file, at := range map[string]time.Time{"list.txt": done.Inputs[0].Modified, "verdicts/list.csv": done.Output.Modified} {
			must.Do(t, os.Chtimes(file, at, at))
		}
		job := append(job[:len(job)-1:len(job)-1], "-rules", "pack-18.rules", "-out", "verdicts/", "-resume")
		written := readFile(t, "verdicts/list.csv")
		for _, test := range []struct{ program, want string }{
			{"robotsbatch " + cli.Version(), "1 of 1 output done already"},
			{"robotsbatch 0.1", "the program has changed (it was robotsbatch 0.1)"},
		} {
			m.Job.Program = test.program
			must.WriteFile(t, name, string(manifest.AppendJob(nil, &m.Job))+string(text[bytes.IndexByte(text, '\n')+1:]))
			mustRun(t, "verify", "verdicts")
			status, _, said := runWith(t.Context(), "", job...)
			must.Be(t, status == exitDone && strings.Contains(said, test.want), "%s: status %d: %s, want %q", test.program, status, said, test.want)
			got := readFile(t, "verdicts/list.csv")
			must.Be(t, bytes.Equal(got, written), "%s: %s", test.program, got)
		}
	})
	t.Run("older packs", func(t *testing.T) {
		pack := readFile(t, "pack-18.rules")
		for _, older := range []byte{16, 17} {
			pack[len("\x89RBP\r\n\x1a\n")] = older
			must.WriteFile(t, "older.rules", string(pack))
			for _, args := range [][]string{
				append(job[:len(job):len(job)], "-out", "-", "-rules", "older.rules"),
				{"verify", "older.rules"},
				{"explain", "-rules", "older.rules", "-agent", "Bot", "http://a.example/"},
				{"survey", "-as", "text", "-agent", "Bot", "older.rules"},
			} {
				status, stdout, said := runWith(t.Context(), "", args...)
				want := fmt.Sprintf("it has format %d, from an earlier version, and this program reads 18 and 19: compile it again", older)
				must.Be(t, status != exitDone && stdout == "" && strings.Contains(said, want), "%q: status %d: %s%s, want %q", args, status, stdout, said, want)
			}
		}
	})
}
