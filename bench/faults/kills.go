//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"robotsbatch/bench/corpus"
	"robotsbatch/bench/corpus/export"
)

const (
	killInputs = 64
	killTimes  = 50
	killURLs   = 20_000 // per input
)

// killsSection kills a job of many inputs at random moments and resumes it until it is
// done. It does so killTimes times, and compares with a job that was not killed.
func killsSection(b *bench) error {
	k := &kills{bench: b, random: rand.New(rand.NewPCG(b.seed, 0)), want: b.times(killTimes)}
	for _, step := range []func() error{k.prepare, k.uninterrupted} {
		if err := step(); err != nil {
			return err
		}
	}
	for k.killed < k.want {
		if err := k.round(); err != nil {
			return err
		}
	}
	fmt.Printf("\n## kills: SIGKILL at random moments, and -resume until the job is done\n\n")
	fmt.Printf("| what | number |\n|---|---:|\n")
	for _, row := range []struct {
		what string
		n    int
	}{
		{"inputs of a job", killInputs},
		{"URLs in it", killInputs * killURLs},
		{"kills", k.killed},
		{"jobs that were done in the end", k.rounds},
		{"runs that an earlier one had left files for", k.leftovers},
		{"outputs that were done before and kept, over all runs", k.kept},
		{"outputs compared byte for byte", k.compared},
		{"outputs that differ", k.differ},
		{"jobs with other counts", k.counts},
		{"files left over in the end", k.left},
	} {
		fmt.Printf("| %s | %d |\n", row.what, row.n)
	}
	fmt.Printf("\nThe job that nobody killed took %.2f s.\n", k.time.Seconds())
	if k.differ+k.counts+k.left > 0 {
		return errors.New("a resumed job is not what an uninterrupted one is")
	}
	return nil
}

// kills is the state of the section.
type kills struct {
	*bench
	random  *rand.Rand
	want    int
	outputs map[string][]byte // of the uninterrupted job
	summary map[string]any
	time    time.Duration

	killed, rounds, leftovers, kept, compared, differ, counts, left int
}

// prepare writes rules and inputs in several formats.
func (k *kills) prepare() error {
	rules := corpus.New(corpus.Options{Seed: k.seed, Origins: 500, URLs: killInputs * killURLs})
	if err := errors.Join(os.Mkdir(k.path("kill"), 0o777), os.Mkdir(k.path("kill/in"), 0o777)); err != nil {
		return err
	}
	if err := export.Rules(k.path("kill/rules"), rules); err != nil {
		return err
	}
	var list bytes.Buffer
	number, rows := 0, 0
	for _, url := range rules.URLs() {
		list.Write(append(url, '\n'))
		if rows++; rows == killURLs {
			if err := k.input(number, list.Bytes()); err != nil {
				return err
			}
			list.Reset()
			number, rows = number+1, 0
		}
	}
	if number != killInputs {
		return fmt.Errorf("%d inputs", number)
	}
	return nil
}

// input writes an input; it makes tables from the lists with the program itself.
func (k *kills) input(number int, list []byte) error {
	ending := []string{".txt", ".arrow", ".parquet", ".csv.zst"}[number%4]
	text := k.path("kill/list.txt")
	name := k.path(fmt.Sprintf("kill/in/part-%02d", number))
	if ending == ".txt" {
		return os.WriteFile(name+ending, list, 0o666)
	}
	if err := os.WriteFile(text, list, 0o666); err != nil {
		return err
	}
	c := exec.Command(k.program, "-quiet", "-in", text, "-rules", k.path("kill/rules"), "-out", name+ending, "-columns", "url", "-prefix", "x_")
	if said, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, said)
	}
	return nil
}

// command returns the job that writes to a folder.
func (k *kills) command(out string, more ...string) *exec.Cmd {
	args := append([]string{"-in", "in", "-rules", "rules", "-agent", "CCBot", "-out", out + "/", "-summary-json", out + ".json"}, more...)
	c := exec.Command(k.program, args...)
	c.Dir = k.path("kill")
	return c
}

