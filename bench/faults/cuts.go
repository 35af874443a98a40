//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"

	"github.com/klauspost/compress/zstd"

	"robotsbatch/bench/corpus"
)

// lineSamples returns lists, tables and objects in lines, all compressed: a cut of
// uncompressed ones cannot be detected.
func lineSamples() ([]*sample, error) {
	var list, table, objects bytes.Buffer
	table.WriteString("id,url\n")
	n := 0
	for _, url := range corpus.New(corpus.SampleOptions()).URLs() {
		fmt.Fprintf(&list, "%s\n", url)
		fmt.Fprintf(&table, "%d,\"%s\"\n", n, bytes.ReplaceAll(url, []byte(`"`), []byte(`""`)))
		fmt.Fprintf(&objects, "{\"id\":%d,\"url\":%q}\n", n, bytes.ToValidUTF8(url, nil))
		n++
	}
	var samples []*sample
	for name, data := range map[string][]byte{"x.txt": list.Bytes(), "x.csv": table.Bytes(), "x.jsonl": objects.Bytes()} {
		var zipped bytes.Buffer
		w := gzip.NewWriter(&zipped)
		if _, err := w.Write(data); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		encoder, err := zstd.NewWriter(nil)
		if err != nil {
			return nil, err
		}
		samples = append(samples,
			&sample{name: name + ".gz", file: name + ".gz", data: zipped.Bytes()},
			&sample{name: name + ".zst", file: name + ".zst", data: encoder.EncodeAll(data, nil)})
	}
	return samples, nil
}

// cutsSection cuts inputs. Those that may be a stream are also passed through a pipe.
func cutsSection(b *bench) error {
	samples, err := b.samples()
	if err != nil {
		return err
	}
	n := b.times(4000)
	t := newTally(fmt.Sprintf("%d cut inputs", n))
	err = b.each(n, func(worker, i int) error {
		s := samples[i%len(samples)]
		rng := rand.New(rand.NewPCG(b.seed, uint64(i)))
		at := rng.IntN(len(s.data))
		if rng.IntN(4) == 0 { // near the end, where a cut is hardest to notice
			at = len(s.data) - 1 - rng.IntN(min(len(s.data), 64))
		}
		r, err := b.broken(s, worker, s.data[:at])
		if err != nil {
			return err
		}
		t.add(part{name: s.group}, r, fmt.Sprintf("%s: cut after %d of %d bytes", s.name, at, len(s.data)))
		return nil
	})
	if err != nil {
		return err
	}
	return t.print()
}

// samples returns intact inputs of all formats in which a cut can be detected.
func (b *bench) samples() ([]*sample, error) {
	if err := b.writeRules(); err != nil {
		return nil, err
	}
	var samples []*sample
	for _, k := range arrowKinds() {
		s, err := arrowSample(k)
		if err != nil {
			return nil, err
		}
		piped := *s
		s.group, piped.group, piped.pipe = "Arrow "+s.file, "Arrow "+s.file+" through a pipe", true
		samples = append(samples, s, &piped)
	}
	for _, k := range parquetKinds() {
		s, err := parquetSample(k)
		if err != nil {
			return nil, err
		}
		s.group = "Parquet"
		samples = append(samples, s)
	}
	lines, err := lineSamples()
	if err != nil {
		return nil, err
	}
	for _, s := range lines {
		s.group = "lines, compressed"
	}
	samples = append(samples, lines...)
	return samples, b.prepare(samples)
}
