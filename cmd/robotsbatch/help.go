package main

import "fmt"

const usageHint = "Run \"robotsbatch -h\" for help.\n"

const jobHelp = `robotsbatch says of every URL in a list or table whether robots.txt (RFC 9309)
lets a crawler fetch it. It reads files, asks no server, and keeps the order.

Usage:
  robotsbatch -in FILE -rules RULES [-agent NAME] [-out FILE] [flags]
  robotsbatch explain -rules RULES [-agent NAME] URL...
  robotsbatch compile -rules RULES -out PACK
  robotsbatch inspect PACK [AUTHORITY...]
  robotsbatch verify FILE|FOLDER...
  robotsbatch version
  robotsbatch help [explain|compile|inspect|verify]

Input:
  -in FILE            list of URLs, one a line; csv or tsv with a header;
                      jsonl; crawl index (CDXJ); all plain, .gz or .zst; or
                      Arrow or Parquet table. A file, a quoted pattern
                      ("*.arrow"), a folder, or - for stdin; repeatable.
                      Files, folders, rules and outputs may lie in object
                      stores: s3://BUCKET/KEY, gs://, azblob://, a folder with
                      a slash at its end, parameters such as ?region=NAME or
                      ?endpoint=URL behind it; credentials are found where the
                      store's own tools look, and may not be in a URL
  -files-from FILE    more names of inputs, one a line (- for stdin)
  -in-format NAME     arrow, arrows (stream), parquet, csv, tsv, jsonl, cdxj,
                      cdx or text; default: by the first bytes, then by name;
                      csv and tsv by name alone
  -delimiter CHAR     what separates fields in csv and tsv, such as ";" or tab;
                      default: of csv the one of , ; | and tab that is most
                      frequent in the header
  -url-column NAME    column, or key of jsonl and CDXJ, with the URLs; default:
                      url, else url_protocol, url_host_name, url_port, url_path
                      and url_query of Arrow and Parquet put together, else a
                      table's only column of strings

Rules:
  -rules RULES        folder of robots.txt files, named by host: example.com,
                      example.com.txt, example.com/robots.txt, with a port
                      example.com_8443; or a rule pack, made by compile; or
                      captures, a file, folder or quoted pattern: WARC, or
                      tables (Arrow, Parquet, csv, tsv, jsonl) with url or
                      authority, body, status, fetched_at, location, error;
                      repeatable: the first that knows an authority decides,
                      and redirects of captures lead into all captures
  -for HOST           whose a -rules is that is a single robots.txt, or - for
                      stdin: a host (http and https), or https://example.com
  -allow-no-rules     go on when no -rules has any: everything is allowed then
                      (by -missing), which is else an error
  -agent NAME         product token, such as CCBot, or several by commas, most
                      specific first: Googlebot-News,Googlebot; repeatable: a
                      verdict for each; default: *, the rules for everyone
  -profile NAME       rfc9309 (default), or google: as Google's parser has it
  -robots-limit SIZE  octets of a robots.txt that count, at least 500KiB
                      (the default); for a rule pack, this and the profile are
                      those that it was compiled for
  -missing VERDICT    where nothing is known of an authority: allow (default),
                      deny, null
  -as-of TIME         of captures, none later counts: 2026-03-01T12:00:00Z, or a
                      day, its end; ages count up to it; default: the newest
                      fetch in captures and packs. Which captures of a pack
                      count, and how, is decided by compile
  -max-age SPAN       rows decided by a robots.txt fetched longer before that,
                      such as 36h or 7d, are counted in the summary; default:
                      24h (RFC 9309)
  -on-429 VERDICT     captures with status 429: deny (default) or allow
  -on-unresolved-redirect VERDICT
                      captures that redirect to nowhere: allow (default), deny

Output:
  -out FILE           file, folder (an output for each input), or - for stdout
                      (default). Format by name: .arrow, .arrows, .parquet,
                      .csv, .tsv, .jsonl, .txt (URLs only); text also with .gz
                      or .zst
  -out-format NAME    arrow, arrows, parquet, csv, tsv, jsonl or text; default:
                      by name, on stdout csv for a list, jsonl for a crawl
                      index, an Arrow stream for Arrow and Parquet, else the
                      input's format
  -compression NAME   zstd (default), none, lz4 (Arrow) or snappy (Parquet),
                      inside Arrow and Parquet
  -recode             decode and encode every column; by default Arrow to Arrow
                      copies all but the URLs as they are, when all rows and
                      columns come out and -compression is not given
  -emit WHICH         all (default), allowed, denied or unknown: rows that come
                      out; with several agents the first one's verdict decides
  -columns WHICH      all (default), url (URL and verdicts) or verdict. All of
                      jsonl is the whole object in jsonl, and the URL in other
                      formats; all of a crawl index is surt, timestamp and URL,
                      in jsonl with the object's keys
  -prefix TEXT        put before the names of the verdict columns
  -explain            add reason, rule, rule_line and rule_agent
  -with NAMES         add columns by commas, null where not known: crawl_delay
                      (seconds, of the group that decides), sitemaps (a list;
                      in csv with blanks between), robots_status (HTTP),
                      robots_fetched_at, age (seconds up to -as-of); a folder
                      knows the first two; repeatable

Running:
  -max-invalid N      rows without a verdict that are still success: a number,
                      or a percentage such as 0.5%; default: any
  -workers N          default: the number of processors
  -batch-rows N       most rows in a batch; default 65536
  -memory SIZE        for batches in flight, from reading to writing, and for
                      compiled rules; default 512MiB. The program's own 60 MiB,
                      a batch read ahead and mapped packs come on top. Three
                      eighths are the most that one batch may take decoded, with
                      its dictionaries, and as written
  -store-timeout SPAN an object store may go so long without sending or taking a
                      byte, all attempts together; default 2m
  -max-line SIZE      longest line of text, or row of csv; default 1MiB
  -accept-truncated   take an input that ends too early as far as it came, and
                      say how many rows that are; Parquet has its end to be read
  -manifest           write what verify and -resume need beside -out FILE, too,
                      as _FILE.manifest.jsonl; a folder always has one, named
                      _robotsbatch.manifest.jsonl
  -resume             do what the manifest says was not done, or is no longer
                      true: inputs, rules, flags and program must be the same,
                      and the outputs what was written
  -summary-json FILE  write the summary as JSON, too
  -progress WHEN      auto (default: when stderr is a terminal), always, never
  -log FORMAT         text (default) or json: messages on stderr
  -quiet              no progress and no summary

Not yet: shards.

Examples:
  robotsbatch -in frontier.arrow -rules robots -agent CCBot -out verdicts.arrow
  zcat urls.gz | robotsbatch -in - -rules robots -emit allowed -out ok.txt.zst
  robotsbatch -in "*.arrow" -rules robots -agent GPTBot -agent CCBot -out out/

Exit status:
  0  done, also when the reader of a pipe had enough before the end
  1  failed; nothing half-written is left; or another run is writing -out
  2  wrong use
  3  done, but more rows without a verdict than -max-invalid permits
  130 by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP: stopped, as after a failure
`

