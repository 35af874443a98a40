package ruleset

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
	"robotsbatch/io/rules/warc"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/runs"
	"robotsbatch/matcher/access"
)

// A table of captures may name WARC records in place of bodies. They are read in the order of
// their files and offsets, which is that of the files themselves: neighbours in one request
// while what is read has at most 1.3 times the bytes of the records, and some requests side by
// side.
const (
	recordsShare = 32        // sorting rows, and what is read ahead, take 1/recordsShare of the memory each
	mostExtent   = 512 << 10 // bytes of several records in one request
	mostRows     = 1024      // records in one request
	mostAhead    = 64        // requests side by side
	mostRecord   = 16 << 20  // bytes of a record in its file
)

// namedRecord is a row of such a table, as it waits to be sorted:
//
//	 0  u32  length of the row
//	 4  u32  length of the file's name
//	 8  u64  offset
//	16  u64  length of the record
//	24  i64  second of the fetch; math.MinInt64 for none
//	32  i32  status; 0 or less for none
//	36       file, URL
type namedRecord []byte

const namedHead = 36

func appendNamed(r namedRecord, x *captures.Capture) namedRecord {
	r = append(r[:0], make([]byte, namedHead)...)
	binary.LittleEndian.PutUint32(r, uint32(namedHead+len(x.File)+len(x.URL)))
	binary.LittleEndian.PutUint32(r[4:], uint32(len(x.File)))
	binary.LittleEndian.PutUint64(r[8:], uint64(x.Offset))
	binary.LittleEndian.PutUint64(r[16:], uint64(x.Length))
	second := int64(math.MinInt64)
	if !x.Time.IsZero() {
		second = x.Time.Unix()
	}
	binary.LittleEndian.PutUint64(r[24:], uint64(second))
	binary.LittleEndian.PutUint32(r[32:], uint32(x.Status))
	return append(append(r, x.File...), x.URL...)
}

func (r namedRecord) file() []byte  { return r[namedHead:][:binary.LittleEndian.Uint32(r[4:])] }
func (r namedRecord) url() []byte   { return r[namedHead+len(r.file()) : binary.LittleEndian.Uint32(r)] }
func (r namedRecord) offset() int64 { return int64(binary.LittleEndian.Uint64(r[8:])) }
func (r namedRecord) end() int64    { return r.offset() + int64(binary.LittleEndian.Uint64(r[16:])) }
func (r namedRecord) second() int64 { return int64(binary.LittleEndian.Uint64(r[24:])) }

func (r namedRecord) status() int { return int(int32(binary.LittleEndian.Uint32(r[32:]))) }

// time is that of the fetch; the zero time for none.
func (r namedRecord) time() (t time.Time) {
	if r.second() != math.MinInt64 {
		t = time.Unix(r.second(), 0).UTC()
	}
	return t
}

var namedForm = runs.Form{
	Head: namedHead,
	Size: func(head []byte) int { return int(binary.LittleEndian.Uint32(head)) },
	Key:  func([]byte) uint64 { return 0 }, // names begin alike
	Compare: func(a, b []byte) int {
		r, s := namedRecord(a), namedRecord(b)
		return cmp.Or(bytes.Compare(r.file(), s.file()), cmp.Compare(r.offset(), s.offset()), cmp.Compare(r.end(), s.end()))
	},
}

// recordReader reads the captures of a table, and the records that it names.
type recordReader struct {
	captures.Reader // of the table
	set             *captureSet
	name            string
	ctx             context.Context
	cancel          context.CancelFunc

	sorter  *runs.Sorter
	row     namedRecord  // reused
	planned chan *extent // in order; nil while the table is read
	err     error        // why there are no more, once planned is closed
	working sync.WaitGroup
	now     *extent
	next    int // of its rows
	warc    *warc.Reader
	broken  error // what it said of the record
}

func (s *captureSet) withRecords(ctx context.Context, name string, table captures.Reader) captures.Reader {
	r := &recordReader{Reader: table, set: s, name: name, sorter: runs.NewSorter(namedForm, s.options.Memory/recordsShare, os.TempDir())}
	r.ctx, r.cancel = context.WithCancel(ctx)
	return r
}

