package ruleset

import (
	"bufio"
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
	"slices"
	"strings"
	"sync"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/rules/captures"
	"robotsbatch/io/rules/warc"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/meter"
	"robotsbatch/io/store/runs"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/urls"
)

// each calls visit with each capture of a file of a source that is read as captures, until visit
// returns an error. The capture is valid until visit returns.
func (s *captureSet) each(ctx context.Context, kind kind, name string, visit func(*captures.Capture) error) error {
	part := s.part(name)
	var before blob.Info
	if !blob.IsURL(name) { // objects are read in one version
		before, _ = blob.Stat(ctx, name) // opening it says what is wrong
	}
	err := s.eachOfKind(ctx, kind, name, part, visit)
	if ctx.Err() == nil {
		err = cmp.Or(before.Unchanged(name), err) // of a file that is being written, hosts would be missing
	}
	if err == nil {
		part.To(1)
	}
	return err
}

// eachOfKind is each without a check that the file is unchanged. It moves part on while it reads.
func (s *captureSet) eachOfKind(ctx context.Context, kind kind, name string, part *meter.Part, visit func(*captures.Capture) error) error {
	switch kind {
	case singleKind:
		return s.eachOfSingle(ctx, name, visit)
	case askedKind:
		return eachOfAsked(ctx, name, visit)
	}
	found, err := Detect(ctx, name)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", blob.Shown(name), err)
	case found == format.WARC || !namesCaptures(found): // the WARC reader reports what is neither
		return s.eachOfWARC(ctx, name, part, visit)
	}
	return s.eachOfTable(ctx, name, part, visit)
}

// eachOf calls visit with each capture that next gives until io.EOF.
func eachOf(ctx context.Context, next func(*captures.Capture) error, visit func(*captures.Capture) error) error {
	var x captures.Capture
	for {
		if err := cmp.Or(next(&x), context.Cause(ctx)); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := visit(&x); err != nil {
			return err
		}
	}
}

// eachOfWARC is each for a WARC file. It moves part on, and warns of a file without records.
func (s *captureSet) eachOfWARC(ctx context.Context, name string, part *meter.Part, visit func(*captures.Capture) error) error {
	f, err := blob.Open(ctx, name)
	if err != nil {
		return err
	}
	defer f.Close() // it was only read from
	var file io.Reader = f
	if size, regular := f.Size(); regular {
		file = &watched{io.NewSectionReader(f, 0, size), part} // which can seek
	}
	r, err := warc.NewReader(file, warc.Options{Name: f.Name(), BodySize: s.bodySize, Broken: s.warnBroken})
	if err != nil {
		return err
	}
	defer r.Close() // it was only read from
	s.warc.Store(true)
	if err := eachOf(ctx, r.Next, visit); err != nil {
		return err
	}
	if r.Stats() == (warc.Stats{}) {
		s.options.Warn(option.Messagef("%s has no records: was it cut off?", f.Name()))
	}
	return nil
}

const (
	// captureRows is the number of rows of a table of captures that are read at once. It is small
	// because the bodies are large.
	captureRows = 1024
	// shareEvery is the number of captures after which a table is asked how much of it was read.
	shareEvery = 256
)

// eachOfTable visits first the captures that are in a table, and then the records that it names.
func (s *captureSet) eachOfTable(ctx context.Context, name string, part *meter.Part, visit func(*captures.Capture) error) error {
	table, input, err := s.openTable(ctx, name)
	if err != nil {
		return err
	}
	defer input.Close() // it was only read from
	defer table.Close()
	records := &records{set: s, table: blob.Shown(name), sorter: runs.NewSorter(rowForm, s.options.Memory/recordsShare, os.TempDir())}
	defer records.sorter.Close()
	read := 0
	err = eachOf(ctx, table.Next, func(x *captures.Capture) error {
		if read++; read%shareEvery == 0 {
			part.To(input.Share())
		}
		if len(x.File) > 0 {
			return records.add(x)
		}
		return visit(x)
	})
	if err != nil {
		return err
	}
	return records.each(ctx, visit)
}

