package format

import (
	"path/filepath"
	"slices"
	"strings"

	"robotsbatch/io/store/compress"
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
	// CSV is comma-separated values with a header.
	CSV
	// TSV is CSV with tabs.
	TSV
	// JSONL is one JSON object a line.
	JSONL
	// Text is a list of URLs, one a line.
	Text
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

// family is a kind of formats.
type family uint8

const (
	rules  family = iota // formats of rules, not of frontiers
	arrows               // Arrow's two formats: tables that are compressed inside
	tables               // other tables that are compressed inside
	lines                // formats made of lines, which are compressed as a whole
)

// table describes the formats, in the order in which messages list them. Beside a line
// here, a format needs what opens it in package frontier and what writes it in package
// outputs.
var table = [...]struct {
	name   string
	family family
	// endings are the extensions of file names, in lower case.
	endings []string
	// written says that verdicts can be written in it, as files with the first ending.
	written bool
	// inside are the compressions that outputs may have inside, the standard one first.
	inside []compress.Codec
	// captures says that a file may hold captures of robots.txt.
	captures bool
	// objects says that a line has a JSON object.
	objects bool
	// separator stands between the fields of a line; 0 for csv, whose header shows it, and
	// for lines without such fields.
	separator byte
	// output is the format of outputs of such inputs when nobody says which; Unknown for
	// the format itself.
	output Format
}{
	Unknown:  {name: "unknown"},
	Arrow:    {name: "arrow", family: arrows, endings: []string{".arrow", ".feather"}, written: true, inside: ofArrow, captures: true},
	ArrowS:   {name: "arrows", family: arrows, endings: []string{".arrows"}, written: true, inside: ofArrow, captures: true},
	Parquet:  {name: "parquet", family: tables, endings: []string{".parquet"}, written: true, inside: ofParquet, captures: true},
	CSV:      {name: "csv", family: lines, endings: []string{".csv"}, written: true, captures: true},
	TSV:      {name: "tsv", family: lines, endings: []string{".tsv"}, written: true, captures: true, separator: '\t'},
	JSONL:    {name: "jsonl", family: lines, endings: []string{".jsonl", ".ndjson"}, written: true, captures: true, objects: true},
	Text:     {name: "text", family: lines, endings: []string{".txt"}, written: true, output: CSV},
	CDXJ:     {name: "cdxj", family: lines, endings: []string{".cdxj", ".cdx"}, objects: true, output: JSONL},
	CDX:      {name: "cdx", family: lines, output: CSV},
	WARC:     {name: "warc", endings: []string{".warc"}, captures: true},
	RulePack: {name: "rules", endings: []string{".rules"}},
}

// The compressions inside of outputs. The formats' rooms have their numbers.
var (
	ofArrow   = []compress.Codec{compress.Zstd, compress.None, compress.LZ4}
	ofParquet = []compress.Codec{compress.Zstd, compress.None, compress.Snappy}
)

// Inside returns the compressions that outputs of the format may have inside, the standard
// one first; none for formats that are compressed as a whole.
func (f Format) Inside() []compress.Codec { return table[f].inside }

// Compressions returns the compressions that outputs of any format may have inside.
func Compressions() (codecs []compress.Codec) {
	for f := range table {
		for _, c := range table[f].inside {
			if !slices.Contains(codecs, c) {
				codecs = append(codecs, c)
			}
		}
	}
	return codecs
}

// String returns the format's name as Parse takes it, such as "arrows".
func (f Format) String() string {
	if int(f) < len(table) {
		return table[f].name
	}
	return "format(?)"
}

// All returns the formats for which wanted returns true, in the order in which messages list them.
func All(wanted func(Format) bool) (formats []Format) {
	for f := range table {
		if wanted(Format(f)) {
			formats = append(formats, Format(f))
		}
	}
	return formats
}

// Names returns the names of the formats for which wanted returns true.
func Names(wanted func(Format) bool) (names []string) {
	for _, f := range All(wanted) {
		names = append(names, f.String())
	}
	return names
}

// Endings returns the extensions of outputs, in the order in which messages list them.
func Endings() (endings []string) {
	for _, f := range All(Format.Writable) {
		endings = append(endings, f.Ending())
	}
	return endings
}

// Parse returns the format with a name, as String returns it, if wanted returns true for it. ok is
// false if there is none.
func Parse(name string, wanted func(Format) bool) (f Format, ok bool) {
	for _, f := range All(wanted) {
		if f.String() == name {
			return f, true
		}
	}
	return Unknown, false
}

// ByName returns the format and the compression that a file's name, such as verdicts.csv.zst,
// means; Unknown and compress.None if it means none. Case does not matter. The format may be
// one that cannot be written.
func ByName(name string) (Format, compress.Codec) {
	codec, plain := compress.ByName(name)
	ending := strings.ToLower(filepath.Ext(plain))
	for f := range table {
		if slices.Contains(table[f].endings, ending) {
			return Format(f), codec
		}
	}
	return Unknown, codec
}

// Ending returns the extension of outputs in the format; "" if it cannot be written.
func (f Format) Ending() string {
	if f.Writable() {
		return table[f].endings[0]
	}
	return ""
}

// Family returns the name that an Arrow file and an Arrow stream share, or Parquet's.
func (f Format) Family() string {
	if f.IsArrow() {
		return "Arrow"
	}
	return "Parquet"
}

// IsArrow reports whether f is an Arrow file or stream.
func (f Format) IsArrow() bool { return table[f].family == arrows }

// IsBinary reports whether f is a format of tables that are compressed inside.
func (f Format) IsBinary() bool { return f.IsArrow() || table[f].family == tables }

// IsLines reports whether f is made of lines, and so is compressed as a whole.
func (f Format) IsLines() bool { return table[f].family == lines }

// Readable reports whether f is a frontier's format, which can be read.
func (f Format) Readable() bool { return f.IsBinary() || f.IsLines() }

// Writable reports whether verdicts can be written in f.
func (f Format) Writable() bool { return table[f].written }

// HasCaptures reports whether a file in f may hold captures of robots.txt.
func (f Format) HasCaptures() bool { return table[f].captures }

// HasObjects reports whether each line in f has a JSON object. The keys may differ from line to line.
func (f Format) HasObjects() bool { return table[f].objects }

// Separator returns what stands between the fields of a line; 0 for CSV, whose header shows
// it, and for lines without such fields.
func (f Format) Separator() byte { return table[f].separator }

// Output returns the format of outputs if neither their name nor an option says one: f itself,
// or another one if f cannot be written.
func (f Format) Output() Format {
	if output := table[f].output; output != Unknown {
		return output
	}
	return f
}
