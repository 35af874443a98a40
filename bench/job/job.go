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
	"robotsbatch/io/arrowipc"
	"robotsbatch/io/blob"
	"robotsbatch/io/parquetio"
	"robotsbatch/io/rulepack"
	"robotsbatch/io/rulesdir"
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
	rules      []string
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
	o := batch.Options{Workers: j.workers, Memory: memory - rulesMemory}
	var origins matcher.Origins
	if j.identity {
		o.Evaluate = setEveryBit
	} else {
		var err error
		if origins, err = openRules(j.rules[0]); err != nil {
			return err
		}
	}
	return j.convert(origins, o)
}

// setEveryBit is the evaluator that allows everything.
func setEveryBit(b *batch.Batch, v *batch.Verdicts) error {
	v.Rows = b.URLs.Len()
	v.SelectedRows = v.Rows
	if v.Agents == nil {
		v.Agents = make([]batch.AgentVerdicts, 1)
	}
	a := &v.Agents[0]
	a.Allowed, a.Valid = ones(a.Allowed, v.Rows), ones(a.Valid, v.Rows)
	return nil
}

// ones returns a bitmap of n set bits, in the memory of one that is not needed
// any more.
func ones(bitmap []byte, n int) []byte {
	bitmap = append(bitmap[:0], make([]byte, (n+7)/8)...)
	for i := range bitmap {
		bitmap[i] = 0xFF
	}
	if n%8 != 0 {
		bitmap[n/8] = 1<<(n%8) - 1
	}
	return bitmap
}

func openRules(name string) (matcher.Origins, error) {
	chains := []matcher.Chain{{agent}}
	if kind(name) == "folder" {
		return rulesdir.Open(name, rulesdir.Options{Chains: chains, Memory: rulesMemory})
	}
	return rulepack.Open(name, rulepack.Options{Chains: chains, Memory: rulesMemory})
}

// convert reads, evaluates and writes.
func (j *job) convert(origins matcher.Origins, o batch.Options) error {
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
		sink, err = parquetio.NewSink(w, parquetio.SinkOptions{Layout: layout, Schema: src.Schema()})
	} else {
		sink, err = arrowipc.NewSink(w, arrowipc.SinkOptions{Layout: layout, Schema: src.Schema()})
	}
	if err != nil {
		w.Abort()
		return err
	}
	stats, err := batch.Run(context.Background(), src, sink, origins, o)
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
