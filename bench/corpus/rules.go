package corpus

import (
	"bytes"
	"strconv"
)

// rules is the number of rules of real files, rulesMean the mean of this curve.
var rules = curve{
	{0, 0},
	{100_000, 1},
	{250_000, 3},
	{500_000, 12},
	{750_000, 38},
	{900_000, 79},
	{950_000, 140},
	{990_000, 456},
	{999_000, 1346},
	{1_000_000, 3159},
}

const rulesMean = 45

// ruleCount returns the number of rules of the file at a quantile, in millionths, for a
// given mean over all files.
func ruleCount(quantile, mean int) int { return rules.at(quantile, int64(mean), rulesMean) }

// ruledShare returns the share of files that have a rule.
func ruledShare(mean int) float64 {
	const steps = 1000
	ruled := 0
	for step := range steps {
		if ruleCount(step*(1_000_000/steps), mean) > 0 {
			ruled++
		}
	}
	return float64(ruled) / steps
}

// These are the groups of a body. Patterns are derived from body, group and number.
const (
	everyone = iota
	agent    // CCBot
	firstOther
)

// plan is what a body is made from.
type plan struct {
	seed uint64
	// rules and agentRules are the number of rules for everyone and for CCBot. A body
	// without rules for everyone has no group for CCBot.
	rules, agentRules int
	// blocked and agentBlocked mean that the first rule disallows everything.
	blocked, agentBlocked bool
	// others is the number of groups for other agents.
	others int
}

// plan returns what a body is made from.
func (c *Corpus) plan(body int) plan {
	r := derive(c.bodySeed, body)
	p := plan{seed: r.next(), rules: ruleCount(r.below(1_000_000), c.options.Rules)}
	if p.rules > 0 {
		p.blocked = r.hit(c.blocked)
		if r.hit(c.agentGroups) {
			p.agentRules = 1 + p.rules/4
			p.agentBlocked = r.hit(c.agentBlocked)
		}
	}
	if r.hit(c.otherGroups) {
		p.others = 1 + r.below(3)*r.below(5)
	}
	return p
}

// rule returns the generator of rule k of a group.
func (p *plan) rule(group, k int) random {
	return derive(p.seed+uint64(group), k)
}

// isAllow reports whether rule k is an allow, using the generator's first number. The first
// rule of a group is a disallow.
func isAllow(r *random, k int) bool { return r.below(7) == 0 && k > 0 }

// appendRule appends the pattern of rule k of a group.
func (c *Corpus) appendRule(dst []byte, p *plan, group, k int) (pattern []byte, allow bool) {
	r := p.rule(group, k)
	if !isAllow(&r, k) {
		if k == 0 && (group == everyone && p.blocked || group == agent && p.agentBlocked) {
			return append(dst, '/'), false
		}
		return c.appendDisallow(dst, &r, p, k), false
	}
	// Most allow rules make an exception to a disallow rule.
	j := r.below(k)
	from := p.rule(group, j)
	if isAllow(&from, j) {
		return append(append(append(dst, '/'), r.pick(sections)...), '/'), true
	}
	dst = c.appendDisallow(dst, &from, p, j)
	dst = bytes.TrimSuffix(dst, []byte("$"))
	if last := dst[len(dst)-1]; last != '/' && last != '=' {
		dst = append(dst, '/')
	}
	return append(append(dst, "public-"...), r.pick(sections)...), true
}

// appendDisallow appends the pattern of disallow rule k. It differs from the others of its
// group.
func (c *Corpus) appendDisallow(dst []byte, r *random, p *plan, k int) []byte {
	var buffer [64]byte
	name := append(buffer[:0], secrets[(p.seed>>32+uint64(k)*5)%uint64(len(secrets))]...)
	if round := k / len(secrets); round > 0 {
		name = strconv.AppendInt(append(name, '-'), int64(round), 36)
	}
	if r.hit(c.escapes) {
		name = append(name, r.pick(escapes)...)
	}
	query := r.hit(c.queries)
	if r.hit(c.wildcards) {
		return appendWildcard(dst, r, name, query, k)
	}
	if r.below(3) == 0 {
		dst = append(append(dst, '/'), r.pick(sections)...)
	}
	dst = append(append(dst, '/'), name...)
	switch form := r.below(8); {
	case query:
		dst = append(append(dst, '?'), r.pick(fields)...)
	case form < 5:
		dst = append(dst, '/')
	case form == 5:
		dst = append(dst, ".html"...)
	}
	return dst
}

// appendWildcard appends a pattern with "*" or "$" that contains a name.
func appendWildcard(dst []byte, r *random, name []byte, query bool, k int) []byte {
	form := r.below(6)
	switch {
	case query && form < 3:
		dst = append(append(append(dst, "/*?"...), name...), '=')
	case query:
		dst = append(append(append(dst, "/*?*"...), name...), '=')
	case form == 0 && k < len(files):
		dst = append(append(append(dst, "/*"...), files[k]...), '$')
	case form <= 1:
		dst = append(append(append(dst, '/'), name...), "/*.html$"...)
	case form == 2:
		dst = append(append(dst, '/'), r.pick(sections)...)
		dst = append(append(append(dst, "/*/"...), name...), '/')
	case form == 3:
		dst = append(append(append(dst, "*/"...), name...), '/')
	case form == 4:
		dst = append(append(dst, "/*/"...), name...)
	default:
		dst = append(append(append(dst, '/'), name...), '$')
	}
	return dst
}
