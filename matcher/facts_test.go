package matcher

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher/robotstxt"
)

func TestParseCrawlDelay(t *testing.T) {
	const none = NoCrawlDelay
	for _, test := range []struct {
		value string
		want  float64
	}{
		{"10", 10},
		{"0", 0},
		{"0.5", 0.5},
		{".5", 0.5},
		{"5.", 5},
		{"007", 7},
		{"1.25", 1.25},
		{"86400", 86400},
		{strings.Repeat("9", 300), 1e300},
		{"0." + strings.Repeat("0", 5000) + "1", 0},
		{"", none},
		{".", none},
		{"1.2.3", none},
		{"-1", none},
		{"+1", none},
		{"1e3", none},
		{"10s", none},
		{"1,5", none},
		{"1 5", none},
		{"0x10", none},
		{"1_000", none},
		{"inf", none},
		{"NaN", none},
		{"١", none},
		{strings.Repeat("9", 400), none},
	} {
		got, ok := ParseCrawlDelay([]byte(test.value))
		if !ok {
			got = none
		}
		must.Be(t, ok == (test.want != none) && !(math.Abs(got-test.want) > 1e-9*max(1, test.want)), "%.40q is %v, %v; want %v", test.value, got, ok, test.want)
	}
}

func TestCollectCrawlDelays(t *testing.T) {
	const none = NoCrawlDelay
	tests := []struct {
		name, body           string
		everyone, foo, chain float64 // chain: NewsBot,FooBot
	}{
		{"none", "User-agent: *\nDisallow: /\n", none, none, none},
		{"for everyone", "User-agent: *\nCrawl-delay: 3\n", 3, 3, 3},
		{"an agent's own", "User-agent: *\nCrawl-delay: 3\n\nUser-agent: FooBot\nCrawl-delay: 1.5\nDisallow: /x\n", 3, 1.5, 1.5},
		{"a group of its own without one", "User-agent: *\nCrawl-delay: 3\nDisallow: /\n\nUser-agent: FooBot\nDisallow: /x\n", 3, none, none},
		{"a chain's first name that has a group", "User-agent: FooBot\nCrawl-delay: 2\nDisallow:\nUser-agent: newsbot\nCrawl-delay: 7\n", none, 2, 7},
		{"the first of a group", "User-agent: *\nCrawl-delay: 4\nCrawl-delay: 5\n", 4, 4, 4},
		{"the first number of a group", "User-agent: *\nCrawl-delay: soon\nCrawl-delay:\nCrawl-delay: 5\nCrawl-delay: 6\n", 5, 5, 5},
		{"no number", "User-agent: *\nCrawl-delay: soon\n", none, none, none},
		{"merged groups", "User-agent: FooBot\nDisallow: /a\nUser-agent: x\nCrawl-delay: 9\nDisallow:\nUser-agent: foobot/2\nCrawl-delay: x\nDisallow:\nUser-agent: FooBot\nCrawl-delay: 8\n", none, 8, 8},
		{"several agents", "User-agent: FooBot\nUser-agent: *\nCrawl-delay: 2\n", 2, 2, 2},
		{"before the first group", "Crawl-delay: 9\nUser-agent: *\nDisallow: /\n", none, none, none},
		{"between user-agent lines", "User-agent: FooBot\nCrawl-delay: 2\nUser-agent: *\nDisallow: /\n", none, 2, 2},
		{"below each user-agent line", "User-agent: *\nCrawl-delay: 3\nUser-agent: FooBot\nCrawl-delay: x\nCrawl-delay: 2\n", 3, 2, 2},
		{"above the user-agent line", "User-agent: *\nCrawl-delay: 3\nUser-agent: FooBot\nDisallow: /\n", 3, none, none},
		{"below another one of the group", "User-agent: FooBot\nCrawl-delay: x\nUser-agent: *\nCrawl-delay: 4\n", 4, 4, 4},
		{"named twice", "User-agent: FooBot\nCrawl-delay: 1\nUser-agent: x\nUser-agent: FooBot\nCrawl-delay: 4\n", none, 1, 1},
		{"without a colon, in capitals", "User-agent: *\nCRAWL-DELAY 6 # please\n", 6, 6, 6},
		{"zero", "User-agent: *\nCrawl-delay: 0\n", 0, 0, 0},
	}
	chains := []Chain{{Everyone}, {"FooBot"}, {"NewsBot", "FooBot"}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := CollectRecords(robotstxt.Parse([]byte(test.body), robotstxt.Options{}), NewAgents(chains))
			must.DeepEqual(t, r.CrawlDelays, []float64{test.everyone, test.foo, test.chain})
		})
	}
}

