package warc

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"robotsbatch/batch/option"
	"robotsbatch/io/rules/captures"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/runs"
	"robotsbatch/matcher/access"
)

// A table of captures may name WARC records in place of bodies. They are read in the order of
// their files and offsets, which is that of the files themselves: neighbours in one request
// while what is read has at most 1.3 times the bytes of the records, and some requests side by
// side.
const (
	mostExtent = 512 << 10 // bytes of several records in one request
	mostRows   = 1024      // records in one request
	mostAhead  = 64        // requests side by side
	mostRecord = 16 << 20  // bytes of a record in its file
)

// A row of such a table waits to be sorted as
//
//	 0  u32  length of the row
//	 4  u32  length of the file's name
//	 8  i64  offset
//	16  i64  length of the record
//	24  i64  second of the fetch; math.MinInt64 for none
//	32  i32  status; 0 or less for none
//	36       file, URL
const rowHead = 36

var rowForm = runs.Form{
	Head: rowHead,
	Size: func(head []byte) int { return int(binary.LittleEndian.Uint32(head)) },
	Key:  func([]byte) uint64 { return 0 }, // names begin alike
	Compare: func(a, b []byte) int {
		file := func(r []byte) []byte { return r[rowHead:][:binary.LittleEndian.Uint32(r[4:])] }
		return cmp.Or(bytes.Compare(file(a), file(b)), cmp.Compare(numberAt(a, 8), numberAt(b, 8)), cmp.Compare(numberAt(a, 16), numberAt(b, 16)))
	},
}

// appendRow appends what a capture says of a record, in the form that rowHead describes.
func appendRow(r []byte, x *captures.Capture) []byte {
	second := int64(math.MinInt64)
	if !x.Time.IsZero() {
		second = x.Time.Unix()
	}
	r = binary.LittleEndian.AppendUint32(r, uint32(rowHead+len(x.File)+len(x.URL)))
	r = binary.LittleEndian.AppendUint32(r, uint32(len(x.File)))
	for _, number := range []int64{x.Offset, x.Length, second} {
		r = binary.LittleEndian.AppendUint64(r, uint64(number))
	}
	r = binary.LittleEndian.AppendUint32(r, uint32(x.Status))
	return append(append(r, x.File...), x.URL...)
}

func numberAt(r []byte, at int) int64 { return int64(binary.LittleEndian.Uint64(r[at:])) }

// rowOf decodes a row that appendRow encoded. File and URL point into r.
func rowOf(r []byte) (x captures.Capture) {
	url := rowHead + binary.LittleEndian.Uint32(r[4:])
	x.File, x.URL = r[rowHead:url], r[url:binary.LittleEndian.Uint32(r)]
	x.Offset, x.Length, x.Status = numberAt(r, 8), numberAt(r, 16), int(int32(binary.LittleEndian.Uint32(r[32:])))
	if second := numberAt(r, 24); second != math.MinInt64 {
		x.Time = time.Unix(second, 0).UTC()
	}
	return x
}

// RecordsOptions say whose records are read, and how.
type RecordsOptions struct {
	// Table is the name of the table, for people.
	Table string
	// Base is the folder, on disk or in a store, below which the files are that it names.
	Base string
	// BodySize is that of Options.
	BodySize int
	// Memory is the number of bytes that sorting rows may take, and reading ahead as many again.
	Memory int64
	// Broken, which must be set, is called with an error for each record that is broken, or is not the one that
	// the table describes.
	Broken func(error)
	// Opened, which must be set, is called with the name, for people, and the version of each file that was opened,
	// from any goroutine.
	Opened func(name string, info blob.Info)
}

// Records reads the WARC records that the rows of a table name, each by its file, offset and
// length.
type Records struct {
	options RecordsOptions
	sorter  *runs.Sorter // of the rows
	row     []byte       // reused
	warc    *Reader
	broken  error // what warc said of the record read last; nil for nothing
}

// NewRecords returns a reader of no records yet, to be closed.
func NewRecords(o RecordsOptions) *Records {
	return &Records{options: o, sorter: runs.NewSorter(rowForm, o.Memory, os.TempDir())}
}

