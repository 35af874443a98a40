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
	"robotsbatch/io/rules/captures"
	"robotsbatch/io/rules/warc"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/meter"
	"robotsbatch/matcher/urls"
)

// each calls visit with each capture of a file of a source that is read as captures, until that
// returns an error. The capture is valid until visit returns.
func (s *captureSet) each(ctx context.Context, kind kind, name string, visit func(*captures.Capture) error) (err error) {
	part := s.measured.part(name)
	defer func() {
		if err == nil {
			part.To(1)
		}
	}()
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
	case found == format.WARC || !namesCaptures(found): // an empty one, too
		return s.eachOfWARC(ctx, name, part, visit)
	}
	return s.eachOfTable(ctx, name, part, visit)
}

// eachOf calls visit with each capture of a reader.
func eachOf(ctx context.Context, r captures.Reader, visit func(*captures.Capture) error) error {
	var x captures.Capture
	for {
		if err := cmp.Or(r.Next(&x), context.Cause(ctx)); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := visit(&x); err != nil {
			return err
		}
	}
}

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
	r, err := warc.NewReader(file, warc.Options{Name: f.Name(), BodySize: s.bodySize, Broken: s.warner.sayBroken})
	if err != nil {
		return err
	}
	defer r.Close() // it was only read from
	s.warc.Store(true)
	if err := eachOf(ctx, r, visit); err != nil {
		return err
	}
	if r.Stats() == (warc.Stats{}) {
		s.warner.say(option.Messagef("%s has no records: was it cut off?", f.Name()))
	}
	return nil
}

const (
	// captureRows is how many rows of a table of captures are read at once. It is small
	// because the bodies are large.
	captureRows = 1024
	// shareEvery is how many captures are read before a table is asked how much of it was read.
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
	records := s.newRecords(blob.Shown(name))
	defer records.sorter.Close()
	read := 0
	err = eachOf(ctx, table, func(x *captures.Capture) error {
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
// authority if there is no url.
func (s *captureSet) openTable(ctx context.Context, name string) (*captures.Table, *frontier.Source, error) {
	o := captures.TableOptions{Name: blob.Shown(name), Broken: s.warner.sayBroken, Note: s.warner.tell}
	var failed error
	for _, column := range []string{"url", "authority"} {
		options := frontier.Options{URLColumn: column, BatchRows: captureRows, MaxLine: captures.MaxLine, Memory: s.options.Memory, Columns: true, Named: captures.Keys(), Keep: batch.KeepAll}
		input, err := frontier.Open(ctx, frontier.Input{Path: name}, options)
		if err == nil {
			var table *captures.Table
			if source, ok := input.Source.(captures.TableSource); !ok || source.Schema() == nil {
				err = fmt.Errorf("%s is not a table", o.Name)
			} else if table, err = captures.NewTable(source, o); err == nil {
				return table, input, nil
			}
			input.Close()
		}
		failed = cmp.Or(failed, err)
	}
	if no := (*format.NoColumnError)(nil); errors.As(failed, &no) {
		failed = captures.ErrColumns(o.Name, no.Columns)
	}
	return nil, nil, failed
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
	return io.ReadAll(io.LimitReader(r, int64(size)))
}

// maxAskedLine is the most bytes of a line of a list of what was asked for.
const maxAskedLine = 64 << 10

// eachOfAsked visits each robots.txt that a crawler asked for, by a list, as a fetch without an
// answer. As the last source the list decides about a host only if no other source has one: a
// crawler such as wget writes no record where a host refused the connection.
func eachOfAsked(ctx context.Context, name string, visit func(*captures.Capture) error) error {
	shown := blob.Shown(name)
	f, err := blob.Open(ctx, name)
	if err != nil {
		return fmt.Errorf("%s: %w", shown, err)
	}
	defer f.Close() // it was only read from
	found, _, r, err := format.Sniff(f, shown)
	if err != nil {
		return err
	}
	defer r.Close()
	if found != format.Text && found != format.Unknown {
		return fmt.Errorf("%s is %s: a list of what was asked for has a URL a line, as the command hosts writes it to a .txt", shown, found)
	}
	var scratch urls.Scratch
	number := 0
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxAskedLine)
	for lines.Scan() {
		number++
		line := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\xEF\xBB\xBF")))
		if len(line) == 0 {
			continue
		}
		for _, url := range spellings(string(line)) {
			authority, _, err := scratch.Split([]byte(url))
			if err != nil {
				return fmt.Errorf("%s: line %d: %q is neither a URL nor a host", shown, number, line)
			}
			if err := visit(&captures.Capture{URL: slices.Concat(authority, []byte("/robots.txt")), Failed: true}); err != nil {
				return err
			}
		}
	}
	if err = lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("the next line has more than %d bytes: a list has a URL or host a line", maxAskedLine)
	}
	if err != nil {
		err = fmt.Errorf("%s: after line %d: %w", shown, number, err)
	}
	return err
}

// spellings returns the URLs that a host stands for, of http and of https; a URL is one.
func spellings(host string) []string {
	if strings.Contains(host, "://") {
		return []string{host}
	}
	return []string{"http://" + host, "https://" + host}
}

// ParseFor returns the URLs of the robots.txt of a host, for http and for https, or of
// an origin such as https://example.com:8443.
func ParseFor(host string) (found []string, err error) {
	var scratch urls.Scratch
	for _, origin := range spellings(host) {
		authority, path, err := scratch.Split([]byte(origin))
		if err != nil || string(path) != "/" {
			return nil, option.Usagef("%s: want a host, such as example.com, or an origin, such as https://example.com:8443", option.For.With(host))
		}
		found = append(found, string(authority)+"/robots.txt")
	}
	return found, nil
}

// ErrNoSingle is the error of sources none of which is the single robots.txt that
// Options.Single is about.
var ErrNoSingle error = option.Usagef("%s is about a %s that is a single robots.txt, and there is none", option.For, option.Rules)

// measured is the progress of reading files of captures: by their bytes or, where any of them is
// an object, is no regular file, or cannot be looked up, by their number.
type measured struct {
	step  *meter.Step
	sizes map[string]int64 // nil if the number counts
}

func measure(ctx context.Context, files []string) measured {
	sizes, total := make(map[string]int64, len(files)), int64(0)
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil || blob.IsURL(name) || !info.Mode().IsRegular() {
			return measured{meter.Start(ctx, "reading captures", meter.Files, int64(len(files))), nil}
		}
		sizes[name] = info.Size()
		total += info.Size()
	}
	return measured{meter.Start(ctx, "reading captures", meter.Bytes, total), sizes}
}

// part returns the part of a file.
func (m measured) part(name string) *meter.Part {
	if m.sizes == nil {
		return m.step.Part(1)
	}
	return m.step.Part(m.sizes[name])
}

// watched is a file that says how far it was read: captures may be rare in it.
type watched struct {
	*io.SectionReader
	part *meter.Part
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.SectionReader.Read(b)
	if at, err := w.Seek(0, io.SeekCurrent); err == nil {
		w.part.To(float64(at) / float64(max(1, w.Size())))
	}
	return n, err
}
