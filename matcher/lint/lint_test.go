package lint

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher/reference"
	"robotsbatch/matcher/robotstxt"
)

// TestCatalogue: the bad example of each code has a finding with that code, and the good
// one has no findings.
func TestCatalogue(t *testing.T) {
	for _, code := range Codes() {
		bad := Body(code.Bad, Options{})
		i := slices.IndexFunc(bad.Findings, func(f Finding) bool { return f.Code == code.Name })
		if i < 0 {
			t.Errorf("%s: the bad example has only %v", code.Name, bad.Findings)
		} else if bad.Findings[i].Severity != code.Severity {
			t.Errorf("%s: %v", code.Name, bad.Findings[i])
		}
		good := Body(code.Good, Options{})
		must.Be(t, len(good.Findings) == 0, "%s: the good example has %v", code.Name, good.Findings)
		must.Be(t, len(code.Summary()) >= 20, "%s: %q", code.Name, code.Summary())
	}
}

// TestCodesAreUsed: the codes in the program and in the catalogue are the same.
func TestCodesAreUsed(t *testing.T) {
	used := make(map[string]bool)
	for _, file := range []string{"body.go", "lines.go", "groups.go", "agents.go", "patterns.go", "site.go", "statements.go", "crawlers.go"} {
		text := must.Get(os.ReadFile(file))(t)
		for _, m := range regexp.MustCompile(`(?:add|addRelated|addAgent|checkURL)\("([a-z0-9-]+)"`).FindAllStringSubmatch(string(text), -1) {
			used[m[1]] = true
			must.Be(t, slices.Contains(CodeNames(), m[1]), "%s: %s is not in the catalogue", file, m[1])
		}
	}
	for _, code := range Codes() {
		must.Be(t, used[code.Name], "nothing finds %s", code.Name)
	}
}

// where formats the findings as "line:column code(profile)".
func where(r Report) string {
	var found []string
	for _, f := range r.Findings {
		text := fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Code)
		if f.Profile != "" {
			text += "(" + f.Profile + ")"
		}
		if f.Related > 0 {
			text += fmt.Sprintf(">%d", f.Related)
		}
		found = append(found, text)
	}
	return strings.Join(found, ", ")
}

