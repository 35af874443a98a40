package main

import (
	"os"
	"path/filepath"
	"testing"

	"robotsbatch/io/store/must"
)

func TestKind(t *testing.T) {
	tests := []struct {
		name    string
		body    string
		url     string
		path    string
		verdict byte // the peer's
		want    string
	}{
		{"no answer", "User-agent: *\nDisallow: /", "http://h/a", "/a", 2, noAnswer},
		{"robots.txt", "User-agent: *\nDisallow: /", "http://h/robots.txt", "/robots.txt", 0, robotsTxt},
		{"long crawl-delay", "User-agent: *\nCrawl-delay: 600\nDisallow: /b", "http://h/a", "/a", 0, longDelay},
		{"crawl-delay ends the list", "User-agent: CCBot\nCrawl-delay: 1\n\nUser-agent: other\nDisallow: /", "http://h/a", "/a", 1, delayEnds},
		{"fragment", "User-agent: *\nDisallow: /*media", "http://h/#media", "/", 0, fragment},
		{"dot segments", "User-agent: *\nDisallow: /b/", "http://h/a/../b/", "/a/../b/", 0, dots},
		{"escape in the URL", "User-agent: *\nAllow: /\nDisallow: /private", "http://h/%70rivate", "/%70rivate", 1, encoding},
		{"escape in the rule", "User-agent: *\nAllow: /\nDisallow: /~a%7Eb", "http://h/~a~b", "/~a~b", 1, encoding},
		{"raw character in the URL", "User-agent: *\nAllow: /\nDisallow: /a", "http://h/a b", "/a b", 1, encoding},
		{"shorter rule", "User-agent: *\nDisallow: /a\nAllow: /a/b", "http://h/a/b", "/a/b", 0, precedence},
		{"tie", "User-agent: *\nDisallow: /a\nAllow: /a", "http://h/a", "/a", 0, precedence},
		{"other groups", "User-agent: CCBot\nDisallow: /a\n\nUser-agent: *\nDisallow: /b", "http://h/a", "/a", 1, groups},
		{"wildcard", "User-agent: *\nDisallow: /*.gif$", "http://h/a.gif", "/a.gif", 1, wildcard},
		{"query", "User-agent: *\nDisallow: /a?b", "http://h/a?b", "/a?b", 1, query},
		{"other", "User-agent: *\nDisallow: /a", "http://h/a", "/a", 1, other},
	}
	dir := t.TempDir()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			must.Do(t, os.WriteFile(filepath.Join(dir, test.name), []byte(test.body), 0o666))
			r := row{test.name, test.url, test.path}
			j := must.Get(newJudge(dir, "CCBot", []row{r}))(t)
			d, rule := j.decision(r, 0)
			if test.verdict < 2 && d.Allowed == (test.verdict == 1) {
				t.Fatal("there is no disagreement")
			}
			must.Equal(t, j.kind(r, d, rule, test.verdict), test.want)
		})
	}
}
