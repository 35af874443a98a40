package main

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
)

// kindCount is how often a peer disagrees for one reason.
type kindCount struct {
	kind    string
	count   int
	example string
}

// reading is another interpretation of rules or URLs. It is taken for the reason if the
// engine gives the peer's verdict under it.
type reading struct {
	kind    string
	profile matcher.Profile
	// rules and path, if not nil, change the rules or the path.
	rules func(*robotstxt.File)
	path  func(row) string
	// byRule requires that a rule gives the verdict: that fewer rules match proves nothing.
	byRule bool
	// agent, if not empty, replaces the real agent.
	agent string
}

// readings are tried in this order; the first is the engine's own.
var readings = []reading{
	{},
	{kind: delayEnds, rules: endListsAtDelays},
	{kind: fragment, path: withFragment},
	{kind: dots, path: withoutDots},
	{kind: encoding, profile: robotstxt.Google},
	{kind: precedence, rules: only(true), byRule: true},
	{kind: precedence, rules: only(false), byRule: true},
	{kind: groups, agent: "*"},
}

// vague is the index of the first reading that may give the peer's verdict by chance, and so is tried
// only if nothing in the URL and the rule explains it.
const vague = 5

// These are the kinds of disagreement.
const (
	noAnswer   = "no answer: the library refuses the file or the URL"
	robotsTxt  = "/robots.txt itself"
	longDelay  = "crawl-delay: so long that everything is denied"
	delayEnds  = "crawl-delay among user-agent lines: ends their list"
	fragment   = "fragment: matched with the path"
	dots       = "dot segments: resolved before matching"
	encoding   = "percent-encoding: escapes, or characters that should be"
	precedence = "precedence: a rule decides that is not the most specific"
	groups     = "groups: those for everyone, though the agent has its own"
	wildcard   = "wildcard in the rule"
	query      = "query in the URL"
	other      = "other"
)

// judge finds out why a peer's verdict differs. It asks the engine for its decision, and
// for its decision under other readings.
type judge struct {
	agent string
	files map[string]*rulesFile
}

// rulesFile has a host's rules under each reading, compiled when needed.
type rulesFile struct {
	body  []byte
	tries [16]*matcher.Trie
}

// newJudge reads the files of the rows.
func newJudge(rules, agent string, rows []row) (*judge, error) {
	j := &judge{agent: agent, files: make(map[string]*rulesFile)}
	for _, r := range rows {
		if j.files[r.file] == nil {
			body, err := os.ReadFile(filepath.Join(rules, r.file))
			if err != nil {
				return nil, err
			}
			j.files[r.file] = &rulesFile{body: body}
		}
	}
	return j, nil
}

// decision returns the engine's decision on a row under a reading, and the rule.
func (j *judge) decision(r row, number int) (d matcher.Decision, rule matcher.RuleInfo) {
	file, how := j.files[r.file], readings[number]
	if file.tries[number] == nil {
		parsed := robotstxt.Parse(file.body, robotstxt.Options{Profile: how.profile})
		if how.rules != nil {
			how.rules(parsed)
		}
		file.tries[number] = &matcher.Compile(parsed, []matcher.Chain{{cmp.Or(how.agent, j.agent)}})[0]
	}
	written := []byte(r.path)
	if how.path != nil {
		written = []byte(how.path(r))
	}
	if is, _ := matcher.IsRobotsTxt(written, how.profile); is {
		return matcher.Decision{Allowed: true, Reason: matcher.RobotsTxt}, rule
	}
	var target matcher.Target
	target.Set(written, how.profile)
	trie := file.tries[number]
	if d = trie.Match(&target); d.Reason.HasRule() {
		rule = trie.Rule(d.Rule)
	}
	return d, rule
}

// check makes sure that the engine here decides like the one that was measured.
func (j *judge) check(rows []row, verdicts []byte) error {
	for i, r := range rows {
		if d, _ := j.decision(r, 0); d.Allowed != (verdicts[i] == 1) {
			return fmt.Errorf("%s: the runner says %d, the engine %v", r.url, verdicts[i], d.Allowed)
		}
	}
	return nil
}

// compare counts how often a peer agrees with the engine, and for what reasons it does not,
// the most frequent first.
func (j *judge) compare(rows []row, ours, peer *runner) {
	if peer.skipped != "" {
		return
	}
	kinds := make(map[string]*kindCount)
	for i, r := range rows {
		if peer.verdicts[i] == ours.verdicts[i] {
			peer.agreed++
			continue
		}
		d, rule := j.decision(r, 0)
		kind := j.kind(r, d, rule, peer.verdicts[i])
		if kinds[kind] == nil {
			kinds[kind] = &kindCount{kind: kind, example: example(r, d, rule)}
		}
		kinds[kind].count++
	}
	for _, k := range kinds {
		peer.kinds = append(peer.kinds, *k)
	}
	slices.SortFunc(peer.kinds, func(a, b kindCount) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.kind, b.kind))
	})
}

