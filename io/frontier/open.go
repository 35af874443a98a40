package frontier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/arrowipc"
	"robotsbatch/io/frontier/delimited"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/jsonl"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/frontier/parquetio"
	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/frontier/text"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
)

// Options say how inputs are read. BatchRows and Memory must be set.
type Options struct {
	// The options of inputs that are made of lines, of which Open sets Name and BatchSize.
	// URLColumn, Extra and BatchRows hold for Arrow and Parquet as well. Without a Separator,
	// that of tsv is a tab. Blanks counts only where Format does not say that the inputs are
	// lists.
	lines.Options
	// Stdin is read for the input "-". If it is Unnamed, nobody named it, and an empty one is an
	// [option.UsageError].
	Stdin   io.Reader
	Unnamed bool
	// Format is the inputs' format; Unknown means that content and name decide.
	Format format.Format
	// Part selects the record batches of an Arrow file or the row groups of a Parquet
	// file that are read. Other formats cannot be divided.
	Part batch.Part
	// Memory is the most bytes of a batch while it is read and decoded.
	Memory int64
	// Piece is the most bytes of a batch of which the rows need not be together; 0 means an
	// eighth of Memory. Several fit into the memory, which keeps workers busy.
	Piece int64
	// AcceptTruncated also reads an Arrow file whose end is missing.
	AcceptTruncated bool
	// Keep says which columns of a table are needed.
	Keep batch.Keep
	// Output, if not nil, returns the format of the output, which the first input may decide, or an
	// error for an input of which the output would lose columns.
	Output func(input format.Format) (format.Format, error)
	// Passage says whether columns go to the output undecoded; nil means that they do not.
	Passage *Passage
}

// Passage says whether the columns of inputs go to an output as they lie, undecoded: an
// input passes if the output is the same kind of table and nothing in its schema
// prevents it. The first input of a [Concatenation] decides for all. A nil Passage
// decodes all columns.
type Passage struct {
	// Selects says that rows may be left out.
	Selects bool
	// Several says that several inputs go into the output.
	Several bool

	// decided says that the first input has decided that all pass.
	decided bool
}

// Source is an open input of a known format.
type Source struct {
	batch.Source
	Input  Input
	Format format.Format
	Codec  compress.Codec
	// Schema is nil for a list of URLs or of objects.
	Schema *arrow.Schema
	// URLColumn is the column that has the URLs.
	URLColumn string
	// Passing says that the columns go to the output undecoded; see [Passage].
	Passing bool
	output  format.Format // what Options.Output returned; Unknown without it
	// file is the input itself, if it is a regular file or an object; else nil.
	file *blob.File
	info blob.Info    // the version of file
	read atomic.Int64 // the number of bytes of file that were read from start to end
	// Schemeless is the first line of a list of which the first lines all lack a scheme, such
	// as example.com/a; empty for others.
	Schemeless string
	closers    []io.Closer // in the order in which they were opened
}

// Close closes the source and the readers that it reads from.
func (s *Source) Close() error {
	var err error
	if s.Source != nil {
		err = s.Source.Close()
	}
	for i := len(s.closers) - 1; i >= 0; i-- {
		err = cmp.Or(err, s.closers[i].Close())
	}
	return err
}