// Add adds a record: that of the file, the offset and the length in a row of the table.
func (r *Records) Add(row *captures.Capture) error {
	if r.options.Base == "" {
		return option.Usagef("%s names records of WARC files: say with %s in which folder or store these files are", option.Rules.With(r.options.Table), option.WARCBase)
	}
	r.row = appendRow(r.row[:0], row)
	return r.sorter.Add(r.row)
}

// Close removes temporary files.
func (r *Records) Close() { r.sorter.Close() }

// Each calls visit with the capture of each record, in the order of files and offsets, until visit
// returns an error. The capture is valid until visit returns. A record that is not what its row says
// is a fetch without an answer.
func (r *Records) Each(ctx context.Context, visit func(*captures.Capture) error) error {
	var err error
	r.warc, err = NewReader(bytes.NewReader(nil), Options{BodySize: r.options.BodySize, Broken: func(err error) { r.broken = err }})
	if err != nil {
		return err
	}
	defer r.warc.Close() // it was only read from
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	planned := make(chan *extent, min(max(r.options.Memory/mostExtent, 1), mostAhead))
	var unplanned, failed error // plan's error, not read before planned is closed; the first error here
	go func() {
		defer close(planned)
		unplanned = r.plan(ctx, planned)
	}()
	var file *recordFile     // of the extent before
	for e := range planned { // to the end, so that nothing runs on
		data, err := e.fetch()
		if e.file != file {
			file.close()
			file = e.file
		}
		failed = cmp.Or(failed, err)
		for _, record := range e.rows {
			if failed == nil {
				row := rowOf(record)
				x := r.capture(e, data, &row)
				failed = visit(&x)
			}
		}
		if failed != nil {
			cancel()
		}
	}
	file.close()
	return cmp.Or(failed, unplanned)
}

// capture returns the capture of a record. A record that is not what the row says of it is a fetch
// without an answer, as other broken records are.
func (r *Records) capture(e *extent, data []byte, row *captures.Capture) (x captures.Capture) {
	err := r.read(e, data, row, &x)
	if err == nil {
		err = difference(row, &x)
	}
	switch {
	case err == nil && r.broken != nil:
		r.options.Broken(r.broken)
	case err != nil:
		r.options.Broken(fmt.Errorf("%s: %s: offset %d: the record is not the one of %.200q, which is taken as a fetch without an answer: %w",
			r.options.Table, e.file.shown, row.Offset, row.URL, err))
		x = captures.Capture{URL: row.URL, Time: row.Time, Failed: true, Unread: true}
	}
	x.File, x.Offset = []byte(e.file.name), row.Offset
	return x
}

// read sets x to the record at a row's place. What the reader says of a broken one is in r.broken.
func (r *Records) read(e *extent, data []byte, row, x *captures.Capture) (err error) {
	r.broken = nil
	low := row.Offset - e.start
	switch {
	case row.Length > mostRecord:
		return fmt.Errorf("it has %d bytes, and may have %d", row.Length, mostRecord)
	case low+row.Length > int64(len(data)):
		return errors.New("the file ends before it")
	}
	return r.warc.readNamed(e.file.shown, row.Offset, data[low:low+row.Length], x)
}

// difference returns an error if a record is not what the row of a table says. Of revisits tables
// have various statuses.
func difference(row, x *captures.Capture) error {
	switch {
	case !bytes.Equal(x.URL, row.URL):
		return fmt.Errorf("its URL is %.200q", x.URL)
	case !row.Time.IsZero() && row.Time.Unix() != x.Time.Unix():
		return fmt.Errorf("it was fetched at %s, and not at %s", x.Time.UTC().Format(time.RFC3339), row.Time.Format(time.RFC3339))
	case row.Status > 0 && row.Status != x.Status && !x.Revisit && !x.Failed && x.Status != access.NotModified:
		return fmt.Errorf("its status is %d, and not %d", x.Status, row.Status)
	}
	return nil
}

