package bench

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/bench/corpus"
	"robotsbatch/bench/ruletable"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

var (
	urlsFlag  = flag.String("urls", "", "a zstd-compressed list of URLs to measure with, instead of generated ones")
	rulesFlag = flag.String("rules", "", "the folder of robots.txt files, HOST or HOST_PORT each, that goes with -urls")
)

// frontier is the input of the engine's benchmarks: URLs, and the rules in memory.
type frontier struct {
	urls   [][]byte
	bodies map[string][]byte // by authority
}

var realFrontier = sync.OnceValues(loadFrontier)

// loadFrontier reads the frontier named by the flags.
func loadFrontier() (*frontier, error) {
	list, err := corpus.ReadList(*urlsFlag)
	if err != nil {
		return nil, err
	}
	f := &frontier{bodies: make(map[string][]byte)}
	for line := range bytes.Lines(list) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			f.urls = append(f.urls, line)
		}
	}
	files, err := os.ReadDir(*rulesFlag)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		body, err := os.ReadFile(filepath.Join(*rulesFlag, file.Name()))
		if err != nil {
			return nil, err
		}
		host, port, _ := strings.Cut(file.Name(), "_")
		if port != "443" {
			f.bodies["http://"+host] = body
		}
		if _, known := f.bodies["https://"+host]; port == "443" || !known {
			f.bodies["https://"+host] = body
		}
	}
	return f, nil
}

// table compiles the bodies for agents, each body once.
func (f *frontier) table(agents ...string) *ruletable.Table {
	chains := make([]matcher.Chain, len(agents))
	for i, agent := range agents {
		chains[i] = matcher.Chain{agent}
	}
	prepared := matcher.NewAgents(chains)
	compiler := matcher.Compiler{Explain: true}
	compiled := make(map[*byte]matcher.Origin)
	var table ruletable.Table
	for authority, body := range f.bodies {
		key := &append(body, 0)[0]
		if len(body) > 0 {
			key = &body[0]
		}
		origin, ok := compiled[key]
		if !ok {
			origin.Access = access.Rules
			origin.Tries, origin.Of = compiler.Compile(robotstxt.Parse(body, robotstxt.Options{}), prepared)
			compiled[key] = origin
		}
		table.Add([]byte(authority), origin)
	}
	return &table
}

// known returns the ASCII URLs whose authority has a body.
func (f *frontier) known() [][]byte {
	var scratch urls.Scratch
	var known [][]byte
	for _, url := range f.urls {
		key, _, err := scratch.Split(url)
		if err != nil || f.bodies[string(key)] == nil {
			continue
		}
		if bytes.IndexFunc(url, func(r rune) bool { return r >= 0x80 }) < 0 {
			known = append(known, url)
		}
	}
	return known
}

func shuffled(urls [][]byte) [][]byte {
	urls = append([][]byte(nil), urls...)
	rng := rand.New(rand.NewPCG(1, 2))
	rng.Shuffle(len(urls), func(i, j int) { urls[i], urls[j] = urls[j], urls[i] })
	return urls
}

// batches puts URLs into columns of 65,536 rows.
func batches(urls [][]byte) []*batch.Batch {
	var list []*batch.Batch
	for len(urls) > 0 {
		n := min(batch.DefaultRows, len(urls))
		c := batch.Column{Offsets32: []int32{0}}
		for _, url := range urls[:n] {
			c.Data = append(c.Data, url...)
			c.Offsets32 = append(c.Offsets32, int32(len(c.Data)))
		}
		list = append(list, &batch.Batch{URLs: c})
		urls = urls[n:]
	}
	return list
}

func needReal(b *testing.B) *frontier {
	if *urlsFlag == "" {
		b.Skip("needs -urls and -rules")
	}
	return must.Get(realFrontier())(b)
}
