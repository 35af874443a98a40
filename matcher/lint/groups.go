package lint

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"robotsbatch/matcher"
	"robotsbatch/matcher/extent"
	"robotsbatch/matcher/robotstxt"
)

// checkGroups checks user-agent lines, and the rules in their groups.
func (c *checker) checkGroups() {
	// A joint is a record between two user-agent lines of a group, and changed are the agents that would
	// get other verdicts if the group ended there.
	changed := c.joinedChanges()
	for i := range c.file.Groups {
		g := &c.file.Groups[i]
		c.checkAgents(g)
		c.checkJoints(g, changed)
		c.checkDelays(g)
		c.checkBlankLine(g)
		c.checkEmptyDisallow(g)
		for r := range g.Rules {
			c.checkRule(&g.Rules[r])
		}
	}
	c.checkRepeated()
	c.checkEmptyGroups()
	c.checkBingDelay()
	if body, ok := matcher.CompileBody(c.file); ok { // else groups overlap too much
		c.checkShadowed(body)
		c.checkSite(body)
		c.checkStandIns(body)
	}
}

// checkJoints adds a finding for each record between two user-agent lines of a group: it may
// have been meant to end the group. changed are the agents, in lower case, whose verdicts depend
// on that.
func (c *checker) checkJoints(g *robotstxt.Group, changed map[string]bool) {
	for _, j := range c.joints(g) {
		after := g.Agents[j.after].Line
		if i := slices.IndexFunc(g.Agents[:j.after], func(a robotstxt.Agent) bool { return changed[c.agentKey(a)] }); i >= 0 {
			c.addRelated("joined-verdicts", j.line, j.offset, after, "%s does not end a group: %s gets other verdicts, because it shares the rules of the user-agent in line %d", j.name, quote(g.Agents[i].Value), after)
			continue
		}
		c.addRelated("joined-groups", j.line, j.offset, after, "%s does not end a group: the agents above share the rules of the user-agent in line %d", j.name, after)
	}
}

// joint is a record between two user-agent lines of a group.
type joint struct {
	name         string // for messages
	line, offset int    // of its value
	after        int    // index of the agent after it
}

// joints returns the first record between each two user-agent lines of a group, if there is
// one. It leaves out statements of uses, which have a finding of their own.
func (c *checker) joints(g *robotstxt.Group) (found []joint) {
	for i := 1; i < len(g.Agents); i++ {
		for number := g.Agents[i-1].Line + 1; number < g.Agents[i].Line; number++ {
			r, ok := pairOf(c.lines[number-1])
			key := strings.ToLower(string(r.key))
			if !ok || key == "" || key == "content-usage" || key == "content-signal" {
				continue
			}
			j := joint{name: quote(r.key), line: number, offset: r.valueAt, after: i}
			if key == "crawl-delay" || key == "sitemap" {
				j.name = "a " + key
			}
			found = append(found, j)
			break
		}
	}
	return found
}

// checkDelays adds findings for the values of the crawl-delays of a group, and for those that
// nobody obeys because the group is for Google's crawlers alone.
func (c *checker) checkDelays(g *robotstxt.Group) {
	for _, d := range g.CrawlDelays {
		c.checkCrawlDelay(d)
		if !slices.ContainsFunc(g.Agents, func(a robotstxt.Agent) bool { return !c.isGoogles(a) }) {
			at := valueAt(c.lines[d.Line-1], content(c.lines[d.Line-1]))
			c.add("crawl-delay-google", d.Line, at, "the group is for %s, and Google's crawlers ignore crawl-delay", quote(g.Agents[0].Value))
		}
	}
}

// isGoogles reports whether a line names one of Google's crawlers.
func (c *checker) isGoogles(a robotstxt.Agent) bool {
	token, _ := a.Names(c.profile)
	name := strings.ToLower(string(token))
	return name == "googlebot" || strings.HasPrefix(name, "googlebot-") || slices.Contains([]string{"adsbot-google", "mediapartners-google", "storebot-google"}, name)
}