// openTable opens a table of captures in any format. The key is its column url, or
// authority if there is no url. The caller closes both.
func (s *captureSet) openTable(ctx context.Context, name string) (*captures.Table, *frontier.Source, error) {
	table, input, err := s.openTableBy(ctx, name, "url")
	if err == nil {
		return table, input, nil
	}
	if table, input, other := s.openTableBy(ctx, name, "authority"); other == nil {
		return table, input, nil
	}
	if no := (*format.NoColumnError)(nil); errors.As(err, &no) {
		err = captures.ErrColumns(blob.Shown(name), no.Columns)
	}
	return nil, nil, err
}

// openTableBy is openTable for a table whose key is in that column, whatever other columns it has.
func (s *captureSet) openTableBy(ctx context.Context, name, column string) (*captures.Table, *frontier.Source, error) {
	shown := blob.Shown(name)
	input, err := frontier.Open(ctx, frontier.Input{Path: name}, frontier.Options{
		Memory: s.options.Memory, Keep: batch.KeepAll,
		Options: lines.Options{URLColumn: column, BatchRows: captureRows, MaxLine: captures.MaxLine, Columns: true, Named: captures.Keys()},
	})
	if err != nil {
		return nil, nil, err
	}
	source, ok := input.Source.(captures.TableSource)
	if !ok || source.Schema() == nil {
		input.Close()
		return nil, nil, fmt.Errorf("%s is not a table", shown)
	}
	table, err := captures.NewTable(source, captures.TableOptions{Name: shown, Broken: s.warnBroken, Note: s.options.Note})
	if err != nil {
		input.Close()
		return nil, nil, err
	}
	return table, input, nil
}

// eachOfSingle visits a robots.txt as a capture for each URL of Options.Single.
func (s *captureSet) eachOfSingle(ctx context.Context, name string, visit func(*captures.Capture) error) error {
	body, err := readSingle(ctx, name, s.options.Stdin, s.bodySize)
	if err != nil {
		return option.Errorf("%s: %w", option.Rules.With(blob.Shown(name)), err)
	}
	s.singleBody = body
	for _, url := range s.options.Single {
		if err := visit(&captures.Capture{URL: []byte(url), Body: body}); err != nil {
			return err
		}
	}
	return nil
}

// readSingle reads up to size bytes of a single robots.txt, after decompression.
func readSingle(ctx context.Context, name string, stdin io.Reader, size int) ([]byte, error) {
	in := stdin
	if name != blob.Stdio {
		f, err := blob.Open(ctx, name)
		if err != nil {
			return nil, err
		}
		defer f.Close() // it was only read from
		in = f
	}
	r := bufio.NewReader(in)
	for range compress.MaxLayers {
		head, err := r.Peek(compress.DetectSize)
		if err != nil && err != io.EOF {
			return nil, err
		}
		codec := compress.Detect(head)
		if codec == compress.None {
			break
		}
		layer, err := compress.NewReader(r, codec)
		if err != nil {
			return nil, err
		}
		defer layer.Close() // it was only read from
		r = bufio.NewReader(layer)
	}
	head, err := r.Peek(format.HeadSize)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if found := format.Detect(head, ""); found == format.RulePack || namesCaptures(found) && found != format.JSONL || beginsLikeCaptures(head) {
		return nil, errors.New("this is a rule pack or captures, and not a robots.txt: write it to a file with the ending of its format, such as captures.csv")
	}
	return io.ReadAll(io.LimitReader(r, int64(size)))
}

// maxAskedLine is the most bytes of a line of a list of what was asked for.
const maxAskedLine = 64 << 10

