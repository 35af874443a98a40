//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/bench/corpus"
)

// arrowKind is a variant of an Arrow file or stream with the same rows.
type arrowKind struct {
	stream bool
	codec  string // none, lz4 or zstd
	rows   int    // per batch
}

func (k arrowKind) String() string {
	form := "file"
	if k.stream {
		form = "stream"
	}
	return fmt.Sprintf("%s %s %d", form, k.codec, k.rows)
}

func arrowKinds() []arrowKind {
	var kinds []arrowKind
	for _, stream := range []bool{false, true} {
		for _, codec := range []string{"none", "lz4", "zstd"} {
			for _, rows := range []int{8, 3000} {
				kinds = append(kinds, arrowKind{stream, codec, rows})
			}
		}
	}
	return kinds
}

// sample is an intact input.
type sample struct {
	name  string // for messages
	group string // for messages; several samples share it
	file  string // its extension gives the format
	pipe  bool   // it is passed on stdin
	data  []byte
	where func(at int) part // the part that a byte is of; nil: faults are counted by group, and any byte may have another valid value
	// copied reports whether a byte is only copied if columns pass through; nil if that
	// does not matter.
	copied func(at int) bool
	sound  result
}

// arrowBatches is the number of batches in a sample.
const arrowBatches = 3

func arrowSample(k arrowKind) (*sample, error) {
	var out output
	schema := tableSchema()
	options := []ipc.Option{ipc.WithSchema(schema)}
	switch k.codec {
	case "lz4":
		options = append(options, ipc.WithLZ4())
	case "zstd":
		options = append(options, ipc.WithZstd())
	}
	var w interface {
		Write(arrow.Record) error
		Close() error
	}
	name := "x.arrows"
	if k.stream {
		w = ipc.NewWriter(&out, options...)
	} else {
		name = "x.arrow"
		var err error
		if w, err = ipc.NewFileWriter(&out, options...); err != nil {
			return nil, err
		}
	}
	for _, record := range tableRecords(schema, arrowBatches, k.rows) {
		if err := w.Write(record); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return &sample{name: k.String(), group: strings.TrimPrefix(filepath.Ext(name), ".") + ", " + k.codec, file: name, data: out.Bytes()}, nil
}

// output implements what the library's file writer needs.
type output struct{ bytes.Buffer }

func (o *output) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, fmt.Errorf("seek to %d", offset)
	}
	return int64(o.Len()), nil
}