const explainHelp = `robotsbatch explain says which rule of which file decides about a URL.

Usage:
  robotsbatch explain -rules RULES [-agent NAME] [flags] URL...

Flags, as in the main job (robotsbatch -h):
  -rules RULES        folder of robots.txt files, named by host, rule pack,
                      captures (WARC or tables), or with -for a single
                      robots.txt (- for stdin); repeatable
  -for HOST           whose that robots.txt is: a host, or https://example.com
  -allow-no-rules     go on when no -rules has any
  -agent NAME         product token or several by commas; repeatable
  -profile NAME       rfc9309 (default) or google
  -robots-limit SIZE  default and least 500KiB
  -missing VERDICT    allow (default), deny or null
  -as-of TIME         of captures, none later counts; ages count up to it
  -max-age SPAN       an older robots.txt is marked; default 24h
  -on-429 VERDICT     deny (default) or allow
  -on-unresolved-redirect VERDICT
                      allow (default) or deny
  -store-timeout SPAN an object store may send nothing for so long; default 2m

Example:
  robotsbatch explain -rules robots -agent CCBot https://example.com/a?b=c

Exit status, with several URLs or agents the worst:
  0  allowed
  1  denied
  2  wrong use, no verdict, or rules that cannot be read
`

const compileHelp = `robotsbatch compile makes a rule pack: one file with the compiled rules of many
authorities, which the main job maps instead of reading robots.txt files or
captures.

Usage:
  robotsbatch compile -rules RULES [-rules RULES...] -out PACK [flags]

Flags:
  -rules RULES        folder of robots.txt files, named by host, or captures
                      (WARC or tables), as in the main job, or with -for a
                      single robots.txt (- for stdin); repeatable: the first
                      that has an authority decides
  -for HOST           whose that robots.txt is: a host, or https://example.com
  -allow-no-rules     make a pack though no -rules has any
  -out PACK           the file to write, such as site.rules, or - for stdout;
                      or an object
  -profile NAME       rfc9309 (default) or google; recorded in the pack
  -robots-limit SIZE  default and least 500KiB; recorded in the pack
  -as-of TIME         of captures, none later counts: 2026-03-01T12:00:00Z, or a
                      day, its end; default: the newest capture
  -on-429 VERDICT     captures with status 429: deny (default) or allow
  -on-unresolved-redirect VERDICT
                      captures that redirect to nowhere: allow (default), deny
  -workers N          default: the number of processors
  -memory SIZE        what does not fit goes to temporary files beside the
                      pack; default 512MiB
  -store-timeout SPAN an object store may send nothing for so long; default 2m
  -log FORMAT         text (default) or json: messages on stderr
  -quiet              no summary

A pack has the rules of every agent in it: -agent is chosen when it is used. Of
captures it has what decides, with status and time. The same files give the same
octets.

Examples:
  robotsbatch compile -rules robots -out site.rules
  robotsbatch compile -rules "crawl/*.warc.gz" -out crawl.rules
  robotsbatch -in urls.arrow -rules site.rules -agent CCBot -out verdicts.arrow

Exit status:
  0  done
  1  failed; nothing half-written is left, and a previous pack stays
  2  wrong use
`

