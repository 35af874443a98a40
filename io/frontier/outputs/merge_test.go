package outputs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	if err != nil || shards != 3 || len(m.Outputs) != 3 || m.Outputs[2].Counts.Rows != 2 {
		t.Fatalf("%d shards, %+v, %v", shards, m, err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("%s: %v", left, err)
	}
	if whole, err := ReadManifest(t.Context(), filepath.Join(folder, manifest.FolderName)); err != nil || !whole.Ended || whole.Job.Shard != nil {
		t.Errorf("the manifest: %+v, %v", whole, err)
	}
}

// A shard is one run's at a time; others of the job are not in its way.
func TestClaimShard(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out") + "/"
	release := must.Get(Claim(folder, &manifest.Shard{Index: 0, Count: 2}))(t)
	defer release()
	if _, err := Claim(folder, &manifest.Shard{Index: 0, Count: 2}); !blob.Temporary(err) {
		t.Errorf("a second run of the shard: %v", err)
	}
	other := must.Get(Claim(folder, &manifest.Shard{Index: 1, Count: 2}))(t)
	other()
}

// Outputs are entered in the order in which they were started, whichever appears
// first.
func TestPublisherOrder(t *testing.T) {
	var p Publisher
	var entered []int
	first := make(chan struct{})
	nothing := func() error { return nil }
	for i := range 10 {
		appear := func() error {
			if i == 0 {
				<-first
			} else if i == 9 {
				close(first)
			}
			return nil
		}
		enter := func() error { entered = append(entered, i); return nil }
		must.Do(t, p.Start(appear, enter, nothing))
	}
	must.Do(t, p.Wait())
	must.EqualSlices(t, entered, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
}

// An output that does not appear is neither entered nor saved, and its error stays.
func TestPublisherFailure(t *testing.T) {
	var p Publisher
	broken := errors.New("broken")
	touched := func() error { t.Error("entered or saved"); return nil }
	_ = p.Start(func() error { return broken }, touched, touched) // the error may come later
	for range 2 {
		must.Is(t, p.Wait(), broken)
	}
}
