package matcher_test

// rfcCases are RFC 9309's own examples.
func rfcCases() []verdictCase {
	const simpleExample = "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\n" +
		"User-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n\n" +
		"User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\n" +
		"User-Agent: quxbot\n"
	const special = "User-agent: *\nallow: / # comment in line\n# comment on its own line\n" +
		"disallow: /this\nallow: /this/path/exactly$\nallow: /this/*/exactly\n"
	cases := []verdictCase{
		{
			name: "RFC_9309/figure_2_merged_groups", chain: "ExampleBot",
			body: "user-agent: ExampleBot\ndisallow: /foo\ndisallow: /bar\n\nuser-agent: ExampleBot\ndisallow: /baz\n",
			both: []string{
				"/foo → disallow 2 by ExampleBot: disallow: /foo", "/bar → disallow 3 by ExampleBot: disallow: /bar",
				"/baz → disallow 6 by ExampleBot: disallow: /baz", "/qux → no_rule_matched",
			},
		},
		{
			name: "RFC_9309/figure_3_no_matching_group", chain: "ExampleBot",
			body: "user-agent: *\ndisallow: /foo\ndisallow: /bar\n\nuser-agent: BazBot\ndisallow: /baz\n",
			both: []string{"/foo → disallow 2 by *: disallow: /foo", "/bar → disallow 3", "/baz → no_rule_matched"},
		},
		{
			name: "RFC_9309/figure_5_special_characters", body: special,
			both: []string{
				"/ → allow 2 by *: allow: /",
				"/other → allow 2",
				"/this → disallow 4",
				"/this/path/exactly → allow 5 by *: allow: /this/path/exactly$",
				"/this/path/exactly? → allow 6",
				"/this/path/exactl → disallow 4",
				"/this/a/b/exactly/c → allow 6 by *: allow: /this/*/exactly",
				"/this//exactly → allow 6",
				"/this/exactly → disallow 4",
			},
		},
		{
			name: "RFC_9309/figure_6_percent_encoding",
			body: "User-agent: *\nDisallow: /path/file-with-a-%2A.html\nDisallow: /path/foo-%24\n",
			rfc: []string{
				"https://www.example.com/path/file-with-a-*.html → disallow 2 by *: Disallow: /path/file-with-a-%2A.html",
				"https://www.example.com/path/file-with-a-%2a.html → disallow 2",
				"https://www.example.com/path/file-with-a-b.html → no_rule_matched",
				"https://www.example.com/path/foo-$ → disallow 3 by *: Disallow: /path/foo-%24",
				"https://www.example.com/path/foo-$bar → disallow 3",
				"https://www.example.com/path/foo- → no_rule_matched",
			},
		},
		{
			name: "RFC_9309/section_5.1_everyone", chain: "otherbot", body: simpleExample,
			both: []string{
				"/publications/a → allow 4", "/example/a → disallow 3", "/a.gif → disallow 2",
				"/a.gif?b → no_rule_matched", "/a.gif/b.gif → disallow 2", "/publications/a.gif → allow 4",
				"/ → no_rule_matched",
			},
		},
		{
			name: "RFC_9309/section_5.1_foobot", chain: "foobot", body: simpleExample,
			both: []string{
				"/example/page.html → allow 8", "/example/page.html?a → allow 8", "/example/allowed.gif → allow 9",
				"/example/ → disallow 7", "/publications/ → disallow 7", "/ → disallow 7 by foobot: Disallow:/",
			},
		},
		{
			name: "RFC_9309/section_5.1_barbot", chain: "barbot", body: simpleExample,
			both: []string{
				"/example/page.html → disallow 13 by barbot: Disallow: /example/page.html",
				"/example/page.htm → no_rule_matched",
				"/a.gif → no_rule_matched",
			},
		},
		{
			name: "RFC_9309/section_5.1_bazbot", chain: "bazbot", body: simpleExample,
			both: []string{
				"/example/page.html → disallow 13 by bazbot: Disallow: /example/page.html",
				"/example/allowed.gif → no_rule_matched",
			},
		},
		{
			name: "RFC_9309/section_5.1_quxbot", chain: "quxbot", body: simpleExample,
			both: []string{"/example/page.html → no_rule_matched", "/a.gif → no_rule_matched", "/ → no_rule_matched"},
		},
		{
			// The URI is the one of erratum 7124.
			name: "RFC_9309/section_5.2_longest_match",
			body: "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n",
			both: []string{
				"http://example.com/example/page/disallowed.gif → disallow 3",
				"http://example.com/example/page/disallow.gif → allow 2",
				"http://example.com/example/page/ → allow 2",
				"http://example.com/example/page → no_rule_matched",
			},
		},
	}
	return append(cases, figure4Cases()...)
}

// figure4Cases are RFC 9309's examples of escaped components: in each row, every spelling
// as a rule matches every spelling as a URL.
func figure4Cases() []verdictCase {
	var cases []verdictCase
	for _, row := range []struct {
		name      string
		spellings []string
		others    []string // paths that none of the spellings match as rules
	}{
		{"query", []string{"/foo/bar?baz=quz"}, []string{"/foo/bar", "/foo/bar%3Fbaz=quz"}},
		{
			"URL_in_a_query",
			[]string{"/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https%3a%2f%2ffoo.bar"},
			[]string{"/foo/bar?baz=https", "/foo%2Fbar?baz=https://foo.bar"},
		},
		{"beyond_ASCII", []string{"/foo/bar/\u30C4", "/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84"}, []string{"/foo/bar/\u30C3"}},
		{"unreserved", []string{"/foo/bar/%62%61%7A", "/foo/bar/baz", "/foo/bar/%62a%7a"}, []string{"/foo/bar/bar"}},
	} {
		for _, rule := range row.spellings {
			c := verdictCase{name: "RFC_9309/figure_4/" + row.name, body: "User-agent: *\nDisallow: " + rule}
			for _, path := range row.spellings {
				c.rfc = append(c.rfc, path+" → disallow 2 by *: Disallow: "+rule)
			}
			for _, path := range row.others {
				c.rfc = append(c.rfc, path+" → no_rule_matched")
			}
			cases = append(cases, c)
		}
	}
	return cases
}