// Next implements captures.Reader: first come the captures that are in the table.
func (r *recordReader) Next(x *captures.Capture) error {
	for r.planned == nil {
		err := r.Reader.Next(x)
		switch {
		case err == io.EOF && r.sorter.Len() > 0:
			r.start()
		case err != nil || len(x.File) == 0:
			return err
		case r.set.options.WARCBase == "":
			return option.Usagef("%s names records of WARC files: say with %s in which folder or store these files are", option.Rules.With(r.name), option.WARCBase)
		default:
			r.row = appendNamed(r.row, x)
			if err := r.sorter.Add(r.row); err != nil {
				return err
			}
		}
	}
	for r.now == nil || r.next == len(r.now.rows) {
		e, more := <-r.planned
		if !more {
			return cmp.Or(r.err, io.EOF)
		}
		if <-e.done; e.late {
			e.fetch(r.ctx)
		}
		if e.err != nil {
			return e.err
		}
		r.now, r.next = e, 0
	}
	r.next++
	r.read(r.now, r.now.rows[r.next-1], x)
	return nil
}

// read sets x to the capture of a record. What is not what the table says is a fetch without an
// answer, as other broken records are.
func (r *recordReader) read(e *extent, row namedRecord, x *captures.Capture) {
	r.broken = nil
	low, high := row.offset()-e.start, row.end()-e.start
	err := error(nil)
	switch size := int64(len(e.data)); {
	case high-low > mostRecord:
		err = fmt.Errorf("it has %d bytes, and may have %d", high-low, mostRecord)
	case high > size:
		err = errors.New("the file ends before it")
	default:
		if r.warc == nil {
			r.warc, err = warc.NewReader(bytes.NewReader(nil), warc.Options{BodySize: r.set.bodySize, Broken: func(err error) { r.broken = err }})
		}
		err = cmp.Or(err, r.warc.Record(e.file.shown, row.offset(), e.data[low:high], x))
	}
	switch {
	case err != nil:
	case !bytes.Equal(x.URL, row.url()):
		err = fmt.Errorf("its URL is %.200q", x.URL)
	case row.second() != math.MinInt64 && row.second() != x.Time.Unix():
		err = fmt.Errorf("it was fetched at %s, and not at %s", x.Time.UTC().Format(time.RFC3339), row.time().Format(time.RFC3339))
	case row.status() > 0 && row.status() != x.Status && !x.Revisit && !x.Failed && x.Status != access.NotModified: // of revisits indexes differ
		err = fmt.Errorf("its status is %d, and not %d", x.Status, row.status())
	}
	switch {
	case err == nil && r.broken != nil:
		r.set.warner.sayBroken(r.broken)
	case err != nil:
		r.set.warner.sayBroken(fmt.Errorf("%s: %s: offset %d: the record is not the one of %.200q, which is taken as a fetch without an answer: %w",
			r.name, e.file.shown, row.offset(), row.url(), err))
		*x = captures.Capture{URL: row.url(), Time: row.time(), Failed: true}
	}
	x.File, x.Offset = []byte(e.file.name), row.offset()
}

// start plans and starts the requests.
func (r *recordReader) start() {
	r.set.warc.Store(true)
	r.planned = make(chan *extent, min(max(r.set.options.Memory/recordsShare/mostExtent, 1), mostAhead))
	r.working.Go(func() {
		defer close(r.planned)
		r.err = r.plan()
	})
}

// plan joins the sorted rows that are near each other in a file to extents, and sends these to
// r.planned in order. It starts to fetch each, except late ones, which Next fetches. It keeps a
// use of the file of the last extent, so that the next extent finds it open.
func (r *recordReader) plan() error {
	send := func(e *extent) error {
		if e == nil {
			return nil
		}
		if !e.late {
			r.working.Go(func() {
				defer close(e.done)
				e.fetch(r.ctx)
			})
		}
		select {
		case r.planned <- e:
			return nil
		case <-r.ctx.Done():
			e.drop()
			return context.Cause(r.ctx)
		}
	}
	var e *extent
	err := r.sorter.Merge(func(record []byte) error {
		row := namedRecord(bytes.Clone(record))
		if e != nil && e.takes(row) {
			e.add(row)
			return nil
		}
		if err := send(e); err != nil {
			return err
		}
		file, err := r.file(e, row)
		e = newExtent(file, row)
		return err
	})
	if err == nil {
		err = send(e)
	}
	if e != nil {
		e.file.leave() // plan's own use; fetch or drop ends the extent's
	}
	return err
}