// eachOfAsked visits each robots.txt that a crawler asked for, by a list, as a fetch without an
// answer. As the last source the list decides about a host only if no other source has one: a
// crawler such as wget writes no record where a host refused the connection.
func eachOfAsked(ctx context.Context, name string, visit func(*captures.Capture) error) error {
	shown := blob.Shown(name)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	f := frontier.Interruptible(ctx, func() (io.ReadCloser, error) { return blob.Open(ctx, name) })
	found, _, r, err := format.Sniff(f, shown)
	if err != nil {
		return option.Errorf("%s: %w", option.FetchList, err)
	}
	defer r.Close()
	if found != format.Text && found != format.Unknown {
		return fmt.Errorf("%s is %s: a list of what was asked for has a URL a line, as the command hosts writes it to a .txt", shown, found)
	}
	return eachAskedLine(r, shown, visit)
}

// eachAskedLine visits what the lines of a list ask for, as eachOfAsked does. shown is its name.
func eachAskedLine(r io.Reader, shown string, visit func(*captures.Capture) error) error {
	number := 0
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxAskedLine)
	for lines.Scan() {
		number++
		line := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\xEF\xBB\xBF"))) // without a byte order mark
		if len(line) == 0 {
			continue
		}
		found, _, err := robotsURLs(string(line))
		if err != nil {
			return fmt.Errorf("%s: line %d: %q is neither a URL nor a host", shown, number, line)
		}
		if slices.ContainsFunc(bytes.Fields(line)[1:], func(word []byte) bool { return bytes.Contains(word, []byte("://")) }) {
			return fmt.Errorf("%s: line %d: %q has several URLs: write one a line", shown, number, line)
		}
		for _, url := range found {
			if err := visit(&captures.Capture{URL: []byte(url), Failed: true}); err != nil {
				return err
			}
		}
	}
	err := lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("the next line has more than %d bytes: a list has a URL or host a line", maxAskedLine)
	}
	if err != nil {
		err = fmt.Errorf("%s: after line %d: %w", shown, number, err)
	}
	return err
}

// robotsURLs returns the URL of the robots.txt of a URL's origin or, for a host without a scheme, those
// for http and for https. path is the path of the URL, such as "/".
func robotsURLs(urlOrHost string) (found []string, path string, err error) {
	origins := []string{urlOrHost}
	scheme, _, isURL := strings.Cut(urlOrHost, "://")
	if !isURL || strings.ContainsAny(scheme, "/?#;") { // a host, also one with a :// after it: example.com/?u=http://a.b
		origins = []string{"http://" + urlOrHost, "https://" + urlOrHost}
	}
	var scratch urls.Scratch
	for _, origin := range origins {
		authority, rest, err := scratch.Split([]byte(origin))
		if err != nil {
			return nil, "", err
		}
		found, path = append(found, string(authority)+"/robots.txt"), string(rest)
	}
	return found, path, nil
}

// ParseFor returns the URLs of the robots.txt of a host, for http and for https, or of
// an origin such as https://example.com:8443.
func ParseFor(host string) ([]string, error) {
	found, path, err := robotsURLs(host)
	if err != nil || path != "/" {
		return nil, option.Usagef("%s: want a host, such as example.com, or an origin, such as https://example.com:8443", option.For.With(host))
	}
	return found, nil
}

// ErrNoSingle is the error of sources none of which is the single robots.txt that
// Options.Single is about.
var ErrNoSingle error = option.Usagef("%s is about a %s that is a single robots.txt, and there is none", option.For, option.Rules)

// measure begins to show how far these files of captures are read: by their bytes or, where any of
// them is an object, is no regular file, or cannot be looked up, by their number. It returns a
// function that returns the part of a file.
func measure(ctx context.Context, files []string) func(name string) *meter.Part {
	sizes, total := make(map[string]int64, len(files)), int64(0)
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil || blob.IsURL(name) || !info.Mode().IsRegular() {
			step := meter.Start(ctx, "reading captures", meter.Files, int64(len(files)))
			return func(string) *meter.Part { return step.Part(1) }
		}
		sizes[name] = info.Size()
		total += info.Size()
	}
	step := meter.Start(ctx, "reading captures", meter.Bytes, total)
	return func(name string) *meter.Part { return step.Part(sizes[name]) }
}

// watched is a file that says how far it was read: captures may be rare in it.
type watched struct {
	*io.SectionReader
	part *meter.Part
}

