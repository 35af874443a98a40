package outputs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/manifest"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/must"
)

// writeShard writes a shard that has ended, with one output.
func writeShard(t testing.TB, folder string, s manifest.Shard) {
	t.Helper()
	name := fmt.Sprintf("%d.csv", s.Index)
	must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte("url\n"), 0o666))
	info := must.Get(blob.Stat(t.Context(), filepath.Join(folder, name)))(t)
	text := manifest.AppendJob(nil, &manifest.Job{Manifest: manifest.Version, Program: "devel", Shard: &s})
	text = manifest.AppendOutput(text, &manifest.Output{
		Inputs: []manifest.File{{Name: name, Size: 4, Modified: time.Unix(1_772_366_400, 0).UTC()}}, Output: fileOf(name, info), Checksum: "ab",
		Parts: []manifest.Part{{Size: 4, Checksum: "ab"}}, Counts: batch.Stats{Rows: int64(s.Index), Agents: []batch.Counts{{RowCounts: batch.RowCounts{Allowed: int64(s.Index)}}}},
	})
	text = manifest.AppendEnd(text, 1)
	must.Do(t, os.WriteFile(filepath.Join(folder, s.FileName()), text, 0o666))
}

// BenchmarkMerge merges the manifests of some shards.
func BenchmarkMerge(b *testing.B) {
	for _, shards := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("shards=%d", shards), func(b *testing.B) {
			folder := b.TempDir()
			for i := range shards {
				writeShard(b, folder, manifest.Shard{Index: i, Count: shards})
			}
			for b.Loop() {
				m, n, err := Merge(b.Context(), folder)
				if err != nil || n != shards || len(m.Outputs) != shards {
					b.Fatal(n, err)
				}
			}
		})
	}
}

// What killed shards left goes when the whole is there.
func TestMergeSweeps(t *testing.T) {
	folder := t.TempDir()
	for i := range 3 {
		writeShard(t, folder, manifest.Shard{Index: i, Count: 3})
	}
	left := filepath.Join(folder, ".0.csv.robotsbatch-00000000.tmp")
	must.Do(t, os.WriteFile(left, nil, 0o666))
	m, shards, err := Merge(t.Context(), folder)
	must.Need(t, err == nil && shards == 3 && len(m.Outputs) == 3 && m.Outputs[2].Counts.Rows == 2, "%d shards, %+v, %v", shards, m, err)
	_, err = os.Stat(left)
	must.Be(t, os.IsNotExist(err), "%s: %v", left, err)
	whole, err := ReadManifest(t.Context(), filepath.Join(folder, manifest.FolderName))
	must.Be(t, err == nil && whole.Ended && whole.Job.Shard == nil, "the manifest: %+v, %v", whole, err)
}

// A shard is one run's at a time; others of the job are not in its way.
// An output may have the longest name of a file, for which there can be no manifest.
func TestForgetLongName(t *testing.T) {
	must.Do(t, Target{Path: filepath.Join(t.TempDir(), strings.Repeat("n", 251)+".csv")}.Forget())
}

func TestClaimShard(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out") + "/"
	release := must.Get(Claim(folder, &manifest.Shard{Index: 0, Count: 2}))(t)
	defer release()
	_, err := Claim(folder, &manifest.Shard{Index: 0, Count: 2})
	must.Be(t, blob.Temporary(err), "a second run of the shard: %v", err)
	other := must.Get(Claim(folder, &manifest.Shard{Index: 1, Count: 2}))(t)
	other()
}

// Outputs are completed and entered in the order in which they were started, whichever is done
// first.
func TestChainOrder(t *testing.T) {
	chain := NewChain(10, func() { t.Error("stopped") })
	var completed, entered []int
	worked, published := make(chan struct{}), make(chan struct{})
	// lastFirst returns a step that is done for the last output before it is done for the first.
	lastFirst := func(i int, last chan struct{}) func() error {
		return func() error {
			if i == 0 {
				<-last
			} else if i == 9 {
				close(last)
			}
			return nil
		}
	}
	for i := range 10 {
		chain.Start(Steps{
			Work: lastFirst(i, worked), Complete: func() error { completed = append(completed, i); return nil },
			Publish: lastFirst(i, published), Enter: func() error { entered = append(entered, i); return nil },
		})
	}
	must.Do(t, chain.Wait())
	must.EqualSlices(t, completed, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	must.EqualSlices(t, entered, completed)
}

// After a step that fails no other is done, outputs after it are given up, and the error is that of the
// first output, even if another one fails before. By then the outputs before are entered.
func TestChainFailure(t *testing.T) {
	broken, later := errors.New("broken"), errors.New("later")
	for failing := range 5 {
		entered, stopped := 0, 0
		chain := NewChain(4, func() {
			stopped++
			must.Be(t, entered >= 1, "step %d: stopped before the output before is entered", failing)
		})
		enter := func() error { entered++; return nil }
		chain.Start(Steps{Enter: enter})
		failed := make(chan struct{})
		var steps [5]func() error
		for i := range steps {
			steps[i] = func() error {
				must.Be(t, i <= failing, "step %d is done after step %d has failed", i, failing)
				if i == failing {
					<-failed
					return broken
				}
				return nil
			}
		}
		gaveUp := false
		chain.Start(Steps{Work: steps[0], Complete: steps[1], Publish: steps[2], Enter: steps[3], Save: steps[4], GiveUp: func() { gaveUp = true }})
		chain.Start(Steps{Work: func() error {
			close(failed)
			if failing == 4 { // an error of Save does not wait for its turn
				return nil
			}
			return later
		}})
		must.Is(t, chain.Wait(), broken)
		must.Equal(t, gaveUp, failing < 2, "step", failing)
		must.Equal(t, stopped, 1)
	}
}
