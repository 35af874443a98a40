package matcher_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"iter"
	"os"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// foreignCase is an assertion of another project's tests: what its program says of a URL.
// testdata/suites has their provenance.
type foreignCase struct {
	Suite, Test, Robots, Agent, URL string
	Raw                             []byte // a robots.txt that is not UTF-8
	Allowed                         bool
}

// verdict returns what this program says: allowed, denied, or why it says neither.
func (c *foreignCase) verdict(p matcher.Profile) string {
	url := c.URL
	if strings.HasPrefix(url, "/") {
		url = "http://a.test" + url
	}
	var scratch urls.Scratch
	_, path, err := scratch.Split([]byte(url))
	if err != nil {
		return "no URL"
	}
	token, _, _ := strings.Cut(c.Agent, "/") // without its version
	chain, err := matcher.ParseChain(token)
	if err != nil {
		return "no product token"
	}
	body := []byte(c.Robots)
	if c.Raw != nil {
		body = c.Raw
	}
	trie := matcher.Compile(robotstxt.Parse(body, robotstxt.Options{Profile: p}), []matcher.Chain{chain})[0]
	var target matcher.Target
	target.Set(path, p)
	if is, _ := matcher.IsRobotsTxt(path, p); is || trie.Allowed(&target) {
		return "allowed"
	}
	return "denied"
}

// foreignClasses say why a program may differ, with the sentence of RFC 9309.
var foreignClasses = map[string]string{
	"agent in another form":    "§2.2.1: product-token = identifier / \"*\" (a User-Agent header, or a name with a blank in it, is refused as an agent, with the token to use)",
	"several agents in a line": "§2.2.1: startgroupline = *WS \"user-agent\" *WS \":\" *WS product-token EOL",
	"part of an agent's name":  "§2.2.1: Crawlers MUST use case-insensitive matching to find the group that matches the product token and then obey the rules of the group.",
	"several names at once":    "silent: the first name that has a group decides, not all of them together",
	"no URL":                   "§2.2.2: a crawler MUST match the paths in \"allow\" and \"disallow\" rules opposite the URI (what is no absolute URL has no verdict)",
	"letters of either case":   "§2.2.2: The matching SHOULD be case sensitive.",
	"HTML in lines":            "§2.2: product-token = identifier / \"*\" (\"*<BR>\" is neither)",
	"crawl-delay":              "§2.2.4: Parsing of other records MUST NOT interfere with the parsing of explicitly defined records in Section 2.",
	"misspelt keys":            "§2.2: rule = *WS (\"allow\" / \"disallow\") *WS \":\" (few misspellings are known, and others are not bridged)",
	"a star is an octet":       "§2.2.2: The most specific match is the match that has the most octets.",
	"index.html":               "§2.2.2: The match evaluates positively if and only if the end of the path from the rule is reached before a difference in octets is encountered. (The Google profile does it.)",
	"percent-encoding":         "§2.2.2: Octets in the URI and robots.txt paths outside the range of the ASCII coded character set [...] MUST be percent-encoded as defined by [RFC3986] prior to comparison; a percent-encoded ASCII octet in the URI MUST be unencoded",
	"long lines":               "silent about lines; §2.5: The parsing limit MUST be at least 500 kibibytes (the Google profile cuts lines)",
	"rules outside groups":     "§2.2: group = startgroupline ... (rules before the first user-agent line belong to no group)",
	"other records in a group": "§2.2.4: a \"Sitemaps\" record MUST NOT terminate a group.",
	"a line without a colon":   "silent: a rule of two words counts, as in Google's parser",
	"a rule's dollar":          "§2.2.3: $ designates the end of the match pattern",
	"a rule that is no path":   "§2.2: path-pattern = \"/\" *UTF8-char-noctl",
	"no rule matches":          "§2.2.2: If no match is found amongst the rules in a group for a matching user-agent or there are no rules in the group, the URI is allowed.",
	"another host":             "§2.3: the rules are those of the URI's authority (whose robots.txt it is, is not the matcher's business)",
	"robots.txt is allowed":    "§2.2.2: The /robots.txt URI is implicitly allowed.",
	"a fragment":               "§2.2.2: rules are matched opposite the URI; a fragment is not sent (RFC 9110 §7.1)",
	"a stray byte order mark":  "§2.3: the file MUST be UTF-8 encoded (it claims UTF-16, and is read so)",
}

