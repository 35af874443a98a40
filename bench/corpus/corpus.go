package corpus

import (
	"iter"
	"math/bits"
	"strconv"

	"golang.org/x/net/idna"
)

// Corpus is a set of origins, their robots.txt bodies and their URLs. It is
// immutable and may be used by several goroutines.
type Corpus struct {
	options Options
	// files is the number of origins with a body, distinct the number of bodies.
	files, distinct uint64
	// bySize ranks the origins by their number of URLs, the largest first; byBody ranks
	// them by their body, those without one last.
	bySize, byBody shuffle

	originSeed, bodySeed uint64

	https, ports, idn           odds
	wildcards, escapes, queries odds
	agentGroups, otherGroups    odds
	invalid                     odds
	blocked, denied             odds // for everyone
	agentBlocked, agentDenied   odds // for CCBot, if it has a group
}

// New returns the corpus that o describes.
func New(o Options) *Corpus {
	o = o.withDefaults()
	r := random(o.Seed)
	c := &Corpus{
		options:     o,
		originSeed:  r.next(),
		bodySeed:    r.next(),
		bySize:      newShuffle(o.Origins, &r),
		byBody:      newShuffle(o.Origins, &r),
		https:       share(o.HTTPS),
		ports:       share(o.Ports),
		idn:         share(o.IDN),
		wildcards:   share(o.Wildcards),
		escapes:     share(o.Escapes),
		queries:     share(o.Queries),
		agentGroups: share(o.AgentGroups),
		otherGroups: share(o.OtherGroups),
		invalid:     share(o.Invalid),
	}
	c.files = uint64(o.Origins) - part(o.Origins, o.Missing)
	c.distinct = part(int(c.files), o.Distinct)
	if c.files > 0 {
		c.distinct = max(c.distinct, 1)
	}
	c.setDenied()
	return c
}

// part returns n·p, rounded to the nearest integer.
func part(n int, p float64) uint64 { return uint64(float64(float64(n)*p) + 0.5) }

// setDenied spreads the share of denied URLs over the origins that have rules. A part of it
// comes from bodies that disallow everything; many bodies with a group for CCBot disallow
// everything for CCBot.
func (c *Corpus) setDenied() {
	target := c.options.Denied
	if withRules := float64(c.files) / float64(c.options.Origins) * ruledShare(c.options.Rules); withRules > 0 {
		target = min(target/withRules, 1)
	}
	blocked, agentBlocked := target/16, target/2
	c.blocked, c.denied = share(blocked), share((target-blocked)/(1-blocked))
	c.agentBlocked, c.agentDenied = share(agentBlocked), share((target-agentBlocked)/(1-agentBlocked))
}

// Options returns the options with the defaults filled in.
func (c *Corpus) Options() Options { return c.options }

// Bodies returns the number of distinct bodies.
func (c *Corpus) Bodies() int { return int(c.distinct) }

// Origin is an authority of a corpus.
type Origin struct {
	// Index is the origin's number, from 0.
	Index int
	// Scheme is "http" or "https".
	Scheme string
	// Host is the host in ASCII, an internationalised one in Punycode.
	Host string
	// UnicodeHost is the host in Unicode, the same as Host for most.
	UnicodeHost string
	// Port is 0 for the scheme's default.
	Port int
	// Body is the number of the origin's robots.txt body, below [Corpus.Bodies], or -1 if
	// it has none.
	Body int
	// URLs is the number of the origin's URLs.
	URLs int64

	seed uint64
	plan plan
}

// FileName returns the name of the origin's robots.txt in a folder of rules: the host, with
// "_" and the port if it has one.
func (o *Origin) FileName() string {
	if o.Port == 0 {
		return o.Host
	}
	return o.Host + "_" + strconv.Itoa(o.Port)
}

// Authority is the origin's key in rules, as urls.Scratch.Split returns it.
func (o *Origin) Authority() []byte {
	key := append([]byte(o.Scheme+"://"), o.Host...)
	if o.Port != 0 {
		key = strconv.AppendInt(append(key, ':'), int64(o.Port), 10)
	}
	return key
}

