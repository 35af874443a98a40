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
	var d *data
	var err error
	if *list != "" {
		d, err = real(*list, *rules, *hosts, *perHost)
	} else {
		d, err = madeUp(*hosts, *perHost)
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(*out, 0o777); err != nil {
		return err
	}
	if *folder {
		err = d.writeFolder(filepath.Join(*out, "rules"))
	} else {
		err = d.writePack(filepath.Join(*out, "site.rules"), *crawls)
	}
	if err != nil {
		return err
	}
	table := export.Options{List: d.urls, Crawls: *crawls}
	if err := export.Frontier(filepath.Join(*out, "sorted.parquet"), corpus.New(corpus.Options{}), table); err != nil {
		return err
	}
	corpus.Shuffle(d.urls)
	return export.Frontier(filepath.Join(*out, "shuffled.parquet"), corpus.New(corpus.Options{}), table)
}

func madeUp(hosts, perHost int) (*data, error) {
	c := corpus.NewFlat(hosts, perHost)
	d := new(data)
	for url := range c.BySURT() {
		d.urls = append(d.urls, bytes.Clone(url))
	}
	for o := range c.Origins() {
		d.bodies = append(d.bodies, body{o.Authority(), c.AppendBody(nil, o.Body)})
	}
	return d, nil
}

// real cuts the URLs of hosts with a body into runs of equal length, and makes each run a
// host of its own.
func real(list, rules string, hosts, perHost int) (*data, error) {
	text, err := corpus.ReadList(list)
	if err != nil {
		return nil, err
	}
	var lines [][]byte
	for line := range bytes.Lines(text) {
		lines = append(lines, bytes.TrimRight(line, "\r\n"))
	}
	runs, err := cut(lines, rules, perHost)
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("no host has %d URLs and a robots.txt", perHost)
	}
	type host struct {
		surt []byte
		run  *sameHostRun
		name string
	}
	all := make([]host, hosts)
	for i := range all {
		r := &runs[i%len(runs)]
		name := fmt.Sprintf("w%d.", i)
		all[i] = host{domains.AppendSURT(nil, []byte(name+r.host)), r, name}
	}
	slices.SortFunc(all, func(a, b host) int { return bytes.Compare(a.surt, b.surt) })
	d := new(data)
	for _, h := range all {
		for _, url := range h.run.urls {
			start := bytes.Index(url, []byte("://")) + 3
			d.urls = append(d.urls, fmt.Appendf(nil, "%s%s%s", url[:start], h.name, url[start:]))
		}
		text := append(bytes.Clone(h.run.body), "\nUser-agent: *\nDisallow: /only-on-"+h.name+"\n"...)
		d.bodies = append(d.bodies, body{[]byte(h.run.scheme + h.name + h.run.host), text})
	}
	return d, nil
}

// sameHostRun is URLs of one host, and its body.
type sameHostRun struct {
	scheme, host string
	urls         [][]byte
	body         []byte
}

func cut(lines [][]byte, rules string, perHost int) (runs []sameHostRun, err error) {
	var scratch urls.Scratch
	bodies := make(map[string][]byte) // by host
	for len(lines) > 0 {
		key, _, err := scratch.Split(lines[0])
		n := 1
		if err != nil {
			lines = lines[1:]
			continue
		}
		authority := string(key)
		for n < len(lines) && n < perHost {
			next, _, err := scratch.Split(lines[n])
			if err != nil || string(next) != authority {
				break
			}
			n++
		}
		scheme, host, _ := strings.Cut(authority, "://")
		if n == perHost && !strings.Contains(host, ":") {
			text, known := bodies[host]
			if !known {
				text, _ = os.ReadFile(filepath.Join(rules, host)) // nil for most
				bodies[host] = text
			}
			if len(text) > 0 {
				runs = append(runs, sameHostRun{scheme + "://", host, lines[:n], text})
			}
		}
		lines = lines[n:]
	}
	return runs, nil
}

const (
	firstCrawl = 1_735_689_600 // the first time of the tables
	month      = 30 * 24 * 60 * 60
)

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
