// Peers compares other implementations of robots.txt with this project's: the same URLs and
// rules, in a process each. It also shows where the verdicts differ.
//
// scripts/peers.sh builds the runners and calls this program; bench/README.md describes
// what is compared and how a runner is called.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// options are the values of the flags.
type options struct {
	runners string
	urls    string
	rules   string
	agent   string
	count   int
	data    string
	commit  string
	record  string
}

func main() {
	var o options
	flag.StringVar(&o.runners, "runners", "", "file that names the runners, this project's own first (required)")
	flag.StringVar(&o.urls, "urls", "", "list of URLs, compressed with zstd (required)")
	flag.StringVar(&o.rules, "rules", "", "folder of robots.txt files, HOST or HOST_PORT each (required)")
	flag.StringVar(&o.agent, "agent", "CCBot", "product token to evaluate for")
	flag.IntVar(&o.count, "count", 5, "rounds; medians are reported")
	flag.StringVar(&o.data, "data", "URLs", "what the list has, for the record's header")
	flag.StringVar(&o.commit, "commit", "unknown", "what was measured, for the record's header")
	flag.StringVar(&o.record, "record", "bench/record", "folder for peers-DATE.jsonl, peers-DATE.md and peers.svg")
	flag.Parse()
	if o.runners == "" || o.urls == "" || o.rules == "" || o.count < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "peers: -runners, -urls and -rules are required, -count is at least 1, and there is nothing but flags")
		flag.Usage()
		os.Exit(2)
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	runners, err := readRunners(o.runners)
	if err != nil {
		return err
	}
	frontier, err := readFrontier(o.urls, o.rules)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	m := &measurement{runners: runners, rules: o.rules, list: filepath.Join(dir, "urls.tsv"), agent: o.agent, dir: dir}
	if err := frontier.write(m.list); err != nil {
		return err
	}
	if err := m.run(len(frontier.rows), o.count); err != nil {
		return err
	}
	judge := newJudge(o.rules, o.agent)
	if err := judge.check(frontier.rows, runners[0].verdicts); err != nil {
		return err
	}
	for i := range runners[1:] {
		if err := judge.compare(frontier.rows, &runners[0], &runners[i+1]); err != nil {
			return err
		}
	}
	return writeRecord(o, frontier, runners)
}

// writeRecord writes the measurements to the folder of records and prints the table.
func writeRecord(o options, f *frontier, runners []runner) error {
	name := filepath.Join(o.record, "peers-"+time.Now().UTC().Format(time.DateOnly))
	lines, err := jsonLines(runners)
	if err != nil {
		return err
	}
	page := header(o, f) + "\n" + table(runners) + "\n" + disagreements(runners)
	fmt.Print(page)
	return errors.Join(
		os.MkdirAll(o.record, 0o777),
		os.WriteFile(name+".jsonl", lines, 0o666),
		os.WriteFile(name+".md", []byte(page), 0o666),
		os.WriteFile(filepath.Join(o.record, "peers.svg"), []byte(drawChart(runners)), 0o666),
	)
}
