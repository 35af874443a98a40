package main

import (
	"robotsbatch/io/compress"
	"robotsbatch/io/format"
)

// endings are the names' endings of the formats that this version writes.
var endings = map[format.Format]string{
	format.Arrow: ".arrow", format.ArrowS: ".arrows", format.Text: ".txt",
	format.CSV: ".csv", format.TSV: ".tsv", format.JSONL: ".jsonl",
}

var codecEndings = map[compress.Codec]string{compress.Gzip: ".gz", compress.Zstd: ".zst"}

var formatNames = map[format.Format]string{
	format.Unknown: "an unknown format", format.Arrow: "Arrow files", format.ArrowS: "Arrow streams",
	format.Parquet: "Parquet", format.Text: "text", format.CSV: "csv", format.TSV: "tsv",
	format.JSONL: "jsonl", format.CDXJ: "CDXJ", format.WARC: "WARC", format.RulePack: "rule packs",
}

// formatName is a format's name for messages.
func formatName(f format.Format) string { return formatNames[f] }

func isArrow(f format.Format) bool { return f == format.Arrow || f == format.ArrowS }

// readable tells whether this version reads f; Unknown is to be found out.
func readable(f format.Format) bool {
	return f == format.Unknown || isArrow(f) || f == format.Text
}

// writable tells whether this version writes f; Unknown is to be found out.
func writable(f format.Format) bool {
	return f == format.Unknown || endings[f] != ""
}