// Read implements io.Reader. How far it is says the place in the file.
func (w *watched) Read(b []byte) (int, error) {
	n, err := w.SectionReader.Read(b)
	if at, err := w.Seek(0, io.SeekCurrent); err == nil {
		w.part.To(float64(at) / float64(max(1, w.Size())))
	}
	return n, err
}

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

// records are those that a table names.
type records struct {
	set    *captureSet
	table  string
	sorter *runs.Sorter
	row    []byte // reused
	warc   *warc.Reader
	broken error // what it said of the record read last; nil for nothing
}

// add adds a record.
func (r *records) add(x *captures.Capture) error {
	if r.set.options.WARCBase == "" {
		return option.Usagef("%s names records of WARC files: say with %s in which folder or store these files are", option.Rules.With(r.table), option.WARCBase)
	}
	r.row = appendRow(r.row[:0], x)
	return r.sorter.Add(r.row)
}

// each calls visit with the capture of each record.
func (r *records) each(ctx context.Context, visit func(*captures.Capture) error) error {
	if r.sorter.Len() == 0 {
		return nil
	}
	r.set.warc.Store(true)
	var err error
	r.warc, err = warc.NewReader(bytes.NewReader(nil), warc.Options{BodySize: r.set.bodySize, Broken: func(err error) { r.broken = err }})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	planned := make(chan *extent, min(max(r.set.options.Memory/recordsShare/mostExtent, 1), mostAhead))
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
func (r *records) capture(e *extent, data []byte, row *captures.Capture) (x captures.Capture) {
	err := r.read(e, data, row, &x)
	if err == nil {
		err = difference(row, &x)
	}
	switch {
	case err == nil && r.broken != nil:
		r.set.warnBroken(r.broken)
	case err != nil:
		r.set.warnBroken(fmt.Errorf("%s: %s: offset %d: the record is not the one of %.200q, which is taken as a fetch without an answer: %w",
			r.table, e.file.shown, row.Offset, row.URL, err))
		x = captures.Capture{URL: row.URL, Time: row.Time, Failed: true, Unread: true}
	}
	x.File, x.Offset = []byte(e.file.name), row.Offset
	return x
}

// read sets x to the record at a row's place. What the reader says of a broken one is in r.broken.
func (r *records) read(e *extent, data []byte, row, x *captures.Capture) (err error) {
	r.broken = nil
	low := row.Offset - e.start
	switch {
	case row.Length > mostRecord:
		return fmt.Errorf("it has %d bytes, and may have %d", row.Length, mostRecord)
	case low+row.Length > int64(len(data)):
		return errors.New("the file ends before it")
	}
	return r.warc.ReadRecord(e.file.shown, row.Offset, data[low:low+row.Length], x)
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
func (r *records) plan(ctx context.Context, planned chan<- *extent) error {
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
func (r *records) file(before *extent, row *captures.Capture) (*recordFile, error) {
	name, base := string(row.File), r.set.options.WARCBase
	if before != nil && before.file.inTable == name {
		return before.file, nil
	}
	f := &recordFile{set: r.set, inTable: name}
	if !filepath.IsLocal(filepath.FromSlash(name)) || strings.Contains(name, "\\") {
		return f, option.Errorf("%s: %.200q is no name of a file below %s", r.table, name, option.WARCBase)
	}
	var err error
	f.name, err = below(base, name)
	f.shown = blob.Shown(f.name)
	return f, err
}

// below returns the name of a file in a folder, on this machine or in a store. Its own name has
// slashes.
func below(folder, file string) (string, error) {
	if !blob.IsURL(folder) {
		return filepath.Join(folder, filepath.FromSlash(file)), nil
	}
	u, err := blob.ParseURL(folder)
	if !u.IsFolder() {
		u = u.Below("/")
	}
	return u.Below(file).String(), err
}

// recordFile is a file with records, which is opened when the first is read.
type recordFile struct {
	set                  *captureSet
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
			f.set.named.add(f.shown, f.file.Info())
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
		return nil, nil // the row names what the file has not, or too much of it, which records.read says
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
