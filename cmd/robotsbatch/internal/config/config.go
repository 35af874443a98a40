// Package config holds the parts of which the configurations of commands are made: what a
// command line says of inputs, rules, columns, outputs, and of what a command may use. Each
// part has its flags, checks and words.
package config

import (
	"fmt"
	"slices"
	"strings"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/store/blob"
)

// Parts of a help text that flags are in.
const (
	InputTopic   = "Input"
	RulesTopic   = "Rules"
	OutputTopic  = "Output"
	RunningTopic = "Running"
)

// Topics are these parts, in order.
var Topics = []string{InputTopic, RulesTopic, OutputTopic, RunningTopic}

// OfOutputs says of a flag's formats that outputs have them.
const OfOutputs = "outputs"

// Formats for which flags hold.
var (
	delimitedInputs = &cli.Formats{Names: []string{"csv", "tsv"}, Of: "inputs"}
	textInputs      = &cli.Formats{Names: []string{"text", "csv", "tsv", "jsonl", "cdxj", "cdx"}, Of: "inputs"}
	namedInputs     = &cli.Formats{Names: []string{"arrow", "arrows", "parquet", "csv", "tsv", "jsonl"}, Of: "inputs"}
	binaryOutputs   = &cli.Formats{Names: []string{"arrow", "arrows", "parquet"}, Of: OfOutputs}
	packedOutputs   = &cli.Formats{Names: binaryOutputs.Names, Of: OfOutputs, Else: option.Messagef("text is compressed when the name of %s ends in .zst or .gz", option.Out)}
	tableOutputs    = &cli.Formats{Names: formatNames(isTable), Of: OfOutputs, Else: option.Messagef("text has URLs only")}
	captureRules    = &cli.Formats{Names: []string{"captures"}, Of: "and what is compiled of them"}
)

// ResolveNames turns file:// URLs into names of local files, and refuses URLs that cannot be
// opened. Its errors do not show a URL, which may have credentials.
func ResolveNames(name option.Name, paths ...*string) error {
	for _, path := range paths {
		local, err := blob.LocalName(*path)
		if err == nil && blob.IsURL(local) {
			_, err = blob.ParseURL(local)
		}
		if err != nil {
			return option.Usagef("%s: %w", name, err)
		}
		*path = local
	}
	return nil
}

// pointers are those to the strings of a list.
func pointers(list []string) []*string {
	all := make([]*string, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}

// oneFormat sets dst to a format that available says yes to.
func oneFormat(dst *format.Format, available func(format.Format) bool) cli.Choice {
	names := formatNames(available)
	return cli.Choice{Words: names, Set: func(s string) error {
		f, ok := format.Parse(s, available)
		if !ok {
			return fmt.Errorf("want one of %s", strings.Join(names, ", "))
		}
		*dst = f
		return nil
	}}
}

// isTable tells whether a format has columns and can be written.
func isTable(f format.Format) bool { return f.Writable() && f != format.Text }

// formatNames are the names of the formats that available says yes to.
func formatNames(available func(format.Format) bool) []string {
	names := format.Names(available)
	slices.Sort(names)
	return names
}

// addEach returns the function for a cli.Flag's Value that takes names separated by commas and adds
// what they stand for to dst, each value once. A name may stand for several values.
func addEach[T comparable](dst *[]T, parse func(string) ([]T, error)) func(string) error {
	return func(s string) error {
		for _, name := range strings.Split(s, ",") {
			values, err := parse(name)
			if err != nil {
				return err
			}
			for _, value := range values {
				if !slices.Contains(*dst, value) {
					*dst = append(*dst, value)
				}
			}
		}
		return nil
	}
}
