package matcher_test

import (
	"fmt"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/reference"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// The cases of this file and of the conformance_*_cases_test.go files define what a verdict
// means. They follow RFC 9309 sentence by sentence, and this project's choices where the
// RFC is silent. All expectations were written by hand from these texts. Engine and
// reference must both meet them, under both profiles.

// verdictCase is a body with the expected verdicts for some paths.
type verdictCase struct {
	// name is topic/row/what the case shows.
	name string
	body string
	// limit is the body's size limit in bytes; 0 is the default.
	limit int
	// chain is the chain to decide for; "" is FooBot.
	chain string
	// both, rfc and google are expectations under both profiles or under one of them: "PATH
	// → VERDICT", or a whole URL for the path. A verdict is a reason, or "allow N" or
	// "disallow N" with the line number of the rule, which " by AGENT: RULE" may follow,
	// with the user-agent value and the rule as they are reported.
	both, rfc, google []string
}

// profiles are the profiles by name.
var profiles = []struct {
	name      string
	engine    matcher.Profile
	reference reference.Profile
}{
	{"rfc9309", robotstxt.RFC9309, reference.RFC9309},
	{"google", robotstxt.Google, reference.Google},
}

// verdicts are an implementation's functions for one body: judge decides on a path, split
// splits a URL.
type verdicts struct {
	judge func(path string) string
	split func(url string) string
}

func TestSemantics(t *testing.T) {
	var cases []verdictCase
	cases = append(cases, rfcCases()...)
	cases = append(cases, bodyCases()...)
	cases = append(cases, groupCases()...)
	cases = append(cases, ruleCases()...)
	cases = append(cases, escapeCases()...)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { runVerdictCase(t, c) })
	}
}

func runVerdictCase(t *testing.T, c verdictCase) {
	if c.chain == "" {
		c.chain = "FooBot"
	}
	checked := 0
	for i, profile := range profiles {
		own := [][]string{c.rfc, c.google}[i]
		oracle := referenceVerdicts(c, profile.reference)
		engine := engineVerdicts(t, c, profile.engine)
		for _, expectation := range append(c.both[:len(c.both):len(c.both)], own...) {
			path, want, ok := strings.Cut(expectation, " → ")
			must.Need(t, ok, "malformed expectation: %q", expectation)
			checkVerdict(t, profile.name+" reference", oracle, path, want)
			checkVerdict(t, profile.name+" engine", engine, path, want)
			checked++
		}
	}
	must.Be(t, checked != 0, "the case has no expectation")
}

func checkVerdict(t *testing.T, who string, v verdicts, path, want string) {
	t.Helper()
	target := path
	if !strings.HasPrefix(path, "/") {
		_, target, _ = strings.Cut(v.split(path), " ")
	}
	got := v.judge(target)
	must.Be(t, got == want || strings.HasPrefix(got, want+" by "), "%s: %q: %q, want %q", who, path, got, want)
}

func referenceVerdicts(c verdictCase, p reference.Profile) verdicts {
	f := reference.Parse([]byte(c.body), p, c.limit)
	chain := strings.Split(c.chain, ",")
	return verdicts{
		judge: func(path string) string {
			d := reference.Decide(f, chain, path, p)
			if d.Line == 0 {
				return d.Reason
			}
			return ruleVerdict(d.Reason, d.Line, d.Agent, d.Rule)
		},
		split: referenceSplit,
	}
}

func engineVerdicts(t *testing.T, c verdictCase, p matcher.Profile) verdicts {
	t.Helper()
	return verdicts{judge: newEngineRules(t, c, p).judge, split: engineSplit}
}

// engineRules are the compiled rules of a case.
type engineRules struct {
	body    string
	profile matcher.Profile
	trie    *matcher.Trie
	target  matcher.Target
}

func newEngineRules(t *testing.T, c verdictCase, p matcher.Profile) *engineRules {
	t.Helper()
	chain := must.Get(matcher.ParseChain(c.chain))(t)
	f := robotstxt.Parse([]byte(c.body), robotstxt.Options{Profile: p, Limit: c.limit})
	return &engineRules{body: c.body, profile: p, trie: &matcher.Compile(f, []matcher.Chain{chain})[0]}
}

