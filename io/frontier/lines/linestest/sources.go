package linestest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/must"
)

// Null stands for a row without a value.
const Null = "<null>"

// URLs are the rows of a batch.
func URLs(b *batch.Batch) []string {
	rows := []string{}
	for i := range b.URLs.Len() {
		url := Null
		if !b.URLs.Null(i) {
			url = string(b.URLs.Value(i))
		}
		rows = append(rows, url)
	}
	return rows
}

// Batches reads a source up to an error, which is io.EOF at the
// end, and returns what rows makes of each batch. It checks what must be so of
// any batch, and that the error stays.
func Batches[R any](t testing.TB, s batch.Source, rows func(*batch.Batch) R) (all []R, err error) {
	t.Helper()
	input := ""
	for index := 0; ; index++ {
		p, err := s.Next(context.Background())
		if err != nil {
			if _, again := s.Next(context.Background()); again != err {
				t.Errorf("after the error %v comes %v", err, again)
			}
			return all, err
		}
		if p.Size() <= 0 {
			t.Errorf("%s: size %d", p.Name(), p.Size())
		}
		b, err := p.Decode()
		if err != nil {
			return all, err
		}
		must.Do(t, b.URLs.Validate())
		if index == 0 {
			input = b.Input
		}
		if b.Index != index || b.Input != input || !strings.HasPrefix(p.Name(), fmt.Sprintf("%s: batch %d (lines", input, index)) {
			t.Errorf("%s is batch %d of %q, want %d of %q", p.Name(), b.Index, b.Input, index, input)
		}
		all = append(all, rows(b))
		b.Release()
	}
}

// Decoded reads and decodes the next batch of a source. name is that of its piece.
func Decoded(t testing.TB, s batch.Source) (b *batch.Batch, name string) {
	t.Helper()
	p, err := s.Next(context.Background())
	must.Do(t, err)
	if b, err = p.Decode(); err != nil {
		t.Fatal(err)
	}
	return b, p.Name()
}

// CancelReads reads input by sources that open makes, of which each is cancelled
// in another read and then goes on: no row may be lost. The first four reads make no batch.
func CancelReads(t *testing.T, input string, open func(io.Reader) batch.Source) {
	t.Helper()
	read := func(ctx context.Context, s batch.Source) (rows []string, cancelled int) {
		for {
			p, err := s.Next(ctx)
			switch {
			case errors.Is(err, context.Canceled):
				cancelled++
				ctx = context.Background()
				continue
			case err == io.EOF:
				return rows, cancelled
			case err != nil:
				t.Fatal(err)
			}
			b := must.Get(p.Decode())(t)
			rows = append(rows, URLs(b)...)
			b.Release()
		}
	}
	want, _ := read(context.Background(), open(strings.NewReader(input)))
	for at := range len(input) {
		ctx, cancel := context.WithCancel(context.Background())
		r, reads := iotest.OneByteReader(strings.NewReader(input)), 0
		got, cancelled := read(ctx, open(ReaderFunc(func(p []byte) (int, error) {
			if reads == at {
				cancel()
			}
			reads++
			return r.Read(p)
		})))
		cancel()
		if !slices.Equal(got, want) || cancelled > 1 || cancelled == 0 && at < 4 {
			t.Errorf("cancelled in read %d, %d times: %q, want %q", at, cancelled, got, want)
		}
	}
}

// Benchmark measures reading and decoding an input of that many rows.
func Benchmark(b *testing.B, input string, rows int, open func(io.Reader) batch.Source) {
	b.SetBytes(int64(len(input)))
	for b.Loop() {
		must.Do(b, tablestest.Each(open(strings.NewReader(input)), func(p batch.Piece) error {
			must.Get(p.Decode())(b).Release()
			return nil
		}))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}

// Allocations counts the allocations for a batch of a source,
// which must have at least 52 of them.
func Allocations(t *testing.T, s batch.Source) float64 {
	t.Helper()
	next := func() {
		p := must.Get(s.Next(context.Background()))(t)
		b := must.Get(p.Decode())(t)
		b.Release()
	}
	next() // makes the memory that others use again
	return testing.AllocsPerRun(50, next)
}

// ReaderFunc is a function as a reader.
type ReaderFunc func(p []byte) (int, error)

// Read calls f.
func (f ReaderFunc) Read(p []byte) (int, error) { return f(p) }

// Chunks reads input in pieces of as many bytes as sizes says, and after these,
// of one. Of sizes no more count than reads of nothing are taken.
func Chunks(input string, sizes []byte) io.Reader {
	sizes = sizes[:min(len(sizes), 50)]
	return ReaderFunc(func(p []byte) (int, error) {
		if input == "" {
			return 0, io.EOF
		}
		n := 1
		if len(sizes) > 0 {
			n, sizes = int(sizes[0]), sizes[1:]
		}
		n = copy(p, input[:min(n, len(input))])
		input = input[n:]
		return n, nil
	})
}

// Endless reads head and then that byte for ever.
func Endless(head string, b byte) io.Reader {
	return io.MultiReader(strings.NewReader(head), ReaderFunc(func(p []byte) (int, error) {
		for i := range p {
			p[i] = b
		}
		return len(p), nil
	}))
}
