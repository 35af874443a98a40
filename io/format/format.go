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
	// Unknown is an unrecognised format.
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

// RulePackMagic is the first bytes of a rule pack. They are not text, and a transfer that
// changes line ends or clears the highest bits damages them.
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

// endings are the extensions of file names, in lower case, that determine a format.
var endings = map[string]Format{
	".arrow": Arrow, ".feather": Arrow, ".arrows": ArrowS, ".parquet": Parquet,
	".txt": Text, ".csv": CSV, ".tsv": TSV, ".jsonl": JSONL, ".ndjson": JSONL,
	".cdxj": CDXJ, ".cdx": CDXJ, ".warc": WARC, ".rules": RulePack,
}

// ByName returns format and compression by a file's name, such as verdicts.csv.zst; Unknown
// and compress.None if the name does not tell. Case does not matter. The format may be one
// that cannot be written.
func ByName(name string) (Format, compress.Codec) {
	codec, plain := compress.ByName(name)
	return endings[strings.ToLower(filepath.Ext(plain))], codec
}

// writtenEndings are the extensions of outputs, for formats that can be written.
var writtenEndings = [...]string{
	Arrow: ".arrow", ArrowS: ".arrows", Parquet: ".parquet", Text: ".txt", CSV: ".csv", TSV: ".tsv", JSONL: ".jsonl",
}

// Ending returns the extension of an output; "" for a format that cannot be written.
func (f Format) Ending() string {
	if int(f) < len(writtenEndings) {
		return writtenEndings[f]
	}
	return ""
}

// IsArrow reports whether f is an Arrow file or stream.
func (f Format) IsArrow() bool { return f == Arrow || f == ArrowS }

// IsBinary reports whether f is a format of tables that are compressed inside.
func (f Format) IsBinary() bool { return f.IsArrow() || f == Parquet }

// IsLines reports whether f is made of lines, and so is compressed as a whole.
func (f Format) IsLines() bool { return f >= Text && f <= CDX }

// Readable reports whether f is a frontier's format, which can be read.
func (f Format) Readable() bool { return f.IsBinary() || f.IsLines() }

// Writable reports whether verdicts can be written in f.
func (f Format) Writable() bool { return f.Ending() != "" }
