package arrowipc

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"robotsbatch/batch"
	"robotsbatch/io/tables/tablestest"
)

// decodeAll reads a file to its end.
func decodeAll(data []byte) error {
	s, err := OpenFile(bytes.NewReader(data), int64(len(data)), Options{Name: "x.arrow"})
	if err != nil {
		return err
	}
	defer s.Close()
	for {
		p, err := s.Next(context.Background())
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		b, err := p.Decode()
		if err != nil {
			return err
		}
		b.Release()
	}
}

// TestSums changes octets of the messages of a file: all are found, those of
// strings that are not compressed, too, and what is wrong names the batch.
func TestSums(t *testing.T) {
	data := summedFile(t)
	f, err := openFile(bytes.NewReader(data), int64(len(data)), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	if err := decodeAll(data); err != nil {
		t.Fatal(err)
	}
	blocks := slices.Concat(f.footer.dictionaries, f.footer.batches)
	if len(blocks) < 3 {
		t.Fatalf("%d blocks", len(blocks))
	}
	for i, b := range blocks {
		if !b.summed {
			t.Fatalf("block %d has no checksum", i)
		}
		for range 300 {
			at := b.offset + rand.Int64N(int64(b.meta)+b.body)
			changed := bytes.Clone(data)
			changed[at] ^= 1 << rand.IntN(8)
			if err := decodeAll(changed); err == nil {
				t.Fatalf("octet %d of block %d: no error", at-b.offset, i)
			}
		}
	}
	last := blocks[len(blocks)-1]
	data[last.offset+int64(last.meta)+last.body-1] ^= 1
	if err := decodeAll(data); err == nil || !strings.Contains(err.Error(), "x.arrow: record batch ") || !strings.Contains(err.Error(), "checksum of octets") {
		t.Errorf("error %v", err)
	}
	// Other readers do not mind them.
	r, err := ipc.NewFileReader(bytes.NewReader(summedFile(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.NumRecords() != len(f.footer.batches) {
		t.Errorf("%d record batches, want %d", r.NumRecords(), len(f.footer.batches))
	}
}

// TestSumsOfAnotherNumber has a footer whose checksums are not those of its
// blocks.
func TestSumsOfAnotherNumber(t *testing.T) {
	data := summedFile(t)
	at := bytes.LastIndex(data, []byte(sumsKey))
	if at < 0 {
		t.Fatal("there is no " + sumsKey)
	}
	refused := 0
	for i := at - 200; i < len(data); i++ {
		changed := bytes.Clone(data)
		changed[i] ^= 1
		if decodeAll(changed) != nil {
			refused++
		}
	}
	if refused < 3*sumSize {
		t.Errorf("%d changes of the footer were refused", refused)
	}
}

// summedFile is a file with a dictionary that grows, not compressed.
func summedFile(t *testing.T) []byte {
	t.Helper()
	records := []arrow.Record{
		dictionaryRecord(t, `[1,0,null]`, `["a","b"]`), dictionaryRecord(t, `[2,0]`, `["a","b","c"]`), dictionaryRecord(t, `[1]`, `["a","b"]`),
	}
	var out output
	w, err := NewSink(&out, SinkOptions{Schema: records[0].Schema(), Compression: Uncompressed, Layout: batch.Layout{URLColumn: "url"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range records {
		b := tableBatch(t, record)
		chunk, err := w.Encode(b, tablestest.Verdicts(b.URLs.Len()))
		if err == nil {
			err = w.Write(chunk)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
