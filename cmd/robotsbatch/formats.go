package main

import (
	"robotsbatch/io/compress"
	"robotsbatch/io/format"
)

// endings are the names' endings of the formats that this version writes.
var endings = map[format.Format]string{
	format.Arrow: ".arrow", format.ArrowS: ".arrows", format.Text: ".txt",
	format.CSV: ".csv", format.TSV: ".tsv", format.JSONL: ".jsonl", format.Parquet: ".parquet",
}

var codecEndings = map[compress.Codec]string{compress.Gzip: ".gz", compress.Zstd: ".zst"}

func isArrow(f format.Format) bool { return f == format.Arrow || f == format.ArrowS }

// isBinary tells whether f is a format of tables that is compressed inside.
func isBinary(f format.Format) bool { return isArrow(f) || f == format.Parquet }

// isLines tells whether f is made of lines, and so is compressed as a whole.
func isLines(f format.Format) bool {
	switch f {
	case format.Text, format.CSV, format.TSV, format.JSONL, format.CDXJ, format.CDX:
		return true
	}
	return false
}

// readable tells whether this version reads f.
func readable(f format.Format) bool { return isBinary(f) || isLines(f) }

// writable tells whether this version writes f.
func writable(f format.Format) bool { return endings[f] != "" }