// Origin returns origin i, which must be in [0, Options.Origins).
func (c *Corpus) Origin(i int) Origin {
	r := derive(c.originSeed, i)
	o := Origin{Index: i, Scheme: "http", Body: c.body(i, &r), URLs: c.size(i), seed: r.next()}
	if r.hit(c.https) {
		o.Scheme = "https"
	}
	if r.hit(c.ports) {
		o.Port = ports[r.below(len(ports))]
	}
	o.Host, o.UnicodeHost = c.hosts(i, &r)
	if o.Body >= 0 {
		o.plan = c.plan(o.Body)
	}
	return o
}

// body returns the number of the body of origin i. Each body belongs to at least one
// origin; the first bodies have the most further origins.
func (c *Corpus) body(i int, r *random) int {
	rank := c.byBody.at(i)
	if rank >= c.files {
		return -1
	}
	if rank >= c.distinct {
		luck := r.next() >> 32
		rank, _ = bits.Mul64(c.distinct, luck*luck)
	}
	return int(rank)
}

// size returns the number of URLs of origin i.
func (c *Corpus) size(i int) int64 {
	rank, urls, origins := c.bySize.at(i), uint64(c.options.URLs), uint64(c.options.Origins)
	var least uint64
	if urls >= origins {
		least = 1
		urls -= origins
	}
	return int64(least + c.firstURLs(rank+1, urls) - c.firstURLs(rank, urls))
}

// firstURLs returns how many of the URLs belong to the first rank origins. It is the
// integral of a density that falls with the square of the rank, from LargestOrigin on. With
// n origins, a mean of m = urls/n and a largest of L, it is urls·x(1+h)/(x+h), where x =
// rank/n and h = m/(L-m). The code computes it in integers. The differences from rank to
// rank add up to urls exactly.
func (c *Corpus) firstURLs(rank, urls uint64) uint64 {
	n := uint64(c.options.Origins)
	all := uint64(c.options.LargestOrigin) * n
	if all <= urls {
		return mulDiv(urls, rank, n)
	}
	if urls == 0 {
		return 0
	}
	return mulDiv(urls*rank, all, rank*(all-urls)+urls*n)
}

// hosts returns the host of origin i in ASCII and in Unicode, which differ for an internationalised one.
func (c *Corpus) hosts(i int, r *random) (ascii, unicode string) {
	var sub string
	switch r.below(16) {
	case 0, 1, 2, 3, 4, 5, 6:
		sub = "www."
	case 7, 8:
		sub = r.pick(subdomains) + "."
	}
	// Only the number has digits, so it makes the name unique.
	number, domain := strconv.Itoa(i), "."+r.pick(domains)
	if r.hit(c.idn) {
		unicode = sub + r.pick(idnWords) + number + domain
		ascii, err := idna.Lookup.ToASCII(unicode)
		if err != nil {
			panic("corpus: " + unicode + " is no internationalised name: " + err.Error())
		}
		return ascii, unicode
	}
	ascii = sub + r.pick(sections) + r.pick(sections) + number + domain
	return ascii, ascii
}

// Origins returns all origins, in order.
func (c *Corpus) Origins() iter.Seq[Origin] {
	return func(yield func(Origin) bool) {
		for i := range c.options.Origins {
			if !yield(c.Origin(i)) {
				return
			}
		}
	}
}

// URLs yields all URLs, grouped by origin. Origin and URL are valid until the next
// iteration.
func (c *Corpus) URLs() iter.Seq2[*Origin, []byte] { return c.URLsOf(0, c.options.Origins) }

// URLsOf yields the URLs of the origins [first, end), as URLs does.
func (c *Corpus) URLsOf(first, end int) iter.Seq2[*Origin, []byte] {
	return func(yield func(*Origin, []byte) bool) {
		var url []byte
		for i := first; i < end; i++ {
			o := c.Origin(i)
			for j := range o.URLs {
				url = c.AppendURL(url[:0], &o, j)
				if !yield(&o, url) {
					return
				}
			}
		}
	}
}
