package explain

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
)

var chains = []matcher.Chain{{"ABot"}, {"CBot", "BBot"}, {"*"}}

// open opens rules for chains.
func open(t *testing.T, o ruleset.Options) *ruleset.Set {
	t.Helper()
	o.Chains, o.Explain, o.Records, o.Memory, o.Workers = chains, true, true, 1<<26, 1
	found := must.Get(ruleset.Find(t.Context(), o))(t)
	set := must.Get(found.Open(t.Context()))(t)
	t.Cleanup(func() { set.Close() })
	return set
}

// compile makes a rule pack of a source.
func compile(t *testing.T, source, pack string, p matcher.Profile) {
	t.Helper()
	found := must.Get(ruleset.Find(t.Context(), ruleset.Options{Sources: []string{source}, Profile: p, Memory: 1 << 26, Workers: 1}))(t)
	must.Get(found.Compile(t.Context(), pack))(t)
}

// On random files, the rule that is shown is the one of the verdict and beats all others,
// its line is what the file has there, and a pack says the same as its folder.
func TestExplainsTheVerdict(t *testing.T) {
	t.Chdir(t.TempDir())
	r := rand.New(rand.NewPCG(5, 6))
	const hosts = 150
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	bodies := make([]string, hosts)
	for host := range hosts {
		var b strings.Builder
		for range 1 + r.IntN(4) {
			fmt.Fprintf(&b, "User-agent: %s\n", pick("*", "abot", "BBot", "CBot", "Other"))
			for range r.IntN(5) {
				b.WriteString(pick("Allow: ", "Disallow: ") + pick("/", "*") + pick("", "a", "a*", "*a") + pick("", "b", "$", "%61", "?") + pick("\n", "# x\n", "\r\n"))
			}
		}
		bodies[host] = b.String()
		must.WriteFile(t, fmt.Sprintf("robots/h%d.example", host), bodies[host])
	}
	decided := 0
	for _, profile := range []matcher.Profile{robotstxt.RFC9309, robotstxt.Google} {
		pack := fmt.Sprintf("site%d.rules", profile)
		compile(t, "robots", pack, profile)
		folder := New(open(t, ruleset.Options{Sources: []string{"robots"}, Profile: profile}), Options{Chains: chains, Profile: profile})
		packed := New(open(t, ruleset.Options{Sources: []string{pack}, Profile: profile}), Options{Chains: chains, Profile: profile})
		for host := range hosts {
			for _, path := range []string{"", "a", "ab", "aab", "b?a", "a?b"} {
				url := fmt.Sprintf("http://h%d.example/%s", host, path)
				one, two := explain(t, folder, url), explain(t, packed, url)
				for i := range chains {
					a, b := &one.Agents[i], &two.Agents[i]
					must.Need(t, b.Reason == a.Reason && *b.Allowed == *a.Allowed && (a.Rule == nil) == (b.Rule == nil) && (a.Rule == nil || *a.Rule == *b.Rule), "%s: %+v by the folder, %+v by the pack", url, a, b)
					must.Need(t, b.Group.Why == a.Group.Why && b.Group.Name == a.Group.Name && len(b.Group.Lines) == len(a.Group.Lines) && len(b.Others) == len(a.Others), "%s: group %+v by the folder, %+v by the pack", url, a.Group, b.Group)
					decided += checkAgent(t, url, bodies[host], a)
				}
			}
		}
	}
	must.Be(t, decided >= 1000, "a rule decided only %d times", decided)
}

func explain(t *testing.T, e *Explainer, url string) *URL {
	t.Helper()
	return must.Get(e.URL(t.Context(), url))(t)
}

// checkAgent checks what is said of the rule that decides, and returns whether there is one.
func checkAgent(t *testing.T, url, body string, a *Agent) int {
	t.Helper()
	byRule := a.Reason.HasRule()
	must.Need(t, byRule == (a.Rule != nil) && (byRule || len(a.Others) == 0), "%s: %+v", url, a)
	if a.Rule == nil {
		return 0
	}
	for _, o := range a.Others {
		better := a.Rule.Length > o.Length || a.Rule.Length == o.Length && (a.Rule.Allow && !o.Allow || a.Rule.Allow == o.Allow && a.Rule.Line < o.Line)
		must.Need(t, better, "%s: %+v does not beat %+v", url, a.Rule, o)
	}
	lines := strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n")
	must.Need(t, a.Rule.Allow == *a.Allowed && strings.HasPrefix(lines[a.Rule.Line-1], a.Rule.Text), "%s: allowed %v by %+v of\n%s", url, *a.Allowed, a.Rule, body)
	for _, line := range a.Context {
		must.Need(t, lines[line.Line-1] == line.Text, "%s: line %d is shown as %q", url, line.Line, line.Text)
	}
	return 1
}

