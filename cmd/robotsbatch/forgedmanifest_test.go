package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/batch/manifest"
	"robotsbatch/io/store/must"
)

// A manifest that somebody changed, and sealed, does not mislead a resumed job: outputs
// whose counts or inputs cannot be those of the job are written again.
func TestResumeOfForgedManifest(t *testing.T) {
	folder := []string{"-in", "in", "-rules", "rules", "-out", "out/"}
	single := []string{"-in", "in", "-rules", "rules", "-out", "out/one.csv", "-manifest"}
	for name, test := range map[string]struct {
		args  []string
		forge func(o *manifest.Output)
	}{
		"more agents":    {folder, func(o *manifest.Output) { o.Counts.Agents = make([]batch.Counts, 1000) }},
		"no agents":      {folder, func(o *manifest.Output) { o.Counts.Agents = nil }},
		"joined inputs":  {single, func(o *manifest.Output) { o.Inputs[0].Name += "\x00" + o.Inputs[1].Name; o.Inputs = o.Inputs[:1] }},
		"no such part":   {folder, func(o *manifest.Output) { o.Parts = nil; o.Output.Size = 0 }},
		"no such output": {folder, func(o *manifest.Output) { o.Output.Name = "../../nowhere/" + o.Output.Name }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for _, f := range []string{"rules", "in", "out"} {
				must.Do(t, os.Mkdir(f, 0o777))
			}
			for file, text := range map[string]string{"rules/a.test": "User-agent: *\nDisallow: /d\n", "in/0.txt": "http://a.test/d1\n", "in/1.txt": "http://a.test/a1\n"} {
				must.Do(t, os.WriteFile(file, []byte(text), 0o666))
			}
			mustRun(t, test.args...)
			files, _ := filepath.Glob("out/*")
			want := map[string][]byte{}
			for _, file := range files {
				text := must.Get(os.ReadFile(file))(t)
				if want[file] = text; strings.HasSuffix(file, ".jsonl") {
					forgeManifest(t, file, text, test.forge)
				}
			}
			mustRun(t, append(test.args, "-resume")...)
			for file, text := range want {
				got, err := os.ReadFile(file)
				must.Be(t, err == nil && (strings.HasSuffix(file, ".jsonl") || bytes.Equal(got, text)), "%s: %q, %v, want %q", file, got, err, text)
			}
		})
	}
}

// forgeManifest changes the outputs in a manifest.
func forgeManifest(t *testing.T, file string, text []byte, forge func(o *manifest.Output)) {
	t.Helper()
	m, err := manifest.ReadBytes(text)
	must.Need(t, err == nil && len(m.Outputs) != 0, "%s: %v", file, err)
	forged := manifest.AppendRuleFiles(manifest.AppendJob(nil, &m.Job), m.RuleFiles)
	for i := range m.Outputs {
		forge(&m.Outputs[i])
		forged = manifest.AppendOutput(forged, &m.Outputs[i])
	}
	must.Do(t, os.WriteFile(file, manifest.AppendEnd(forged, len(m.Outputs)), 0o666))
}
