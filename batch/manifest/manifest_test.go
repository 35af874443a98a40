package manifest

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/zeebo/xxh3"

	"robotsbatch/batch"
	"robotsbatch/io/store/must"
)

var modified = time.Date(2026, 3, 1, 12, 30, 0, 123456789, time.UTC)

func job() *Job {
	return &Job{
		Manifest: Version, Program: "devel",
		Options: map[string][]string{"agent": {"CCBot", "GPTBot"}, "emit": {"all"}},
		Rules:   []Rules{{Name: "rules", Kind: "folder", Checksum: "12"}, {Name: "c", Kind: "captures", Files: []File{{Name: "c/1.warc", Size: 5, Modified: modified}}}},
	}
}

func ruleFiles() []RuleFile {
	return []RuleFile{{0, File{Name: "example.com", Size: 12, Modified: modified}}, {0, File{Name: "b.example", Size: 13, Modified: modified}}}
}

func output(name string) *Output {
	var weights batch.Weights
	weights.Denied.AddInt(1 << 62)
	return &Output{
		Inputs: []File{{Name: "in/\"1\".txt", Size: 7, Modified: modified}}, Output: File{Name: name, Size: 9, Modified: modified},
		Checksum: "ab", Parts: []Part{{0, 4, 0, "c"}, {4, 5, 2, "d"}},
		Counts: batch.Stats{Rows: 2, Selected: 2, WeightNulls: 1, Agents: []batch.Counts{{RowCounts: batch.RowCounts{Allowed: 1, Denied: 1}, Weights: weights}, {RowCounts: batch.RowCounts{Denied: 2}}}},
	}
}

func sample() []byte {
	b := AppendJob(nil, job())
	b = AppendRuleFiles(b, ruleFiles()[:1])
	b = AppendOutput(b, output("1.csv"))
	b = AppendRuleFiles(b, ruleFiles()[1:])
	b = AppendOutput(b, output("2.csv"))
	return AppendEnd(b, 2)
}

func mustRead(t *testing.T, text []byte) *Manifest {
	t.Helper()
	return must.Get(Read(bytes.NewReader(text)))(t)
}

func TestRead(t *testing.T) {
	want := &Manifest{Job: *job(), RuleFiles: ruleFiles(), Outputs: []Output{*output("1.csv"), *output("2.csv")}, Ended: true}
	must.DeepEqual(t, mustRead(t, sample()), want)
}

// TestReadNames: names that are not UTF-8 come back as they were, also after a merge.
func TestReadNames(t *testing.T) {
	want := output("")
	want.Output, want.Inputs[0] = want.Output.Named("d\xe9j\xe0.csv"), want.Inputs[0].Named("\xfe.txt")
	text := AppendOutput(AppendJob(nil, job()), want)
	got := mustRead(t, text).Outputs[0]
	must.DeepEqual(t, &got, want)
	again := AppendOutput(AppendJob(nil, job()), &got)
	must.Be(t, string(again) == string(text), "got  %s\nwant %s", again, text)
}

// TestLine fixes the form of a line, which other programs may read.
func TestLine(t *testing.T) {
	const want = `{"end":{"outputs":64},"crc32c":"3197ede0"}` + "\n"
	must.Equal(t, string(AppendEnd(nil, 64)), want)
}

