package corpus

import "strconv"

// AppendBody appends body number body, in [0, Bodies), to dst. No two bodies are equal.
func (c *Corpus) AppendBody(dst []byte, body int) []byte {
	p := c.plan(body)
	r := random(p.seed)
	w := writer{dst: dst, newline: "\n", key: keys[r.below(len(keys))]}
	more := c.extras(&p)
	if r.oneIn(12) || more.crlf {
		w.newline = "\r\n"
	}
	if r.oneIn(50) {
		w.dst = append(w.dst, "\uFEFF"...)
	}
	if p.rules == 0 && (r.oneIn(8) || more.page > 0) {
		w.page(&more, body)
		return w.dst
	}
	w.text("# robots.txt of site ", strconv.Itoa(body))
	w.comments(&more)

	everyoneLast := r.oneIn(3)
	if !everyoneLast {
		c.writeEveryone(&w, &p, &r)
	}
	if p.agentRules > 0 {
		w.agent("CCBot")
		c.writeRules(&w, &p, agent, p.ruleCount(agent))
	}
	for group := range p.others {
		for range 1 + r.below(3) {
			w.agent(r.pick(others))
		}
		switch {
		case r.oneIn(2):
			w.record(w.key.disallow, "/")
		case more.repeats(group):
			c.writeRules(&w, &p, everyone, p.rules)
		default:
			c.writeRules(&w, &p, firstOther+group, 1+r.below(4))
		}
	}
	w.blocked(&more)
	if everyoneLast {
		c.writeEveryone(&w, &p, &r)
	}
	if r.oneIn(2) {
		w.text()
		w.record("Sitemap", "https://sitemaps.test/"+strconv.Itoa(body)+".xml")
		w.sitemaps(&more, body)
	}
	return w.dst
}

// ruleCount returns the number of rules of the group for everyone or for CCBot.
func (p *plan) ruleCount(group int) int {
	switch {
	case group == everyone:
		return p.rules
	case p.agentBlocked:
		return 1
	}
	return p.agentRules
}

// writeEveryone writes the group for everyone.
func (c *Corpus) writeEveryone(w *writer, p *plan, r *random) {
	w.agent("*")
	if r.oneIn(8) {
		w.record("Crawl-delay", strconv.Itoa(1+r.below(30)))
	}
	if p.rules == 0 {
		w.record(w.key.disallow, "")
	}
	c.writeRules(w, p, everyone, p.rules)
}

// writeRules writes the first n rules of a group, and now and then how many follow.
func (c *Corpus) writeRules(w *writer, p *plan, group, n int) {
	var buffer [128]byte
	for k := range n {
		pattern, allow := c.appendRule(buffer[:0], p, group, k)
		key := w.key.disallow
		if allow {
			key = w.key.allow
		}
		w.record(key, string(pattern))
		if k%40 == 39 {
			w.text("# ", strconv.Itoa(n-k-1), " more")
		}
	}
}

// keys are spellings of the keys of records.
var keys = []keyNames{
	{"User-agent", "Allow", "Disallow"},
	{"User-agent", "Allow", "Disallow"},
	{"User-Agent", "Allow", "Disallow"},
	{"user-agent", "allow", "disallow"},
}

type keyNames struct{ agent, allow, disallow string }

// writer writes the lines of a body.
type writer struct {
	dst     []byte
	newline string
	key     keyNames
	rules   bool // the last record was a rule
}

// text writes a line.
func (w *writer) text(parts ...string) {
	for _, s := range parts {
		w.dst = append(w.dst, s...)
	}
	w.dst = append(w.dst, w.newline...)
}

// record writes a line of key and value.
func (w *writer) record(key, value string) {
	w.rules = key != w.key.agent
	w.text(key, ": ", value)
}

// agent writes a user-agent line, after an empty line if it starts a group.
func (w *writer) agent(name string) {
	if w.rules {
		w.text()
	}
	w.record(w.key.agent, name)
}
