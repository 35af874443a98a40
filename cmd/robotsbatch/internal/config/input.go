package config

import (
	"context"
	"io"
	"path/filepath"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/frontier/outputs"
	"robotsbatch/io/store/blob"
)

// leastLine is the least that the longest line of an input may be.
const leastLine = 1 << 10

// Input is what a command line says of lists and tables of URLs.
type Input struct {
	In              []string
	FilesFrom       string
	InFormat        format.Format // Unknown: by content and name
	URLColumn       string
	MaxLine         int64 // bytes
	Separator       byte  // of csv; 0: told from the header
	AcceptTruncated bool  // takes the rows of inputs that end too early
}

// NewInput is the input as it is without flags.
func NewInput() Input { return Input{MaxLine: lines.DefaultMaxLine} }

// Flags are those of the input.
func (c *Input) Flags() cli.Flags {
	return cli.Flags{
		{
			Name: "in", Argument: "FILE", Topic: InputTopic, Common: true, Repeat: true, Files: true, Indifferent: true,
			Short: "list or table of URLs: a file, a folder, a quoted pattern, - for stdin",
			More: "A list has a URL a line; csv and tsv have a header; jsonl, crawl indexes (CDXJ, CDX), Arrow and Parquet; text also as .gz and .zst. " +
				"In a pattern ** stands for any number of folders. Objects: s3://BUCKET/KEY, gs://, azblob://, a folder with a slash at its end " +
				"(robotsbatch help stores). The flag may be left out before a name.",
			Value: cli.Append(&c.In),
		},
		{
			Name: "files-from", Rare: true, Argument: "FILE", Topic: InputTopic, Files: true, Indifferent: true,
			Short: "file with more names of inputs, one a line; - for stdin",
			Value: &c.FilesFrom,
		},
		{
			Name: "in-format", Rare: true, Argument: "NAME", Topic: InputTopic, Words: formatNames(format.Format.Readable),
			Short: "format of the inputs", Standard: "by the first bytes, then by name",
			More:  "arrow, arrows (stream), parquet, csv, tsv, jsonl, cdxj, cdx or text; csv and tsv are known by name or by a header that names the URL column.",
			Value: formatOf(&c.InFormat, format.Format.Readable),
		},
		{
			Name: "url-column", Argument: "NAME", Topic: InputTopic, Common: true,
			For:   namedInputs,
			Short: "column, or key of jsonl, with the URLs", Standard: "url",
			More: "Without a column url: one in other case, such as URL; then url_protocol, url_host_name, url_port, url_path and url_query of Arrow " +
				"and Parquet put together; then a table's only column of strings. metadata.url is the field url of a struct, or in jsonl of an inner object.",
			Value: &c.URLColumn,
		},
		{
			Name: "delimiter", Rare: true, Argument: "CHAR", Topic: InputTopic,
			For:   delimitedInputs,
			Short: "field separator of csv and tsv, such as \";\" or tab", Standard: "found in the csv header",
			Value: cli.Separator(&c.Separator),
		},
		{
			Name: "max-line", Rare: true, Argument: "SIZE", Topic: InputTopic, Standard: "1MiB",
			For:   textInputs,
			Short: "longest line of text, or row of csv",
			Value: cli.Size(&c.MaxLine, leastLine),
		},
		{
			Name: "accept-truncated", Rare: true, Topic: InputTopic, Indifferent: true,
			Short: "accept a truncated input and use what is there",
			More:  "The summary counts those rows. A Parquet file needs its end.",
			Value: &c.AcceptTruncated,
		},
	}
}

// Spare refuses outputs that would replace one of the inputs or the list of them.
func (c *Input) Spare(inputs []frontier.Input, out ...option.Given) error {
	for _, o := range out {
		if err := outputs.Spare(o, inputs); err != nil {
			return err
		}
	}
	return SpareList(option.FilesFrom.With(c.FilesFrom), out...)
}

// SpareList refuses outputs that would replace the list that an option names.
func SpareList(list option.Given, out ...option.Given) error {
	for _, o := range out {
		if blob.Replaces(o.Value)(list.Value) {
			return option.Usagef("%s would replace the list of %s: choose another name", o.Name.With(blob.Shown(o.Value)), list.Name)
		}
	}
	return nil
}

// Named tells whether any input is named.
func (c *Input) Named() bool { return len(c.In) > 0 || c.FilesFrom != "" }

// Check finds what is wrong with the flags that name inputs.
func (c *Input) Check() error {
	if !c.Named() {
		return option.Usagef("%s is missing: name a file, a folder or - for stdin", option.In)
	}
	if err := ResolveNames(option.In, pointers(c.In)...); err != nil {
		return err
	}
	return ResolveNames(option.FilesFrom, &c.FilesFrom)
}

// Reading says how inputs are read, but for stdin and what follows from other flags.
func (c *Input) Reading(batchRows int) frontier.Options {
	return frontier.Options{
		Format: c.InFormat, URLColumn: c.URLColumn, BatchRows: batchRows, MaxLine: int(c.MaxLine), Separator: c.Separator, AcceptTruncated: c.AcceptTruncated,
	}
}

// Resolve turns what -in and -files-from say into the job's inputs, in
// the order in which they were named; those of a folder or a pattern by name.
func (c *Input) Resolve(ctx context.Context, stdin io.Reader) ([]frontier.Input, error) {
	names := c.In
	if c.FilesFrom != "" {
		listed, err := frontier.ReadNames(ctx, c.FilesFrom, stdin)
		if err == nil {
			err = ResolveNames(option.FilesFrom, pointers(listed)...)
		}
		if err != nil {
			return nil, option.Errorf("%s: %w", option.FilesFrom, err)
		}
		names = append(names[:len(names):len(names)], listed...)
	}
	var inputs []frontier.Input
	fromStdin, taken := c.FilesFrom == blob.Stdio, make(map[string]bool)
	for _, name := range names {
		if name == blob.Stdio {
			if fromStdin {
				return nil, option.Usagef("stdin is read twice: name - only once")
			}
			fromStdin = true
		}
		found, err := frontier.Expand(ctx, name)
		if err != nil {
			return nil, option.Errorf("%s %w", option.In, err)
		}
		for _, in := range found {
			path := in.Path
			if !blob.IsURL(path) {
				path, _ = filepath.Abs(path) // as it is where there is no working folder
			}
			if taken[path] {
				return nil, option.Usagef("%s is named twice, and its rows would count twice: name it once", in.Name())
			}
			taken[path] = true
		}
		inputs = append(inputs, found...)
	}
	if len(inputs) == 0 {
		return nil, option.Errorf("%s names no input", option.FilesFrom.With(c.FilesFrom))
	}
	return inputs, nil
}
