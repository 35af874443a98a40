package matcher

// Match decides on a path: the most specific of the rules that match, allow on
// a tie, and allowed when none does (RFC 9309 §2.2.2). p must have been set
// under the trie's profile.
func (t *Trie) Match(p *Target) Decision {
	return t.Decision(t.rules.match(p))
}

// match returns the number of the deciding rule, 0 for none.
func (c *compiled) match(p *Target) uint32 {
	// Rules without a literal '?' and without wildcard lie within the path's
	// part before its query, which both spellings share.
	end, whole := c.walk(p.query)
	if end == 0 {
		return 0
	}
	record := c.data[c.ends+int(end)*endSize:]
	best := le32(record)
	if whole {
		best = max(best, le32(record[4:]))
	}
	return c.matchTails(p, end, best)
}

// walk follows a path down the trie. It returns the last end on its way, and
// whether the path ended just there.
func (c *compiled) walk(path []byte) (end uint32, whole bool) {
	nodes := c.data[headerSize:c.ends]
	endAt := 0
	for node, i := 0, 0; ; i++ {
		record := (*[nodeSize]byte)(nodes[node*nodeSize:])
		label := le64(record[0:])
		if n := int(label >> 56); n > 0 {
			if !hasLabel(path[i:], label, n) {
				break
			}
			i += n
		}
		if e := le32(record[28:]); e != 0 {
			end, endAt = e, i
		}
		if i >= len(path) {
			break
		}
		low, high, octet := le64(record[8:]), le64(record[16:]), path[i]
		if !hasChild(low, high, octet) {
			break
		}
		node = int(le32(record[24:])) + childIndex(low, high, octet)
	}
	return end, end != 0 && endAt == len(path)
}

// hasLabel tells whether s starts with the n octets of a label, 1 to 7.
func hasLabel(s []byte, label uint64, n int) bool {
	if len(s) >= 8 {
		return (le64(s)^label)<<(64-8*n) == 0
	}
	if len(s) < n {
		return false
	}
	for i := range n {
		if s[i] != byte(label>>(8*i)) {
			return false
		}
	}
	return true
}

func hasChild(low, high uint64, octet byte) bool {
	word := low
	if octet >= 64 {
		word = high
	}
	return octet < 128 && word>>(octet&63)&1 != 0
}

// matchTails tries the tails at an end and above it that beat best.
func (c *compiled) matchTails(p *Target, end, best uint32) uint32 {
	for end != 0 {
		record := c.data[c.ends+int(end)*endSize:]
		if max(le32(record[20:]), le32(record[24:])) <= best {
			break // neither here nor above
		}
		first, count, depth := int(le32(record[8:])), int(le32(record[12:])), int(le32(record[28:]))
		for i := first; i < first+count; i++ {
			tail := c.data[c.tails+i*tailSize:]
			rule := le32(tail)
			if rule <= best {
				break
			}
			path, set := p.plain, &p.plainSet
			if le32(tail[4:])&tailQuery != 0 {
				path, set = p.query, &p.querySet
			}
			if le64(tail[16:])&^set.of(path) == 0 && c.matchTail(tail, path, depth) {
				best = rule
				break
			}
		}
		end = le32(record[16:])
	}
	return best
}

// Decision is the decision by a rule of the trie; 0 stands for no rule.
func (t *Trie) Decision(rule uint32) Decision {
	switch {
	case rule&1 != 0:
		return Decision{Allowed: true, Reason: AllowRule, Rule: rule}
	case rule != 0:
		return Decision{Reason: DisallowRule, Rule: rule}
	case t.rules.flags&flagGroup != 0:
		return Decision{Allowed: true, Reason: NoRuleMatched}
	}
	return Decision{Allowed: true, Reason: NoGroup}
}
