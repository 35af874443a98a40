package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"robotsbatch/batch"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/store/compress"
	"robotsbatch/matcher/usage"
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
	names := format.Names(available)
	slices.Sort(names)
	return names
}

// columnsOf adds columns of facts, by commas, each once.
func columnsOf(dst *[]*batch.ColumnKind) func(string) error {
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

// usesOf adds uses, by commas, each once.
func usesOf(dst *[]usage.Use) func(string) error {
	return func(s string) error {
		for _, name := range strings.Split(s, ",") {
			use, err := usage.ParseUse(name)
			if err != nil {
				return err
			}
			if !slices.Contains(*dst, use) {
				*dst = append(*dst, use)
			}
		}
		return nil
	}
}

// columnKinds are the columns that -use and -with ask for.
func (c *jobConfig) columnKinds() []*batch.ColumnKind {
	var kinds []*batch.ColumnKind
	for _, use := range c.uses {
		kinds = append(kinds, batch.UseKinds(use, c.explain)...)
	}
	for _, kind := range c.with {
		if !slices.Contains(kinds, kind) { // -use signal:use is -with signal_use
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// zstdLevel sets dst to a level of zstd.
func zstdLevel(dst *int, s string) error {
	level, err := strconv.Atoi(s)
	if err != nil || level < 1 || level > 22 {
		return fmt.Errorf("%q is not a level of zstd, from 1 to 22", s)
	}
	*dst = level
	return nil
}

var compressions = func() (words []cli.Word[compress.Codec]) {
	for _, c := range format.Compressions() {
		words = append(words, cli.Word[compress.Codec]{Name: c.String(), Value: c})
	}
	return words
}()

var emits = []cli.Word[batch.Emit]{
	{Name: "all", Value: batch.EmitAll},
	{Name: "allowed", Value: batch.EmitAllowed},
	{Name: "denied", Value: batch.EmitDenied},
	{Name: "unknown", Value: batch.EmitUnknown},
	{Name: "permitted", Value: batch.EmitPermitted},
}

// wordsOf are the names of words, in their order.
func wordsOf[T any](words []cli.Word[T]) (names []string) {
	for _, w := range words {
		names = append(names, w.Name)
	}
	return names
}