func TestCollectSitemaps(t *testing.T) {
	many := func(n, text int) (body string, values []string) {
		for i := range n {
			s := fmt.Sprintf("http://a.ex/%0*d", text-len("http://a.ex/"), i)
			body += "Sitemap: " + s + "\n"
			values = append(values, s)
		}
		return body, values
	}
	short := MaxSitemapBytes / MaxSitemaps
	fits, fitting := many(MaxSitemaps, short)
	more, _ := many(MaxSitemaps+1, short)
	long, _ := many(5, MaxSitemapBytes/4)
	for _, test := range []struct {
		name, body string
		want       []string
		more       bool
	}{
		{"none", "User-agent: *\n", nil, false},
		{"anywhere", "Sitemap: https://a.example/1\nUser-agent: *\nsitemap:https://a.example/2 # two\nDisallow: /\nSITE-MAP: 3\n", []string{"https://a.example/1", "https://a.example/2", "3"}, false},
		{"twice", "Sitemap: x\nSitemap: x\n", []string{"x", "x"}, false},
		{"empty", "Sitemap:\nSitemap: x\n", []string{"x"}, false},
		{"not UTF-8", "Sitemap: /\xff\xc3\xa9 b\x01\tc\x7f\"\\\n", []string{"/%FFé%20b%01%09c%7F%22%5C"}, false},
		{"as many as there may be", fits, fitting, false},
		{"too many", more, fitting, true},
		{"too long together", long, nil, true},
		{"too long by escapes", "Sitemap: a\nSitemap: " + strings.Repeat("\xff", MaxSitemapBytes/2) + "\nSitemap: b", []string{"a"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := CollectRecords(robotstxt.Parse([]byte(test.body), robotstxt.Options{}), NewAgents(nil))
			if test.want == nil && test.more {
				test.want = r.Sitemaps[:min(4, len(r.Sitemaps))]
			}
			must.Be(t, reflect.DeepEqual(r.Sitemaps, test.want) && r.MoreSitemaps == test.more,
				"%.100q, %v; want %.100q, %v", r.Sitemaps, r.MoreSitemaps, test.want, test.more)
			size := 0
			for _, s := range r.Sitemaps {
				size += len(s)
				must.Be(t, utf8.ValidString(s), "%q is not UTF-8", s)
			}
			must.Be(t, size <= MaxSitemapBytes, "%d bytes", size)
		})
	}
}

func TestAge(t *testing.T) {
	for _, test := range []struct {
		fetched, asOf, want int64
		known               bool
	}{{0, 100, 0, false}, {100, 0, 0, false}, {40, 100, 60, true}, {100, 40, -60, true}} {
		f := Facts{Fetched: test.fetched}
		got, known := f.Age(test.asOf)
		must.Be(t, got == test.want && known == test.known, "%+v: %d, %v", test, got, known)
	}
}

// Outputs tell reasons apart by their names, and no page shows a name where it means words.
func TestReasons(t *testing.T) {
	names := map[string]Reason{}
	for reason := AllowRule; reason < reasonCount; reason++ {
		name := reason.String()
		other, twice := names[name]
		must.Be(t, !twice && name != "" && name != reasonCount.String(), "reason %d has the name %q, and so has %d", reason, name, other)
		names[name] = reason
		words := reason.Words()
		must.Be(t, words != "" && words != name, "%s has the words %q", name, words)
	}
}

func TestParseChainRefuses(t *testing.T) {
	for chain, want := range map[string]string{
		"": "is empty", "a,": "is empty", "GPT\x1ABot": "no control characters", "a*": `has no "*" in it`, "*,a": "can only come last",
		"GPT Bot": "is it GPTBot?", "Mozilla/5.0 (compatible; GPTBot/1.2)": "its product token: GPTBot", "()": "such as CCBot",
		"'GPTBot'": "has none of", `"GPTBot"`: "has none of", "['GPTBot']": "has none of", "CCBot,b'GPTBot'": "has none of", "User-agent:GPTBot": "has none of", "GPTBot|CCBot": "has none of",
		"GPTBot:": "no quote or colon", "useragent=GPTBot": "no quote or colon",
		"GPTBot\u00A0": "is it GPTBot?", "GPTBot\u200B": "no control characters", "\uFEFFGPTBot": "no control characters",
	} {
		c, err := ParseChain(chain)
		must.Be(t, err != nil && strings.Contains(err.Error(), want), "%q: %q, %v, want %s", chain, c, err, want)
	}
}

func TestParseChainTakesNamesOfGroups(t *testing.T) {
	for _, name := range []string{"LWP::Simple", "WeSEE:Search", "Xenu's", "NetShift=", "Download.exe", "8484_Boston_Project_v_1.0"} {
		chain, err := ParseChain(name)
		must.Be(t, err == nil, "%q: %v", name, err)
		_, lines := ChosenGroups(robotstxt.Parse([]byte("User-agent: "+name+"\nDisallow: /\n"), robotstxt.Options{}), chain)
		must.Equal(t, len(lines), 1, name)
	}
}

func TestRelatedNamesSharePrefix(t *testing.T) {
	for chain, want := range map[string]bool{
		"CCBot": true, "*": true, "Googlebot-News,Googlebot": true, "googlebot-image,Googlebot,*": true, "Google-Extended,Googlebot": true,
		"CCBot,GPTBot": false, "ChatGPT-User,ClaudeBot": false,
		"Googlebot-News,Googlebot,CCBot": false, "AI,AI2Bot": true,
	} {
		c := must.Get(ParseChain(chain))(t)
		must.Be(t, c.Related() == want, "%s: %v", chain, !want)
	}
}
