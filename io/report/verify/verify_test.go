package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/batch/manifest"
	"robotsbatch/io/store/must"
)

// file is an output under test; it implements manifest.Writer.
type file struct{ *os.File }

func (f file) Abort() {}

// writeFolder makes a folder with the output urls.txt and its manifest, and returns
// the output's name.
func writeFolder(t *testing.T, ended bool) string {
	t.Helper()
	folder := t.TempDir()
	name := filepath.Join(folder, "urls.txt")
	f := must.Get(os.Create(name))(t)
	sums := manifest.NewSums(file{f})
	must.Get(sums.Write([]byte("https://example.com/a\nhttps://example.com/b\n")))(t)
	must.Do(t, sums.Close())
	o := manifest.Output{
		Output:   manifest.File{Name: "urls.txt", Size: sums.Size()},
		Checksum: sums.Checksum(), Parts: sums.Parts(), Counts: batch.Stats{Rows: 2, Selected: 2},
	}
	text := manifest.AppendOutput(manifest.AppendJob(nil, &manifest.Job{Manifest: manifest.Version}), &o)
	if ended {
		text = manifest.AppendEnd(text, 1)
	}
	must.Do(t, os.WriteFile(filepath.Join(folder, manifest.FolderName), text, 0o600))
	return name
}

func check(t *testing.T, name string) []Finding {
	t.Helper()
	var all []Finding
	must.Do(t, New().Check(t.Context(), name, func(f Finding) { all = append(all, f) }))
	return all
}

func TestIntact(t *testing.T) {
	name := writeFolder(t, true)
	for _, what := range []string{name, filepath.Dir(name), filepath.Join(filepath.Dir(name), manifest.FolderName)} {
		got := check(t, what)
		must.Be(t, len(got) == 1 && got[0].Name == name && len(got[0].Damage) == 0 && got[0].Output != nil && got[0].Output.Counts.Selected == 2, "%s: %+v", what, got)
	}
}

func TestDamage(t *testing.T) {
	for what, test := range map[string]struct {
		change func(text string) string
		want   string
	}{
		"changed": {func(s string) string { return strings.Replace(s, "/b", "/c", 1) }, "beginning (bytes 0 to 43): its checksum is "},
		"shorter": {func(s string) string { return s[:40] }, "it ends after 40 bytes; 44 were written"},
		"longer":  {func(s string) string { return s + "\n" }, "after byte 44: 1 bytes more than were written"},
	} {
		name := writeFolder(t, true)
		text := must.Get(os.ReadFile(name))(t)
		must.Do(t, os.WriteFile(name, []byte(test.change(string(text))), 0o600))
		got := check(t, name)
		must.Be(t, len(got) == 1 && len(got[0].Damage) == 1 && strings.Contains(got[0].Damage[0].Error(), test.want), "%s: %+v, want %q", what, got, test.want)
	}
}

// A file that cannot be read to its end is damaged, and not only unread, if a part before is.
func TestDamageBeforeAFailure(t *testing.T) {
	name := filepath.Join(t.TempDir(), "urls.txt")
	must.Do(t, os.WriteFile(name, []byte("ab"), 0o600))
	ctx, fail := context.WithCancelCause(t.Context())
	damage := checkSums(ctx, name, &manifest.Output{Parts: []manifest.Part{{Size: 1}, {Size: 1}}}, func(float64) { fail(errors.New("the store failed")) })
	must.Need(t, len(damage) == 2, "%v", damage)
	must.Say(t, damage[0], "urls.txt: beginning (bytes 0 to 0): its checksum is")
	must.Say(t, damage[1], "the store failed")
}

// A manifest that lists a file elsewhere does not have it read.
func TestOutputElsewhere(t *testing.T) {
	folder := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(folder, "x.txt"), []byte("text"), 0o600))
	inner := filepath.Join(folder, "inner")
	must.Do(t, os.Mkdir(inner, 0o700))
	o := manifest.Output{Output: manifest.File{Name: "a/../../x.txt", Size: 1}, Parts: []manifest.Part{{Size: 1}}}
	text := manifest.AppendOutput(manifest.AppendJob(nil, &manifest.Job{Manifest: manifest.Version}), &o)
	must.Do(t, os.WriteFile(filepath.Join(inner, manifest.FolderName), manifest.AppendEnd(text, 1), 0o600))
	got := check(t, inner)
	must.Be(t, len(got) == 1 && len(got[0].Damage) == 1 && strings.HasSuffix(got[0].Damage[0].Error(), `lists "a/../../x.txt", which is not in its folder`), "%+v", got)
}

// A device in the place of an output or a manifest is not read, for it need not end.
func TestDevices(t *testing.T) {
	const device = "/dev/zero"
	if _, err := os.Stat(device); err != nil {
		t.Skip(err)
	}
	name := writeFolder(t, true)
	for _, replaced := range []string{name, filepath.Join(filepath.Dir(name), manifest.FolderName)} {
		must.Do(t, os.Remove(replaced))
		must.Do(t, os.Symlink(device, replaced))
		got := check(t, filepath.Dir(name))
		must.Be(t, len(got) == 1 && len(got[0].Damage) == 1 && strings.Contains(got[0].Damage[0].Error(), "is no regular file"), "%s: %+v", replaced, got)
	}
}

func TestUnfinishedJob(t *testing.T) {
	name := writeFolder(t, false)
	got := check(t, filepath.Dir(name))
	must.Need(t, len(got) == 2 && len(got[0].Damage) == 0 && len(got[1].Damage) == 1, "%+v", got)
}

// Outputs of a folder are checked side by side, and found in the manifest's order.
func TestOrder(t *testing.T) {
	defer func(n int) { atOnce = n }(atOnce)
	name := writeFolder(t, true)
	m := must.Get(manifest.ReadFile(filepath.Join(filepath.Dir(name), manifest.FolderName)))(t)
	text := manifest.AppendJob(nil, &m.Job)
	var want []string
	for i := range 30 {
		o := m.Outputs[0]
		o.Output.Name = fmt.Sprintf("%d.txt", i)
		if i%3 != 1 {
			must.Do(t, os.Link(name, filepath.Join(filepath.Dir(name), o.Output.Name)))
		}
		text = manifest.AppendOutput(text, &o)
		want = append(want, fmt.Sprint(o.Output.Name, " ", i%3 == 1))
	}
	must.Do(t, os.Remove(name))
	must.Do(t, os.WriteFile(filepath.Join(filepath.Dir(name), manifest.FolderName), manifest.AppendEnd(text, 30), 0o600))
	for n := range 4 {
		atOnce = n + 1
		var got []string
		for _, f := range check(t, filepath.Dir(name)) {
			got = append(got, fmt.Sprint(filepath.Base(f.Name), " ", f.State() == Missing))
		}
		must.EqualSlices(t, got, want, atOnce, "at once")
	}
}

func TestCheckStops(t *testing.T) {
	name := writeFolder(t, true)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	cancel(stop)
	err := New().Check(ctx, name, func(f Finding) { t.Errorf("%+v", f) })
	must.Is(t, err, stop)
}
