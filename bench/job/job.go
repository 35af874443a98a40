//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/pprof"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
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

// job is one run, put together as robotsbatch does it.
type job struct {
	in, out    string
	rules      string
	identity   bool
	workers    int
	cpuProfile string
}

// table is a source of tables.
type table interface {
	batch.Source
	Schema() *arrow.Schema
	URLColumn() string
}

func (j *job) run() error {
	debug.SetMemoryLimit(memory)
	if j.cpuProfile != "" {
		f, err := os.Create(j.cpuProfile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	newEvaluator := func() batch.Evaluator { return allowAll{} }
	if !j.identity {
		origins, err := openRules(j.rules)
		if err != nil {
			return err
		}
		newEvaluator = func() batch.Evaluator { return evaluate.New(origins, evaluate.Options{}) }
	}
	return j.convert(newEvaluator, batch.Options{Workers: j.workers, Memory: memory - rulesMemory})
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

// convert reads, evaluates and writes.
func (j *job) convert(newEvaluator func() batch.Evaluator, o batch.Options) error {
	src, err := openTable(j.in)
	if err != nil {
		return err
	}
	defer src.Close()
	w, err := blob.Create(context.Background(), j.out)
	if err != nil {
		return err
	}
	verdicts, err := batch.VerdictColumns(batch.ColumnOptions{Agents: []string{agent}})
	if err != nil {
		return err
	}
	layout := batch.Layout{URLColumn: src.URLColumn(), Verdicts: verdicts}
	var sink batch.Sink
	if filepath.Ext(j.out) == ".parquet" {
		sink, err = parquetio.NewSink(w, parquetio.SinkOptions{Layout: layout, Codec: compress.Zstd, Schema: src.Schema()})
	} else {
		sink, err = arrowipc.NewSink(w, arrowipc.SinkOptions{Layout: layout, Codec: compress.Zstd, Schema: src.Schema()})
	}
	if err != nil {
		w.Abort()
		return err
	}
	stats, err := batch.Run(context.Background(), src, sink, newEvaluator, o)
	if err == nil && stats.Rows == 0 {
		err = fmt.Errorf("%s has no rows", j.in)
	}
	return err
}

func openTable(name string) (table, error) {
	f, err := blob.Open(context.Background(), name)
	if err != nil {
		return nil, err
	}
	size, _ := f.Size()
	if filepath.Ext(name) == ".parquet" {
		return parquetio.Open(f, size, parquetio.Options{Name: name, Memory: memory - rulesMemory})
	}
	return arrowipc.OpenFile(f, size, arrowipc.Options{Name: name, Memory: memory - rulesMemory})
}