// TestBody checks positions, profiles and related lines.
func TestBody(t *testing.T) {
	for _, test := range []struct{ body, want string }{
		{"", ""},
		{"User-agent: *\n  Disallow: private # x", "2:13 missing-slash"},
		{"User-agent: *\nDisallow é\nDisallow: /é x", "2:1 missing-colon, 2:10 missing-slash, 3:13 blank-in-pattern"},
		{"User-agent: *\nDisallowed: /a\nDisallow: /a", "2:1 record-with-more, 3:1 duplicate-rule(google)>2"},
		{"Useragents: *\nDissallowed: /a\nHosts: a", "1:1 record-with-more, 2:1 record-with-more, 3:1 unknown-record"},
		{"User-agent: *\nDisallow: https://example.com/a", "2:11 missing-slash"},
		{"User-agent: *\nDisallow: private secret/\nDisallow: a\t/b", "2:11 missing-slash, 2:18 blank-in-pattern, 3:11 missing-slash, 3:12 blank-in-pattern"},
		{"User-agent: *\nDisallow: /robots.txt$\nDisallow: /robots.txt", "2:1 dead-rule(rfc9309)"},
		{"User-agent: *\nDisallow: /%72obots.txt$\nAllow: /robots.txt", "2:1 dead-rule(rfc9309), 2:12 escape-as-written(google)"},
		{"User-agent: 008\nDisallow: /", "1:13 agent-beyond-grammar(google)"},
		{"User-agent: MJ12bot v1\nDisallow: /", "1:13 agent-with-blanks(google), 1:13 agent-with-blanks(rfc9309)"},
		{"User-agent: Mediapartners-Google*\nDisallow:", "1:13 agent-with-more"},
		{"User-agent:\nDisallow: /", "1:12 agent-names-nobody"},
		{"User-agent: A\nAllow: /x\nUser-agent: B\nDisallow: /x\nUser-agent: A\nDisallow: /x", "5:13 split-group>1, 6:1 dead-rule>2"},
		{"User-agent: A\nUser-agent: B\nDisallow: /x\nUser-agent: A\nAllow: /x", "4:13 split-group>1"}, // it decides for B
		{"User-agent: a\nSitemap: x:y\nsitemap:\nDisallow:", "2:10 relative-sitemap, 3:1 relative-sitemap"},
		{"User-agent: *\nDisallow: /\xE9 # \xE9\n# \xE9", "2:12 not-utf8"},
		{"User-agent: *\nDisallow: /%7e%4", "2:12 escape-as-written(google), 2:15 broken-escape(rfc9309)"},
		{"User-agent: Googlebot\nCrawl-delay: x\nDisallow: /", "1:13 group-of-others, 2:1 crawl-delay-google, 2:14 crawl-delay-value"},
		{"User-agent: * all\nDisallow:\n\nUser-agent: Mozilla/5.0 (compatible; one two)\nDisallow:", "1:13 agent-with-more, 4:13 agent-header"},
		{"User-agent: A, B bot\nDisallow:", "1:13 agent-with-blanks"},
		{"User-agent: " + strings.Repeat("é", 100) + "\nDisallow:", "1:13 agent-names-nobody"},
		{"License:\nLicense: https://a.example/l.xml\nnofollow: /x\nHostname: a", "1:1 relative-license, 3:1 meta-tag, 4:1 unknown-record"},
		{"User-agent: *\nDisallow\nAllow: /\n:x", "2:1 broken-record, 4:1 empty-key"},
		{"User-agent: *\nDisallow: /x\n\nUser-agent: a\nUser-agent: b\nUser-agent: c", "4:13 group-without-rules"},
		{"User-agent: *\nDisallow: /x\n\nUser-agent: A2\nDisallow: /\n\nUser-agent: A", "4:13 agent-beyond-grammar(google), 7:13 split-group(google)>4"},
		{"User-agent: msnbot\nDisallow:\n\nUser-agent: bingbot2.0\nUser-agent: *\nDisallow: /", "4:13 agent-beyond-grammar(google), 6:1 site-closed"},
		{"User-agent: *\nContent-Usage: /a  train-ai=n, ai=n, search=x", "2:32 usage-unknown-key, 2:38 usage-value"},
		{"User-agent: *\nContent-Usage: train-ai=n,\nContent-Usage:", "2:27 usage-syntax, 3:1 usage-without-statement"},
		{"User-agent: *\nContent-Signal: search=yes, x , ai-train=no", "2:29 signal-ignored"},
		{"User-agent: a\n Content-Usage: train-ai=n\nContent-Signal: search=no\nUser-agent: b\nDisallow: /", "2:2 statement-between-agents>4"},
		// Another agent's group states it for that path: that is nothing to this one.
		{"User-agent: a\nContent-Usage: train-ai=n\nContent-Usage: /x ai-use=y\nDisallow: /q\n\nUser-agent: b\nContent-Usage: train-ai=y\nContent-Usage: /x train-ai=n\nDisallow: /q", "3:1 statement-hides>2"},
		{"User-agent: a\nContent-Usage: /a/ train-ai=n\nContent-Usage: /a/b/ search=n\nContent-Usage: /a/b/c train-ai=y, search=y", "3:1 statement-hides>2"},
		{"User-agent: a\nContent-Usage: train-ai=n\nContent-Usage: /a search=y\nDisallow: /b\nUser-agent: A\nContent-Usage: /a train-ai=n", "5:13 split-group>1"},
		{"User-agent: a\nContent-Usage: train-ai=n\nContent-Usage: /a search=y, ai=n", "3:29 usage-unknown-key"},
		{"User-agent: a\nContent-Signal: search=no\nContent-Signal: / ai-train=no, search=no", "2:1 statement-never-decides>3"},
		{"User-agent: a\nContent-Usage: /a train-ai=n\nContent-Usage: /a search=n\nContent-Usage: /a/b search=n, train-ai=y\nLicense: urn:x:y", ""},
		{"Content-usage: train-ai=n\nContent-useage: x", "1:1 statement-before-group, 2:1 unknown-near-record"},
		{"# \xFF\xFE\nUser-agent: *\nContent-Signal: ai-train=no\nHost: a.example\nDisallow:", ""},
	} {
		must.Equal(t, where(Body([]byte(test.body), Options{})), test.want, test.body)
	}
}

