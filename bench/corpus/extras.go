package corpus

import "strconv"

// extras are the parts of a body other than the rules that URLs are made for. They have a
// random generator of their own, so that rules and URLs are the same without them. The zero
// value has none.
type extras struct {
	random
	// page is the least size of a page in bytes; 0 for a robots.txt.
	page int
	crlf bool
	// comment, sitemap and block are the numbers of comment lines, of sitemaps after the
	// first, and of groups that only deny everything to an agent.
	comment, sitemap, block int
	// repeat is the group with the same rules as that for everyone; -1 for none.
	repeat int
}

// These are distributions over the files that may have such extras.
var (
	// pageSizes is over the files that are pages instead of a robots.txt.
	pageSizes = curve{
		{0, 17},
		{100_000, 204},
		{250_000, 252},
		{500_000, 6265},
		{600_000, 18_831},
		{700_000, 32_074},
		{800_000, 70_070},
		{900_000, 118_447},
		{950_000, 174_475},
		{980_000, 244_206},
		{990_000, 594_291},
		{1_000_000, 1_372_557},
	}
	// commentLines is over all files.
	commentLines = curve{{0, 0}, {850_000, 0}, {900_000, 15}, {950_000, 19}, {990_000, 36}, {999_000, 128}, {1_000_000, 136}}
	// moreSitemaps is over the files with a sitemap.
	moreSitemaps = curve{{0, 0}, {550_000, 0}, {825_000, 2}, {910_000, 5}, {982_000, 33}, {998_000, 239}, {1_000_000, 1292}}
	// blockedAgents is over the files with groups for other agents.
	blockedAgents = curve{{0, 0}, {825_000, 0}, {875_000, 3}, {950_000, 15}, {975_000, 40}, {987_000, 131}, {997_000, 499}, {1_000_000, 528}}
)

// extras returns the extras of a body.
func (c *Corpus) extras(p *plan) extras {
	if c.options.Bare {
		return extras{repeat: -1}
	}
	r := derive(p.seed, 1)
	e := extras{crlf: r.oneIn(4), comment: commentLines.draw(&r), sitemap: moreSitemaps.draw(&r), repeat: -1}
	if p.others > 0 {
		e.block = blockedAgents.draw(&r)
		e.repeat = r.below(6) // most files have fewer groups than that
	}
	if p.rules == 0 && r.oneIn(2) {
		e.page = 1 + pageSizes.draw(&r)
	}
	e.random = r
	return e
}

// repeats reports whether a group for other agents has the rules for everyone.
func (e *extras) repeats(group int) bool { return e.repeat == group }

// page writes a page that a server sends for any unknown address.
func (w *writer) page(e *extras, body int) {
	end := len(w.dst) + e.page
	w.text("<!DOCTYPE html>", "<html><head><title>Site ", strconv.Itoa(body), "</title></head></html>")
	for len(w.dst) < end {
		id := strconv.Itoa(e.below(100_000))
		w.text(`<div class="`, e.pick(secrets), ` row"><a href="/`, e.pick(sections), "/", e.pick(sections), "-", id, `.html">`,
			e.pick(sections), " ", e.pick(sections), " ", e.pick(sections), "</a></div>")
	}
}

// comments writes a comment of several lines.
func (w *writer) comments(e *extras) {
	for range e.comment {
		w.dst = append(w.dst, '#')
		for range 1 + e.below(7) {
			w.dst = append(append(w.dst, ' '), e.pick(sections)...)
		}
		w.text()
	}
}

// blocked writes groups that differ only in the agent; no agent is named twice.
func (w *writer) blocked(e *extras) {
	first := e.below(len(sections) * len(crawlers))
	for k := range e.block {
		n := first + k
		w.agent(sections[n/len(crawlers)%len(sections)] + crawlers[n%len(crawlers)])
		w.record(w.key.disallow, "/")
	}
}

// sitemaps writes the sitemaps after the first.
func (w *writer) sitemaps(e *extras, body int) {
	for k := range e.sitemap {
		w.record("Sitemap", "https://sitemaps.test/"+strconv.Itoa(body)+"/"+e.pick(sections)+"-"+e.pick(sections)+"-"+strconv.Itoa(k+2)+".xml.gz")
	}
}
