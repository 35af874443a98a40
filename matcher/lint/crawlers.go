package lint

import (
	"slices"

	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
)

// standIns are crawlers whose owners document that they obey another's group where none names
// them.
var standIns = []struct{ name, key, other string }{{"Applebot", "applebot", "googlebot"}, {"Bingbot", "bingbot", "msnbot"}}

// checkStandIns adds a finding for each of standIns that the file does not name, if the group of the
// other crawler closes the whole site and the group for everyone does not, or the other way round.
func (c *checker) checkStandIns(body *matcher.Body) {
	for _, s := range standIns {
		other, hasOther := c.firstNaming(s.other)
		if _, named := c.firstNaming(s.key); named || !hasOther {
			continue
		}
		tries := body.Tries(nil, []matcher.Chain{{matcher.Everyone}, {s.other}})
		closed := c.closes(&tries[1])
		if closed == c.closes(&tries[0]) {
			continue
		}
		what := "open"
		if closed {
			what = "closed"
		}
		c.addAgent("group-of-others", other, "%s documents that it obeys this group where none names it: to it the site is %s", s.name, what)
	}
}

// firstNaming returns the first user-agent line that names an agent, given by its name in lower
// case; ok is false if there is none.
func (c *checker) firstNaming(agent string) (line robotstxt.Agent, ok bool) {
	for i := range c.file.Groups {
		for _, a := range c.file.Groups[i].Agents {
			if slices.Contains(c.agentKeys(a), agent) {
				return a, true
			}
		}
	}
	return line, false
}

// checkEmptyDisallow adds a finding for an empty disallow in a group with one that closes the
// site: Yandex takes it as Allow: /, which wins.
func (c *checker) checkEmptyDisallow(g *robotstxt.Group) {
	empty := slices.IndexFunc(g.Rules, func(r robotstxt.Rule) bool { return !r.Allow && len(r.Pattern) == 0 })
	closing := slices.IndexFunc(g.Rules, func(r robotstxt.Rule) bool { return !r.Allow && (string(r.Pattern) == "/" || string(r.Pattern) == "*") })
	if empty >= 0 && closing >= 0 {
		c.addRelated("empty-disallow", g.Rules[empty].Line, 0, g.Rules[closing].Line, "Yandex takes it as Allow: /, against the rule in line %d; to others it means nothing", g.Rules[closing].Line)
	}
}

// checkBingDelay adds a finding for a crawl-delay for everyone in a file with a group for Bingbot.
func (c *checker) checkBingDelay() {
	bingbot, named := c.firstNaming("bingbot")
	if !named {
		return
	}
	for i := range c.file.Groups {
		g := &c.file.Groups[i]
		if len(g.CrawlDelays) > 0 && slices.ContainsFunc(g.Agents, robotstxt.Agent.Everyone) &&
			!slices.ContainsFunc(g.Agents, func(a robotstxt.Agent) bool { return slices.Contains(c.agentKeys(a), "bingbot") }) {
			c.addRelated("crawl-delay-bing", g.CrawlDelays[0].Line, 0, bingbot.Line, "Bingbot obeys the crawl-delay for everyone, too, though line %d names it", bingbot.Line)
			return
		}
	}
}
