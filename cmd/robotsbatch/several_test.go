package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"robotsbatch/io/store/must"
)

// several is a folder of inputs, the first much larger than the others, and what a job on it
// says and leaves.
type several struct {
	status   int
	stderr   string
	summary  map[string]any
	outputs  map[string]string
	manifest []string // names of outputs, in order
	rest     []string // other files
}

const severalInputs = 40

func writeSeveral(t *testing.T) {
	t.Helper()
	must.Do(t, os.Mkdir("in", 0o777))
	for i := range severalInputs {
		rows := 10 * (i%7 + 1)
		if i == 0 {
			rows = 20_000
		}
		var text strings.Builder
		for row := range rows {
			fmt.Fprintf(&text, "https://example.com/%s/%d\n", []string{"private", "news"}[row%2], i)
		}
		must.WriteFile(t, fmt.Sprintf("in/%02d.txt", i), text.String())
	}
}

// runSeveral runs a job that writes an output for each input, and collects what it left.
func runSeveral(t *testing.T, workers int, args ...string) *several {
	t.Helper()
	out := fmt.Sprintf("out%d", workers)
	args = append(args, "-in", "in", "-rules", "rules", "-out", out+"/", "-workers", fmt.Sprint(workers), "-batch-rows", "1000", "-summary-json", "summary.json")
	var stderr bytes.Buffer
	s := &several{outputs: make(map[string]string)}
	s.status = run(t.Context(), args, strings.NewReader(""), new(bytes.Buffer), &stderr)
	for line := range strings.Lines(stderr.String()) {
		line, _, _ = strings.Cut(line, " s, ") // seconds, URLs a second
		s.stderr += strings.ReplaceAll(strings.TrimSpace(strings.TrimRight(line, "0123456789.")), out, "out") + "\n"
	}
	if data, err := os.ReadFile("summary.json"); err == nil {
		must.Do(t, json.Unmarshal([]byte(strings.ReplaceAll(string(data), out, "out")), &s.summary))
		for _, key := range []string{"started_at", "finished_at", "seconds", "urls_per_second"} {
			delete(s.summary, key)
		}
		_ = os.Remove("summary.json")
	}
	err := filepath.WalkDir(out, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name := filepath.Base(path)
		switch {
		case err != nil:
		case strings.HasSuffix(name, ".csv"):
			s.outputs[name] = string(data)
		case strings.HasPrefix(name, "_robotsbatch.manifest"):
			err = s.readManifest(data)
		default:
			s.rest = append(s.rest, name)
		}
		return err
	})
	must.Do(t, err)
	return s
}

func (s *several) readManifest(data []byte) error {
	for line := range bytes.Lines(data) {
		var entry struct {
			Output struct{ Output struct{ Name string } }
		}
		if err := json.Unmarshal(line, &entry); err != nil {
			return err
		}
		if name := entry.Output.Output.Name; name != "" {
			s.manifest = append(s.manifest, name)
		}
	}
	return nil
}

// Outputs are written side by side, and look as if one came after the other: bytes, manifest,
// summary and messages.
func TestOutputsSideBySide(t *testing.T) {
	workplace(t)
	writeSeveral(t)
	ignore := goleak.IgnoreCurrent()
	want := runSeveral(t, 1)
	must.Need(t, want.status == exitDone && len(want.outputs) == severalInputs && slices.IsSorted(want.manifest) && len(want.manifest) == severalInputs,
		"status %d, %d outputs, manifest %v: %s", want.status, len(want.outputs), want.manifest, want.stderr)
	for _, workers := range []int{2, 8} {
		same(t, workers, runSeveral(t, workers), want)
	}
	goleak.VerifyNone(t, ignore)
}

func same(t *testing.T, workers int, got, want *several) {
	t.Helper()
	if got.status != want.status || got.stderr != want.stderr || !slices.Equal(got.manifest, want.manifest) || !maps.Equal(got.outputs, want.outputs) || len(got.rest) > 0 {
		t.Errorf("%d workers: status %d, %q, manifest %v, %d outputs, left %v; want status %d, %q, manifest %v, %d outputs",
			workers, got.status, got.stderr, got.manifest, len(got.outputs), got.rest, want.status, want.stderr, want.manifest, len(want.outputs))
	}
	must.Equal(t, fmt.Sprint(got.summary), fmt.Sprint(want.summary), workers, "workers: summary")
}

// Of outputs that fail the first in order ends the job, also when a later one fails sooner. Those
// before it are there and recorded, those after it leave nothing, and -resume does the rest.
func TestFirstOutputThatFails(t *testing.T) {
	workplace(t)
	writeSeveral(t)
	ignore := goleak.IgnoreCurrent()
	const failing, failingLater = "in/20.txt", "in/21.txt"
	intact := make(map[string]string)
	for _, name := range []string{failing, failingLater} {
		data := must.Get(os.ReadFile(name))(t)
		intact[name] = string(data)
	}
	must.WriteFile(t, failing, strings.Repeat("https://example.com/a\n", 30_000)+strings.Repeat("x", 9<<20)) // a line that is too long
	must.WriteFile(t, failingLater, "\x1f\x8b\x08\x00")                                                      // cut
	want := runSeveral(t, 1)
	must.Need(t, want.status == exitFailed && len(want.outputs) == 20 && len(want.manifest) == 20 && strings.Contains(want.stderr, failing) && !strings.Contains(want.stderr, failingLater),
		"status %d, %d outputs, manifest %v: %s", want.status, len(want.outputs), want.manifest, want.stderr)
	for _, workers := range []int{2, 8} {
		same(t, workers, runSeveral(t, workers), want)
	}
	for name, text := range intact {
		must.WriteFile(t, name, text)
	}
	want = runSeveral(t, 1, "-resume")
	must.Need(t, want.status == exitDone && len(want.outputs) == severalInputs && strings.Contains(want.stderr, "resuming: 20 of 40 outputs done already"),
		"status %d, %d outputs: %s", want.status, len(want.outputs), want.stderr)
	for _, workers := range []int{2, 8} {
		same(t, workers, runSeveral(t, workers, "-resume"), want)
	}
	goleak.VerifyNone(t, ignore)
}