// TestSites: what closes or opens a whole site is found, and what only looks so is not.
func TestSites(t *testing.T) {
	for _, test := range []struct{ body, want string }{
		{"User-agent: *\nDisallow: /#!/ ", "2:12 comment-in-pattern"},
		{"User-agent: *\nDisallow: /a#b", "2:13 comment-in-pattern"},
		{"User-agent: *\nAllow: /#!/\nDisallow: /a#a comment\nDisallow: /b #c", ""},
		{"User-agent: *\nAllow: /\n\nUser-agent: *\nDisallow: /", "4:13 split-group>1, 5:1 closing-never-decides>2"},
		{"User-agent: *\nAllow: /*\nDisallow: *", "3:1 closing-never-decides>2"},
		{"User-agent: *\nAllow: /a*\nDisallow: /a\nDisallow: /b", "3:1 dead-rule>2"},
		{"User-agent: A\nDisallow: /\n\nUser-agent: *\nAllow: /", ""}, // it decides for A
		{"User-agent: *\nDisallow: /", "2:1 site-closed"},
		{"User-agent: msnbot\nDisallow:\n\nUser-agent: *\nDisallow: /", "1:13 group-of-others, 5:1 site-closed"},
		{"User-agent: msnbot\nUser-agent: bingbot\nDisallow: /a\nDisallow: ", ""},
		{"User-agent: bingbot\nUser-agent: *\nCrawl-delay: 1\nDisallow: *\nDisallow:", "4:1 site-closed, 5:1 empty-disallow>4"},
		{"User-agent: *\nDisallow: /a\nDisallow: /*", "3:1 site-closed"},
		{"User-agent: *\nDisallow: /\nAllow: /a", ""},
		{"User-agent: A\nDisallow: /", ""},
		{"User-agent: *\nDisallow: /\nSitemap: https://a.example/s.xml", "2:1 site-closed"},
		{"Sitemap: https://a.example/a/s.xml\nsite-map: /a/s.xml\nUser-agent: *\nDisallow: /a/", "1:10 sitemap-closed>4, 2:11 relative-sitemap"},
		{"Sitemap: https://a.example/a/s.xml\nUser-agent: *\nDisallow: /a/\nAllow: /*.xml", ""},
		{"Sitemap: https://a.example/a/s.xml\nUser-agent: A\nDisallow: /a/", ""},
	} {
		report := Body([]byte(test.body), Options{})
		report.Findings = slices.DeleteFunc(report.Findings, func(f Finding) bool { return f.Code == "misspelt-record" })
		must.Equal(t, where(report), test.want, test.body)
	}
}

// TestCharacters: characters that nobody sees or means are found in patterns and names.
func TestCharacters(t *testing.T) {
	for _, test := range []struct{ body, want string }{
		{"User-agent: A\u200B\nDisallow: /é\u00A0", "1:14 invisible-character, 2:13 invisible-character"},
		{"User-agent: *\nDisallow: /\u0645\u200C\u0646", ""}, // Persian has it within words
		{"User-agent: *\nDisallow: /%E2%80%8B # \u200B", ""},
		{"User-agent: *\nDisallow: /\xFF&lt;a&gt;", "2:12 not-utf8, 2:13 html-entity, 2:18 html-entity"},
		{"User-agent: A&amp;B\nDisallow: /*&amp=", "1:13 agent-with-more, 1:14 html-entity"},
		{"User-agent: A\nCrawl-delay: 599.9\nCrawl-delay: 600\nDisallow:", "3:14 crawl-delay-large"},
	} {
		must.Equal(t, where(Body([]byte(test.body), Options{})), test.want, test.body)
	}
}

// TestOtherNames: names that no crawler has are found with those that were meant.
func TestOtherNames(t *testing.T) {
	for name, want := range map[string]string{
		"ChatGPT": "GPTBot, ChatGPT-User or OAI-SearchBot", "openai": "GPTBot, ChatGPT-User or OAI-SearchBot",
		"Claude": "ClaudeBot, Claude-User or anthropic-ai", "Google-Extend": "Google-Extended",
		"ChatGPT-User": "", "ClaudeBot": "", "Google-Extended": "", "anthropic-ai": "",
	} {
		report := Body([]byte("User-agent: "+name+"\nDisallow: /"), Options{})
		found := len(report.Findings) == 1 && report.Findings[0].Code == "agent-other-name" && strings.HasSuffix(report.Findings[0].Message, "was "+want+" meant?")
		must.Be(t, found == (want != "") && (want != "" || len(report.Findings) == 0), "%s: %v, want %q", name, report.Findings, want)
	}
}

