package corpus

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// AppendURL appends URL j of o to dst, without a line end; j must be in [0, o.URLs). The
// URL is not blank.
func (c *Corpus) AppendURL(dst []byte, o *Origin, j int64) []byte {
	r := derive(o.seed, int(j))
	if r.hit(c.invalid) {
		return appendInvalid(dst, &r, o)
	}
	host := o.UnicodeHost
	if r.oneIn(4) {
		host = o.Host
	}
	dst = append(append(append(dst, o.Scheme...), "://"...), host...)
	if o.Port != 0 {
		dst = strconv.AppendInt(append(dst, ':'), int64(o.Port), 10)
	}
	group, denied := c.deniedBy(o, &r)
	start := len(dst)
	switch {
	case denied:
		dst = c.appendDenied(dst, &r, &o.plan, group)
	case o.Body >= 0 && o.plan.rules > 0 && r.oneIn(16):
		// A near miss follows a rule for a part of its length.
		dst = c.appendDenied(dst, &r, &o.plan, group)
		dst = append(cutHalf(dst, start+1), "ening"...)
	default:
		dst = c.appendPath(dst, &r)
	}
	if r.oneIn(64) {
		dst = append(append(dst, '#'), r.pick(sections)...)
	}
	return dst
}

// cutHalf drops the second half of dst[start:], between two characters.
func cutHalf(dst []byte, start int) []byte {
	end := start + (len(dst)-start)/2
	for end < len(dst) && !utf8.RuneStart(dst[end]) {
		end++
	}
	return dst[:end]
}

// deniedBy draws whether the URL shall be denied, and the group of the rule for that.
func (c *Corpus) deniedBy(o *Origin, r *random) (group int, denied bool) {
	p := &o.plan
	if o.Body < 0 || p.rules == 0 {
		return everyone, false
	}
	if !p.blocked && r.hit(c.denied) {
		return everyone, true
	}
	if p.agentRules > 0 && !p.agentBlocked && r.hit(c.agentDenied) {
		return agent, true
	}
	return everyone, false
}

// appendDenied appends a path that a disallow rule of the group matches.
func (c *Corpus) appendDenied(dst []byte, r *random, p *plan, group int) []byte {
	var buffer [128]byte
	n := p.ruleCount(group)
	k := r.below(n)
	pattern, allow := c.appendRule(buffer[:0], p, group, k)
	if allow {
		// The first rule is never an allow.
		pattern, _ = c.appendRule(buffer[:0], p, group, r.below(min(k, 2)))
	}
	return c.appendMatch(dst, r, pattern)
}

// appendMatch appends a path that pattern matches.
func (c *Corpus) appendMatch(dst []byte, r *random, pattern []byte) []byte {
	if pattern[0] == '*' {
		dst = append(append(dst, '/'), r.pick(sections)...)
		pattern = pattern[1:]
	}
	body, anchored := bytes.CutSuffix(pattern, []byte("$"))
	for i, c := range body {
		switch {
		case c == '*':
			dst = appendSlug(dst, r)
		case i > 0 && body[i-1] == '%' && r.oneIn(8) && 'A' <= c && c <= 'F':
			dst = append(dst, c|0x20) // lower-case hex digits, for the same byte
		default:
			dst = append(dst, c)
		}
	}
	if anchored {
		return dst
	}
	if bytes.IndexByte(body, '?') >= 0 {
		if body[len(body)-1] != '=' {
			dst = append(dst, '=')
		}
		return strconv.AppendInt(dst, int64(r.below(1000)), 10)
	}
	if body[len(body)-1] != '/' && r.oneIn(2) {
		dst = append(dst, '/')
	}
	if dst[len(dst)-1] == '/' && !r.oneIn(4) {
		dst = appendSlug(dst, r)
	}
	return c.appendQuery(dst, r)
}

// appendPath appends an ordinary path.
func (c *Corpus) appendPath(dst []byte, r *random) []byte {
	if r.oneIn(32) {
		return append(dst, "/"[:r.below(2)]...) // the home page, with or without its slash
	}
	dst = append(dst, '/')
	for range r.below(4) {
		dst = append(append(dst, r.pick(sections)...), '/')
	}
	dst = appendSlug(dst, r)
	if r.hit(c.escapes) {
		dst = append(append(dst, r.pick(escapes)...), r.pick(sections)...)
	}
	if !r.oneIn(3) {
		dst = append(dst, r.pick(pages)...)
	}
	return c.appendQuery(dst, r)
}

// appendSlug appends a name like those made from titles.
func appendSlug(dst []byte, r *random) []byte {
	for range r.below(4) {
		dst = append(append(dst, r.pick(sections)...), '-')
	}
	return strconv.AppendInt(dst, int64(r.below(100_000)), 10)
}

// appendQuery appends a query to some paths.
func (c *Corpus) appendQuery(dst []byte, r *random) []byte {
	if !r.hit(c.queries) {
		return dst
	}
	mark := byte('?')
	for range 1 + r.below(3) {
		dst = append(append(append(dst, mark), r.pick(fields)...), '=')
		dst = strconv.AppendInt(dst, int64(r.below(10_000)), 10)
		mark = '&'
	}
	return dst
}

// appendInvalid appends a row without a verdict: not a URL, or one whose scheme has no
// robots.txt.
func appendInvalid(dst []byte, r *random, o *Origin) []byte {
	switch r.below(10) {
	case 0:
		return append(append(dst, "//"...), o.Host...)
	case 1:
		return append(append(dst, "http:/"...), o.Host...)
	case 2:
		return append(append(dst, o.Host...), "/index.html"...)
	case 3:
		return append(append(append(dst, "http://"...), o.Host...), ":99999/"...)
	case 4:
		return append(append(dst, "https://www ."...), o.Host...)
	case 5:
		return append(dst, "https:///index.html"...)
	case 6:
		return append(append(append(dst, "http://a.."...), o.Host...), '/')
	case 7:
		return append(append(dst, "mailto:info@"...), o.Host...)
	case 8:
		return append(append(append(dst, "gopher://"...), o.Host...), '/')
	default:
		return append(dst, "http://[::1/"...)
	}
}
