package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/outputs"
	"robotsbatch/io/store/compress"
)

// Output is what a command line says of outputs.
type Output struct {
	Out         string
	OutFormat   format.Format // Unknown: by name
	compressed  bool          // -compression was given
	compression compress.Codec
	level       int
}

// Flags are those of outputs with the columns of inputs.
func (c *Output) Flags() cli.Flags {
	return cli.Flags{
		{
			Name: "out", Argument: "FILE", Topic: OutputTopic, Common: true, Files: true, Indifferent: true,
			Short: "what to write: a file, a folder (an output for each input), or -", Standard: "-, stdout",
			More:  "Format by name: .arrow, .arrows, .parquet, .csv, .tsv, .jsonl, .txt (URLs only); text also with .gz or .zst.",
			Value: &c.Out,
		},
		{
			Name: "out-format", Rare: true, Argument: "NAME", Topic: OutputTopic, Words: formatNames(format.Format.Writable),
			Short: "format of the outputs", Standard: "by name",
			More: InWords(format.Names(format.Format.Writable), "or") + ". On stdout csv for a list or CDX, jsonl for CDXJ, an Arrow stream for Arrow and Parquet, " +
				"else the input's format.",
			Value: formatOf(&c.OutFormat, format.Format.Writable),
		},
		{
			Name: "compression", Rare: true, Argument: "NAME", Topic: OutputTopic, Standard: "zstd", Words: cli.Names(compressions),
			For:   packedOutputs,
			Short: "inside Arrow and Parquet: " + shownCompressions(),
			More:  "zstd:LEVEL compresses Parquet at a level from 1 to 22, as the zstd program does; zstd alone means 3. Every column is then decoded and encoded, which Arrow to Arrow and Parquet to Parquet need not by default.",
			Value: func(s string) error {
				c.compressed = true
				name, level, leveled := strings.Cut(s, ":")
				if leveled && name == "zstd" {
					if err := zstdLevel(&c.level, level); err != nil {
						return err
					}
					s = name
				}
				return cli.OneOf(&c.compression, compressions...)(s)
			},
		},
	}
}

// TableFlags are those of a table that has no input's columns.
func (c *Output) TableFlags() cli.Flags {
	return cli.Flags{
		{
			Name: "out", Argument: "FILE", Topic: OutputTopic, Common: true, Files: true, Indifferent: true,
			Short: "the table to write: a file, an object, or -", Standard: "-, stdout, as csv",
			More:  "Format by name: .parquet, .arrow, .arrows, .csv, .tsv, .jsonl; text also with .gz or .zst.",
			Value: &c.Out,
		},
		{
			Name: "out-format", Rare: true, Argument: "NAME", Topic: OutputTopic, Words: formatNames(isTable),
			Short: "format of the table", Standard: "by name",
			Value: formatOf(&c.OutFormat, isTable),
		},
		c.Flags().Only("compression")[0],
	}
}

// Outputs returns what these flags say of how outputs are written. The caller sets the other
// options.
func (c *Output) Outputs() *outputs.Options {
	o := &outputs.Options{Out: c.Out, Format: c.OutFormat, Inside: compress.Zstd, Level: c.level}
	if c.compressed {
		o.Inside, o.Encode = c.compression, true
	}
	return o
}

var compressions = func() (words []cli.Word[compress.Codec]) {
	for _, c := range format.Compressions() {
		words = append(words, cli.Word[compress.Codec]{Name: c.String(), Value: c})
	}
	return words
}()

// zstdLevel sets dst to a level of zstd.
func zstdLevel(dst *int, s string) error {
	level, err := strconv.Atoi(s)
	if err != nil || level < 1 || level > 22 {
		return fmt.Errorf("%q is not a level of zstd, from 1 to 22", s)
	}
	*dst = level
	return nil
}

// shownCompressions lists the compressions, and of which formats each is if not of all.
func shownCompressions() string {
	var shown []string
	for _, w := range compressions {
		text := w.Name
		switch arrow, parquet := slices.Contains(format.Arrow.Inside(), w.Value), slices.Contains(format.Parquet.Inside(), w.Value); {
		case !parquet:
			text += " (Arrow)"
		case !arrow:
			text += " (Parquet)"
		}
		shown = append(shown, text)
	}
	return strings.Join(shown, ", ")
}
