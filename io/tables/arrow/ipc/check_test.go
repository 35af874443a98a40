package ipc

import (
	"bytes"
	"io"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/must"
)

// seeker makes a buffer what the library's file writer writes to.
type seeker struct{ bytes.Buffer }

func (s *seeker) Seek(int64, int) (int64, error) { return int64(s.Len()), nil }

// write writes records as the library does.
func write(t *testing.T, stream bool, records ...arrow.Record) []byte {
	t.Helper()
	var out seeker
	var w interface {
		Write(arrow.Record) error
		io.Closer
	}
	if w = ipc.NewWriter(&out, ipc.WithSchema(records[0].Schema())); !stream {
		w = must.Get(ipc.NewFileWriter(&out, ipc.WithSchema(records[0].Schema())))(t)
	}
	for _, record := range records {
		must.Do(t, w.Write(record))
	}
	must.Do(t, w.Close())
	return out.Bytes()
}

// Check reads tables of any columns, without URLs as well.
func TestCheck(t *testing.T) {
	for _, c := range tablestest.Columns(t) {
		for _, stream := range []bool{false, true} {
			record := tablestest.NewRecord([]string{c.Name}, c.Array)
			data := write(t, stream, record, record)
			rows, err := Check(bytes.NewReader(data), int64(len(data)), !stream, 64<<20)
			must.Be(t, rows == 2*record.NumRows() && err == nil, "%s, stream %t: %d rows: %v", c.Name, stream, rows, err)
		}
	}
}

// Metadata that other readers refuse is found, though this program has no use for it: a
// text that does not end with a zero, and the schema in a file's footer.
func TestCheckMetadataOfDamage(t *testing.T) {
	record := tablestest.NewRecord([]string{"url", "other_column"}, tablestest.URLArray(5, false), tablestest.URLArray(5, false))
	stream := write(t, true, record)
	at := bytes.Index(stream, []byte("other_column")) + len("other_column")
	stream[at] = 'x'
	must.Say(t, must.Err(Check(bytes.NewReader(stream), int64(len(stream)), false, 0)), "damaged metadata: the text at", "name without its end")
	file := write(t, false, record)
	at = bytes.LastIndex(file, []byte("other_column"))
	file[at-4] = 0xff // its length
	must.Say(t, must.Err(Check(bytes.NewReader(file), int64(len(file)), true, 0)), "the footer: damaged metadata", "name in the footer that is too long")
}

// Any byte of the metadata may be another: that is an error or none, and no panic.
func TestCheckMetadataFlipped(t *testing.T) {
	record := tablestest.NewRecord([]string{"url"}, tablestest.URLArray(5, false))
	file := write(t, false, record)
	for i := range file {
		for _, bit := range []byte{1, 0x80} {
			file[i] ^= bit
			_, _ = Check(bytes.NewReader(file), int64(len(file)), true, 0)
			file[i] ^= bit
		}
	}
}