// checkBlankLine adds a finding for the first blank line between the first user-agent line of a
// group and its first rule.
func (c *checker) checkBlankLine(g *robotstxt.Group) {
	if len(g.Rules) == 0 {
		return
	}
	for number := g.Agents[0].Line + 1; number < g.Rules[0].Line; number++ {
		if len(bytes.Trim(c.lines[number-1], blanks)) == 0 {
			c.add("blank-line-in-group", number, 0, "the blank line does not end the group of line %d, but to crawlers older than RFC 9309 it may", g.Agents[0].Line)
			return
		}
	}
}

// agentKey returns the name, in lower case, of the agent that a user-agent line is for; "*" for
// everyone, and empty for nobody.
func (c *checker) agentKey(a robotstxt.Agent) string {
	return append(c.agentKeys(a), "")[0] // "" if there are no keys
}

// agentKeys returns the names that a user-agent line matches, that of agentKey first: MJ12bot also
// matches MJ.
func (c *checker) agentKeys(a robotstxt.Agent) []string {
	if a.Everyone() {
		return []string{matcher.Everyone}
	}
	var keys []string
	token, word := a.Names(c.profile)
	for _, name := range [][]byte{word, token} {
		if key := strings.ToLower(string(name)); robotstxt.IsName(name) && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// checkRepeated finds agents that several lines name.
func (c *checker) checkRepeated() {
	type place struct{ group, line int }
	first := make(map[string]place)
	for i := range c.file.Groups {
		for _, a := range c.file.Groups[i].Agents {
			key := c.agentKey(a)
			p, again := first[key]
			at := valueAt(c.lines[a.Line-1], a.Value)
			switch {
			case key == "": // the line names nobody
			case !again:
				first[key] = place{i, a.Line}
			case p.group == i:
				c.addRelated("repeated-agent", a.Line, at, p.line, "%s is in the same group already, in line %d", quote(a.Value), p.line)
			default:
				c.addRelated("split-group", a.Line, at, p.line, "%s has a group already, in line %d: RFC 9309 makes them one, and some crawlers take only one of them", quote(a.Value), p.line)
			}
		}
	}
}

// checkEmptyGroups adds a finding for each group with agents that have no rules in any group.
// They do not obey the rules for "*", which is seldom meant.
func (c *checker) checkEmptyGroups() {
	rules := make(map[string]int) // by agent, in all its groups
	for i := range c.file.Groups {
		g := &c.file.Groups[i]
		for _, a := range g.Agents {
			for _, key := range c.agentKeys(a) {
				rules[key] += len(g.Rules)
			}
		}
	}
	if rules[matcher.Everyone] == 0 || c.limited {
		return
	}
	for i := range c.file.Groups {
		c.checkEmptyGroup(&c.file.Groups[i], rules)
	}
}

// checkEmptyGroup adds a finding for the first agent of a group that has no rules in any group. The
// message has the number of other such agents. rules has the number of rules by agentKey.
func (c *checker) checkEmptyGroup(g *robotstxt.Group, rules map[string]int) {
	var idle []robotstxt.Agent
	for _, a := range g.Agents {
		if key := c.agentKey(a); key != "" && rules[key] == 0 {
			idle = append(idle, a)
		}
	}
	if len(idle) == 0 {
		return
	}
	others := ""
	if len(idle) > 1 {
		others = fmt.Sprintf(", and so do the %d other agents of the group", len(idle)-1)
	}
	c.addAgent("group-without-rules", idle[0], "%s has a group without rules%s: it may fetch everything, because the rules for * do not apply to it", quote(idle[0].Value), others)
}

// checkShadowed adds a finding for each rule of a body, which is that of c.file, that never
// decides for any agent: it is shadowed in the merged groups of each agent that obeys it.
func (c *checker) checkShadowed(body *matcher.Body) {
	groups := make(map[int]int)              // by line of a rule, its group
	written := make(map[int]*robotstxt.Rule) // by line
	for i := range c.file.Groups {
		for r := range c.file.Groups[i].Rules {
			rule := &c.file.Groups[i].Rules[r]
			groups[rule.Line], written[rule.Line] = i, rule
		}
	}
	dead := make(map[int]matcher.Shadowed) // by line of a rule that is shadowed for some agents
	alive := make(map[int]bool)            // by line of one that is not shadowed for others
	for _, trie := range body.Groups() {
		shadowed := make(map[int]matcher.Shadowed)
		for _, s := range trie.Shadowed() {
			shadowed[s.Rule.Line] = s
		}
		for _, rule := range trie.Written() {
			s, isDead := shadowed[rule.Line]
			if !isDead {
				alive[rule.Line] = true
			} else if _, known := dead[rule.Line]; !known {
				dead[rule.Line] = s
			}
		}
	}
	for _, line := range slices.Sorted(maps.Keys(dead)) {
		if s := dead[line]; !alive[line] {
			c.addShadowed(written[line], written[s.By.Line], groups[line] != groups[s.By.Line])
		}
	}
}

// addShadowed adds a finding that says why a rule never decides: by beats it. elsewhere says
// that by is in another group.
func (c *checker) addShadowed(rule, by *robotstxt.Rule, elsewhere bool) {
	at := indent(c.lines[rule.Line-1])
	where := fmt.Sprintf("in line %d", by.Line)
	if elsewhere {
		where += ", of another group of the same agent"
	}
	switch {
	case rule.Allow == by.Allow && bytes.Equal(rule.Pattern, by.Pattern):
		c.addRelated("duplicate-rule", rule.Line, at, by.Line, "the rule is there already, %s", where)
	case rule.Allow == by.Allow:
		c.addRelated("redundant-rule", rule.Line, at, by.Line, "the rule never decides: %s, %s, also matches all its paths and beats it", quote(by.Text), where)
	case by.Allow && matchesAll(rule.Pattern):
		c.addRelated("closing-never-decides", rule.Line, at, by.Line, "the rule does not close the site: %s, %s, beats it on every path", quote(by.Text), where)
	default:
		c.addRelated("dead-rule", rule.Line, at, by.Line, "the rule never decides: %s, %s, beats it on every path that it matches", quote(by.Text), where)
	}
}

// maxApart is the number of agents that are compared with and without joined groups: a hostile body
// has many.
const maxApart = 16

// joinedChanges returns the agents, by agentKey, that would get another verdict on some path if the
// last record between two user-agent lines of a group (see joints) ended the group. It looks at the
// first maxApart agents, and leaves out those for which it finds no such path.
func (c *checker) joinedChanges() map[string]bool {
	apart := *c.file // the same file, but each such group is two: before the record, and after it
	apart.Groups = nil
	var chains []matcher.Chain
	for _, g := range c.file.Groups {
		joints := c.joints(&g)
		if len(joints) == 0 {
			apart.Groups = append(apart.Groups, g)
			continue
		}
		cut := joints[len(joints)-1].after
		before, after := g, g
		before.Agents, before.Rules, after.Agents = g.Agents[:cut], nil, g.Agents[cut:]
		apart.Groups = append(apart.Groups, before, after)
		for _, a := range before.Agents {
			if key := c.agentKey(a); key != "" && len(chains) < maxApart {
				chains = append(chains, matcher.Chain{key})
			}
		}
	}
	changed := make(map[string]bool)
	if len(chains) == 0 {
		return changed
	}
	joined, separate := matcher.Compile(c.file, chains), matcher.Compile(&apart, chains)
	for i, chain := range chains {
		if key := chain[0]; !changed[key] && differ(&joined[i], &separate[i]) {
			changed[key] = true
		}
	}
	return changed
}

// differ reports whether one of the example paths of two tries' extents is decided differently
// by them.
func differ(a, b *matcher.Trie) bool {
	if a.Equal(b) {
		return false
	}
	for _, r := range []extent.Result{extent.Of(a), extent.Of(b)} {
		for _, path := range []string{r.Allowed, r.Denied} {
			if path != "" && denies(a, path) != denies(b, path) {
				return true
			}
		}
	}
	return false
}

// denies reports whether the rules of a trie with notes deny a path.
func denies(t *matcher.Trie, path string) bool {
	rules := t.Trace([]byte(path))
	return len(rules) > 0 && !rules[0].Allow
}
