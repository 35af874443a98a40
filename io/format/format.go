package format

import (
	"fmt"
	"path/filepath"
	"strings"

	"robotsbatch/io/compress"
)

// Format is a data format.
type Format uint8

const (
	// Unknown is a format that could not be told.
	Unknown Format = iota
	// Arrow is the Arrow IPC file format, also known as Feather V2.
	Arrow
	// ArrowS is the Arrow IPC stream format.
	ArrowS
	// Parquet is Apache Parquet.
	Parquet
	// Text is a list of URLs, one a line.
	Text
	// CSV is comma-separated values with a header.
	CSV
	// TSV is CSV with tabs.
	TSV
	// JSONL is one JSON object a line.
	JSONL
	// CDXJ is a crawl index: a key, a timestamp and a JSON object a line.
	CDXJ
	// CDX is a crawl index whose first line names its fields by letters.
	CDX
	// WARC is a web archive.
	WARC
	// RulePack is a container of compiled rules.
	RulePack
)

// RulePackMagic is the first bytes of a rule pack. They are no text, and a transfer
// that changes line ends or drops the highest bits damages them.
const RulePackMagic = "\x89RBP\r\n\x1a\n"

var names = [...]string{
	Unknown: "unknown", Arrow: "arrow", ArrowS: "arrows", Parquet: "parquet",
	Text: "text", CSV: "csv", TSV: "tsv", JSONL: "jsonl", CDXJ: "cdxj", CDX: "cdx",
	WARC: "warc", RulePack: "rules",
}

// String returns the format's name as Parse takes it, such as "arrows".
func (f Format) String() string {
	if int(f) < len(names) {
		return names[f]
	}
	return "format(?)"
}

// Parse reads the name of a format of tables or lists, as -in-format and
// -out-format take it: arrow, arrows, parquet, text, csv, tsv, jsonl, cdxj or cdx.
func Parse(name string) (Format, error) {
	for f := Arrow; f <= CDX; f++ {
		if names[f] == name {
			return f, nil
		}
	}
	return Unknown, fmt.Errorf("format: there is no format %q: it is one of %s", name, strings.Join(names[Arrow:CDX+1], ", "))
}

// endings are the ends of file names, in lower case, that tell a format.
var endings = map[string]Format{
	".arrow": Arrow, ".feather": Arrow, ".arrows": ArrowS, ".parquet": Parquet,
	".txt": Text, ".csv": CSV, ".tsv": TSV, ".jsonl": JSONL, ".ndjson": JSONL,
	".cdxj": CDXJ, ".cdx": CDXJ, ".warc": WARC, ".rules": RulePack,
}

// ByName tells format and compression by a file's name, such as verdicts.csv.zst;
// Unknown and compress.None where the name says nothing. Case does not matter. The
// format may be one that is not written.
func ByName(name string) (Format, compress.Codec) {
	codec, plain := compress.ByName(name)
	return endings[strings.ToLower(filepath.Ext(plain))], codec
}

// writtenEndings are how the names of outputs end, of the formats that are written.
var writtenEndings = [...]string{
	Arrow: ".arrow", ArrowS: ".arrows", Parquet: ".parquet", Text: ".txt", CSV: ".csv", TSV: ".tsv", JSONL: ".jsonl",
}

// Ending is how the name of an output ends; empty for a format that is not
// written.
func (f Format) Ending() string {
	if int(f) < len(writtenEndings) {
		return writtenEndings[f]
	}
	return ""
}

// IsArrow tells whether f is an Arrow file or stream.
func (f Format) IsArrow() bool { return f == Arrow || f == ArrowS }

// IsBinary tells whether f is a format of tables that are compressed inside.
func (f Format) IsBinary() bool { return f.IsArrow() || f == Parquet }

// IsLines tells whether f is made of lines, and so is compressed as a whole.
func (f Format) IsLines() bool { return f >= Text && f <= CDX }

// Readable tells whether f is a frontier's format, which can be read.
func (f Format) Readable() bool { return f.IsBinary() || f.IsLines() }

// Writable tells whether verdicts can be written in f.
func (f Format) Writable() bool { return f.Ending() != "" }