// plan joins the sorted rows that are near each other in a file to extents, and sends these in
// order. It starts to fetch each, except large ones, which wait for their turn.
func (r *Records) plan(ctx context.Context, planned chan<- *extent) error {
	var e *extent
	send := func() {
		if e != nil {
			if e.end-e.start <= mostExtent {
				go e.fetch()
			}
			planned <- e
		}
	}
	err := r.sorter.Merge(func(record []byte) error {
		row := rowOf(record)
		if e != nil && e.take(&row, record) {
			return nil
		}
		send()
		file, err := r.file(e, &row)
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			return err
		}
		next := &extent{file: file, start: row.Offset, end: row.Offset}
		next.fetch = sync.OnceValues(func() ([]byte, error) { return next.read(ctx) })
		next.take(&row, record)
		e = next
		return nil
	})
	if err == nil {
		send()
	}
	return err
}

// file returns the file of a row: that of the extent before, which may be nil, or a new one.
func (r *Records) file(before *extent, row *captures.Capture) (*recordFile, error) {
	name := string(row.File)
	if before != nil && before.file.inTable == name {
		return before.file, nil
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) || strings.Contains(name, "\\") {
		return nil, option.Errorf("%s: %.200q is no name of a file below %s", r.options.Table, name, option.WARCBase)
	}
	path := blob.Join(r.options.Base, name)
	return &recordFile{opened: r.options.Opened, inTable: name, name: path, shown: blob.Shown(path)}, nil
}

// recordFile is a file with records, which is opened when the first is read.
type recordFile struct {
	opened               func(name string, info blob.Info)
	inTable, name, shown string // the name in the table, for opening, for people

	once sync.Once
	file *blob.File
	err  error
}

// close closes a file of which all extents are fetched.
func (f *recordFile) close() {
	if f != nil && f.file != nil {
		_ = f.file.Close() // it was only read from
	}
}

// extent is what one request reads: records of a file that are close together.
type extent struct {
	file       *recordFile
	start, end int64
	wanted     int64    // bytes that belong to a record; the others lie between records
	rows       [][]byte // in the form that they were sorted in
	// fetch returns the data, up to the file's end. Only the first call reads it.
	fetch func() ([]byte, error)
}

// take adds a row whose record starts after those of the extent, if that is to be read in the same
// request: if that reads at most 1.3 times the bytes that are wanted. The first row is always
// added. It copies the row's bytes, because many rows wait while requests run.
func (e *extent) take(row *captures.Capture, record []byte) bool {
	recordEnd := row.Offset + row.Length
	end := max(e.end, recordEnd)
	size, wanted := end-e.start, e.wanted+max(0, recordEnd-max(row.Offset, e.end)) // only what lies beyond e.end is new
	if isFirst := len(e.rows) == 0; !isFirst && (string(row.File) != e.file.inTable || len(e.rows) == mostRows || size > mostExtent || size > wanted+3*wanted/10) {
		return false
	}
	e.rows, e.wanted, e.end = append(e.rows, bytes.Clone(record)), wanted, end
	return true
}

// read reads the extent's bytes, as far as the file has them. The file stays open.
func (e *extent) read(ctx context.Context) ([]byte, error) {
	f := e.file
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	f.once.Do(func() {
		if f.file, f.err = blob.Open(ctx, f.name); f.err == nil {
			f.opened(f.shown, f.file.Info())
		}
	})
	if f.err != nil {
		return nil, f.err
	}
	size, regular := f.file.Size()
	if !regular {
		return nil, fmt.Errorf("%s is no regular file: records are read at their offsets", f.shown)
	}
	length := min(e.end, size) - e.start
	if length <= 0 || length > mostRecord {
		return nil, nil // the row names what the file has not, or too much of it, which Records.read says
	}
	data := make([]byte, length)
	part := blob.Range{Offset: e.start, Length: length}
	f.file.Expect(part)
	_, err := f.file.ReadAt(data, e.start)
	f.file.Done(part)
	if err == io.EOF { // it was longer when it was opened
		err = fmt.Errorf("%s: %w", f.shown, blob.ErrChanged)
	}
	return data, err
}
