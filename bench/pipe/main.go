// Pipe measures robotsbatch pipe from its client's side: the time from the start of the
// process to its first answer, and the cost of a batch for a client that waits for each
// answer. scripts/measure.sh pipe runs it.
//
//	go run ./bench/pipe -program robotsbatch -rules site.rules -origins N
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/bench/corpus"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "pipe:", err)
		os.Exit(1)
	}
}

func run() error {
	program := flag.String("program", "robotsbatch", "the program to run")
	rules := flag.String("rules", "", "its rules")
	origins := flag.Int("origins", 1000, "authorities of the corpus that the rules are of")
	starts := flag.Int("starts", 41, "children to start")
	rows := flag.Int("rows", 2_000_000, "URLs to ask for in batches of each size, or 20,000 batches if that is less")
	flag.Parse()
	if *rules == "" {
		return errors.New("-rules is required")
	}
	urls := someURLs(*origins, 100_000)
	if err := measureStarts(*program, *rules, urls[:1000], *starts); err != nil {
		return err
	}
	for _, size := range []int{1, 10, 100, 1000, 10_000, 100_000} {
		if err := measureBatches(*program, *rules, urls, size, min(20_000, max(1, *rows/size))); err != nil {
			return err
		}
	}
	return nil
}

// someURLs returns URLs of authorities from all over the corpus.
func someURLs(origins, n int) []string {
	c := corpus.New(corpus.Options{Origins: origins, Missing: -1, Distinct: 0.1})
	urls := make([]string, 0, n)
	for i := 0; len(urls) < n; i++ {
		o := c.Origin(i * 7919 % origins)
		for j := range int64(min(50, n-len(urls))) {
			urls = append(urls, string(c.AppendURL(nil, &o, j)))
		}
	}
	return urls
}

// child is a process of robotsbatch pipe.
type child struct {
	cmd *exec.Cmd
	to  io.WriteCloser
	w   *ipc.Writer
	r   *ipc.Reader
	out io.Reader
}

var schema = arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}}, nil)

func start(program, rules string) (*child, error) {
	c := &child{cmd: exec.Command(program, "pipe", "-rules", rules, "-agent", "CCBot", "-columns", "verdict")}
	c.cmd.Stderr = os.Stderr
	var err error
	if c.to, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if c.out, err = c.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	c.w = ipc.NewWriter(c.to, ipc.WithSchema(schema))
	return c, c.cmd.Start()
}

// ask writes a batch and waits for its answer.
func (c *child) ask(batch arrow.Record) error {
	if err := c.w.Write(batch); err != nil {
		return err
	}
	if c.r == nil {
		var err error
		if c.r, err = ipc.NewReader(c.out); err != nil {
			return err
		}
	}
	if !c.r.Next() || c.r.Record().NumRows() != batch.NumRows() {
		return fmt.Errorf("no answer of %d rows: %w", batch.NumRows(), c.r.Err())
	}
	return nil
}

// end ends the child and returns its processor time.
func (c *child) end() (time.Duration, error) {
	if err := errors.Join(c.w.Close(), c.to.Close(), c.cmd.Wait()); err != nil {
		return 0, err
	}
	return c.cmd.ProcessState.UserTime() + c.cmd.ProcessState.SystemTime(), nil
}

func newBatch(urls []string) arrow.Record {
	b := array.NewStringBuilder(memory.NewGoAllocator())
	b.AppendValues(urls, nil)
	return array.NewRecord(schema, []arrow.Array{b.NewArray()}, int64(len(urls)))
}

// measureStarts prints how long processes take to their first answer.
func measureStarts(program, rules string, urls []string, starts int) error {
	batch := newBatch(urls)
	var times, cpu []time.Duration
	for range starts {
		began := time.Now()
		c, err := start(program, rules)
		if err == nil {
			err = c.ask(batch)
		}
		if err != nil {
			return err
		}
		times = append(times, time.Since(began))
		took, err := c.end()
		if err != nil {
			return err
		}
		cpu = append(cpu, took)
	}
	slices.Sort(times)
	slices.Sort(cpu)
	fmt.Printf("start to the first answer, %d rows, %d times: median %.1f ms, between %.1f and %.1f; processor time in all %.1f ms\n", len(urls), starts,
		milliseconds(times[starts/2]), milliseconds(times[0]), milliseconds(times[starts-1]), milliseconds(cpu[starts/2]))
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// measureBatches prints the cost of a batch.
func measureBatches(program, rules string, urls []string, size, count int) error {
	var batches []arrow.Record
	for at := 0; at+size <= len(urls) && len(batches) < 100; at += size {
		batches = append(batches, newBatch(urls[at:at+size]))
	}
	c, err := start(program, rules)
	if err == nil {
		err = c.ask(batches[0])
	}
	if err != nil {
		return err
	}
	began := time.Now()
	for i := range count {
		if err := c.ask(batches[i%len(batches)]); err != nil {
			return err
		}
	}
	took := time.Since(began)
	cpu, err := c.end()
	if err != nil {
		return err
	}
	n := float64(count)
	fmt.Printf("batches of %6d rows, %5d of them: %.1f µs each, of which the child's processor time %.1f µs; %.0f ns a URL\n",
		size, count, float64(took.Microseconds())/n, float64(cpu.Microseconds())/n, float64(took)/n/float64(size))
	return nil
}