// TestJoinedGroups: a join that changes a verdict is an error, any other one a warning.
func TestJoinedGroups(t *testing.T) {
	for body, want := range map[string]string{
		"User-agent: *\nCrawl-delay: 10\nUser-agent: abot\nDisallow: /":                                     "joined-verdicts",
		"User-agent: a\nCrawl-delay: 10\nUser-agent: b\nDisallow: /x":                                       "joined-verdicts",
		"User-agent: a\nCrawl-delay: 10\nUser-agent: b\nAllow: /x":                                          "joined-groups",
		"User-agent: a\nCrawl-delay: 10\nUser-agent: b\nDisallow: /\n\nUser-agent: a\nDisallow: /":          "joined-groups",
		"User-agent: a\nCrawl-delay: 10\nUser-agent: b\nDisallow: /x\n\nUser-agent: a\nAllow: /x\nAllow: /": "joined-groups",
		"User-agent: a\nCrawl-delay: 10\nDisallow:\nUser-agent: b\nDisallow: /":                             "",
		"User-agent: *\nSitemap: https://a.example/s.xml\nUser-agent: abot\nDisallow: /":                    "joined-verdicts",
		"User-agent: a\nHost: a.example\nUser-agent: b\nDisallow: /x":                                       "joined-verdicts",
		"User-agent: a\nnoindex: /x\nUser-agent: b\nAllow: /x":                                              "joined-groups",
		"User-agent: a\n# Sitemap: x\n\nno colon\nUser-agent: b\nDisallow: /":                               "",
	} {
		got := ""
		for _, f := range Body([]byte(body), Options{}).Findings {
			if strings.HasPrefix(f.Code, "joined-") {
				got = f.Code
			}
		}
		must.Equal(t, got, want, body)
	}
}

// TestMisspelt: typing errors of known names are found, and other crawlers' similar names
// are not.
func TestMisspelt(t *testing.T) {
	for name, want := range map[string]string{
		"GTPBot": "GPTBot", "gptbott": "GPTBot", "CluadeBot": "ClaudeBot", "Googlbot": "Googlebot", "googlebot_news": "Googlebot-News",
		"GPTBot": "", "googlebot": "", "Alexibot": "", "msrbot": "", "Roverbot": "", "CherryPickerSE": "", "CCBt": "", "NPBot-1": "", "xGPTBot": "",
	} {
		report := Body([]byte("User-agent: "+name+"\nDisallow: /"), Options{})
		i := slices.IndexFunc(report.Findings, func(f Finding) bool { return f.Code == "agent-misspelt" })
		must.Be(t, (i >= 0) == (want != "") && (i < 0 || strings.Contains(report.Findings[i].Message, "was "+want+" meant?")),
			"%s: %v, want %q", name, report.Findings, want)
	}
}

// TestMessages: a header's token is named, and long values are cut.
func TestMessages(t *testing.T) {
	for value, want := range map[string]string{
		"Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)":                  `names "Mozilla": give the product token, "GPTBot"`,
		"Mozilla/5.0 (X11) AppleWebKit/5 (KHTML, like Gecko; compatible; a-new-Spider/1.0)": `give the product token, "a-new-Spider"`,
		"Mozilla/4.0 (compatible; MSIE 4.0; Robot)":                                         `give the product token alone`,
		"A\nDisallow: /%61":      `compares %61 as %61: the rule does not match URLs with another spelling of it, such as "a"`,
		strings.Repeat("é", 100): `"` + strings.Repeat("é", 60) + `…" names no crawler`,
		"A\nCrawl-delay: 43200":  "with a crawl-delay of 43200 seconds a crawler fetches at most 2 pages a day",
		"A\nCrawl-delay: 86400":  "with a crawl-delay of 86400 seconds a crawler fetches at most one page a day",
		"A\nCrawl-delay: 86401":  "with a crawl-delay of 86401 seconds a crawler fetches less than one page a day",
	} {
		report := Body([]byte("User-agent: "+value+"\nDisallow: /"), Options{})
		must.Be(t, len(report.Findings) != 0 && strings.Contains(report.Findings[0].Message, want), "%s: %v, want %s", value, report.Findings, want)
	}
}

