package ruleset

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

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
	err := kinds[kind].each(s, ctx, name, part, visit)
	if ctx.Err() == nil {
		err = cmp.Or(before.Unchanged(name), err) // of a file that is being written, hosts would be missing
	}
	if err == nil {
		part.To(1)
	}
	return err
}

// eachOfFile is each for a WARC file or a table. It moves part on while it reads.
func (s *captureSet) eachOfFile(ctx context.Context, name string, part *meter.Part, visit func(*captures.Capture) error) error {
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
	// recordsShare divides the memory: the records that a table names take 1/recordsShare of it, to sort
	// them and to read ahead each.
	recordsShare = 32
)

// eachOfTable visits first the captures that are in a table, and then the records that it names.
func (s *captureSet) eachOfTable(ctx context.Context, name string, part *meter.Part, visit func(*captures.Capture) error) error {
	table, input, err := s.openTable(ctx, name)
	if err != nil {
		return err
	}
	defer input.Close() // it was only read from
	defer table.Close()
	records := warc.NewRecords(warc.RecordsOptions{
		Table: blob.Shown(name), Base: s.options.WARCBase, BodySize: s.bodySize, Memory: s.options.Memory / recordsShare,
		Broken: s.warnBroken, Opened: s.named.add,
	})
	defer records.Close()
	read, namesRecords := 0, false
	err = eachOf(ctx, table.Next, func(x *captures.Capture) error {
		if read++; read%shareEvery == 0 {
			part.To(input.Share())
		}
		if len(x.File) > 0 {
			namesRecords = true
			return records.Add(x)
		}
		return visit(x)
	})
	if err != nil || !namesRecords {
		return err
	}
	s.warc.Store(true)
	return records.Each(ctx, visit)
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
func (s *captureSet) eachOfSingle(ctx context.Context, name string, _ *meter.Part, visit func(*captures.Capture) error) error {
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
func (*captureSet) eachOfAsked(ctx context.Context, name string, _ *meter.Part, visit func(*captures.Capture) error) error {
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