// allowed returns the verdict of the rules, without regard to /robots.txt.
func (e *engineRules) allowed(path string) bool {
	e.target.Set([]byte(path), e.profile)
	return e.trie.Allowed(&e.target)
}

// prefixVerdict returns the prefix verdict of a path.
func (e *engineRules) prefixVerdict(path string) matcher.PrefixVerdict {
	e.target.Set([]byte(path), e.profile)
	return e.trie.PrefixVerdict(&e.target)
}

// resolved returns the verdict of a path that has the prefix verdict s.
func (e *engineRules) resolved(s matcher.PrefixVerdict, path string) bool {
	e.target.Set([]byte(path), e.profile)
	return s.Denied() == (s.Undecided() && e.trie.Resolve(&s, &e.target))
}

// judge decides on a path as an evaluator does, including /robots.txt.
func (e *engineRules) judge(path string) string {
	if is, _ := matcher.IsRobotsTxt([]byte(path), e.profile); is {
		return matcher.RobotsTxt.String()
	}
	allowed := e.allowed(path)
	d := e.trie.Match(&e.target)
	if d.Allowed == (d.Reason == matcher.DisallowRule) || d.Allowed != allowed {
		return fmt.Sprintf("allowed %v with reason %v, and allowed %v without", d.Allowed, d.Reason, allowed)
	}
	if !d.Reason.HasRule() {
		return d.Reason.String()
	}
	rule := e.trie.Rule(d.Rule)
	if rule.Allow != d.Allowed {
		return fmt.Sprintf("allowed %v by the rule %q", d.Allowed, rule.Text)
	}
	return ruleVerdict(d.Reason.String(), rule.Line, string(rule.Agent), string(rule.Text))
}

func ruleVerdict(reason string, line int, agent, rule string) string {
	return fmt.Sprintf("%s %d by %s: %s", strings.TrimSuffix(reason, "_rule"), line, agent, rule)
}

func referenceSplit(url string) string {
	authority, path, reason := reference.SplitURL(url)
	if reason != "" {
		return reason
	}
	return authority + " " + path
}

func engineSplit(url string) string {
	var scratch urls.Scratch
	authority, path, err := scratch.Split([]byte(url))
	if err != nil {
		return matcher.ReasonOf(err).String()
	}
	return string(authority) + " " + string(path)
}

// TestSemanticsWarnings: each oddity of a body gives a warning with its line number; 0
// means the whole body.
func TestSemanticsWarnings(t *testing.T) {
	const start = "User-agent: *\n"
	tooLong := start + strings.Repeat("#\n", robotstxt.DefaultLimit)
	for _, c := range []struct{ name, body, rfc, google string }{
		{"body/byte_order_mark/UTF_16", utf16("User-agent: *"), "utf16_body 0", "utf16_body 0"},
		{"body/NUL", start + "Disallow: /\x00a", "nul_in_line 2", "nul_in_line 2"},
		{"body/size", tooLong, "body_limited 0", ""},
		{"body/over_long_line", start + "#" + strings.Repeat("a", 20000), "", "line_cut 2"},
		{"body/key/misspelt", start + "Disalow: /", "misspelled_key 2", "misspelled_key 2"},
		{"body/key/beginning", start + "Disallowed: /", "unknown_key 2", "key_prefix 2"},
		{"body/key/empty", start + ": /", "empty_key 2", "empty_key 2"},
		{"body/no_colon/two_words", start + "Disallow /", "missing_colon 2", "missing_colon 2"},
		{"body/no_colon/three_words", start + "Disallow / a", "not_a_record 2", "not_a_record 2"},
		{"body/HTML", "<!doctype html>", "html_body 0", "html_body 0"},
		{"body/binary", start + "\x01\x02\x03\x04", "binary_body 0", "binary_body 0"},
		{"groups/rule_before_any", "Allow: /\n" + start, "rule_before_group 1", "rule_before_group 1"},
		{"rules/neither_slash_nor_star", start + "Disallow: a", "pattern_without_slash 2", "pattern_without_slash 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, profile := range profiles {
				want := []string{c.rfc, c.google}[i]
				var warnings []robotstxt.Warning
				warn := func(w robotstxt.Warning) { warnings = append(warnings, w) }
				f := robotstxt.Parse([]byte(c.body), robotstxt.Options{Profile: profile.engine, Warn: warn})
				found := want == "" && len(warnings) == 0
				for _, w := range warnings {
					found = found || fmt.Sprintf("%v %d", w.Kind, w.Line) == want
				}
				must.Be(t, found, "%s: warnings %v, want %q", profile.name, warnings, want)
				must.Equal(t, f.Limited, want == "body_limited 0", profile.name, "Limited")
			}
		})
	}
}

