package bench

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/bench/corpus"
	"robotsbatch/bench/corpus/export"
	"robotsbatch/bench/figures"
	"robotsbatch/io/store/must"
)

var originsFlag = flag.Int("origins", 1000, "authorities of the rule packs to measure with")

// BenchmarkPipe measures robotsbatch pipe from its client's side: the time from the start of
// the process to its first answer, and the cost of a batch for a client that waits for each
// answer.
func BenchmarkPipe(b *testing.B) {
	if testing.Short() {
		b.Skip("builds the program")
	}
	program, rules := filepath.Join(b.TempDir(), "robotsbatch"), filepath.Join(b.TempDir(), "site.rules")
	said, err := exec.Command("go", "build", "-o", program, "../cmd/robotsbatch").CombinedOutput()
	must.Need(b, err == nil, "%v: %s", err, said)
	c := corpus.New(corpus.Options{Origins: *originsFlag, Missing: -1, Distinct: 0.1})
	must.Do(b, export.Pack(rules, c))
	urls := urlsOfAll(c, 100_000)
	name := func(what string, rows int) string {
		return fmt.Sprintf("origins=%d/%s/rows=%d", *originsFlag, what, rows)
	}
	b.Run(name("start", 1000), func(b *testing.B) {
		first := arrowBatch(urls[:1000])
		var milliseconds, cpu []float64
		for b.Loop() {
			began := time.Now()
			p := startPipe(b, program, rules)
			p.ask(b, first)
			milliseconds = append(milliseconds, time.Since(began).Seconds()*1000)
			cpu = append(cpu, p.end(b).Seconds()*1000)
		}
		b.ReportMetric(figures.Median(milliseconds), "median-ms")
		b.ReportMetric(figures.Median(cpu), "median-cpu-ms")
	})
	for _, rows := range []int{1, 10, 100, 1000, 10_000, 100_000} {
		b.Run(name("batch", rows), func(b *testing.B) {
			var batches []arrow.Record
			for at := 0; at+rows <= len(urls) && len(batches) < 100; at += rows {
				batches = append(batches, arrowBatch(urls[at:at+rows]))
			}
			p := startPipe(b, program, rules)
			p.ask(b, batches[0])
			for i := 0; b.Loop(); i++ {
				p.ask(b, batches[i%len(batches)])
			}
			n := float64(b.N)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/n/float64(rows), "ns/url")
			b.ReportMetric(float64(p.end(b).Nanoseconds())/n, "cpu-ns/op")
		})
	}
}

// urlsOfAll returns URLs of authorities from all over a corpus.
func urlsOfAll(c *corpus.Corpus, n int) (urls []string) {
	for i := 0; len(urls) < n; i++ {
		o := c.Origin(i * 7919 % *originsFlag)
		for j := range int64(min(50, n-len(urls))) {
			urls = append(urls, string(c.AppendURL(nil, &o, j)))
		}
	}
	return urls
}

// pipe is a process of robotsbatch pipe.
type pipe struct {
	cmd *exec.Cmd
	to  io.WriteCloser
	w   *ipc.Writer
	r   *ipc.Reader
	out io.Reader
}

var urlSchema = arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}}, nil)

func startPipe(b *testing.B, program, rules string) *pipe {
	b.Helper()
	p := &pipe{cmd: exec.Command(program, "pipe", "-rules", rules, "-agent", "CCBot", "-columns", "verdict")}
	p.cmd.Stderr = os.Stderr
	p.to, p.out = must.Get(p.cmd.StdinPipe())(b), must.Get(p.cmd.StdoutPipe())(b)
	p.w = ipc.NewWriter(p.to, ipc.WithSchema(urlSchema))
	must.Do(b, p.cmd.Start())
	return p
}

// ask writes a batch and waits for its answer.
func (p *pipe) ask(b *testing.B, batch arrow.Record) {
	must.Do(b, p.w.Write(batch))
	if p.r == nil {
		p.r = must.Get(ipc.NewReader(p.out))(b)
	}
	must.Need(b, p.r.Next() && p.r.Record().NumRows() == batch.NumRows(), "no answer of %d rows: %v", batch.NumRows(), p.r.Err())
}

// end ends the process and returns its processor time.
func (p *pipe) end(b *testing.B) time.Duration {
	must.Do(b, errors.Join(p.w.Close(), p.to.Close(), p.cmd.Wait()))
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}

func arrowBatch(urls []string) arrow.Record {
	b := array.NewStringBuilder(memory.NewGoAllocator())
	b.AppendValues(urls, nil)
	return array.NewRecord(urlSchema, []arrow.Array{b.NewArray()}, int64(len(urls)))
}
