//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"robotsbatch/bench/corpus"
	"robotsbatch/bench/corpus/export"
)

// manifested is an output with its manifest.
type manifested struct {
	file     string
	data     []byte
	manifest []byte
}

const manifestName = "_robotsbatch.manifest.jsonl"

// outputsSection changes and cuts the program's outputs, in all formats, and runs verify on
// them, which must find each fault.
func outputsSection(b *bench) error {
	outputs, err := b.writeOutputs()
	if err != nil {
		return err
	}
	n := b.times(2000)
	t := newTally(fmt.Sprintf("%d changed and cut outputs, verified", n))
	err = b.each(n, func(worker, i int) error {
		rng := rand.New(rand.NewPCG(b.seed, uint64(i)))
		o := outputs[i%len(outputs)]
		at := rng.IntN(len(o.data))
		data, what := o.data[:at], "cut"
		if i/len(outputs)%4 > 0 {
			data, what = bytes.Clone(o.data), "a byte changed"
			data[at] ^= byte(1) << rng.IntN(8)
		}
		folder := b.path(fmt.Sprint("outputs-", worker))
		if err := o.writeTo(folder, data); err != nil {
			return err
		}
		r := b.job("verify", folder)
		t.add(part{name: filepath.Ext(o.file) + ", " + what}, r, fmt.Sprintf("%s: byte %d", o.file, at))
		return os.RemoveAll(folder)
	})
	if err != nil {
		return err
	}
	return t.print()
}

// writeOutputs runs jobs with outputs in all formats.
func (b *bench) writeOutputs() ([]manifested, error) {
	if err := b.writeRules(); err != nil {
		return nil, err
	}
	frontier := b.path("written.arrow")
	if err := export.Frontier(frontier, corpus.New(corpus.SampleOptions()), export.Options{BatchRows: 700}); err != nil {
		return nil, err
	}
	var outputs []manifested
	for _, args := range [][]string{
		{"arrow", "-compression", "none"},
		{"arrow"},
		{"arrows", "-compression", "lz4"},
		{"parquet", "-compression", "none"},
		{"parquet"},
		{"csv"},
		{"jsonl"},
	} {
		folder := b.path("written") + "/"
		if _, err := b.sound(append([]string{"-in", frontier, "-rules", b.path("rules"), "-out", folder, "-out-format"}, args...)...); err != nil {
			return nil, err
		}
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(entries, func(e os.DirEntry) bool { return e.Name() == "written."+args[0] })
		if i < 0 {
			return nil, fmt.Errorf("%s has no output of the format %s: %v", folder, args[0], entries)
		}
		o := manifested{file: entries[i].Name()}
		if o.data, err = os.ReadFile(filepath.Join(folder, o.file)); err != nil {
			return nil, err
		}
		if o.manifest, err = os.ReadFile(filepath.Join(folder, manifestName)); err != nil {
			return nil, err
		}
		if err := os.RemoveAll(folder); err != nil {
			return nil, err
		}
		if err := o.writeTo(folder, o.data); err != nil {
			return nil, err
		}
		if _, err := b.sound("verify", folder); err != nil {
			return nil, err
		}
		if err := os.RemoveAll(folder); err != nil {
			return nil, err
		}
		outputs = append(outputs, o)
	}
	return outputs, nil
}

// writeTo writes an output as data, with its manifest.
func (o *manifested) writeTo(folder string, data []byte) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, manifestName), o.manifest, 0o666); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, o.file), data, 0o666)
}
