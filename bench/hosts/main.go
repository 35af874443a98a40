// Hosts makes the data of scripts/measure.sh hosts: a list with the same number of URLs for each
// host, and a rule pack in which each host has a body of its own.
//
//	go run ./bench/hosts -out DIR -hosts 100000 -urls 10
//
// It writes sorted.parquet, by reversed host as crawls list them, shuffled.parquet, and
// site.rules. -list and -rules take real URLs and the bodies of their hosts, and give each
// of the hosts a copy, made distinct by one more rule. -crawls N makes it a pack with a
// history of N fetches of each body, thirty days apart, of which one in ten differs from the
// one before, and gives the tables columns of times, such as mixed_time.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"robotsbatch/bench/corpus"
	"robotsbatch/bench/corpus/export"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/domains"
	"robotsbatch/matcher/urls"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "hosts:", err)
		os.Exit(1)
	}
}

// data is what is made.
type data struct {
	urls   [][]byte // by reversed host
	bodies []body
}

// body is a host's.
type body struct{ authority, text []byte }

// run makes the data that the flags ask for.
func run() error {
	out := flag.String("out", "", "folder to write to (required)")
	hosts := flag.Int("hosts", 100_000, "number of hosts")
	perHost := flag.Int("urls", 10, "URLs a host")
	list := flag.String("list", "", "zstd-compressed list of real URLs")
	rules := flag.String("rules", "", "folder of the robots.txt of their hosts, HOST or HOST_PORT each")
	crawls := flag.Int("crawls", 0, "fetches of each body; 0 for a pack without a history")
	folder := flag.Bool("folder", false, "write the bodies as files to rules/, and no pack")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	d, err := madeUp(*hosts, *perHost), error(nil)
	if *list != "" {
		d, err = real(*list, *rules, *hosts, *perHost)
	}
	if err == nil {
		err = os.MkdirAll(*out, 0o777)
	}
	switch {
	case err != nil:
	case *folder:
		err = d.writeFolder(filepath.Join(*out, "rules"))
	default:
		err = d.writePack(filepath.Join(*out, "site.rules"), *crawls)
	}
	for _, name := range []string{"sorted.parquet", "shuffled.parquet"} {
		if err == nil {
			err = export.Frontier(filepath.Join(*out, name), corpus.New(corpus.Options{}), export.Options{List: d.urls, Crawls: *crawls})
			corpus.Shuffle(d.urls)
		}
	}
	return err
}

// madeUp returns hosts and bodies of a corpus.
func madeUp(hosts, perHost int) *data {
	c := corpus.NewFlat(hosts, perHost)
	d := new(data)
	for url := range c.BySURT() {
		d.urls = append(d.urls, bytes.Clone(url))
	}
	for o := range c.Origins() {
		d.bodies = append(d.bodies, body{o.Authority(), c.AppendBody(nil, o.Body)})
	}
	return d
}

// real cuts the URLs of hosts with a body into runs of equal length, and makes each run a
// host of its own.
func real(list, rules string, hosts, perHost int) (*data, error) {
	text, err := corpus.ReadList(list)
	if err != nil {
		return nil, err
	}
	runs := cut(bytes.Split(text, []byte("\n")), rules, perHost)
	if len(runs) == 0 {
		return nil, fmt.Errorf("no host has %d URLs and a robots.txt", perHost)
	}
	type host struct {
		sameHostRun
		surt []byte
		name string
	}
	all := make([]host, hosts)
	for i := range all {
		r, name := runs[i%len(runs)], fmt.Sprintf("w%d.", i)
		_, host, _ := strings.Cut(string(r.authority), "://")
		all[i].sameHostRun, all[i].surt, all[i].name = r, domains.AppendSURT(nil, []byte(name+host)), name
	}
	slices.SortFunc(all, func(a, b host) int { return bytes.Compare(a.surt, b.surt) })
	d := new(data)
	for _, h := range all {
		named := func(url []byte) []byte { return bytes.Replace(url, []byte("://"), []byte("://"+h.name), 1) }
		for _, url := range h.urls {
			d.urls = append(d.urls, named(bytes.TrimRight(url, "\r")))
		}
		d.bodies = append(d.bodies, body{named(h.authority), fmt.Appendf(bytes.Clone(h.text), "\nUser-agent: *\nDisallow: /only-on-%s\n", h.name)})
	}
	return d, nil
}

// sameHostRun is URLs of one host, and its body.
type sameHostRun struct {
	body
	urls [][]byte
}

// cut returns runs of perHost neighbouring lines with URLs of one host, for hosts without a port that have
// a file in the folder rules.
func cut(lines [][]byte, rules string, perHost int) (runs []sameHostRun) {
	var scratch urls.Scratch
	split := func(line []byte) string { // the authority, or ""
		key, _, err := scratch.Split(line)
		if err != nil {
			return ""
		}
		return string(key)
	}
	bodies := make(map[string][]byte) // by host
	for len(lines) > 0 {
		authority, n := split(lines[0]), 1
		for authority != "" && n < min(len(lines), perHost) && split(lines[n]) == authority {
			n++
		}
		if _, host, _ := strings.Cut(authority, "://"); host != "" && n == perHost && !strings.Contains(host, ":") {
			text, known := bodies[host]
			if !known {
				text, _ = os.ReadFile(filepath.Join(rules, host)) // nil for most
				bodies[host] = text
			}
			if len(text) > 0 {
				runs = append(runs, sameHostRun{body{[]byte(authority), text}, lines[:n]})
			}
		}
		lines = lines[n:]
	}
	return runs
}

const (
	firstCrawl = 1_735_689_600 // the first time of the tables
	month      = 30 * 24 * 60 * 60
)

// writePack writes the bodies as a rule pack, with a history of that number of crawls if it is not 0.
func (d *data) writePack(name string, crawls int) error {
	b, err := rulepack.Create(context.Background(), name, rulepack.BuildOptions{History: crawls > 0})
	if err != nil {
		return err
	}
	defer b.Abort()
	for i, x := range d.bodies {
		e := rulepack.Entry{Authority: x.authority, Access: access.Rules, Body: x.text, Status: 200}
		for crawl := range crawls {
			at := uint32(firstCrawl + crawl*month)
			if crawl > 0 && (uint64(i*crawls+crawl)*0x9E3779B97F4A7C15>>32)%10 > 0 {
				last := &e.History[len(e.History)-1]
				last.Times, last.Seen, e.Fetched = append(last.Times, at), at, at
				continue
			}
			kept, err := b.Keep(fmt.Appendf(bytes.Clone(x.text), "\nUser-agent: *\nDisallow: /in-crawl-%d\n", crawl), false)
			if err != nil {
				return err
			}
			e.Body, e.Kept, e.Fetched = nil, kept, at
			e.History = append(e.History, access.Interval{From: at, Fetched: at, Seen: at, Access: access.Rules, Kept: kept, Status: 200})
		}
		if err := b.Add(e); err != nil {
			return err
		}
	}
	_, err = b.Finish()
	return err
}

// writeFolder writes the bodies as a folder of robots.txt files.
func (d *data) writeFolder(name string) error {
	if err := os.MkdirAll(name, 0o777); err != nil {
		return err
	}
	for _, x := range d.bodies {
		_, host, _ := strings.Cut(string(x.authority), "://")
		file := strings.ReplaceAll(host, ":", "_")
		if err := os.WriteFile(filepath.Join(name, file), x.text, 0o666); err != nil {
			return err
		}
	}
	return nil
}