// example formats a row and the engine's decision.
func example(r row, d matcher.Decision, rule matcher.RuleInfo) string {
	text := d.Reason.String()
	if d.Reason.HasRule() {
		text = string(rule.Text)
	}
	return fmt.Sprintf("%s (%s)", r.url, text)
}

// kind names the reason for which a peer's verdict differs from the engine's decision d:
// the first reading that gives the peer's verdict; if there is none, features of the URL
// and the rule.
func (j *judge) kind(r row, d matcher.Decision, rule matcher.RuleInfo, verdict byte) string {
	switch {
	case verdict > 1:
		return noAnswer
	case d.Reason == matcher.RobotsTxt:
		return robotsTxt
	case verdict == 0 && j.hasLongDelay(r.file):
		return longDelay
	}
	for number := 1; number < len(readings); number++ {
		if number == vague && (strings.ContainsAny(pattern(rule), "%"+unusual) || strings.ContainsAny(r.path, unusual)) {
			return encoding
		}
		how := readings[number]
		if how.kind == encoding && !strings.ContainsAny(r.path, "%"+unusual) {
			continue
		}
		if d, _ := j.decision(r, number); d.Allowed == (verdict == 1) && (!how.byRule || d.Reason.HasRule()) {
			return how.kind
		}
	}
	switch {
	case strings.Contains(r.path, "%"):
		return encoding
	case strings.ContainsAny(pattern(rule), "*$"):
		return wildcard
	case strings.Contains(r.path, "?"):
		return query
	}
	return other
}

// unusual are characters that no path or query may have raw.
const unusual = " \"<>[\\]^`{|}"

// pattern returns the pattern of a rule; nearly all lines have a colon.
func pattern(rule matcher.RuleInfo) string {
	_, value, _ := strings.Cut(string(rule.Text), ":")
	return strings.TrimSpace(value)
}

// longestDelay is the crawl-delay, in seconds, above which crawler-commons denies the whole
// site.
const longestDelay = 300

// hasLongDelay reports whether a group of a file has a longer crawl-delay.
func (j *judge) hasLongDelay(file string) bool {
	for _, group := range robotstxt.Parse(j.files[file].body, robotstxt.Options{}).Groups {
		for _, delay := range group.CrawlDelays {
			if seconds, err := strconv.ParseFloat(string(delay.Value), 64); err == nil && seconds > longestDelay {
				return true
			}
		}
	}
	return false
}

// endListsAtDelays lets a crawl-delay end a list of user-agent lines, so that the lines
// before it have no rules.
func endListsAtDelays(f *robotstxt.File) {
	var all []robotstxt.Group
	for _, group := range f.Groups {
		first := 0
		for i := range group.Agents[1:] {
			before, after := group.Agents[i].Line, group.Agents[i+1].Line
			if slices.ContainsFunc(group.CrawlDelays, func(r robotstxt.Record) bool { return before < r.Line && r.Line < after }) {
				all = append(all, robotstxt.Group{Agents: group.Agents[first : i+1]})
				first = i + 1
			}
		}
		group.Agents = group.Agents[first:]
		all = append(all, group)
	}
	f.Groups = all
}

// only keeps the allow rules, or the disallow rules.
func only(allow bool) func(*robotstxt.File) {
	return func(f *robotstxt.File) {
		for i := range f.Groups {
			f.Groups[i].Rules = slices.DeleteFunc(slices.Clone(f.Groups[i].Rules), func(r robotstxt.Rule) bool {
				return r.Allow != allow
			})
		}
	}
}

// withFragment returns the path with the fragment, as if it were part of the path.
func withFragment(r row) string {
	_, after, found := strings.Cut(r.url, "#")
	if !found {
		return r.path
	}
	return r.path + "%23" + after
}

// withoutDots returns the path with its dot segments resolved (RFC 3986 §5.2.4).
func withoutDots(r row) string {
	name, after, hasQuery := strings.Cut(r.path, "?")
	if !strings.Contains(name, "/.") {
		return r.path
	}
	clean := path.Clean(name)
	if strings.HasSuffix(name, "/") && clean != "/" {
		clean += "/"
	}
	if hasQuery {
		clean += "?" + after
	}
	return clean
}
