//go:build linux

// Hostile searches for the robots.txt and URL that take the evaluator longest per byte of
// the URL. It changes both at random, keeps changes that make it slower, and starts again
// when none does. scripts/measure.sh hostile runs it.
//
//	go run ./bench/hostile -time 1h
//	go run ./bench/hostile -body robots.txt -url url.txt
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/bench/figures"
	"robotsbatch/bench/ruletable"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/reference"
	"robotsbatch/matcher/robotstxt"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
}

// run searches for slow inputs until the time is over, and prints the slowest, or measures a given one.
func run() error {
	duration := flag.Duration("time", time.Hour, "how long to search")
	seed := flag.Uint64("seed", 1, "of the random numbers")
	lengths := flag.String("lengths", "1024,16384,262144", "bytes of the URLs to search with")
	body := flag.String("body", "", "measure this robots.txt with -url, and search for nothing")
	url := flag.String("url", "", "a file that holds one URL")
	save := flag.String("save", "", "folder for the worst body and URL of each length")
	flag.Parse()
	if *body != "" {
		return measureFiles(*body, *url)
	}
	c := climber{random: rand.New(rand.NewPCG(*seed, 9309)), worst: make(map[int]found)}
	for text := range strings.SplitSeq(*lengths, ",") {
		var n int
		if _, err := fmt.Sscan(text, &n); err != nil || n < 64 {
			return fmt.Errorf("-lengths: %q is no number of at least 64", text)
		}
		c.lengths = append(c.lengths, n)
	}
	started := time.Now()
	for time.Since(started) < *duration {
		if err := c.climb(started.Add(*duration)); err != nil {
			return err
		}
	}
	fmt.Printf("searched for %v: %d climbs, %d bodies\n", time.Since(started).Round(time.Second), c.climbs, c.measured)
	for _, n := range c.lengths {
		w := c.worst[n]
		fmt.Printf("worst at %7d bytes: %7.1f ns a byte, the first of its host %7.1f: %v\n", n, w.cost.steady, w.cost.first, w.genes)
		if *save != "" {
			if err := w.save(*save, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// climber searches by hill climbing, again and again.
type climber struct {
	random           *rand.Rand
	lengths          []int
	worst            map[int]found // the slowest input, by length of the URL
	climbs, measured int
}

// found is an input with its cost.
type found struct {
	genes genes
	cost  cost
}

// patience is the number of changes in a row that may fail before a climb ends.
const patience = 40

// climb makes one climb, for URLs of each length in turn.
func (c *climber) climb(deadline time.Time) error {
	length := c.lengths[c.climbs%len(c.lengths)]
	c.climbs++
	here := found{genes: randomGenes(c.random)}
	if c.climbs%2 == 0 && c.worst[length].cost.steady > 0 {
		here = c.worst[length] // continue from the slowest
	}
	for failed := 0; failed < patience && time.Now().Before(deadline); failed++ {
		next := found{genes: here.genes.changed(c.random)}
		if here.cost.steady == 0 {
			next.genes = here.genes
		}
		var err error
		if next.cost, err = measure(next.genes.body(), next.genes.url(length)); err != nil {
			return fmt.Errorf("%v: %w", next.genes, err)
		}
		c.measured++
		if next.cost.steady <= here.cost.steady {
			continue
		}
		if next.cost.steady > 1.03*here.cost.steady {
			failed = 0
		}
		here = next
		if here.cost.steady > c.worst[length].cost.steady {
			c.worst[length] = here
			fmt.Printf("%7d bytes: %7.1f ns a byte, the first of its host %7.1f: %v\n", length, here.cost.steady, here.cost.first, here.genes)
		}
	}
	return nil
}

// cost is the processor time of a URL, in nanoseconds per byte.
type cost struct {
	first  float64 // for the first URL of a host
	steady float64 // after other URLs of the same host: the least of a few measurements
}

// limit is the number of bytes of a robots.txt that count (RFC 9309 §2.5).
const limit = 500 << 10

const hostOfURL = "https://w.test"

// measure evaluates a URL a few times. It checks the verdict unless that would take the
// reference minutes.
func measure(body, url []byte) (c cost, err error) {
	file := robotstxt.Parse(body, robotstxt.Options{})
	tries := matcher.Compile(file, []matcher.Chain{{matcher.Everyone}})
	var table ruletable.Table
	table.Add([]byte(hostOfURL), matcher.Origin{Access: access.Rules, Tries: tries})
	e := evaluate.New(&table, evaluate.Options{})
	column := batch.Column{Data: url, Offsets32: []int32{0, int32(len(url))}}
	var v batch.Verdicts
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// Some structures are built only after some URLs; short URLs take more of them.
	warm := 4 + 64<<10/len(url)
	for i := range warm + 4 {
		started := figures.ThreadTime()
		if err := e.Evaluate(&batch.Batch{URLs: column}, &v); err != nil {
			return c, err
		}
		took := float64(figures.ThreadTime()-started) / float64(len(url))
		if i == 0 {
			c.first = took
		}
		if i == warm || (i > warm && took < c.steady) {
			c.steady = took
		}
	}
	if len(url) > 1024 {
		return c, nil
	}
	allowed := v.Agents[0].Allowed[0]&1 != 0
	path := string(url[len(hostOfURL):])
	if want := reference.Decide(reference.Parse(body, reference.RFC9309, 0), []string{"*"}, path, reference.RFC9309); want.Allowed != allowed {
		return c, fmt.Errorf("allowed is %v, want %v", allowed, want.Allowed)
	}
	return c, nil
}

// measureFiles measures the URL in a file, its path repeated to several lengths, with the robots.txt of
// another file.
func measureFiles(body, url string) error {
	rules, err := os.ReadFile(body)
	text, failed := os.ReadFile(url)
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	path, ok := bytes.CutPrefix(bytes.TrimSpace(text), []byte(hostOfURL+"/"))
	if !ok || len(path) == 0 {
		return fmt.Errorf("%s: a URL that begins with %s/ is needed", url, hostOfURL)
	}
	for _, n := range []int{128, 256, 1 << 10, 1 << 12, 1 << 14, 1 << 18, 1 << 20} {
		c, err := measure(rules, append([]byte(hostOfURL+"/"), bytes.Repeat(path, n/len(path)+1)...)[:n])
		if err != nil {
			return err
		}
		fmt.Printf("%7d bytes: %8.1f ns a byte, the first of its host %8.1f\n", n, c.steady, c.first)
	}
	return nil
}

// save writes the body and the URL to a folder.
func (f *found) save(folder string, length int) error {
	return errors.Join(
		os.MkdirAll(folder, 0o777),
		os.WriteFile(fmt.Sprintf("%s/%d.robots.txt", folder, length), f.genes.body(), 0o666),
		os.WriteFile(fmt.Sprintf("%s/%d.url.txt", folder, length), f.genes.url(length), 0o666))
}

// genes are the parameters that a body and a URL are made from.
type genes struct {
	Letters   string   // the alphabet
	Literals  [2]int   // number of literals in a rule: least, most
	Lengths   [2]int   // length of a literal: least, most
	Noise     int      // percentage of random letters; the others are the first letter
	Prefixes  int      // most bytes before the first star
	Anchored  int      // percentage of rules that end in $
	Allowed   int      // percentage of rules that allow
	Numbered  int      // percentage of literals that end in a number
	Seeds     []string // texts that literals and the URL are also made from
	FromSeeds int      // percentage of literals made from Seeds
	Rules     int      // most rules
	Pieces    [5]int   // weights of the kinds of pieces that the URL is made from
	Random    uint64   // seed of all other random choices
}

func (g genes) String() string { return fmt.Sprintf("%+v", plainGenes(g)) }

// plainGenes are genes without the method String.
type plainGenes genes

// randomGenes returns genes after many changes.
func randomGenes(r *rand.Rand) (g genes) {
	for range 40 {
		g = g.changed(r)
	}
	return g
}

var someLetters = []string{"a", "ab", "%e", "/a", "ab/", "a%", "?a", "abcdefgh", "0123456789", "%2F?", "a-_.", "Aa", "/"}

// changed returns a copy of genes in which one or a few differ.
func (g genes) changed(r *rand.Rand) genes {
	g.Seeds = slices.Clone(g.Seeds)
	if g.Letters == "" {
		g.Letters = "ab"
	}
	for again := true; again; again = r.IntN(3) == 0 {
		switch r.IntN(14) {
		case 0:
			g.Letters = someLetters[r.IntN(len(someLetters))]
		case 1:
			g.Literals = anyRange(r, g.Literals, 1, 40)
		case 2, 3:
			g.Lengths = anyRange(r, g.Lengths, 1, 400)
		case 4:
			g.Noise = r.IntN(101)
		case 5:
			g.Prefixes = r.IntN(40) * r.IntN(2)
		case 6:
			g.Anchored = r.IntN(101) * r.IntN(2)
		case 7:
			g.Allowed = r.IntN(101) * r.IntN(2)
		case 8:
			g.Numbered = r.IntN(101) * r.IntN(2)
		case 9:
			g.changeSeeds(r)
		case 10:
			g.FromSeeds = r.IntN(101) * r.IntN(2)
		case 11:
			g.Rules = []int{99, 150, 1000, 50_000, 50_000, 50_000}[r.IntN(6)]
		case 12:
			g.Pieces[r.IntN(len(g.Pieces))] = r.IntN(20)
		case 13:
			g.Random = r.Uint64()
		}
	}
	g.Literals, g.Lengths = anyRange(r, g.Literals, 1, 0), anyRange(r, g.Lengths, 1, 0)
	if g.Rules == 0 {
		g.Rules = 50_000
	}
	return g
}

// anyRange returns a range near x, or another of at most by more than low; with 0 for by it is x. No range
// is empty or begins below low.
func anyRange(r *rand.Rand, x [2]int, low, by int) [2]int {
	switch {
	case by == 0:
	case r.IntN(2) == 0:
		x[0] = low + r.IntN(1+r.IntN(by))
		x[1] = x[0] + r.IntN(1+r.IntN(by))
	default:
		x[r.IntN(2)] += r.IntN(5) - 2
	}
	x[0] = max(low, x[0])
	x[1] = max(x[0], x[1])
	return x
}

// changeSeeds adds, drops or changes a seed.
func (g *genes) changeSeeds(r *rand.Rand) {
	switch {
	case len(g.Seeds) == 0 || (len(g.Seeds) < 6 && r.IntN(3) == 0):
		g.Seeds = append(g.Seeds, text(r, g.Letters, 1+r.IntN(1+r.IntN(60)), 100))
	case r.IntN(3) == 0:
		i := r.IntN(len(g.Seeds))
		g.Seeds = slices.Delete(g.Seeds, i, i+1)
	default:
		i := r.IntN(len(g.Seeds))
		seed := []byte(g.Seeds[i])
		at := r.IntN(len(seed) + 1)
		letter := g.Letters[r.IntN(len(g.Letters))]
		if r.IntN(2) == 0 && at < len(seed) {
			seed[at] = letter
		} else {
			seed = slices.Insert(seed, at, letter)
		}
		g.Seeds[i] = string(seed)
	}
}

// text returns n bytes, noise percent of them random letters.
func text(r *rand.Rand, letters string, n, noise int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[0]
		if r.IntN(100) < noise {
			b[i] = letters[r.IntN(len(letters))]
		}
	}
	return string(b)
}

// literal returns the text between two wildcards of a rule, or one for a URL. number is the rule's.
func (g genes) literal(r *rand.Rand, number int) string {
	if len(g.Seeds) > 0 && r.IntN(100) < g.FromSeeds {
		return g.Seeds[r.IntN(len(g.Seeds))]
	}
	n := g.Lengths[0] + r.IntN(g.Lengths[1]-g.Lengths[0]+1)
	s := text(r, g.Letters, n, g.Noise)
	if r.IntN(100) < g.Numbered {
		s += fmt.Sprint(number)
	}
	return s
}

// body returns a robots.txt of at most 500 KiB.
func (g genes) body() []byte {
	r := rand.New(rand.NewPCG(g.Random, 1))
	b := []byte("User-agent: *\n")
	for number := range g.Rules {
		kind := "disallow:"
		if r.IntN(100) < g.Allowed {
			kind = "allow:"
		}
		rule := kind + "/" + text(r, g.Letters, r.IntN(g.Prefixes+1), g.Noise)
		for range g.Literals[0] + r.IntN(g.Literals[1]-g.Literals[0]+1) {
			rule += "*" + g.literal(r, number)
		}
		if r.IntN(100) < g.Anchored {
			rule += "$"
		}
		if len(b)+len(rule)+1 > limit {
			break
		}
		b = append(append(b, rule...), '\n')
	}
	return b
}

// url returns a URL of a given length, made from random letters, one letter, literals and
// seeds, or whole rules.
func (g genes) url(length int) []byte {
	r := rand.New(rand.NewPCG(g.Random, 2))
	b := []byte(hostOfURL + "/")
	total := 1
	for _, weight := range g.Pieces {
		total += weight
	}
	for len(b) < length {
		pick, kind := r.IntN(total), 0
		for kind < len(g.Pieces) && pick >= g.Pieces[kind] {
			pick -= g.Pieces[kind]
			kind++
		}
		switch kind {
		case 1:
			b = append(b, strings.Repeat(g.Letters[:1], 1+r.IntN(1+2*g.Lengths[1]))...)
		case 2:
			b = append(b, g.literal(r, r.IntN(20_000))...)
		case 3:
			if len(g.Seeds) > 0 {
				b = append(b, g.Seeds[r.IntN(len(g.Seeds))]...)
			}
			b = append(b, g.Letters[r.IntN(len(g.Letters))])
		case 4:
			b = append(b, text(r, g.Letters, 1+r.IntN(1+g.Lengths[1]), g.Noise)...)
		default:
			b = append(b, text(r, g.Letters, 1+r.IntN(100), 100)...)
		}
	}
	return b[:length]
}