// uninterrupted runs the job once without a kill, for comparison.
func (k *kills) uninterrupted() (err error) {
	started := time.Now()
	if said, err := k.command("whole").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, said)
	}
	k.time = time.Since(started)
	if k.outputs, _, err = k.read("whole"); err != nil {
		return err
	}
	if len(k.outputs) != killInputs {
		return fmt.Errorf("%d outputs", len(k.outputs))
	}
	k.summary, err = k.readSummary("whole")
	return err
}

// round starts a job and kills it until a run finishes.
func (k *kills) round() error {
	out := fmt.Sprintf("round-%d", k.rounds)
	k.rounds++
	// Few jobs should finish before the first kill, and some should be killed many times.
	most := k.time / time.Duration(1+k.random.IntN(6))
	for {
		if k.hasOwn(out) {
			k.leftovers++
		}
		c := k.command(out, "-resume")
		var stderr bytes.Buffer
		c.Stderr = &stderr
		if err := c.Start(); err != nil {
			return err
		}
		done := make(chan error, 1)
		go func() { done <- c.Wait() }()
		var after <-chan time.Time
		if k.killed < k.want {
			after = time.After(time.Duration(k.random.Int64N(int64(most))))
		}
		select {
		case <-after:
			_ = c.Process.Signal(syscall.SIGKILL) // the process may have just ended
			if <-done; c.ProcessState.ExitCode() == 0 {
				return k.compare(out)
			}
			k.killed++
		case err := <-done:
			if err != nil {
				return fmt.Errorf("%w: %s", err, &stderr)
			}
			return k.compare(out)
		}
	}
}

// compare compares a finished job with the uninterrupted one.
func (k *kills) compare(out string) error {
	outputs, own, err := k.read(out)
	if err != nil {
		return err
	}
	k.left += own
	if k.hasOwn(".") { // next to the summary
		k.left++
	}
	for name, want := range k.outputs {
		k.compared++
		if got, ok := outputs[name]; !ok || !bytes.Equal(got, want) {
			k.differ++
		}
		delete(outputs, name)
	}
	k.left += len(outputs)
	summary, err := k.readSummary(out)
	if err != nil {
		return err
	}
	if n, ok := summary["outputs_kept"].(float64); ok {
		k.kept += int(n)
	}
	delete(summary, "outputs_kept")
	one, _ := json.Marshal(k.summary)
	other, _ := json.Marshal(summary)
	if !bytes.Equal(one, other) {
		k.counts++
	}
	c := exec.Command(k.program, "verify", "-quiet", out)
	c.Dir = k.path("kill")
	if said, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("verify: %w: %s", err, said)
	}
	return os.RemoveAll(k.path("kill/" + out))
}

// read reads all outputs and counts other files: there should be none except the manifest.
func (k *kills) read(out string) (outputs map[string][]byte, own int, err error) {
	outputs = make(map[string][]byte)
	top := k.path("kill/" + out)
	err = filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(top, path)
		switch {
		case err != nil || entry.IsDir():
			return err
		case strings.HasPrefix(name, "."):
			own++
		case name != "_robotsbatch.manifest.jsonl":
			outputs[name], err = os.ReadFile(path)
		}
		return err
	})
	return outputs, own, err
}

// hasOwn reports whether a killed run has left temporary files.
func (k *kills) hasOwn(out string) bool {
	found, _ := filepath.Glob(k.path("kill/" + out + "/.*robotsbatch*"))
	return len(found) > 0
}

// readSummary reads a job's summary, without the parts that differ from run to run.
func (k *kills) readSummary(out string) (map[string]any, error) {
	text, err := os.ReadFile(k.path("kill/" + out + ".json"))
	if err != nil {
		return nil, err
	}
	summary := make(map[string]any)
	if err := json.Unmarshal(bytes.ReplaceAll(text, []byte(out+"/"), []byte("OUT/")), &summary); err != nil {
		return nil, err
	}
	delete(summary, "seconds")
	delete(summary, "urls_per_second")
	return summary, nil
}