// foreignDifferences are the tests that expect other verdicts, with the class and with how
// many of their assertions differ.
var foreignDifferences = []struct {
	suite, test, class string
	count              int
}{
	{"bee4", "bee4.fr", "letters of either case", 1},
	{"bee4", "edge-cases", "no rule matches", 1},
	{"crawler-commons prefix mode", "SimpleRobotRulesParserTest.testNutchCases", "several names at once", 6},
	{"crawler-commons prefix mode", "SimpleRobotRulesParserTest.testNutchCases2", "several agents in a line", 4},
	{"crawler-commons", "SimpleRobotRulesParserTest.testHtmlMarkupInRobotsTxt", "HTML in lines", 1},
	{"crawler-commons", "SimpleRobotRulesParserTest.testHeritrixCases", "agent in another form", 9},
	{"crawler-commons prefix mode", "SimpleRobotRulesParserTest.testMultiAgentNames", "several agents in a line", 1},
	{"crawler-commons", "SimpleRobotRulesParserTest.testMultiWordAgentName", "agent in another form", 2},
	{"crawler-commons", "SimpleRobotRulesParserTest.testBigCrawlDelay", "crawl-delay", 1},
	{"crawler-commons", "SimpleRobotRulesParserTest.testDirectiveTypos", "misspelt keys", 2},
	{"crawler-commons", "SimpleRobotRulesParserTest.testPrecedenceOfRules", "a star is an octet", 1},
	{"crawler-commons prefix mode", "SimpleRobotRulesParserTest.testSpacesInMultipleUserAgentNames", "several agents in a line", 2},
	{"crawler-commons prefix mode", "SimpleRobotRulesParserTest.testMatchingUserAgentNamesHttpHeader", "agent in another form", 1},
	{"crawler-commons", "SimpleRobotRulesParserTest.testMatchingUserAgentNamesHttpHeader", "agent in another form", 1},
	{"crawler-commons", "SimpleRobotRulesParserTest.testAPIemptyUserAgentList", "agent in another form", 2},
	{"crawler-commons google port", "GoogleRobotsTxtTest.GoogleOnlySystemTest", "no URL", 4},
	{"crawler-commons google port", "GoogleRobotsTxtTest.GoogleOnly_AcceptUserAgentUpToFirstSpace", "agent in another form", 1},
	{"crawler-commons google port", "GoogleRobotsTxtTest.GoogleOnly_IndexHTMLisDirectory", "index.html", 1},
	{"google", "GoogleOnly_SystemTest", "no URL", 4},
	{"google", "GoogleOnly_AcceptUserAgentUpToFirstSpace", "agent in another form", 1},
	{"google", "ID_Encoding", "percent-encoding", 3},
	{"google", "GoogleOnly_IndexHTMLisDirectory", "index.html", 1},
	{"google", "GoogleOnly_LineTooLong", "long lines", 2},
	{"nzrsky", "GoogleOnly_SystemTest", "no URL", 4},
	{"nzrsky", "GoogleOnly_AcceptUserAgentUpToFirstSpace", "agent in another form", 1},
	{"nzrsky", "ID_Encoding", "percent-encoding", 2},
	{"nzrsky", "GoogleOnly_IndexHTMLisDirectory", "index.html", 1},
	{"nzrsky", "GoogleOnly_LineTooLong", "long lines", 2},
	{"playfulsparkle", "Matches only the root. Any lower level URL is allowed for crawling", "a fragment", 1},
	{"protego", "test_allowed_wildcards", "no URL", 1},
	{"protego", "test_generosity", "agent in another form", 2},
	{"protego", "test_grouping_unknown_keys", "other records in a group", 3},
	{"protego", "test_index_html_is_directory", "index.html", 1},
	{"protego", "test_special_symbols_dual_behaviour", "a rule's dollar", 2},
	{"protego", "test_unicode_url_and_useragent", "agent in another form", 1},
	{"protego", "test_with_absolute_urls", "a rule that is no path", 1},
	{"rep-cpp", "NoLeadingUserAgent", "rules outside groups", 1},
	{"rep-cpp", "GroupingUnknownKeys", "other records in a group", 1},
	{"rep-cpp", "SkipMalformedLine", "a line without a colon", 1},
	{"rep-cpp", "NeverExternalAllowed", "another host", 2},
	{"reppy", "test_grouping_unknown_keys", "other records in a group", 1},
	{"reppy", "test_no_leading_user_agent", "rules outside groups", 1},
	{"reppy", "test_skip_malformed_line", "a line without a colon", 1},
	{"reppy", "test_utf16_bom", "a stray byte order mark", 1},
	{"spec-test", "correctness/empty-string.textproto google-specific", "no URL", 4},
	{"spec-test", "correctness/index-page.textproto google-specific", "index.html", 1},
	{"spec-test", "correctness/non-ascii-paths.textproto", "percent-encoding", 3},
	{"spec-test", "correctness/user-agent-name.textproto google-specific", "agent in another form", 1},
	{"spec-test", "stress/327748.textproto", "robots.txt is allowed", 1},
	{"spec-test", "stress/369883.textproto", "robots.txt is allowed", 4},
	{"spec-test", "stress/860237.textproto", "robots.txt is allowed", 1},
	{"temoto", "TestRobotstxtOrg", "part of an agent's name", 1},
	{"texting_robots", "test_robot_starts_with_wildcard", "rules outside groups", 4},
	{"texting_robots", "test_reppy_no_leading_user_agent", "rules outside groups", 1},
	{"texting_robots", "test_reppy_grouping_unknown_keys", "other records in a group", 1},
	{"texting_robots", "test_google_encoding", "percent-encoding", 1},
	{"texting_robots", "test_google_order_of_precedence", "rules outside groups", 3},
	{"texting_robots", "test_repcpp_no_leading_user_agent", "rules outside groups", 1},
	{"texting_robots", "test_repcpp_well_formed_crawl_delay", "rules outside groups", 1},
}