const inspectHelp = `robotsbatch inspect says what is in a rule pack.

Usage:
  robotsbatch inspect PACK [-verify] [AUTHORITY...]

PACK is a file or an object, of which a temporary copy is made. With an
AUTHORITY, such as https://example.com or any URL of it, it says what the pack
has on that: the outcome of the fetch, the agents named in its
robots.txt, their rules by line, sitemaps and crawl-delays. Without one, it sums
the pack up.

Flags:
  -verify             read the whole pack, and check everything in it
  -store-timeout SPAN an object store may send nothing for so long; default 2m

Examples:
  robotsbatch inspect site.rules
  robotsbatch inspect site.rules https://example.com

Exit status:
  0  done, also when the pack does not have an AUTHORITY
  1  the pack cannot be read, or is damaged
  2  wrong use
`

const verifyHelp = `robotsbatch verify says whether outputs still are, octet for octet, what was
written, and whether they can be read to their end.

Usage:
  robotsbatch verify [-quiet] FILE|FOLDER...

A FOLDER of outputs is checked against the manifest in it, a FILE against its
own (-manifest) or that of its folder: size and checksum of the whole, and of
each batch or row group, so that it says which one is broken and where. A FILE
without a manifest is read to its end, which finds what Arrow, Parquet, gzip and
zstd know of themselves: all of it in Arrow that robotsbatch wrote, the pages of
Parquet, the text in gzip and zstd. So is a FILE that is an object. A rule pack
is checked as by inspect -verify. All that is broken is named, one thing a line,
on stderr.

Flags:
  -quiet              name only what is broken
  -store-timeout SPAN an object store may send nothing for so long; default 2m

Examples:
  robotsbatch verify verdicts/
  robotsbatch verify verdicts.parquet site.rules

Exit status:
  0  everything is sound
  1  something is broken, missing or cannot be read, or the job that wrote the
     folder did not come to its end
  2  wrong use
`

// runHelp prints the help that args ask for.
func runHelp(args []string, s streams) int {
	switch {
	case len(args) == 0:
		return printHelp(s, jobHelp)
	case len(args) == 1 && args[0] == "explain":
		return printHelp(s, explainHelp)
	case len(args) == 1 && args[0] == "compile":
		return printHelp(s, compileHelp)
	case len(args) == 1 && args[0] == "inspect":
		return printHelp(s, inspectHelp)
	case len(args) == 1 && args[0] == "verify":
		return printHelp(s, verifyHelp)
	case len(args) == 1 && args[0] == "version":
		return printHelp(s, "robotsbatch version prints which version this is: commit, date, Go, libraries.\n")
	}
	return failUsage(s, usageErrorf("there is no help on %q", args[0]))
}

func printHelp(s streams, text string) int {
	fmt.Fprint(s.out, text)
	return exitDone
}
