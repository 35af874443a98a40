//go:build unix

package parquetio

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"robotsbatch/batch"
	"robotsbatch/bench/corpus"
	"robotsbatch/bench/corpus/export"
	"robotsbatch/io/frontier/tableio/tablestest"
	codecs "robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
)

// BenchmarkSteps measures what each step of DESIGN.md saves: its CPU time as a part of
// the first one's, the median of several turns. All write every row with a column of
// verdicts, which are set and not evaluated; "mixed" is the last step when every second
// row comes out, and "urls" when the URLs are all that does.
func BenchmarkSteps(b *testing.B) {
	if testing.Short() {
		b.Skip("makes 600,000 rows")
	}
	for _, table := range []struct {
		columns int
		rows    int64
	}{{3, 500_000}, {30, 100_000}} {
		name := filepath.Join(b.TempDir(), "frontier.parquet")
		c := corpus.New(corpus.Options{Origins: 1000, URLs: table.rows})
		must.Do(b, export.Frontier(name, c, export.Options{Columns: table.columns}))
		data := must.Get(os.ReadFile(name))(b)
		b.Run(fmt.Sprintf("columns=%d", table.columns), func(b *testing.B) { benchmarkSteps(b, data, table.rows) })
	}
}

func benchmarkSteps(b *testing.B, data []byte, rows int64) {
	all := func(int64) bool { return true }
	half := func(row int64) bool { return row%2 == 0 }
	steps := []struct {
		name string
		rows int64
		run  func() ([]byte, error)
	}{
		{"0-decode", rows, func() ([]byte, error) { return encodeAll(b, data), nil }},
		{"1-copy", rows, func() ([]byte, error) { return passKept(Options{}, all, data) }},
		{"mixed", rows / 2, func() ([]byte, error) { return passKept(Options{}, half, data) }},
		{"urls", rows, func() ([]byte, error) { return passKept(Options{Keep: batch.KeepURL}, all, data) }},
	}
	times := make([][]float64, len(steps)) // of each step, as parts of the first one's
	for b.Loop() {
		first := 0.0
		for i, step := range steps {
			before := cpuTime(b)
			out, err := step.run()
			took := cpuTime(b) - before
			must.Do(b, err)
			if s, _, err := readAll(out, Options{Keep: batch.KeepURL}); err != nil || s.whole.File.Rows != step.rows {
				b.Fatalf("step %s: %d rows, want %d, %v", step.name, s.whole.File.Rows, step.rows, err)
			}
			if i == 0 {
				first = took
			}
			times[i] = append(times[i], took/first)
		}
	}
	for i, step := range steps {
		slices.Sort(times[i])
		b.ReportMetric(times[i][len(times[i])/2], "x-"+step.name)
	}
	b.ReportMetric(0, "ns/op")
}

// cpuTime is what the process took so far, in seconds.
func cpuTime(b *testing.B) float64 {
	var usage unix.Rusage
	must.Do(b, unix.Getrusage(unix.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

// encodeAll is the naive algorithm, what -compression does.
func encodeAll(b *testing.B, data []byte) []byte {
	s, batches, err := readAll(data, Options{})
	must.Do(b, err)
	layout := batch.Layout{URLColumn: s.URLColumn()}
	return writeAll(b, SinkOptions{Codec: codecs.Zstd, Layout: layout, Schema: s.Schema()}, batches, tablestest.Verdicts)
}