// Every difference from another project's tests is in the table, and nothing else is there.
func TestForeignSuites(t *testing.T) {
	found, cases := map[[2]string]int{}, 0
	google := 0
	for c := range foreignCases(t) {
		cases++
		want := "denied"
		if c.Allowed {
			want = "allowed"
		}
		if got := c.verdict(robotstxt.RFC9309); got != want {
			found[[2]string{c.Suite, c.Test}]++
			t.Logf("%s, %s: %q is %s to %q, not %s", c.Suite, c.Test, c.URL, got, c.Agent, want)
		}
		if got := c.verdict(robotstxt.Google); c.Suite == "google" && !strings.HasPrefix(got, "no ") {
			google++
			must.Equal(t, got, want, "Google profile", c.Test, c.URL, "to", c.Agent)
		}
	}
	must.Be(t, cases == 2300 && google >= 100, "%d assertions, %d of them of Google's parser", cases, google)
	for _, d := range foreignDifferences {
		key := [2]string{d.suite, d.test}
		must.Be(t, found[key] == d.count && foreignClasses[d.class] != "", "%s, %s: %d assertions differ, the table has %d: %s", d.suite, d.test, found[key], d.count, d.class)
		delete(found, [2]string{d.suite, d.test})
	}
	for key, n := range found {
		t.Errorf("%s, %s: %d assertions differ, and no class says why", key[0], key[1], n)
	}
}

// foreignCases yields the cases in testdata/suites.
func foreignCases(t *testing.T) iter.Seq[foreignCase] {
	file := must.Get(os.Open("testdata/suites/cases.jsonl.gz"))(t)
	t.Cleanup(func() { file.Close() })
	plain := must.Get(gzip.NewReader(file))(t)
	return func(yield func(foreignCase) bool) {
		for cases := json.NewDecoder(plain); ; {
			var c foreignCase
			switch err := cases.Decode(&c); {
			case err == io.EOF:
				return
			case err != nil:
				t.Fatal(err)
			}
			if !yield(c) {
				return
			}
		}
	}
}
