package arrowipc

import (
	"bytes"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/tables/arrow/ipc"
	"robotsbatch/io/tables/arrow/layout"
)

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
		if _, err := ipc.Check(bytes.NewReader(data), int64(len(data)), bytes.HasPrefix(data, []byte(layout.Magic)), 0); err != nil {
			t.Errorf("file %d: %v", i, err)
		}
	}
}

// Metadata that other readers refuse is found, though this program has no use for it: a
// text that does not end with a zero, and the schema in a file's footer.
func TestCheckMetadataOfDamage(t *testing.T) {
	record := tablestest.NewRecord([]string{"url", "other_column"}, tablestest.URLArray(5, false), tablestest.URLArray(5, false))
	stream := libraryWrite(t, encoding{stream: true}, record.Schema(), record)
	at := bytes.Index(stream, []byte("other_column")) + len("other_column")
	stream[at] = 'x'
	if _, err := ipc.Check(bytes.NewReader(stream), int64(len(stream)), false, 0); err == nil || !strings.Contains(err.Error(), "damaged metadata: the text at") {
		t.Errorf("a name without its end: %v", err)
	}
	file := libraryWrite(t, encoding{}, record.Schema(), record)
	at = bytes.LastIndex(file, []byte("other_column"))
	file[at-4] = 0xff // its length
	if _, err := ipc.Check(bytes.NewReader(file), int64(len(file)), true, 0); err == nil || !strings.Contains(err.Error(), "the footer: damaged metadata") {
		t.Errorf("a name in the footer that is too long: %v", err)
	}
}

// Any byte of the metadata may be another: that is an error or none, and no panic.
func TestCheckMetadataFlipped(t *testing.T) {
	record := tablestest.NewRecord([]string{"url"}, tablestest.URLArray(5, false))
	file := libraryWrite(t, encoding{}, record.Schema(), record)
	for i := range file {
		for _, bit := range []byte{1, 0x80} {
			file[i] ^= bit
			_, _ = ipc.Check(bytes.NewReader(file), int64(len(file)), true, 0)
			file[i] ^= bit
		}
	}
}

// Check reads tables of any columns, without URLs too, and finds a changed byte.
func TestCheck(t *testing.T) {
	check := func(data []byte, stream bool) (int64, error) {
		return ipc.Check(bytes.NewReader(data), int64(len(data)), !stream, 64<<20)
	}
	for _, c := range tablestest.Columns(t) {
		for _, stream := range []bool{false, true} {
			record := tablestest.NewRecord([]string{c.Name}, c.Array)
			rows, err := check(libraryWrite(t, encoding{stream: stream}, record.Schema(), record, record), stream)
			if rows != 2*record.NumRows() || err != nil {
				t.Errorf("%s, stream %t: %d rows: %v", c.Name, stream, rows, err)
			}
		}
	}
	for _, stream := range []bool{false, true} {
		data := summed(t, stream)
		if rows, err := check(data, stream); rows != 6 || err != nil {
			t.Errorf("stream %t: %d rows: %v", stream, rows, err)
		}
		data[bytes.LastIndex(data, []byte("abc"))] ^= 1
		if _, err := check(data, stream); err == nil || !strings.Contains(err.Error(), "its checksum does not match") {
			t.Errorf("stream %t: error %v", stream, err)
		}
	}
}
