package arrowipc

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
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

// Check finds a changed byte of what has checksums.
func TestCheckSums(t *testing.T) {
	check := func(data []byte, stream bool) (int64, error) {
		return ipc.Check(bytes.NewReader(data), int64(len(data)), !stream, 64<<20)
	}
	for _, stream := range []bool{false, true} {
		data := summed(t, stream)
		if rows, err := check(data, stream); rows != 6 || err != nil {
			t.Errorf("stream %t: %d rows: %v", stream, rows, err)
		}
		data[bytes.LastIndex(data, []byte("abc"))] ^= 1
		must.Say(t, must.Err(check(data, stream)), "its checksum does not match", "stream", stream)
	}
}