// TestIgnoredStatements: what is called ignored says nothing of any use by the reference, and what
// is called unreadable is.
func TestIgnoredStatements(t *testing.T) {
	uses := []string{"train-ai", "ai-use", "search", "ai-train", "ai-input", "use"}
	for _, line := range []string{
		"Content-Usage: x=1", "Content-Usage: ai=y", "Content-Usage: ai=n", "Content-Usage: train-genai=n", "Content-Usage: train-ai=no", "Content-Usage: search=n;",
		"Content-Signal: train-ai=no", "Content-Signal: ,", "Content-Signal: x", "Content-Signal: ai-train=false", "Content-Signal: search: yes", "Content-Signal: use=x",
	} {
		body := []byte("User-agent: *\n" + line)
		directive, _, _ := strings.Cut(strings.ToLower(line), ":")
		said := reference.Preferences(body, directive, uses, []string{"a"}, "/", reference.RFC9309)
		message := Body(body, Options{}).Findings[0].Message
		must.Equal(t, strings.Contains(message, "is ignored"), len(said) == 0, line, message)
		must.Equal(t, strings.Contains(message, "cannot be read") || strings.Contains(message, "unreadable"), len(said) > 0, line, message)
		for _, key := range []string{"train-ai", "ai-use"} {
			must.Equal(t, strings.Contains(message, "makes") && strings.Contains(message[strings.Index(message, "makes"):], key), strings.Contains(message, "makes") && said[key] != "", line, message)
		}
	}
}

// TestDeadLinesNeverDecide: a line that is called dead, redundant, a duplicate or unknown
// decides nothing for any agent. Random files are compared with the reference, under the profiles
// of the finding.
func TestDeadLinesNeverDecide(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	var paths []string
	for _, first := range []string{"/", "/a", "/b", "/ab", "/a/b", "/%61", "/a!"} {
		for _, rest := range []string{"", "a", "b", "/", "/a", "?", "?a", "?a=/b", "?a=%2Fb", "!", "index.html", ".txt"} {
			paths = append(paths, first+rest)
		}
	}
	profiles := map[string]reference.Profile{"rfc9309": reference.RFC9309, "google": reference.Google}
	dead := 0
	for range 1500 {
		var b strings.Builder
		for range 1 + r.IntN(3) {
			fmt.Fprintf(&b, "User-agent: %s\n", pick("*", "A", "B"))
			for range r.IntN(6) {
				b.WriteString(pick("Allow: ", "Disallow: ", "Disallowed: ", "Dissallowed: ") + pick("/", "/", "*") + pick("", "a", "a*", "*b", "%61") + pick("", "b", "$", "?", "/index.html") + "\n")
			}
		}
		body := []byte(b.String())
		for _, f := range Body(body, Options{}).Findings {
			if !slices.Contains([]string{"closing-never-decides", "dead-rule", "redundant-rule", "duplicate-rule", "unknown-record", "unknown-near-record"}, f.Code) {
				continue
			}
			dead++
			for name, profile := range profiles {
				if f.Profile != "" && f.Profile != name {
					continue
				}
				file := reference.Parse(body, profile, 0)
				for _, agent := range []string{"A", "B", "C"} {
					for _, path := range paths {
						if d := reference.Decide(file, []string{agent}, path, profile); d.Rule != "" && d.Line == f.Line {
							t.Fatalf("%s: %q decides %s for %s: %v in\n%s", name, d.Rule, path, agent, f, body)
						}
					}
				}
			}
		}
	}
	must.Be(t, dead >= 500, "only %d dead lines", dead)
}

// TestWarnings: each warning of the parser gives a finding.
func TestWarnings(t *testing.T) {
	for kind := robotstxt.UTF16Body; ; kind++ {
		if kind.String() == "warning(?)" {
			break
		}
		c := &checker{file: &robotstxt.File{}, isText: true, lines: [][]byte{[]byte("disalow x")}, limited: kind == robotstxt.BodyLimited}
		c.addWarning(robotstxt.Warning{Kind: kind, Line: min(1, int(kind/robotstxt.LineCut))})
		c.checkBody(nil, robotstxt.Options{})
		must.Be(t, len(c.found.report().Findings) != 0, "nothing is said of %v", kind)
	}
}

// Of a body that is no text, a pack has the finding that says so, though it is about no rule.
func TestPackedBodyIsNoText(t *testing.T) {
	for body, want := range map[string]string{"<html>": "html-body", "\x00\x01": "binary-body", "\xFE\xFF\x00x": "utf16-body"} {
		found := Body([]byte(body), Options{Packed: true}).Findings
		must.Be(t, len(found) == 1 && found[0].Code == want, "%q: %v, want %s alone", body, found, want)
	}
}