// A line without an end, as of a sparse file, is not read into memory.
func TestLineWithoutEnd(t *testing.T) {
	defer func(before int) { maxLine = before }(maxLine)
	maxLine = 1 << 20
	endless := io.MultiReader(bytes.NewReader(AppendJob(nil, job())), zeros{})
	must.Is(t, must.Err(Read(endless)), errDamaged)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestCut cuts a manifest at every byte: the rest gives what its complete lines say.
func TestCut(t *testing.T) {
	whole := sample()
	first := bytes.IndexByte(whole, '\n') + 1
	for size := range whole {
		m, err := Read(bytes.NewReader(whole[:size]))
		if size < first {
			must.Need(t, errors.Is(err, errDamaged), "cut to %d bytes: %v", size, err)
			continue
		}
		must.Need(t, err == nil, "cut to %d bytes: %v", size, err)
		lines := bytes.Count(whole[:size], []byte{'\n'})
		want := (lines - 1) / 2
		must.Need(t, len(m.Outputs) == want && !m.Ended && m.Cut == (whole[size-1] != '\n'), "cut to %d bytes: %d outputs, ended %v, cut %v", size, len(m.Outputs), m.Ended, m.Cut)
	}
}

// TestFlips changes each byte: no line may be read as another valid one.
func TestFlips(t *testing.T) {
	whole := sample()
	last := bytes.LastIndexByte(whole[:len(whole)-1], '\n')
	for i := range whole {
		for _, mask := range []byte{1, 0x20, 0x80} {
			flipped := must.Flipped(whole, i, mask)
			m, err := Read(bytes.NewReader(flipped))
			switch {
			case err == nil && i < last:
				t.Fatalf("byte %d ^ %#x: no error", i, mask)
			case err == nil && (m.Ended || !m.Cut):
				t.Fatalf("byte %d ^ %#x: %+v", i, mask, m)
			}
		}
	}
}

func TestReadRefuses(t *testing.T) {
	newer := job()
	newer.Manifest = Version + 1
	gap := output("1.csv")
	gap.Parts[1].Offset++
	for _, test := range []struct {
		name string
		text []byte
		want error
	}{
		{"nothing", nil, errDamaged},
		{"something else", []byte("url,allowed\na,b\nc,d\n"), errDamaged},
		{"newer", AppendJob(nil, newer), errVersion},
		{"no first line", AppendEnd(nil, 0), errDamaged},
		{"two first lines", AppendJob(AppendJob(nil, job()), job()), errDamaged},
		{"a gap", AppendOutput(AppendJob(nil, job()), gap), errDamaged},
		{"another number", AppendEnd(AppendJob(nil, job()), 1), errDamaged},
		{"an output twice", AppendEnd(AppendOutput(AppendOutput(AppendJob(nil, job()), output("1.csv")), output("1.csv")), 2), errDamaged},
		{"a file of no rules", AppendRuleFiles(AppendJob(nil, job()), []RuleFile{{Source: 2}}), errDamaged},
		{"more after the end", AppendEnd(AppendEnd(AppendJob(nil, job()), 0), 0), errDamaged},
	} {
		must.Is(t, must.Err(Read(bytes.NewReader(test.text))), test.want, test.name)
	}
}

func TestDifference(t *testing.T) {
	for _, test := range []struct {
		change func(*Job)
		want   string
	}{
		{func(*Job) {}, ""},
		{func(j *Job) { j.Program = "1" }, "the program"},
		{func(j *Job) { j.Options["agent"] = []string{"CCBot"} }, "agent has"},
		{func(j *Job) { delete(j.Options, "emit") }, "emit has"},
		{func(j *Job) { j.Options["explain"] = []string{"true"} }, "explain has"},
		{func(j *Job) {
			for name := range strings.SplitSeq("with use prefix weight columns limit", " ") { // of several, the first by name is named
				j.Options[name] = []string{"x"}
			}
		}, "columns has"},
		{func(j *Job) { j.Rules = j.Rules[:1] }, "rules has"},
		{func(j *Job) { j.Rules[0].Checksum = "13" }, "rules in rules"},
		{func(j *Job) { j.Rules[1].Files[0].Modified = modified.Add(1) }, "rules in c"},
	} {
		other := job()
		test.change(other)
		for _, got := range []string{job().Difference(other).String(), other.Difference(job()).String()} {
			must.Be(t, (got == "") == (test.want == "") && strings.Contains(got, test.want), "%q, want %q", got, test.want)
		}
	}
}

// memory is an output in memory with its sink. The sink writes each batch in two pieces, or
// two batches at a time if collect is set.
type memory struct {
	bytes.Buffer
	w       Writer
	collect bool
	waiting []byte
}

func (m *memory) Abort() {}

func (m *memory) Encode(b *batch.Batch, v *batch.Verdicts) (batch.Chunk, error) {
	return batch.Bytes(bytes.Repeat([]byte{'x'}, v.SelectedRows)), nil
}

func (m *memory) Write(c batch.Chunk) error {
	text := c.(batch.Bytes)
	if m.collect {
		if m.waiting = append(m.waiting, text...); len(m.waiting) < 5 {
			return nil
		}
		text, m.waiting = m.waiting, nil
	}
	for _, piece := range [][]byte{text[:len(text)/2], text[len(text)/2:]} {
		if _, err := m.w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) Close() error {
	if _, err := m.w.Write(append(m.waiting, "end"...)); err != nil {
		return err
	}
	return m.w.Close()
}

type file struct{ bytes.Buffer }

func (*file) Close() error { return nil }
func (*file) Abort()       {}

func write(t *testing.T, collect bool, rows ...int) (*file, *Output) {
	t.Helper()
	f := &file{}
	sums := NewSums(f)
	inner := &memory{w: sums, collect: collect}
	must.Get(sums.Write([]byte("head")))(t)
	sink := sums.Around(inner)
	for _, n := range rows {
		must.Do(t, sink.Write(must.Get(sink.Encode(nil, &batch.Verdicts{SelectedRows: n}))(t)))
	}
	must.Do(t, sink.Close())
	return f, &Output{Output: File{Size: sums.Size()}, Checksum: sums.Checksum(), Parts: sums.Parts()}
}

func TestSums(t *testing.T) {
	for _, test := range []struct {
		collect bool
		rows    []int
		want    [][3]int64 // offset, size, rows
	}{
		{false, nil, [][3]int64{{0, 7, 0}}},
		{false, []int{3, 0, 2}, [][3]int64{{0, 4, 0}, {4, 3, 3}, {7, 2, 2}, {9, 3, 0}}},
		{true, []int{3, 1, 2, 4}, [][3]int64{{0, 4, 0}, {4, 6, 6}, {10, 7, 4}}},
	} {
		f, o := write(t, test.collect, test.rows...)
		err := o.check()
		must.Need(t, err == nil && len(o.Parts) == len(test.want), "%v: %+v, %v", test.rows, o.Parts, err)
		for i, p := range o.Parts {
			must.Equal(t, [3]int64{p.Offset, p.Size, p.Rows}, test.want[i], test.rows, "part", i)
		}
		sum := xxh3.Hash128(f.Bytes()).Bytes()
		must.Be(t, o.Checksum == hexOf(sum[:]), "checksum %s", o.Checksum)
		must.Do(t, o.Check(bytes.NewReader(f.Bytes()), func(i int, what string) { t.Errorf("part %d: %s", i, what) }))
	}
	const empty = "99aa06d3014798d86001c324468d497f" // of xxhsum -H2
	must.Equal(t, NewSums(&file{}).Checksum(), empty, "checksum of nothing")
}

func hexOf(b []byte) string {
	const digits = "0123456789abcdef"
	var s strings.Builder
	for _, c := range b {
		s.WriteByte(digits[c>>4])
		s.WriteByte(digits[c&15])
	}
	return s.String()
}

// TestCheckFinds flips each byte, cuts and lengthens an output.
func TestCheckFinds(t *testing.T) {
	f, o := write(t, false, 5, 9, 700)
	sound := f.Bytes()
	check := func(data []byte) (parts []int) {
		t.Helper()
		must.Do(t, o.Check(bytes.NewReader(data), func(i int, _ string) { parts = append(parts, i) }))
		return parts
	}
	partOf := func(at int) int {
		for i, p := range o.Parts {
			if int64(at) < p.Offset+p.Size {
				return i
			}
		}
		return len(o.Parts)
	}
	for i := range sound {
		broken := must.Flipped(sound, i, 1<<rand.IntN(8))
		got := check(broken)
		must.Need(t, len(got) != 0 && got[0] == partOf(i), "byte %d: parts %v, want %d", i, got, partOf(i))
		got = check(sound[:i])
		must.Need(t, len(got) == 1 && got[0] == partOf(i), "cut to %d bytes: parts %v, want %d", i, got, partOf(i))
	}
	got := check(append(bytes.Clone(sound), 0))
	must.Be(t, len(got) == 1 && got[0] == len(o.Parts), "longer: parts %v", got)
	failing := io.MultiReader(bytes.NewReader(sound[:10]), failure{})
	must.Is(t, o.Check(failing, func(int, string) {}), errFailure, "a reader that fails")
}

var errFailure = errors.New("input/output error")

type failure struct{}

func (failure) Read([]byte) (int, error) { return 0, errFailure }

// TestCounts sets every number of the statistics, so that it covers numbers that are added
// later.
func TestCounts(t *testing.T) {
	want := &batch.Stats{Agents: make([]batch.Counts, 2)}
	next := int64(0)
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		for i := range v.NumField() {
			if v.Field(i).CanInt() {
				next++
				v.Field(i).SetInt(next)
			}
			if v.Field(i).Type() == reflect.TypeFor[batch.Counters]() {
				fill(v.Field(i))
			}
		}
	}
	fill(reflect.ValueOf(want).Elem())
	for i := range want.Agents {
		fill(reflect.ValueOf(&want.Agents[i]).Elem())
	}
	text := AppendOutput(AppendJob(nil, job()), &Output{Counts: *want})
	got := mustRead(t, text).Outputs[0].Counts
	must.DeepEqual(t, &got, want)
}

// FuzzRead reads arbitrary bytes: a manifest that is accepted can be written again.
func FuzzRead(f *testing.F) {
	f.Add(sample())
	f.Add(AppendEnd(AppendJob(nil, job()), 0))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		again := AppendRuleFiles(AppendJob(nil, &m.Job), m.RuleFiles)
		for i := range m.Outputs {
			again = AppendOutput(again, &m.Outputs[i])
		}
		if m.Ended {
			again = AppendEnd(again, len(m.Outputs))
		}
		got := mustRead(t, again)
		must.Be(t, len(got.Outputs) == len(m.Outputs) && len(got.RuleFiles) == len(m.RuleFiles) && got.Ended == m.Ended, "%+v became %+v", m, got)
	})
}
