//go:build unix

package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/bench/corpus"
	"robotsbatch/bench/corpus/export"
	"robotsbatch/io/store/must"
)

// TestJob runs the job both ways, and reads its outputs.
func TestJob(t *testing.T) {
	dir := t.TempDir()
	c := corpus.New(corpus.SampleOptions())
	rules := filepath.Join(dir, "rules")
	must.Do(t, export.Rules(rules, c))
	for _, ending := range []string{".arrow", ".parquet"} {
		in := filepath.Join(dir, "frontier"+ending)
		must.Do(t, export.Frontier(in, c, export.Options{}))
		for _, identity := range []bool{false, true} {
			out := filepath.Join(dir, "out"+ending)
			j := job{in: in, out: out, rules: rules, identity: identity}
			if err := j.run(); err != nil {
				t.Fatalf("%s, identity %t: %v", ending, identity, err)
			}
			rows, allowed := count(t, out)
			if rows != c.Options().URLs || (allowed == rows) != identity || allowed == 0 {
				t.Errorf("%s, identity %t: %d of %d rows allowed", ending, identity, allowed, rows)
			}
		}
	}
}

func count(t *testing.T, name string) (rows, allowed int64) {
	t.Helper()
	src := must.Get(openTable(name))(t)
	defer src.Close()
	for {
		piece, err := src.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return rows, allowed
		}
		must.Do(t, err)
		b := must.Get(piece.Decode())(t)
		record := b.Table.(arrow.Record)
		column := record.Column(int(record.NumCols()) - 1).(*array.Boolean)
		for i := range column.Len() {
			rows++
			if column.IsValid(i) && column.Value(i) {
				allowed++
			}
		}
		if b.Release != nil {
			b.Release()
		}
	}
}
