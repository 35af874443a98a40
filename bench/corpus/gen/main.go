// Gen writes a corpus of package corpus to a folder: rules/ with a robots.txt file for each
// origin, and the URLs as frontier.arrow, frontier.arrows, frontier.parquet and
// frontier.txt.zst.
//
//	go run ./bench/corpus/gen -out DIR -origins 10000 -urls 1000000
//
// With -captures N it also writes N crawls of the rules as tables of captures, and adds the
// times of fetches to the frontiers; with -warcs N, a crawl of the rules as N WARC files. With
// -pack the rules go into a rule pack, site.rules.
// With -part K/N it writes part K of N of the frontier, as frontier-K.arrow, so that
// several parts can be made at a time.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"robotsbatch/bench/corpus"
	"robotsbatch/bench/corpus/export"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("gen", flag.ExitOnError)
	out := flags.String("out", "", "folder to write to (required)")
	formats := flags.String("formats", "arrow,arrows,txt.zst", "frontiers to write: of arrow, arrows, parquet, txt and txt.zst")
	rules := flags.Bool("rules", true, "write rules/")
	pack := flags.Bool("pack", false, "write site.rules, a rule pack, instead of rules/")
	captures := flags.Int("captures", 0, "write this number of crawls of the robots.txt, 30 days apart, as captures-01.arrows and so on, and times to the frontiers")
	warcs := flags.Int("warcs", 0, "write a capture of each origin to this number of WARC files")
	part := flags.String("part", "", "of the frontiers only part K/N, from 1/N to N/N")
	sample := flags.Bool("sample", false, "the corpus of bench/corpus/sample; the options below are ignored")
	var writing export.Options
	flags.IntVar(&writing.BatchRows, "rows", 65_536, "rows of an Arrow record batch")
	flags.StringVar(&writing.Compression, "compression", "zstd", "compression of Arrow record batches: zstd, lz4 or none")
	flags.IntVar(&writing.Columns, "columns", 3, "columns of a table: 3, or 30 as in Common Crawl's index")
	options := optionFlags(flags)
	flags.Parse(args)
	if *out == "" || flags.NArg() > 0 {
		fmt.Fprintln(flags.Output(), "gen: -out is required, and nothing but flags")
		flags.Usage()
		os.Exit(2)
	}

	c := corpus.New(options())
	if *sample {
		c = corpus.New(corpus.SampleOptions())
	}
	if err := os.MkdirAll(*out, 0o777); err != nil {
		return err
	}
	name := "frontier"
	if *part != "" {
		if _, err := fmt.Sscanf(*part, "%d/%d", &writing.Part, &writing.Parts); err != nil || writing.Part < 1 || writing.Part > writing.Parts {
			return fmt.Errorf("-part %s: want K/N, from 1/N to N/N", *part)
		}
		name = fmt.Sprintf("frontier-%0*d", len(strconv.Itoa(writing.Parts)), writing.Part)
		writing.Part--
	}
	for crawl := range *captures {
		if err := export.Captures(filepath.Join(*out, export.CapturesName(crawl+1)), c, crawl); err != nil {
			return err
		}
	}
	writing.Crawls = *captures
	if *warcs > 0 {
		if err := export.Crawl(*out, c, *warcs); err != nil {
			return err
		}
	}
	switch {
	case *rules && *pack:
		if err := export.Pack(filepath.Join(*out, "site.rules"), c); err != nil {
			return err
		}
	case *rules:
		if err := export.Rules(filepath.Join(*out, "rules"), c); err != nil {
			return err
		}
	}
	if *formats == "" {
		return nil
	}
	for format := range strings.SplitSeq(*formats, ",") {
		if !slices.Contains(export.Formats, "."+format) {
			return fmt.Errorf("-formats %s: %q is none of arrow, arrows, parquet, txt, txt.zst", *formats, format)
		}
		if err := export.Frontier(filepath.Join(*out, name+"."+format), c, writing); err != nil {
			return err
		}
	}
	return nil
}

// optionFlags defines a flag for each option. The function that it returns gives the
// options after parsing.
func optionFlags(flags *flag.FlagSet) func() corpus.Options {
	usual := corpus.New(corpus.Options{}).Options()
	var o corpus.Options
	flags.Uint64Var(&o.Seed, "seed", 0, "what everything follows from")
	flags.IntVar(&o.Origins, "origins", usual.Origins, "number of origins")
	flags.Int64Var(&o.URLs, "urls", 0, "number of URLs; 0: 20 an origin")
	flags.Int64Var(&o.LargestOrigin, "largest", 0, "URLs of the largest origin; 0: 5000, at most a twentieth of all")
	flags.BoolVar(&o.Bare, "bare", false, "bodies of nothing but groups")
	flags.IntVar(&o.Rules, "mean-rules", usual.Rules, "mean number of rules for everyone in a file")

	for _, share := range o.Shares() {
		flags.Float64Var(share.Value, share.Name, share.Usual, "share of "+share.Usage)
	}
	return func() corpus.Options {
		// On the command line 0 means none rather than the default.
		for _, share := range o.Shares() {
			if *share.Value == 0 {
				*share.Value = -1
			}
		}
		if o.Rules == 0 {
			o.Rules = -1
		}
		return o
	}
}
