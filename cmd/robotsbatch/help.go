package main

import "fmt"

const usageHint = "Run \"robotsbatch -h\" for help.\n"

const jobHelp = `robotsbatch says of every URL in a list or table whether robots.txt (RFC 9309)
lets a crawler fetch it. It reads files, asks no server, and keeps the order.

Usage:
  robotsbatch -in FILE -rules FOLDER [-agent NAME] [-out FILE] [flags]
  robotsbatch explain -rules FOLDER [-agent NAME] URL...
  robotsbatch version
  robotsbatch help [explain]

Input:
  -in FILE            list of URLs, one a line, or Arrow table; plain, .gz or
                      .zst. A file, a quoted pattern ("*.arrow"), a folder, or
                      - for stdin; repeatable
  -files-from FILE    more names of inputs, one a line (- for stdin)
  -in-format NAME     arrow, arrows (stream) or text; default: by the first
                      octets, then by name
  -url-column NAME    column with the URLs; default: url, else the only
                      column of strings

Rules:
  -rules FOLDER       robots.txt files, named by host: example.com,
                      example.com.txt, example.com/robots.txt, with a port
                      example.com_8443; repeatable: the first folder that has
                      a file for an authority decides
  -agent NAME         product token, such as CCBot, or several by commas, most
                      specific first: Googlebot-News,Googlebot; repeatable: a
                      verdict for each; default: *, the rules for everyone
  -profile NAME       rfc9309 (default), or google: as Google's parser has it
  -robots-limit SIZE  octets of a robots.txt that count, at least 500KiB
                      (the default)
  -missing VERDICT    where there is no robots.txt: allow (default), deny, null

Output:
  -out FILE           file, folder (an output for each input), or - for stdout
                      (default). Format by name: .arrow, .arrows, .csv, .tsv,
                      .jsonl, .txt (URLs only); text also with .gz or .zst
  -out-format NAME    arrow, arrows, csv, tsv, jsonl or text; default: by name,
                      on stdout csv for a list and an Arrow stream for a table
  -compression NAME   zstd (default), lz4 or none, inside Arrow
  -emit WHICH         all (default), allowed, denied or unknown: rows that come
                      out; with several agents the first one's verdict decides
  -columns WHICH      all (default), url (URL and verdicts) or verdict
  -prefix TEXT        put before the names of the verdict columns
  -explain            add reason, rule, rule_line and rule_agent

Running:
  -max-invalid N      rows without a verdict that are still success: a number,
                      or a percentage such as 0.5%; default: any
  -workers N          default: the number of processors
  -batch-rows N       most rows in a batch; default 65536
  -memory SIZE        for batches in flight and compiled rules; default 512MiB
  -summary-json FILE  write the summary as JSON, too
  -progress WHEN      auto (default: when stderr is a terminal), always, never
  -log FORMAT         text (default) or json: messages on stderr
  -quiet              no progress and no summary

Not yet: Parquet, csv or jsonl input, rule packs, WARC, object stores, shards.

Examples:
  robotsbatch -in frontier.arrow -rules robots -agent CCBot -out verdicts.arrow
  zcat urls.gz | robotsbatch -in - -rules robots -emit allowed -out ok.txt.zst
  robotsbatch -in "*.arrow" -rules robots -agent GPTBot -agent CCBot -out out/

Exit status:
  0  done, also when the reader of a pipe had enough before the end
  1  failed; nothing half-written is left
  2  wrong use
  3  done, but more rows without a verdict than -max-invalid permits
`

const explainHelp = `robotsbatch explain says which rule of which file decides about a URL.

Usage:
  robotsbatch explain -rules FOLDER [-agent NAME] [flags] URL...

Flags, as in the main job (robotsbatch -h):
  -rules FOLDER       robots.txt files, named by host; repeatable
  -agent NAME         product token or several by commas; repeatable
  -profile NAME       rfc9309 (default) or google
  -robots-limit SIZE  default and least 500KiB
  -missing VERDICT    allow (default), deny or null

Example:
  robotsbatch explain -rules robots -agent CCBot https://example.com/a?b=c

Exit status, with several URLs or agents the worst:
  0  allowed
  1  denied
  2  wrong use, no verdict, or rules that cannot be read
`

// runHelp prints the help that args ask for.
func runHelp(args []string, s streams) int {
	switch {
	case len(args) == 0:
		return printHelp(s, jobHelp)
	case len(args) == 1 && args[0] == "explain":
		return printHelp(s, explainHelp)
	case len(args) == 1 && args[0] == "version":
		return printHelp(s, "robotsbatch version prints which version this is, and how it was built.\n")
	}
	return failUsage(s, usageErrorf("there is no help on %q", args[0]))
}

func printHelp(s streams, text string) int {
	fmt.Fprint(s.out, text)
	return exitDone
}