// file returns the file of a row: that of the extent before, or another.
func (r *recordReader) file(before *extent, row namedRecord) (*recordFile, error) {
	if before != nil && before.file.is == string(row.file()) {
		return before.file, nil
	}
	if before != nil {
		before.file.leave()
	}
	name := string(row.file())
	f := &recordFile{set: r.set, is: name, users: 1}
	if !filepath.IsLocal(filepath.FromSlash(name)) || strings.Contains(name, "\\") {
		return f, option.Errorf("%s: %.200q is no name of a file below %s", r.name, name, option.WARCBase)
	}
	base := r.set.options.WARCBase
	if f.name = filepath.Join(base, filepath.FromSlash(name)); blob.IsURL(base) {
		u, err := blob.ParseURL(base)
		if err != nil {
			return f, err
		}
		if !u.IsFolder() {
			u = u.Below("/")
		}
		f.name = u.Below(name).String()
	}
	f.shown = blob.Shown(f.name)
	return f, nil
}

// recordFile is a file with records, which is opened when the first is read, and closed after
// the last.
type recordFile struct {
	set             *captureSet
	is, name, shown string // in the table, for opening, for people

	once sync.Once
	file *blob.File
	err  error

	mu    sync.Mutex
	users int
}

func (f *recordFile) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.users--; f.users == 0 && f.file != nil {
		_ = f.file.Close() // it was only read from
	}
}

// extent is what one request reads: records of a file that are close together.
type extent struct {
	file       *recordFile
	start, end int64
	wanted     int64 // bytes of records
	rows       []namedRecord

	late bool // it is too large to be read before its turn
	done chan struct{}
	data []byte // up to the file's end
	err  error
}

func newExtent(f *recordFile, row namedRecord) *extent {
	e := &extent{file: f, start: row.offset(), end: row.offset(), done: make(chan struct{})}
	e.add(row)
	if e.late = e.end-e.start > mostExtent; e.late {
		close(e.done)
	}
	f.mu.Lock()
	f.users++
	f.mu.Unlock()
	return e
}

func (e *extent) add(row namedRecord) {
	e.rows = append(e.rows, row)
	e.wanted = e.wantedWith(row)
	e.end = max(e.end, row.end())
}

// wantedWith returns the bytes of the records and of another one.
func (e *extent) wantedWith(row namedRecord) int64 {
	return e.wanted + max(0, row.end()-max(row.offset(), e.end))
}

// takes reports whether another record is near enough.
func (e *extent) takes(row namedRecord) bool {
	size := max(e.end, row.end()) - e.start
	wanted := e.wantedWith(row)
	return string(row.file()) == e.file.is && len(e.rows) < mostRows && size <= mostExtent && size <= wanted+3*wanted/10
}

// fetch reads the data.
func (e *extent) fetch(ctx context.Context) {
	f := e.file
	defer f.leave()
	f.once.Do(func() {
		if f.file, f.err = blob.Open(ctx, f.name); f.err == nil {
			f.set.named.add(f.shown, f.file.Info())
		}
	})
	if e.err = f.err; e.err != nil {
		return
	}
	size, regular := f.file.Size()
	if !regular {
		e.err = fmt.Errorf("%s is no regular file: records are read at their offsets", f.shown)
		return
	}
	length := min(e.end, size) - e.start
	if length <= 0 || length > mostRecord {
		return // the row is not what it says
	}
	e.data = make([]byte, length)
	part := blob.Range{Offset: e.start, Length: length}
	f.file.Expect(part)
	_, e.err = f.file.ReadAt(e.data, e.start)
	f.file.Done(part)
}

// drop leaves the file of an extent that nobody reads any more.
func (e *extent) drop() {
	if e.late {
		e.file.leave()
	}
}

// share implements sharer, for the table.
func (r *recordReader) share() float64 {
	if table, ok := r.Reader.(sharer); ok {
		return table.share()
	}
	return 0
}

// Close implements captures.Reader.
func (r *recordReader) Close() error {
	r.cancel()
	if r.planned != nil {
		for e := range r.planned {
			e.drop()
		}
	}
	r.working.Wait()
	r.sorter.Close()
	return r.Reader.Close()
}