// tableSchema has a column of each shape: strings, numbers, a dictionary, lists.
func tableSchema() *arrow.Schema {
	m := arrow.NewMetadata([]string{"made by"}, []string{"bench/faults"})
	return arrow.NewSchema([]arrow.Field{
		{Name: "url", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "kind", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, Nullable: true},
		{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
		{Name: "found", Type: arrow.FixedWidthTypes.Timestamp_us, Nullable: true},
	}, &m)
}

var kindNames = []string{"page", "image", "feed", "video"}

func stringArray(values []string) *array.String {
	b := array.NewStringBuilder(memory.NewGoAllocator())
	defer b.Release()
	b.AppendValues(values, nil)
	return b.NewStringArray()
}

// tableRecords returns batches of rows of the sample corpus. All have the same dictionary.
func tableRecords(schema *arrow.Schema, batches, rows int) []arrow.Record {
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	defer b.Release()
	urls, ids := b.Field(0).(*array.StringBuilder), b.Field(1).(*array.Int64Builder)
	kinds := b.Field(2).(*array.BinaryDictionaryBuilder)
	tags, found := b.Field(3).(*array.ListBuilder), b.Field(4).(*array.TimestampBuilder)
	words := tags.ValueBuilder().(*array.StringBuilder)
	_ = kinds.InsertStringDictValues(stringArray(kindNames)) // so that every batch has the same dictionary
	var records []arrow.Record
	n := 0
	for records == nil || len(records) < batches {
		for _, url := range corpus.New(corpus.SampleOptions()).URLs() {
			if n%29 == 28 {
				urls.AppendNull()
				found.AppendNull()
				tags.AppendNull()
				kinds.AppendNull()
			} else {
				urls.Append(string(url))
				found.Append(arrow.Timestamp(1_700_000_000_000_000 + 977*n))
				tags.Append(true)
				for i := range n % 3 {
					words.Append([]string{"news", "archive", "seed"}[i])
				}
				_ = kinds.AppendString(kindNames[n%4])
			}
			ids.Append(int64(n))
			if n++; n%rows == 0 {
				if records = append(records, b.NewRecord()); len(records) == batches {
					return records
				}
			}
		}
	}
	return records
}

// broken runs the program on a changed sample.
func (b *bench) broken(s *sample, worker int, data []byte, more ...string) (result, error) {
	r, err := b.table(s, fmt.Sprint("broken-", worker), data, more...)
	r.compare(s.sound)
	return r, err
}

// table runs the program on a table, in a file with this name or on stdin.
func (b *bench) table(s *sample, name string, data []byte, more ...string) (result, error) {
	args := append([]string{"-rules", b.path("rules"), "-agent", "CCBot", "-out", "-", "-out-format", "arrows", "-compression", "none", "-progress", "never"}, more...)
	if s.pipe {
		return b.jobOn(data, append(args, "-in", "-")...), nil
	}
	name, err := b.write(s, name, data)
	if err != nil {
		return result{}, err
	}
	return b.job(append(args, "-in", name)...), nil
}

// write writes a changed sample to a file whose name starts with name.
func (b *bench) write(s *sample, name string, data []byte) (string, error) {
	name = b.path(name + "-" + s.file)
	return name, os.WriteFile(name, data, 0o666)
}

// prepare runs the program on the intact samples and keeps the results.
func (b *bench) prepare(samples []*sample) (err error) {
	for _, s := range samples {
		if s.sound, err = b.table(s, "sound", s.data); err != nil {
			return err
		}
		if s.sound.outcome != silent {
			return fmt.Errorf("%s: the sound input: status %d: %s", s.name, s.sound.status, s.sound.stderr)
		}
	}
	return nil
}

// arrowSection changes a byte of Arrow files and streams: one of its bits, or all of them.
func arrowSection(b *bench) error {
	n := b.times(8000)
	return flipsOf(b, fmt.Sprintf("%d changed bytes of Arrow files and streams (none, lz4, zstd; 8 and 3,000 rows a batch)", n), arrowKinds(), arrowSample, n)
}

// flipsOf changes n bytes in samples, one sample of each kind.
func flipsOf[K any](b *bench, title string, kinds []K, sampleOf func(K) (*sample, error), n int) error {
	if err := b.writeRules(); err != nil {
		return err
	}
	var samples []*sample
	for _, k := range kinds {
		s, err := sampleOf(k)
		if err != nil {
			return err
		}
		samples = append(samples, s)
	}
	if err := b.prepare(samples); err != nil {
		return err
	}
	return b.flips(title, samples, n)
}

// flips changes n bytes, one at a time, in the samples by turns.
func (b *bench) flips(title string, samples []*sample, n int) error {
	t := newTally(title)
	err := b.each(n, func(worker, i int) error {
		s := samples[i%len(samples)]
		rng := rand.New(rand.NewPCG(b.seed, uint64(i)))
		at, change := rng.IntN(len(s.data)), byte(1)<<rng.IntN(8)
		if rng.IntN(4) == 0 {
			change = byte(1 + rng.IntN(255))
		}
		data := bytes.Clone(s.data)
		data[at] ^= change
		r, err := b.broken(s, worker, data)
		if err != nil {
			return err
		}
		p := part{s.group, true}
		if s.where != nil {
			p = s.where(at)
		}
		if r.outcome == silent {
			what, same := difference(s.sound.out, r.out)
			p = part{p.name + ": " + what, p.valid && same}
		}
		if b.keep != "" && r.outcome >= silent {
			kept := fmt.Sprintf("%s-%s-%d-%02x-%s", outcomeNames[r.outcome], strings.ReplaceAll(p.name+" "+s.name, " ", "_"), at, change, s.file)
			if err := os.WriteFile(filepath.Join(b.keep, kept), data, 0o666); err != nil {
				return err
			}
		}
		t.add(p, r, fmt.Sprintf("%s: byte %d changed by %#02x", s.name, at, change))
		return nil
	})
	if err != nil {
		return err
	}
	return t.print()
}
