package arrowipc

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/arrow/ipc"
	"robotsbatch/io/tables/arrow/layout"
)

// decodeAll reads a file, or what comes through a pipe, to its end.
func decodeAll(data []byte, stream bool) error {
	s, err := open(data, stream, Options{Name: "x.arrow"})
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

// Changed bytes of files and streams are found wherever they are, those of
// strings that are not compressed, too, and what is wrong names the batch.
func TestSums(t *testing.T) {
	for _, stream := range []bool{false, true} {
		data := summed(t, stream)
		must.Do(t, decodeAll(data, stream))
		if !stream { // a pipe
			must.Do(t, decodeAll(data, true))
		}
		for i := range data {
			changed := bytes.Clone(data)
			changed[i] ^= 1 << rand.IntN(8)
			must.Be(t, decodeAll(changed, stream) != nil, "stream %v: byte %d of %d: no error", stream, i, len(data))
		}
		at := bytes.LastIndex(data, []byte("abc"))
		data[at] ^= 1
		err := decodeAll(data, stream)
		must.Be(t, err != nil && strings.Contains(err.Error(), "x.arrow: ") && strings.Contains(err.Error(), "its checksum does not match"), "error %v", err)
	}
}

// Other readers do not mind checksums.
func TestSumsAndTheLibrary(t *testing.T) {
	for _, stream := range []bool{false, true} {
		_, records := libraryRead(t, summed(t, stream))
		must.Equal(t, len(records), 3, "stream", stream, "record batches")
	}
}

// summed is a file or a stream with a dictionary that grows, not compressed.
func summed(t *testing.T, stream bool) []byte {
	t.Helper()
	records := []arrow.Record{
		dictionaryRecord(t, `[1,0,null]`, `["a","b"]`), dictionaryRecord(t, `[2,0]`, `["a","b","abc"]`), dictionaryRecord(t, `[1]`, `["a","b"]`),
	}
	var out output
	w := must.Get(NewSink(&out, SinkOptions{Stream: stream, Schema: records[0].Schema(), Codec: compress.None, Layout: batch.Layout{URLColumn: "url"}}))(t)
	for _, record := range records {
		b := tableBatch(t, record)
		chunk, err := w.Encode(b, tablestest.Verdicts(b.URLs.Len()))
		if err == nil {
			err = w.Write(chunk)
		}
		must.Do(t, err)
	}
	must.Do(t, w.Close())
	return out.Bytes()
}

// strictFiles are files and streams with columns of many types: as the library writes
// them, and with columns of this program.
func strictFiles(t *testing.T) (files [][]byte) {
	t.Helper()
	for _, c := range tablestest.Columns(t) {
		if c.Array.Len() != 21 && c.Array.DataType().ID() == arrow.EXTENSION {
			continue
		}
		record := tablestest.NewRecord([]string{"url", c.Name}, tablestest.URLArray(c.Array.Len(), false), c.Array)
		data := libraryWrite(t, encoding{stream: true, compression: compress.Zstd}, record.Schema(), record)
		files = append(files, data, libraryWrite(t, encoding{}, record.Schema(), record))
		if out, err := passThrough(data, false, false, 4); err == nil {
			files = append(files, out)
		}
	}
	return files
}

// What this program and the library write is as other readers want it.
func TestCheckMetadata(t *testing.T) {
	for i, data := range strictFiles(t) {
		_, err := ipc.Check(bytes.NewReader(data), int64(len(data)), bytes.HasPrefix(data, []byte(layout.Magic)), 0)
		must.Be(t, err == nil, "file %d: %v", i, err)
	}
}

// Check finds a changed byte of what has checksums.
func TestCheckSums(t *testing.T) {
	check := func(data []byte, stream bool) (int64, error) {
		return ipc.Check(bytes.NewReader(data), int64(len(data)), !stream, 64<<20)
	}
	for _, stream := range []bool{false, true} {
		data := summed(t, stream)
		rows, err := check(data, stream)
		must.Be(t, rows == 6 && err == nil, "stream %t: %d rows: %v", stream, rows, err)
		data[bytes.LastIndex(data, []byte("abc"))] ^= 1
		must.Say(t, must.Err(check(data, stream)), "its checksum does not match", "stream", stream)
	}
}