// TestErrorAfterMany: findings that are less serious, in whatever number, hide no error, and neither
// do errors under the other profile.
func TestErrorAfterMany(t *testing.T) {
	const google = "User-agentx: *\n" // a user-agent line to Google alone
	for name, test := range map[string]struct {
		body, want string
		options    Options
	}{
		"a line after many warnings of the parser": {body: "User-agent: *\n" + strings.Repeat("x\n", 30_000) + "Disallow: private\n", want: "30002:11 missing-slash"},
		"a rule after many notes":                  {body: "User-agent: *\n" + strings.Repeat("Allow:\n", 30_000) + "Allow: /b\xC2\xA0\n", want: "30002:10 invisible-character"},
		"a line after ignored ones":                {body: "User-agent: *\n" + strings.Repeat("x\n", 30_000) + "Disallow\n", want: "30002:1 broken-record", options: Options{Ignore: []string{"not-a-record"}}},
		"errors under one profile": {
			body: google + strings.Repeat("Disallow: /a\n", 30_000), want: "2:1 rule-before-group(rfc9309)", options: Options{Ignore: []string{"record-with-more"}},
		},
		"errors under the other profile first": {
			body: google + strings.Repeat("Disallow: /a\n", 500) + "User-agent: b\n" + strings.Repeat("x\n", 30_000) + "Disallow: c\n", want: "30503:11 missing-slash", options: Options{Ignore: []string{"record-with-more"}},
		},
	} {
		report := Body([]byte(test.body), test.options)
		must.Be(t, (len(report.Findings) == MaxFindings || name == "a line after ignored ones") && slices.Contains(strings.Split(where(report), ", "), test.want),
			"%s: %d findings, without %s", name, len(report.Findings), test.want)
		must.Be(t, slices.IsSortedFunc(report.Findings, func(a, b Finding) int { return a.Line - b.Line }), "%s: not in the order of the lines", name)
	}
}

// TestKept: of findings in any order the first ones are kept, in bounded memory, and the others
// counted.
func TestKept(t *testing.T) {
	var found findings
	const many = 10 * MaxFindings
	for i := range many {
		found.add(Finding{Line: (i*7919)%many + 1}) // each line once
		must.Need(t, len(found.kept) <= 2*MaxFindings, "%d are kept", len(found.kept))
	}
	found.trim()
	for i, f := range found.kept {
		must.Equal(t, f.Line, i+1)
	}
	must.Equal(t, len(found.kept)+found.more, many)
}

// TestHostile: a hostile body takes bounded memory; findings are capped and the rest
// counted.
func TestHostile(t *testing.T) {
	part := must.Short(5, 1)
	for name, body := range map[string]string{
		"lines":  strings.Repeat("x\n", 200_000/part),
		"colons": strings.Repeat("x:\n", 150_000/part),
		"rules":  "User-agent: *\n" + strings.Repeat("Disallow: x\n", 40_000/part),
		"agents": strings.Repeat("User-agent: x y\n", 30_000/part),
		"stars":  "User-agent: *\n" + strings.Repeat("Disallow: /*a*b*c\n", 20_000/part),
		"many":   manyRules(15_000 / part),
	} {
		report := Body([]byte(body), Options{})
		must.Be(t, len(report.Findings) <= MaxFindings && (len(report.Findings)+report.More >= MaxFindings || name == "many"),
			"%s: %d findings and %d more", name, len(report.Findings), report.More)
	}
}

// manyRules returns distinct rules with wildcards.
func manyRules(n int) string {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := range n {
		fmt.Fprintf(&b, "Disallow: /*a%d*b\n", i)
	}
	return b.String()
}

func FuzzBody(f *testing.F) {
	for _, code := range Codes() {
		if len(code.Bad) < 1000 {
			f.Add(code.Bad)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, finding := range Body(body, Options{}).Findings {
			lines := 0
			for range robotstxt.Lines(robotstxt.Text(body, robotstxt.Options{})) {
				lines++
			}
			if finding.Line < 1 || finding.Line > max(1, lines) || finding.Column < 1 || finding.Message == "" || strings.ContainsAny(finding.Message, "\n\r\x1b") {
				t.Errorf("%q: %+v", body, finding)
			}
		}
	})
}
