//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// passedSection changes bytes of tables that pass through to a table of the same format,
// and cuts them. A changed byte that is only copied must be the same changed byte in the
// output, with no other difference. For other bytes the output must be as valid or as
// damaged as the input: a job that decodes all columns must give the same result for both.
func passedSection(b *bench) error {
	samples, err := b.passedSamples()
	if err != nil {
		return err
	}
	flips, cuts := b.times(6000), b.times(1500)
	t := newTally(fmt.Sprintf("%d changed bytes and %d cuts of Arrow and Parquet whose columns pass through", flips, cuts))
	err = b.each(flips+cuts, func(worker, i int) error {
		s := samples[i%len(samples)]
		rng := rand.New(rand.NewPCG(b.seed, uint64(i)))
		at := rng.IntN(len(s.data))
		if i >= flips {
			r, err := b.passed(&s.sample, worker, s.data[:at])
			r.compare(s.sound)
			t.add(part{name: s.group + ": cut"}, r, fmt.Sprintf("%s: cut after %d of %d bytes", s.name, at, len(s.data)))
			return err
		}
		change := byte(1) << rng.IntN(8)
		if rng.IntN(4) == 0 {
			change = byte(1 + rng.IntN(255))
		}
		data := bytes.Clone(s.data)
		data[at] ^= change
		r, p, err := b.passFlip(s, worker, data, at, change)
		what := fmt.Sprintf("%s: byte %d changed by %#02x", s.name, at, change)
		t.add(p, r, what)
		if s.copied(at) && r.outcome < silent {
			t.complain(fmt.Sprintf("%s: only copied, and yet %s: %s", what, outcomeNames[r.outcome], firstLines(r.stderr)))
		}
		return err
	})
	if err != nil {
		return err
	}
	return t.print()
}

// passedSample is a sample that passes through.
type passedSample struct {
	sample
	decoded result // the result of a job that decodes all columns
}

// passedSamples returns tables of all formats, with the results of running on them.
func (b *bench) passedSamples() ([]*passedSample, error) {
	if err := b.writeRules(); err != nil {
		return nil, err
	}
	var samples []*passedSample
	add := func(group string, s *sample, err error) error {
		if err != nil {
			return err
		}
		p := &passedSample{sample: *s}
		p.group = group
		if p.sound, err = b.passed(&p.sample, 0, s.data); err == nil {
			p.decoded, err = b.table(s, "sound", s.data)
		}
		if err == nil && (p.sound.outcome != silent || p.decoded.outcome != silent) {
			err = fmt.Errorf("%s: the sound input: %s %s", s.name, p.sound.stderr, p.decoded.stderr)
		}
		samples = append(samples, p)
		return err
	}
	for _, k := range arrowKinds() {
		s, err := arrowSample(k)
		if err == nil {
			var parts *layout
			parts, err = copiedArrow(s.data, !k.stream)
			if err == nil {
				s.where, s.copied = parts.at, parts.isCopied
			}
		}
		if err := add("Arrow", s, err); err != nil {
			return nil, err
		}
	}
	for _, k := range parquetKinds() {
		s, err := parquetSample(k)
		if err := add("Parquet", s, err); err != nil {
			return nil, err
		}
	}
	return samples, nil
}

// passed runs the job that copies what it can, from a table to one of the same format.
func (b *bench) passed(s *sample, worker int, data []byte) (result, error) {
	name, err := b.write(s, fmt.Sprint("passed-", worker), data)
	if err != nil {
		return result{}, err
	}
	return b.job("-in", name, "-rules", b.path("rules"), "-agent", "CCBot",
		"-out", "-", "-out-format", strings.TrimPrefix(filepath.Ext(s.file), "."), "-progress", "never"), nil
}

// passFlip runs the job on a sample with one byte changed. It returns the result and the
// part that the byte belongs to.
func (b *bench) passFlip(s *passedSample, worker int, data []byte, at int, change byte) (result, part, error) {
	r, err := b.passed(&s.sample, worker, data)
	r.compare(s.sound)
	p := s.where(at)
	if s.copied(at) {
		p = part{s.group + ", copied: " + p.name, true}
		if r.outcome == silent && flipped(s.sound.out, r.out, change) {
			p.name += ": the same byte"
		} else if r.outcome == silent {
			p = part{p.name + ": another difference", false}
		}
		return r, p, err
	}
	p.name = s.group + ", read: " + p.name
	if r.outcome != silent || err != nil {
		return r, p, err
	}
	before, err := b.table(&s.sample, fmt.Sprint("before-", worker), data)
	if err != nil {
		return r, p, err
	}
	after, err := b.table(&s.sample, fmt.Sprint("after-", worker), r.out, "-prefix", "again_")
	what, fine := compareDecoded(s.decoded, before, after)
	return r, part{p.name + ": " + what, p.valid && fine}, err
}

// flipped reports whether the output differs from the right one in a single byte, by
// change.
func flipped(sound, out []byte, change byte) bool {
	if len(sound) != len(out) {
		return false
	}
	differ := 0
	for i := range sound {
		if d := sound[i] ^ out[i]; d == change {
			differ++
		} else if d != 0 {
			return false
		}
	}
	return differ == 1
}

// compareDecoded compares three decoded tables with their verdicts: the intact input, the
// broken input and the output. It describes how they differ, and reports whether the
// difference may be valid.
func compareDecoded(sound, before, after result) (what string, fine bool) {
	switch {
	case before.outcome > silent || after.outcome > silent:
		return "decoding it fails badly", false
	case before.outcome == refused && after.outcome == refused:
		return "as damaged as the input", true
	case after.outcome == refused:
		return "the output cannot be read, the input can", false
	case before.outcome == refused:
		return "the damage is gone", sameColumns(sound.out, after.out)
	}
	return "the same values as the input", sameColumns(before.out, after.out)
}

// sameColumns reports whether the columns of an Arrow stream are the first ones of another,
// and its verdicts those of the column after them.
func sameColumns(x, y []byte) bool {
	want, err := readStream(x)
	if err != nil {
		return false
	}
	got, err := readStream(y)
	if err != nil || len(want) == 0 || len(got) == 0 || rows(want) != rows(got) {
		return false
	}
	n := len(want[0].Columns())
	if len(got[0].Columns()) != n+1 {
		return false
	}
	for i := range n {
		if !equalColumns(want, i, got, i) {
			return false
		}
	}
	return equalColumns(want, n-1, got, n)
}

// equalColumns compares the values of two columns, whatever their batches.
func equalColumns(x []arrow.Record, i int, y []arrow.Record, j int) bool {
	chunked := func(records []arrow.Record, i int) *arrow.Chunked {
		var chunks []arrow.Array
		for _, r := range records {
			chunks = append(chunks, r.Column(i))
		}
		return arrow.NewChunked(chunks[0].DataType(), chunks)
	}
	a, b := chunked(x, i), chunked(y, j)
	if len(a.Chunks()) == len(b.Chunks()) {
		return slices.EqualFunc(a.Chunks(), b.Chunks(), array.Equal)
	}
	return array.ChunkedEqual(a, b)
}
