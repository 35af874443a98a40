package main

import (
	"fmt"
	"slices"
	"strings"

	"robotsbatch/batch"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/format"
	"robotsbatch/io/outputs"
)

// formatOf sets dst to a format that available says yes to.
func formatOf(dst *format.Format, available func(format.Format) bool) func(string) error {
	return func(s string) error {
		f, err := format.Parse(s)
		if err == nil && available(f) {
			*dst = f
			return nil
		}
		names := formatNames(available)
		if err == nil {
			return fmt.Errorf("not available in this version, which has %s", strings.Join(names, ", "))
		}
		return fmt.Errorf("want one of %s", strings.Join(names, ", "))
	}
}

// isTableFormat tells whether a format has columns and can be written.
func isTableFormat(f format.Format) bool { return f.Writable() && f != format.Text }

// formatNames are the names of the formats that available says yes to.
func formatNames(available func(format.Format) bool) []string {
	var names []string
	for f := format.Arrow; f <= format.CDX; f++ {
		if available(f) {
			names = append(names, f.String())
		}
	}
	slices.Sort(names)
	return names
}

// columnsOf adds columns of facts, by commas, each once.
func columnsOf(dst *[]batch.ColumnKind) func(string) error {
	return func(s string) error {
		for _, name := range strings.Split(s, ",") {
			kind, err := batch.ParseWith(name)
			if err != nil {
				return err
			}
			if !slices.Contains(*dst, kind) {
				*dst = append(*dst, kind)
			}
		}
		return nil
	}
}

var compressions = []cli.Word[outputs.Compression]{
	{Name: "none", Value: outputs.NoCompression},
	{Name: "lz4", Value: outputs.LZ4Compression},
	{Name: "snappy", Value: outputs.SnappyCompression},
	{Name: "zstd", Value: outputs.ZstdCompression},
}