// TestSemanticsProductToken: a User-Agent header is not a product token (RFC 9309 §2.2.1,
// figure 1).
func TestSemanticsProductToken(t *testing.T) {
	for _, c := range []struct{ chain, token string }{
		{"Mozilla/5.0 (compatible; ExampleBot/0.1; https://www.example.com/bot.html)", "ExampleBot"},
		{"Mozilla/5.0 (compatible; CCBot/2.0; +https://x)", "CCBot"},
		{"FooBot/2.1", "FooBot"},
		{"FooBot 2.1", "FooBot"},
		{"FooBot\t2.1", "FooBot"},
		{"FooBot;2.1", "FooBot"},
		{"FooBot(2.1)", "FooBot"},
		{"Googlebot-News,Googlebot/2.1", "Googlebot"},
	} {
		t.Run("groups/user_agent_header/"+c.token, func(t *testing.T) {
			chain, err := matcher.ParseChain(c.chain)
			must.Need(t, err != nil, "ParseChain(%q) accepts it as %q", c.chain, chain)
			// The error quotes its input; the token must also occur outside the quotes.
			text := strings.ReplaceAll(err.Error(), fmt.Sprintf("%q", c.chain), "")
			must.Be(t, strings.Contains(text, c.token), "the error does not name %q: %v", c.token, err)
		})
	}
	for _, chain := range []string{"*", "CCBot", "MJ12bot", "foo_bot-x", "Googlebot-News,Googlebot", "Googlebot,*"} {
		got, err := matcher.ParseChain(chain)
		must.Be(t, err == nil && strings.Join(got, ",") == chain, "%q: got %q, %v", chain, got, err)
	}
}

// TestSemanticsSeveralAgents: several agents are decided at once, each by its own groups,
// which are never merged.
func TestSemanticsSeveralAgents(t *testing.T) {
	const body = "User-agent: A\nDisallow: /a\nUser-agent: B\nDisallow: /b\nUser-agent: *\nDisallow: /c\n"
	chains := []matcher.Chain{{"A"}, {"B"}, {"*"}, {"C"}, {"C", "B", "A"}}
	want := [][]string{
		{"disallow 2 by A: Disallow: /a", "no_rule_matched", "no_rule_matched"},
		{"no_rule_matched", "disallow 4 by B: Disallow: /b", "no_rule_matched"},
		{"no_rule_matched", "no_rule_matched", "disallow 6 by *: Disallow: /c"},
		{"no_rule_matched", "no_rule_matched", "disallow 6 by *: Disallow: /c"},
		{"no_rule_matched", "disallow 4 by B: Disallow: /b", "no_rule_matched"},
	}
	for _, profile := range profiles {
		tries := matcher.Compile(robotstxt.Parse([]byte(body), robotstxt.Options{Profile: profile.engine}), chains)
		for i := range tries {
			engine := &engineRules{body: body, profile: profile.engine, trie: &tries[i]}
			for j, path := range []string{"/a", "/b", "/c"} {
				must.Equal(t, engine.judge(path), want[i][j], profile.name, path, "for", chains[i])
			}
		}
	}
}
