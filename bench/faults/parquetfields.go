//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// These bound a run on a changed Parquet file: a job with -memory fieldsMemory may take
// fieldsMore in addition.
const (
	fieldsMemory   = 64 << 20
	fieldsMore     = 100 << 20
	fieldsPatience = 10 * time.Second
)

// parquetFieldsSection changes numbers in footers and page headers, and the first bytes of
// pages: counts, sizes, offsets and encodings that a reader may trust wrongly. If a number
// becomes longer, the rest of the file moves, and the offsets in the footer are adjusted.
func parquetFieldsSection(b *bench) error {
	if err := b.writeRules(); err != nil {
		return err
	}
	n := b.times(10_000)
	t := newTally(fmt.Sprintf("%d changed fields of footers and page headers of Parquet files (none, snappy, zstd; pages of both versions; plain, dictionary and delta encodings), under -memory 64MiB", n))
	var samples []*fieldSample
	for _, k := range fieldKinds() {
		s, err := b.fieldSample(k)
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		samples = append(samples, s)
	}
	err := b.each(n, func(worker, i int) error {
		s := samples[i%len(samples)]
		rng := rand.New(rand.NewPCG(b.seed, uint64(i)))
		data, p, what := s.file.change(rng)
		r, err := b.table(&s.sample, fmt.Sprint("broken-", worker), data, s.args...)
		if err != nil {
			return err
		}
		r.compare(s.sound)
		switch {
		case r.outcome == silent:
			text, valid := difference(s.sound.out, r.out)
			if s.verdicts && text == "values of one column" {
				text, valid = "verdicts of other URLs", true
			}
			p = part{p.name + ": " + text, valid}
		case r.time > fieldsPatience:
			r.outcome = hung
		case r.memory > fieldsMemory+fieldsMore:
			r.outcome, r.stderr = killed, fmt.Sprintf("it took %d MiB; %s", r.memory>>20, r.stderr)
		}
		if b.keep != "" && r.outcome > silent {
			if err := os.WriteFile(filepath.Join(b.keep, fmt.Sprintf("%s-%d.parquet", outcomeNames[r.outcome], i)), data, 0o666); err != nil {
				return err
			}
		}
		t.add(p, r, fmt.Sprintf("%d: %s: %s", i, s.name, what))
		return nil
	})
	if err != nil {
		return err
	}
	return t.print()
}

// fieldKind is a way to write and read a table.
type fieldKind struct {
	name    string
	codec   compress.Compression
	pages   parquet.DataPageVersion
	columns string // -columns
	options []parquet.WriterProperty
}

func fieldKinds() []fieldKind {
	var kinds []fieldKind
	encodings := []struct {
		name    string
		options []parquet.WriterProperty
	}{
		{"plain", []parquet.WriterProperty{parquet.WithDictionaryDefault(false)}},
		{"dictionary", nil},
		{"delta length", []parquet.WriterProperty{
			parquet.WithDictionaryDefault(false), parquet.WithEncodingFor("url", parquet.Encodings.DeltaLengthByteArray),
			parquet.WithEncodingFor("id", parquet.Encodings.DeltaBinaryPacked), parquet.WithEncodingFor("found", parquet.Encodings.DeltaBinaryPacked),
		}},
		{"delta", []parquet.WriterProperty{
			parquet.WithDictionaryDefault(false), parquet.WithEncodingFor("url", parquet.Encodings.DeltaByteArray), parquet.WithEncodingFor("kind", parquet.Encodings.DeltaByteArray),
		}},
	}
	for i, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd} {
		for _, pages := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			for j, encoding := range encodings {
				columns := []string{"all", "all", "url", "verdict"}[(i+j)%4]
				kinds = append(kinds, fieldKind{fmt.Sprintf("%s, %s, pages %d, -columns %s", encoding.name, codec, pages+1, columns), codec, pages, columns, encoding.options})
			}
		}
	}
	return kinds
}

// fieldSample is an intact file with the result of a run on it.
type fieldSample struct {
	sample
	args     []string
	verdicts bool // come out alone
	file     *numberedFile
}

func (b *bench) fieldSample(k fieldKind) (*fieldSample, error) {
	const rows = 100
	var out bytes.Buffer
	schema := tableSchema()
	options := append([]parquet.WriterProperty{parquet.WithCompression(k.codec), parquet.WithDataPageVersion(k.pages), parquet.WithDataPageSize(1 << 10), parquet.WithBatchSize(32)}, k.options...)
	w, err := pqarrow.NewFileWriter(schema, &out, parquet.NewWriterProperties(options...), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema(), pqarrow.WithAllocator(memory.NewGoAllocator())))
	if err != nil {
		return nil, err
	}
	for _, record := range tableRecords(schema, 2, rows) {
		if err := w.Write(record); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	s := &fieldSample{sample: sample{name: k.name, file: "x.parquet", data: out.Bytes()}, verdicts: k.columns == "verdict", args: []string{"-memory", "64MiB", "-columns", k.columns}}
	if s.file, err = parseParquet(s.data); err != nil {
		return nil, err
	}
	if s.sound, err = b.table(&s.sample, "sound", s.data, s.args...); err != nil {
		return nil, err
	}
	if s.sound.outcome != silent {
		return nil, fmt.Errorf("the sound input: status %d: %s", s.sound.status, s.sound.stderr)
	}
	return s, nil
}