// What captures know of the fetch is told.
func TestExplainsTheFetch(t *testing.T) {
	t.Chdir(t.TempDir())
	block := "HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nAllow: /\n# lost\nUser-agent: ABot\nDisallow: /a\nSitemap: https://a.example/s.xml"
	must.WriteFile(t, "crawl.warc", fmt.Sprintf("WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2026-03-01T00:00:00Z\r\nWARC-Target-URI: http://a.example/robots.txt\r\n"+
		"Content-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", len(block), block))
	set := open(t, ruleset.Options{Sources: []string{"crawl.warc"}, AsOf: time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC)})
	e := New(set, Options{Chains: chains, AsOf: set.AsOf().Unix(), MaxAge: 24 * time.Hour})
	var b strings.Builder
	must.Do(t, explain(t, e, "http://a.example/a").WriteText(&b, Style{}))
	want := `http://a.example/a
  authority   http://a.example
  path        /a
  normalised  /a
  hash        5568280064820453410
  access      rules
  status      200
  fetched     2026-03-01T00:00:00Z
  age         48h, more than 24h
  file        crawl.warc
  sitemap     https://a.example/s.xml
  agent       ABot
  verdict     denied
  reason      disallow_rule
  group       ABot
  rule        Disallow: /a  (2 bytes)
  at          line 5 of http://a.example/robots.txt
      >     5  Disallow: /a
  agent       CBot,BBot
  verdict     allowed
  reason      allow_rule
  group       *: no group names CBot,BBot; one names abot
  rule        Allow: /  (1 byte)
  at          line 2 of http://a.example/robots.txt
      >     2  Allow: /
  agent       *
  verdict     allowed
  reason      allow_rule
  group       *
  rule        Allow: /  (1 byte)
  at          line 2 of http://a.example/robots.txt
      >     2  Allow: /
`
	must.Equal(t, b.String(), want)
}

// Agents that obey one group share what is said of it: a hostile one has many lines. What is left
// to explain ends with the context.
func TestManyAgents(t *testing.T) {
	b := newBody(ruleset.Source{Text: []byte(strings.Repeat("User-agent: *\nAllow: /\n", 9))}, robotstxt.RFC9309)
	one, other := b.group(matcher.Chain{"ABot"}, nil), b.group(matcher.Chain{matcher.Everyone}, nil)
	must.Be(t, len(one.Lines) == 9 && &one.Lines[0] == &other.Lines[0] && one.Why == everyonesGroup && other.Why == namedGroup, "%+v and %+v", one, other)
	t.Chdir(t.TempDir())
	must.WriteFile(t, "robots/a.example", "User-agent: *\nAllow: /\n")
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := errors.New("ended")
	cancel(ended)
	must.Is(t, must.Err(New(open(t, ruleset.Options{Sources: []string{"robots"}}), Options{Chains: chains}).URL(ctx, "https://a.example/")), ended)
}

// TestBytes: JSON has bytes that are not UTF-8 as %XX.
func TestBytes(t *testing.T) {
	t.Chdir(t.TempDir())
	must.WriteFile(t, "robots/a.example", "User-agent: A\xE9\nNoise\xE9:\nUser-agent: A\nDisallow: /\xE9\n")
	e := New(open(t, ruleset.Options{Sources: []string{"robots"}, Chains: chains}), Options{Chains: chains})
	var object strings.Builder
	must.Do(t, must.Get(e.URL(t.Context(), "https://a.example/\xE9"))(t).WriteJSON(&object))
	got := object.String()
	must.Be(t, !strings.Contains(got, `\ufffd`) && strings.Contains(got, `{"url":"https://a.example/%E9","authority":"https://a.example","path":"/%E9"`), "%v", got)
}

// TestJoinedGroups: a record that is neither user-agent nor rule ends no group, and it is
// said which one; a rule ends the list.
func TestJoinedGroups(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"User-agent: *\nCrawl-delay: 10\nUser-agent: 008\nDisallow: /\n", "joined with the group of line 3: Crawl-delay (line 2) does not end a group"},
		{"User-agent: *\n# x: y\nSitemap: https://a.example/s\nNoise: 1\nUser-agent: 008\nDisallow: /\n", "joined with the group of line 5: Sitemap (line 3) does not end a group"},
		{"User-agent: *\nUser-agent: 008\nCrawl-delay: 10\nDisallow: /\n", ""},
		{"User-agent: *\nCrawl-delay: 10\nDisallow: /\nUser-agent: 008\nDisallow: /\n", ""},
		{"User-agent: x\nCrawl-delay: 10\nUser-agent: 008\nDisallow: /\nUser-agent: *\nDisallow: /\n", ""},
	} {
		b := newBody(ruleset.Source{Text: []byte(test.text)}, robotstxt.RFC9309)
		u := URL{Agents: []Agent{{Agent: "ABot", Group: b.group(matcher.Chain{"ABot"}, nil)}}}
		var text, object strings.Builder
		must.Do(t, u.WriteText(&text, Style{}))
		must.Do(t, u.WriteJSON(&object))
		must.Be(t, (test.want != "" || !strings.Contains(text.String(), "joined")) && strings.Contains(text.String(), test.want),
			"%q:\n%s\nwant %q", test.text, text.String(), test.want)
		must.Be(t, strings.Contains(object.String(), `"joined":[{"record":`) == (test.want != ""), "%q: %s", test.text, object.String())
	}
}