// Open opens an input and detects its format. The end of ctx ends a wait for a pipe. A mistake in
// the options is a [option.UsageError].
func Open(ctx context.Context, in Input, o Options) (*Source, error) {
	s := &Source{Input: in}
	r, err := o.detect(ctx, s)
	if err == nil {
		err = o.openSource(s, r)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// leaveFile keeps Source.Close from closing the file: the format's source closes it, because its
// pieces still read the file after the last Next.
func (s *Source) leaveFile() {
	s.closers = slices.DeleteFunc(s.closers, func(c io.Closer) bool { return c == io.Closer(s.file) })
}

// detect opens an input and returns a reader of its bytes, decompressed. In s it sets what the first
// bytes and the name show (Format, Codec and Schemeless), the format of the output, and what must be
// closed.
func (o *Options) detect(ctx context.Context, s *Source) (io.Reader, error) {
	raw, err := o.openRaw(ctx, s)
	if err != nil {
		return nil, err
	}
	found, codec, r, err := format.Sniff(raw, s.Input.Name())
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, r)
	if o.Unnamed && len(format.Head(r)) == 0 {
		return nil, option.Usagef("%s is missing, and stdin is empty: name a file or a folder", option.In)
	}
	s.Format, s.Codec = o.Format, codec
	if s.Format == format.Unknown {
		s.Format = found
	}
	if o.Output != nil {
		if s.output, err = o.Output(s.Format); err != nil {
			return nil, option.Errorf("%s: %w", s.Input.Name(), err)
		}
	}
	if s.Format == format.Text || s.Format == format.Unknown {
		head := format.Head(r)
		if o.Format == format.Unknown {
			if err := s.checkGuess(head); err != nil {
				return nil, err
			}
		}
		s.Schemeless = string(format.Schemeless(head))
	}
	return r, nil
}

// checkGuess returns an error if an input whose format was guessed is no list of URLs, or a
// list whose lines go on after the URL. head are its first bytes.
func (s *Source) checkGuess(head []byte) error {
	if err := format.Foreign(head); err != nil {
		return fmt.Errorf("%s: %w", s.Input.Name(), err)
	}
	if s.Format != format.Text {
		return nil
	}
	if err := format.CheckTrailing(head); err != nil {
		return option.Errorf("%s: %w. With %s it is a part of the URL", s.Input.Name(), err, option.InFormat.With("text"))
	}
	return nil
}

// openSource opens the source that decodes an input's format, on the bytes in r.
func (o *Options) openSource(s *Source, r io.Reader) error {
	name := s.Input.Name()
	if o.Part.Count > 1 {
		if canDivide := s.isSeekable() && (s.Format == format.Arrow || s.Format == format.Parquet); !canDivide {
			return option.Usagef("%s is one input, and only Arrow files and Parquet are divided into shards: name several inputs", name)
		}
		name = fmt.Sprintf("%s (shard %d of %d)", name, o.Part.Index, o.Part.Count)
	}
	if open := openers[s.Format]; open != nil {
		table, err := open(o, s, r, name)
		if err != nil {
			return err
		}
		s.Source, s.Schema, s.URLColumn = table, table.Schema(), table.URLColumn()
		return o.Passage.passColumns(s)
	}
	switch s.Format {
	case format.Unknown:
		if s.Schemeless != "" {
			return fmt.Errorf("%s: no line has a scheme, and a URL begins with one: write https://%s, not %s", name, s.Schemeless, s.Schemeless)
		}
		return option.Errorf("%s: the format is unknown: say what it is with %s", name, option.InFormat)
	case format.RulePack:
		return option.Usagef("%s is a rule pack: name it with %s", name, option.Rules)
	case format.WARC:
		return option.Usagef("%s is a WARC file, which has captures: name it with %s", name, option.Rules)
	default:
		return option.Usagef("%s: reading %s is not available in this version", name, s.Format)
	}
}

// passColumns makes an input pass its columns undecoded, if it can. The format's source then closes
// the file, because its pieces read from it after the last Next.
func (p *Passage) passColumns(s *Source) error {
	if p == nil {
		return nil
	}
	switch table := s.Source.(type) {
	case *arrowipc.Source:
		s.Passing = s.output.IsArrow() && (p.decided || table.CanPassThrough(s.output == format.ArrowS, p.Several))
		switch {
		case !s.Passing:
			return p.decline(s)
		case !s.isSeekable():
			return table.PassThrough(nil, p.Selects)
		}
		s.leaveFile()
		return table.PassThrough(s.file, p.Selects)
	case *parquetio.Source:
		s.Passing = s.output == format.Parquet && (p.decided || table.CanPassThrough())
		if !s.Passing {
			return p.decline(s)
		}
		return table.PassThrough()
	}
	return nil
}

// decline is called for an input whose columns cannot pass undecoded. It returns an error if those
// of the inputs before it pass, and else leaves the input to be decoded.
func (p *Passage) decline(s *Source) error {
	if !p.decided {
		return nil
	}
	return option.Usagef("%s is %s, unlike the inputs before it: give %s, so that all are decoded", s.Input.Name(), s.Format.Family(), option.Compression.With("zstd"))
}

// openers has the function that opens the source of each format that can be read. r has the input's
// bytes, decompressed; name is the input's in messages.
var openers = map[format.Format]func(o *Options, s *Source, r io.Reader, name string) (tableSource, error){
	format.Text: openText, format.Arrow: openArrow, format.ArrowS: openArrow, format.Parquet: openParquet,
	format.CSV: openDelimited, format.TSV: openDelimited,
	format.CDX: func(o *Options, _ *Source, r io.Reader, name string) (tableSource, error) {
		return delimited.NewCDX(r, o.lineOptions(name))
	},
	format.JSONL: func(o *Options, _ *Source, r io.Reader, name string) (tableSource, error) {
		return jsonl.NewSource(r, o.lineOptions(name)), nil
	},
	format.CDXJ: func(o *Options, _ *Source, r io.Reader, name string) (tableSource, error) {
		return jsonl.NewCDXJ(r, o.lineOptions(name)), nil
	},
}

// lineOptions returns the options for a source that reads lines. name is that of the input for
// errors.
func (o *Options) lineOptions(name string) lines.Options {
	options := o.Options
	options.Name, options.BatchSize = name, int(min(cmp.Or(o.Piece, o.Memory/8), lines.MaxBlockSize))
	if o.Format != format.Unknown { // somebody said that it is a list: its blanks are meant
		options.Blanks = nil
	}
	return options
}

// openText opens a list of URLs. Options that name a column are errors.
func openText(o *Options, _ *Source, r io.Reader, name string) (tableSource, error) {
	if o.URLColumn != "" && o.URLColumn != format.URLColumn {
		return nil, option.Usagef("%s is a list of URLs and has no column %q: leave out %s", name, o.URLColumn, option.URLColumn)
	}
	if o.Extra.Weight != "" {
		return nil, option.Usagef("%s is a list of URLs and has no column %q: leave out %s", name, o.Extra.Weight, option.Weight)
	}
	if o.Extra.Time != "" {
		return nil, option.Usagef("%s is a list of URLs and has no column %q with times: a table, csv or jsonl can have one", name, o.Extra.Time)
	}
	return text.NewSource(r, o.lineOptions(name)), nil
}

// tableOptions returns the options for an Arrow or Parquet input of that name.
func (o *Options) tableOptions(name string) tableio.SourceOptions {
	return tableio.SourceOptions{Name: name, URLColumn: o.URLColumn, BatchRows: o.BatchRows, Memory: o.Memory, Piece: o.Piece, Keep: o.Keep, Extra: o.Extra, Part: o.Part}
}

// openArrow opens an Arrow file or stream. With AcceptTruncated, a file without its end is
// read as a stream.
func openArrow(o *Options, s *Source, r io.Reader, name string) (tableSource, error) {
	options := o.tableOptions(name)
	if s.Format == format.ArrowS || !s.isSeekable() {
		return arrowipc.OpenStream(r, options)
	}
	size, _ := s.file.Size()
	table, err := arrowipc.OpenFile(s.file, size, options)
	switch {
	case !isCut(err) || o.Part.Count > 1: // a stream cannot be divided
		return table, err
	case o.AcceptTruncated:
		return arrowipc.OpenStream(r, options)
	}
	return nil, option.Errorf("%w; %s takes what is there", err, option.AcceptTruncated)
}

// openDelimited opens csv or the like.
func openDelimited(o *Options, s *Source, r io.Reader, name string) (tableSource, error) {
	options := o.lineOptions(name)
	options.Separator = cmp.Or(options.Separator, s.Format.Separator())
	return delimited.NewSource(r, options)
}

// openParquet opens a Parquet file: a file or object, no pipe, and not itself compressed (.gz, .zst).
func openParquet(o *Options, s *Source, _ io.Reader, name string) (tableSource, error) {
	if !s.isSeekable() {
		return nil, option.Usagef("%s: Parquet is read from its end, which a pipe and a .gz or .zst file do not allow: name the Parquet file itself", name)
	}
	size, _ := s.file.Size()
	table, err := parquetio.Open(s.file, size, o.tableOptions(name))
	if err == nil {
		s.leaveFile()
	}
	return table, err
}

// isSeekable reports whether the input's data can be read at any offset of s.file.
func (s *Source) isSeekable() bool { return s.file != nil && s.Codec == compress.None }

// tableSource is a source of any format, with the columns of its rows.
type tableSource interface {
	batch.Source
	// Schema returns nil if the columns may differ from row to row.
	Schema() *arrow.Schema
	URLColumn() string
}

// openRaw opens an input and returns its bytes as they are. It sets s.file for a file or
// object, which can be read at any offset; reads of a pipe end with ctx.
func (o *Options) openRaw(ctx context.Context, s *Source) (io.Reader, error) {
	path := s.Input.Path
	open := func() (io.ReadCloser, error) { return io.NopCloser(o.Stdin), nil }
	if path != blob.Stdio || o.Stdin == os.Stdin {
		f, err := blob.Open(ctx, path)
		if err != nil {
			return nil, err
		}
		if _, regular := f.Size(); regular {
			s.file, s.info = f, f.Info()
			s.closers = append(s.closers, f)
			return &countedReader{f, &s.read}, nil
		}
		open = func() (io.ReadCloser, error) { return f, nil }
	}
	return Interruptible(ctx, open), nil
}

// countedReader counts what is read.
type countedReader struct {
	io.Reader
	bytes *atomic.Int64 // decompression may read in a goroutine of its own
}

func (r *countedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.bytes.Add(int64(n))
	return n, err
}

// Share returns which share of the input was read, from 0 to 1; 0 if its size is not known. It
// is safe to call at any time.
func (s *Source) Share() float64 {
	if table, ok := s.Source.(interface {
		Share() (share float64, known bool)
	}); ok {
		if share, known := table.Share(); known {
			return share
		}
	}
	if s.file == nil {
		return 0
	}
	size, _ := s.file.Size()
	return min(1, float64(s.read.Load())/float64(max(1, size)))
}

// isCut reports whether an error says that an input ended too early, in the middle of something.
func isCut(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }
