//go:build unix

// Job runs the whole job with an evaluator that sets every bit (-identity): the same
// source, decoding, sink and encoding; only the evaluation and the rules are left out. The
// time of the job by the time of that is what evaluating costs where it is used. Without
// -identity it is the job of robotsbatch, for a profile.
//
//	go run ./bench/job -in FRONTIER -out FILE [-identity | -rules FOLDER_OR_PACK] [-workers N] [-cpuprofile FILE]
//
// The output has the format of the input, .arrow or .parquet.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/pprof"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/arrowipc"
	"robotsbatch/io/frontier/parquetio"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/rules/rulesdir"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
	"robotsbatch/matcher"
)

// What robotsbatch takes when nothing else is said.
const (
	agent       = "CCBot"
	memory      = 512 << 20
	rulesMemory = memory / 4
)

func main() {
	var j job
	flag.StringVar(&j.in, "in", "", "frontier, .arrow or .parquet")
	flag.StringVar(&j.out, "out", "", "output of the same format")
	flag.StringVar(&j.rules, "rules", "", "folder of robots.txt files or rule pack")
	flag.BoolVar(&j.identity, "identity", false, "set every bit")
	flag.IntVar(&j.workers, "workers", 0, "batches at a time")
	profile := flag.String("cpuprofile", "", "write a profile of the processor time")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		check(err)
	}
	check(j.run())
	pprof.StopCPUProfile()
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "job:", err)
		os.Exit(1)
	}
}

// job is one run, put together as robotsbatch does it.
type job struct {
	in, out, rules string
	identity       bool
	workers        int
}

func (j *job) run() error {
	debug.SetMemoryLimit(memory)
	newEvaluator := func() batch.Evaluator { return allowAll{} }
	if !j.identity {
		origins, err := openRules(j.rules)
		if err != nil {
			return err
		}
		newEvaluator = func() batch.Evaluator { return evaluate.New(origins, evaluate.Options{}) }
	}
	src, err := openTable(j.in)
	if err != nil {
		return err
	}
	defer src.Close()
	sink, err := j.create(src)
	if err != nil {
		return err
	}
	stats, err := batch.Run(context.Background(), src, sink, newEvaluator, batch.Options{Workers: j.workers, Memory: memory - rulesMemory})
	if err == nil && stats.Rows == 0 {
		err = fmt.Errorf("%s has no rows", j.in)
	}
	return err
}

// allowAll is an evaluator that costs nothing: it allows every row.
type allowAll struct{}

func (allowAll) Evaluate(b *batch.Batch, v *batch.Verdicts) error {
	v.Reset(b.URLs.Len(), batch.Want{Agents: 1})
	if v.Rows > 0 {
		matcher.SetBits(v.Agents[0].Allowed, 0, v.Rows)
	}
	return nil
}

func openRules(name string) (matcher.Origins, error) {
	chains := []matcher.Chain{{agent}}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return rulesdir.Open(name, rulesdir.Options{Chains: chains, Memory: rulesMemory})
	}
	return rulepack.Open(name, rulepack.Options{Chains: chains})
}

func openTable(name string) (*frontier.Source, error) {
	return frontier.Open(context.Background(), frontier.Input{Path: name}, frontier.Options{BatchRows: batch.DefaultRows, Memory: memory - rulesMemory})
}

func (j *job) create(src *frontier.Source) (sink batch.Sink, err error) {
	w, err := blob.Create(context.Background(), j.out)
	if err != nil {
		return nil, err
	}
	verdicts, err := batch.VerdictColumns(batch.ColumnOptions{Agents: []string{agent}})
	layout := batch.Layout{URLColumn: src.URLColumn, Verdicts: verdicts}
	switch {
	case err != nil:
	case filepath.Ext(j.out) == ".parquet":
		sink, err = parquetio.NewSink(w, parquetio.SinkOptions{Layout: layout, Codec: compress.Zstd, Schema: src.Schema})
	default:
		sink, err = arrowipc.NewSink(w, arrowipc.SinkOptions{Layout: layout, Codec: compress.Zstd, Schema: src.Schema})
	}
	if err != nil {
		w.Abort()
	}
	return sink, err
}
