package matcher_test

import "strings"

// groupCases test which groups an agent obeys (RFC 9309 §2.2.1).
func groupCases() []verdictCase {
	cases := []verdictCase{
		{
			name: "groups/consecutive_user_agent_lines_make_one", body: "User-agent: Bar\nUser-agent: FooBot\nUser-agent: Baz\nDisallow: /a\nDisallow: /b",
			both: []string{"/a → disallow 4 by FooBot: Disallow: /a", "/b → disallow 5"},
		},
		{
			name: "groups/first_rule_closes_the_list", body: "User-agent: FooBot\nDisallow: /a\nUser-agent: Bar\nDisallow: /b",
			both: []string{"/a → disallow 2", "/b → no_rule_matched"},
		},
		{name: "groups/an_allow_closes_the_list", body: "User-agent: FooBot\nAllow: /a\nUser-agent: Bar\nDisallow: /b", both: []string{"/b → no_rule_matched"}},
		{
			name: "groups/an_empty_rule_closes_the_list", body: "User-agent: FooBot\nDisallow:\nUser-agent: Bar\nDisallow: /b",
			both: []string{"/b → no_rule_matched"},
		},
		{
			name:  "groups/other_lines_never_close_the_list", // RFC 9309 §2.2.4
			body:  "User-agent: FooBot\nSitemap: https://h/s\nCrawl-delay: 1\nUnknown: x\n\n# comment\nnothing\nUser-agent: Bar\nDisallow: /a",
			chain: "FooBot", both: []string{"/a → disallow 9 by FooBot: Disallow: /a"},
		},
		{
			name: "groups/other_lines_never_end_a_group", body: "User-agent: FooBot\nDisallow: /a\nSitemap: https://h/s\n\n#\nDisallow: /b",
			both: []string{"/a → disallow 2", "/b → disallow 6"},
		},
		{
			name: "groups/an_empty_user_agent_starts_a_group", body: "User-agent: FooBot\nDisallow: /a\nUser-agent:\nDisallow: /b",
			both: []string{"/a → disallow 2", "/b → no_rule_matched"},
		},
		{name: "groups/an_empty_user_agent_joins_a_group", body: "User-agent: FooBot\nUser-agent:\nDisallow: /a", both: []string{"/a → disallow 3"}},
		{
			name: "groups/a_user_agent_that_is_nobody_starts_a_group", body: "User-agent: FooBot\nDisallow: /a\nUser-agent: *x\nDisallow: /b",
			both: []string{"/a → disallow 2", "/b → no_rule_matched"},
		},
		{
			name: "groups/a_user_agent_that_is_nobody_joins_a_group", body: "User-agent: ?\nUser-agent: FooBot\nDisallow: /a",
			both: []string{"/a → disallow 3 by FooBot: Disallow: /a"},
		},
		{
			name: "groups/merged_in_file_order", body: "User-agent: foobot\nAllow: /a\nUser-agent: *\nDisallow: /b\nUser-agent: FOOBOT\nDisallow: /c\nAllow: /a",
			both: []string{"/a → allow 2 by foobot: Allow: /a", "/b → no_rule_matched", "/c → disallow 6 by FOOBOT: Disallow: /c"},
		},
		{
			name: "groups/groups_for_everyone_are_merged", body: "User-agent: *\nDisallow: /a\nUser-agent: Bar\nDisallow: /b\nUser-agent: * all\nDisallow: /c",
			both: []string{"/a → disallow 2 by *: Disallow: /a", "/b → no_rule_matched", "/c → disallow 6 by * all: Disallow: /c"},
		},
		{
			name: "groups/groups_for_everyone_are_not_used_beside_a_group_without_rules", body: "User-agent: FooBot\n\nUser-agent: Bar\nDisallow:\n\nUser-agent: *\nDisallow: /\n",
			both: []string{"/ → no_rule_matched"},
		},
		{name: "groups/a_last_group_without_rules", body: "User-agent: *\nDisallow: /\nUser-agent: FooBot", both: []string{"/ → no_rule_matched"}},
		{
			name: "groups/one_that_lists_both_is_the_agents", body: "User-agent: *\nUser-agent: FooBot\nDisallow: /a\n\nUser-agent: *\nDisallow: /b",
			both: []string{"/a → disallow 3 by FooBot: Disallow: /a", "/b → no_rule_matched"},
		},
		{
			name: "groups/one_that_lists_both_is_for_everyone_else", body: "User-agent: *\nUser-agent: FooBot\nDisallow: /a\n\nUser-agent: *\nDisallow: /b",
			chain: "Bar", both: []string{"/a → disallow 3 by *: Disallow: /a", "/b → disallow 6"},
		},
		{name: "groups/none_for_the_agent_and_none_for_everyone", body: "User-agent: Bar\nDisallow: /", both: []string{"/ → no_group"}},
		{name: "groups/none_at_all", body: "Disallow: /", both: []string{"/ → no_group"}},
		{
			name: "groups/rules_before_the_first_are_ignored", body: "Disallow: /a\nUser-agent: *\nDisallow: /b",
			both: []string{"/a → no_rule_matched", "/b → disallow 3"},
		},
		{
			name: "groups/the_first_line_that_names_the_agent_is_reported", body: "User-agent: Bar\nUser-agent: foobot/1\nUser-agent: FooBot\nDisallow: /",
			both: []string{"/ → disallow 4 by foobot/1: Disallow: /"},
		},
		{
			name: "groups/the_first_line_that_means_everyone_is_reported", body: "User-agent: Bar\nUser-agent: * 1\nUser-agent: *\nDisallow: /",
			both: []string{"/ → disallow 4 by * 1: Disallow: /"},
		},
	}
	cases = append(cases, chainCases()...)
	cases = append(cases, nameCases()...)
	return append(cases, everyoneCases()...)
}

func chainCases() []verdictCase {
	const body = "User-agent: Googlebot\nDisallow: /a\nUser-agent: Googlebot-News\nDisallow: /b\nUser-agent: *\nDisallow: /c"
	return []verdictCase{
		{
			name: "groups/chain/first_name_with_a_group_decides", chain: "Googlebot-News,Googlebot", body: body,
			both: []string{"/a → no_rule_matched", "/b → disallow 4 by Googlebot-News: Disallow: /b", "/c → no_rule_matched"},
		},
		{
			name: "groups/chain/second_name_when_the_first_has_none", chain: "Googlebot-Image,Googlebot", body: body,
			both: []string{"/a → disallow 2 by Googlebot: Disallow: /a", "/b → no_rule_matched", "/c → no_rule_matched"},
		},
		{
			name: "groups/chain/everyone_after_all", chain: "Bar,Baz", body: body,
			both: []string{"/a → no_rule_matched", "/b → no_rule_matched", "/c → disallow 6 by *: Disallow: /c"},
		},
		{
			name: "groups/chain/a_group_without_rules_decides", chain: "Bar,Googlebot", body: body + "\nUser-agent: Bar",
			both: []string{"/a → no_rule_matched", "/c → no_rule_matched"},
		},
		{name: "groups/chain/everyone_alone", chain: "*", body: body, both: []string{"/a → no_rule_matched", "/c → disallow 6"}},
		{name: "groups/chain/nobody", chain: "Bar,Baz", body: "User-agent: FooBot\nDisallow: /", both: []string{"/ → no_group"}},
	}
}

// nameCases test which values of user-agent lines name an agent.
func nameCases() []verdictCase {
	named, other := []string{"/a → disallow 2"}, []string{"/a → no_group"}
	var cases []verdictCase
	for _, c := range []struct {
		name, agent, value string
		rfc, google        []string
	}{
		{"case", "FooBot", "fOObOT", named, named},
		{"version", "FooBot", "FooBot/2.1", named, named},
		{"two_words", "FooBot", "FooBot 7", named, named},
		{"star_behind", "FooBot", "FooBot*", named, named},
		{"digit_behind", "FooBot", "FooBot7", named, named},
		{"beyond_ASCII_behind", "FooBot", "FooBotü", named, named},
		{"letters_hyphen_underscore", "Foo_Bot-x", "foo_bot-X.1", named, named},
		{"letters_are_A_to_Z", "zebra-a_Z", "ZebrA-a_z7", named, named},
		{"star_before", "bot", "*bot*", other, other},
		{"shorter", "foobot", "foo", other, other},
		{"longer", "foo", "foobot", other, other},
		{"hyphen_is_of_the_name", "Googlebot", "Googlebot-News", other, other},
		{"other_before", "FooBot", "My FooBot", other, other},
		{"quoted", "FooBot", "\"FooBot\"", other, other},
		{"digits/alone", "008", "008", named, other},
		{"digits/at_the_start", "360Spider", "360spider", named, other},
		{"digits/inside", "MJ12bot", "MJ12bot", named, other},
		{"digits/inside_with_version", "img2dataset", "img2dataset/1.45", named, other},
		{"digits/up_to_SP", "MJ12bot", "MJ12bot v1", named, other},
		{"digits/up_to_TAB", "MJ12bot", "MJ12bot\tv1", named, other},
		{"digits/up_to_VT", "MJ12bot", "MJ12bot\vv1", named, other},
		{"digits/up_to_FF", "MJ12bot", "MJ12bot\fv1", named, other},
		{"digits/not_up_to_a_star", "MJ12bot", "MJ12bot*", other, other},
		{"digits/letters_before_them", "MJ", "MJ12bot", named, named},
		{"digits/longer", "MJ1", "MJ12bot", other, other},
	} {
		cases = append(cases, verdictCase{
			name: "groups/name/" + c.name, body: "User-agent: " + c.value + "\nDisallow: /a", chain: c.agent,
			rfc: c.rfc, google: c.google,
		})
	}
	for _, char := range "@[`{.0123456789*" { // the neighbours of letters in ASCII, and more
		cases = append(cases, verdictCase{
			name: "groups/name/no_letter/" + string(char), body: "User-agent: FooBot" + string(char) + "\nDisallow: /a", both: named,
		})
	}
	return append(cases, verdictCase{
		name: "groups/name/both_kinds_of_match_merge", chain: "Foo2",
		body: "User-agent: Foo2/a\nDisallow: /a\nUser-agent: *\nDisallow: /b\nUser-agent: foo2 x\nDisallow: /c\nUser-agent: Foo\nDisallow: /d",
		rfc:  []string{"/a → disallow 2", "/b → no_rule_matched", "/c → disallow 6", "/d → no_rule_matched"},
		google: []string{
			"/a → no_rule_matched", "/b → disallow 4", "/c → no_rule_matched", "/d → no_rule_matched",
		},
	}, verdictCase{
		name: "groups/name/by_prefix_and_by_word", chain: "Foo",
		body: "User-agent: Foo2\nDisallow: /a\nUser-agent: Foo/2\nDisallow: /b",
		both: []string{"/a → disallow 2 by Foo2: Disallow: /a", "/b → disallow 4 by Foo/2: Disallow: /b"},
	})
}

// everyoneCases test which values of user-agent lines mean everyone.
func everyoneCases() []verdictCase {
	named, other := []string{"/a → disallow 2"}, []string{"/a → no_group"}
	var cases []verdictCase
	for _, c := range []struct {
		name, value string
		both        []string
	}{
		{"star_alone", "*", named},
		{"star_SP", "* all of you", named},
		{"star_TAB", "*\tall", named},
		{"star_VT", "*\vall", named},
		{"star_FF", "*\fall", named},
		{"star_and_a_letter", "*all", other},
		{"two_stars", "**", other},
		{"star_and_version", "*/1.0", other},
		{"word_and_star", "all *", other},
		{"nothing", "", other},
	} {
		for _, chain := range []string{"*", "FooBot"} {
			cases = append(cases, verdictCase{
				name: "groups/everyone/" + c.name, body: "User-agent: " + c.value + "\nDisallow: /a", chain: chain, both: c.both,
			})
		}
	}
	return cases
}

// ruleCases test which rule decides (RFC 9309 §2.2.2, §2.2.3).
func ruleCases() []verdictCase {
	both := func(name, rules string, expectations ...string) verdictCase {
		return verdictCase{name: "rules/" + name, body: atEveryone + strings.ReplaceAll(rules, "; ", "\n"), both: expectations}
	}
	return append([]verdictCase{
		both("first_byte", "Disallow: /a", "/a → disallow 2", "/ab → disallow 2", "/a/b → disallow 2", "/b/a → no_rule_matched", "/ → no_rule_matched"),
		both("path_and_query", "Disallow: /a?b", "/a?b → disallow 2", "/a?bc → disallow 2", "/a → no_rule_matched", "/a/?b → no_rule_matched"),
		both("case_sensitive", "Disallow: /Ab", "/Ab → disallow 2", "/ab → no_rule_matched", "/AB → no_rule_matched"),
		both("star/any_run", "Disallow: /a*c", "/abc → disallow 2", "/ab/b?b&bc → disallow 2", "/ab → no_rule_matched"),
		both("star/empty_run", "Disallow: /a*b", "/ab → disallow 2", "/aab → disallow 2"),
		both("star/slash_too", "Disallow: /*/b", "/a/c/b → disallow 2", "/b → no_rule_matched", "//b → disallow 2"),
		both("star/at_the_start", "Disallow: *b", "/b → disallow 2", "/a/b → disallow 2", "/a → no_rule_matched"),
		both("star/at_the_end", "Disallow: /a*", "/a → disallow 2", "/ab → disallow 2"),
		both("star/several", "Disallow: /*a*b*c$", "/xaxbxc → disallow 2", "/abcabc → disallow 2", "/acb → no_rule_matched", "/abcd → no_rule_matched"),
		both("star/goes_back", "Disallow: /*aab", "/aaab → disallow 2", "/aabaab → disallow 2", "/abab → no_rule_matched"),
		both("dollar/end", "Disallow: /a$", "/a → disallow 2", "/ab → no_rule_matched", "/a? → no_rule_matched", "/a$ → no_rule_matched"),
		both("dollar/after_a_star", "Disallow: /a*.php$", "/a.php → disallow 2", "/ab.php → disallow 2", "/a.php.php → disallow 2", "/a.php? → no_rule_matched"),
		both("dollar/itself_elsewhere", "Disallow: /a$b", "/a$b → disallow 2", "/a$bc → disallow 2", "/a → no_rule_matched"),
		both("dollar/itself_before_a_star", "Disallow: /a$*", "/a$ → disallow 2", "/a$b → disallow 2", "/a → no_rule_matched"),
		both("dollar/two", "Disallow: /a$$", "/a$ → disallow 2", "/a → no_rule_matched", "/a$$ → no_rule_matched"),
		both("dollar/alone", "Disallow: $", "/ → no_rule_matched"),
		both("dollar/root", "Disallow: /$", "/ → disallow 2", "/a → no_rule_matched"),
		both("longest/most_bytes", "Disallow: /a; Allow: /ab; Disallow: /abc", "/a → disallow 2", "/ab → allow 3", "/abc → disallow 4"),
		both("longest/order_does_not_matter", "Disallow: /abc; Allow: /ab; Disallow: /a", "/a → disallow 4", "/ab → allow 3", "/abc → disallow 2"),
		both("longest/star_counts", "Allow: /fish; Disallow: /fish*", "/fish → disallow 3", "/fishy → disallow 3"),
		both("longest/every_star_counts", "Allow: /a*b; Disallow: /a**b", "/ab → disallow 3", "/axb → disallow 3"),
		both("longest/dollar_counts", "Allow: /; Disallow: *$", "/ → disallow 3", "/x → disallow 3"),
		both("longest/star_ties_with_slash", "Disallow: *; Allow: /", "/ → allow 3", "/x → allow 3"),
		both("longest/length_of_the_pattern_counts", "Disallow: /a*; Allow: /ab", "/abcdef → allow 3", "/acdefg → disallow 2"),
		both("longest/wildcard_may_beat_literal", "Allow: /page; Disallow: /*.htm", "/page.htm → disallow 3", "/page → allow 2"),
		both("equal_length/allow_wins", "Disallow: /ab; Allow: /ab", "/ab → allow 3 by *: Allow: /ab"),
		both("equal_length/allow_wins_first_too", "Allow: /a*; Disallow: /ab", "/ab → allow 2"),
		both("equal_length/first_line_is_reported", "Disallow: /ab; Disallow: /a*; Disallow: /ab", "/ab → disallow 2", "/ac → disallow 3"),
		both("equal_length/first_allow_is_reported", "Disallow: /ab; Allow: /a*; Allow: /ab", "/ab → allow 3"),
		both("empty/disallow_matches_nothing", "Disallow:", "/ → no_rule_matched", "/a → no_rule_matched"),
		both("empty/allow_matches_nothing", "Allow:; Disallow: /", "/ → disallow 3"),
		both("empty/blanks_are_empty", "Disallow: \t", "/ → no_rule_matched"),
		{name: "rules/empty/its_group_still_exists", body: "User-agent: FooBot\nDisallow:\n\nUser-agent: *\nDisallow: /", both: []string{"/ → no_rule_matched"}},
		both("neither_slash_nor_star/never_matches", "Disallow: a; Disallow: ?; Disallow: ./; Disallow: https://example.com/; Disallow: %2Fa",
			"/a → no_rule_matched", "/?a → no_rule_matched", "/ → no_rule_matched", "/%2Fa → no_rule_matched"),
		both("neither_slash_nor_star/star_is_fine", "Disallow: *.gif$", "/a.gif → disallow 2", "/a/b.gif → disallow 2", "/a.gif? → no_rule_matched"),
		both("none_matches", "Allow: /a", "/b → no_rule_matched"),
	}, specialPathCases()...)
}

// specialPathCases test paths and names with special treatment.
func specialPathCases() []verdictCase {
	index := atEveryone + "Disallow: /p\nAllow: /p/index.html\n"
	return []verdictCase{
		{
			name: "rules/robots.txt_is_always_allowed", body: atEveryone + "Disallow: /\nDisallow: /robots.txt$",
			rfc: []string{
				"/robots.txt → robots_txt", "/%72obots.tx%74 → robots_txt", "http://example.com/robots.txt#a → robots_txt",
				"/robots.txt? → disallow 2", "/robots.txt?a → disallow 2", "/robots.txt/ → disallow 2",
				"/Robots.txt → disallow 2", "/a/robots.txt → disallow 2", "//robots.txt → disallow 2", "/robots.tx → disallow 2",
			},
			google: []string{"/robots.txt → disallow 3"},
		},
		{name: "rules/robots.txt_without_a_group", body: "", rfc: []string{"/robots.txt → robots_txt"}, google: []string{"/robots.txt → no_group"}},
		{
			name: "rules/robots.txt_has_no_rule", body: atEveryone + "Allow: /robots.txt",
			rfc: []string{"/robots.txt → robots_txt"}, google: []string{"/robots.txt → allow 2"},
		},
		{
			name: "rules/index.htm/stands_for_its_folder", body: index,
			both:   []string{"/p/index.html → allow 3", "/p/a → disallow 2", "/p → disallow 2"},
			rfc:    []string{"/p/ → disallow 2"},
			google: []string{"/p/ → allow 3 by *: Allow: /p/index.html", "/p/? → disallow 2"},
		},
		{
			name: "rules/index.htm/prefix_of_the_name", body: atEveryone + "Disallow: /\nAllow: /p/index.htm\nAllow: /q/index.htmx/y\nAllow: /r/index.htm$\nAllow: /s/index.html?t",
			google: []string{"/p/ → allow 3", "/q/ → disallow 2", "/r/ → allow 5", "/s/ → allow 6"},
		},
		{
			name: "rules/index.htm/last_slash_of_the_whole_value", body: atEveryone + "Disallow: /\nAllow: /p/index.html?u=/v\nAllow: /q?u=/index.html",
			google: []string{"/p/ → disallow 2", "/q?u=/ → allow 4"},
		},
		{name: "rules/index.htm/case_sensitive", body: atEveryone + "Disallow: /p\nAllow: /p/Index.html", google: []string{"/p/ → disallow 2"}},
		{name: "rules/index.htm/needs_a_slash", body: atEveryone + "Disallow: /p\nAllow: *index.html", google: []string{"/p/ → disallow 2"}},
		{name: "rules/index.htm/not_for_disallow", body: atEveryone + "Disallow: /p/index.html", google: []string{"/p/ → no_rule_matched"}},
		{
			name: "rules/index.htm/keeps_the_length_of_the_cut_pattern", body: atEveryone + "Allow: /*/index.html\nDisallow: /p/q/\nDisallow: /p*$",
			google: []string{"/p/q/ → disallow 3", "/p/ → allow 2", "/q/ → allow 2"},
		},
	}
}

// escapeCases test which spellings are equal (RFC 9309 §2.2.2).
func escapeCases() []verdictCase {
	rfc := func(name, rules string, expectations ...string) verdictCase {
		return verdictCase{name: "escapes/" + name, body: atEveryone + strings.ReplaceAll(rules, "; ", "\n"), rfc: expectations}
	}
	google := func(name, rules string, expectations ...string) verdictCase {
		return verdictCase{name: "escapes/google/" + name, body: atEveryone + strings.ReplaceAll(rules, "; ", "\n"), google: expectations}
	}
	cases := []verdictCase{
		rfc("1/unreserved_is_decoded_in_the_URL", "Disallow: /aZ0-._~", "/%61%5A%30%2D%2E%5F%7E → disallow 2", "/%61%5a%30%2d%2e%5f%7e → disallow 2"),
		rfc("1/unreserved_is_decoded_in_the_pattern", "Disallow: /%61%5A%30%2d%2E%5f%7e", "/aZ0-._~ → disallow 2", "/%61Z0-._~ → disallow 2"),
		rfc("1/others_in_upper_case", "Disallow: /%2f%c3%a9%26; Disallow: /x%2F%C3%A9%26",
			"/%2F%C3%A9%26 → disallow 2", "/%2f%C3%a9%26 → disallow 2", "/x%2f%c3%a9%26 → disallow 3"),
		rfc("1/others_are_not_decoded", "Disallow: /%26; Disallow: /=", "/& → no_rule_matched", "/%3D → no_rule_matched", "/= → disallow 3", "/%26 → disallow 2"),
		rfc("1/decoded_once", "Disallow: /%2541", "/%2541 → disallow 2", "/A → no_rule_matched", "/%41 → no_rule_matched"),
		rfc("2/beyond_ASCII", "Disallow: /\u00E9; Disallow: /%FF; Disallow: /\x80",
			"/%C3%A9 → disallow 2", "/%c3%a9 → disallow 2", "/\u00E9 → disallow 2", "/\xFF → disallow 3", "/%80 → disallow 4 by *: Disallow: /%80"),
		rfc("2/controls_and_space", "Disallow: /%01%09%20%7F; Disallow: /x\x01\t \x7F",
			"/\x01\t \x7F → disallow 2", "/x%01%09%20%7f → disallow 3", "/x%01%09%7f → no_rule_matched"),
		rfc("2/controls_and_space_inside", "Disallow: /x\x01\t \x7Fy", "/x%01%09%20%7fy → disallow 2"),
		rfc("2/delimiters", "Disallow: /a\"<>[\\]^{|}`; Disallow: /b%22%3C%3E%5B%5C%5D%5E%7B%7C%7D%60",
			"/a%22%3c%3e%5b%5c%5d%5e%7b%7c%7d%60 → disallow 2", "/b\"<>[\\]^{|}` → disallow 3"),
		rfc("2/no_others", "Disallow: /!&'()+,;=", "/!&'()+,;= → disallow 2", "/%21%26%27%28%29%2B%2C%3B%3D → no_rule_matched"),
		rfc("3/percent_alone", "Disallow: /100%; Disallow: /%zz; Disallow: /%4",
			"/100%25 → disallow 2", "/100% → disallow 2", "/%25zz → disallow 3", "/%zz → disallow 3", "/%254 → disallow 4", "/%4 → disallow 4", "/%41 → no_rule_matched"),
		rfc("3/percent_before_a_wildcard", "Disallow: /a%*z; Disallow: /b%2*z; Disallow: /c%$",
			"/a%25z → disallow 2", "/a%bz → disallow 2", "/b%2z → disallow 3", "/b%252xz → disallow 3", "/b%25%32xz → disallow 3", "/b2xz → no_rule_matched", "/c% → disallow 4", "/c%d → no_rule_matched"),
		rfc("3/percent_before_an_escape", "Disallow: /%%41", "/%25A → disallow 2", "/%%41 → disallow 2", "/%2541 → no_rule_matched"),
		rfc("4/star_is_no_wildcard", "Disallow: /f-%2A.html", "/f-*.html → disallow 2", "/f-%2A.html → disallow 2", "/f-%2a.html → disallow 2", "/f-x.html → no_rule_matched"),
		rfc("4/star_in_the_URL", "Disallow: /f-*.html; Allow: /f-%2A.html$", "/f-%2A.html → allow 3", "/f-x.html → disallow 2"),
		rfc("4/dollar_is_no_end", "Disallow: /a%24", "/a$ → disallow 2", "/a%24b → disallow 2", "/a → no_rule_matched"),
		rfc("4/dollar_before_the_end", "Disallow: /a%24$", "/a$ → disallow 2", "/a%24 → disallow 2", "/a$b → no_rule_matched"),
		rfc("4/colon_and_at", "Disallow: /a%3A%40; Disallow: /b:@", "/a:@ → disallow 2", "/a%3a%40 → disallow 2", "/b%3A@ → disallow 3"),
		rfc("5/slash_in_a_path", "Disallow: /a/b; Disallow: /c%2Fd", "/a%2Fb → no_rule_matched", "/c/d → no_rule_matched", "/c%2fd → disallow 3"),
		rfc("5/question_mark_in_a_path", "Disallow: /a?b; Disallow: /c%3Fd", "/a%3Fb → no_rule_matched", "/c?d → no_rule_matched", "/c%3fd → disallow 3"),
		rfc("5/query/escaped_in_the_URL", "Disallow: /foo?baz=https://foo.bar", "/foo?baz=https%3A%2F%2Ffoo.bar → disallow 2", "/foo?baz=https:%2f/foo.bar → disallow 2"),
		rfc("5/query/escaped_in_the_pattern", "Disallow: /foo?baz=https%3A%2F%2Ffoo.bar", "/foo?baz=https://foo.bar → disallow 2", "/foo?baz=https%3a%2F%2Ffoo.bar → disallow 2"),
		rfc("5/query/question_mark", "Disallow: /a?b?c; Disallow: /d?e%3Ff", "/a?b%3Fc → disallow 2", "/a?b%3fc → disallow 2", "/d?e?f → disallow 3"),
		rfc("5/query/only_behind_the_first_question_mark", "Disallow: /a%2Fb?c/d; Disallow: /e/f?g",
			"/a%2Fb?c%2Fd → disallow 2", "/a/b?c/d → no_rule_matched", "/e%2Ff?g → no_rule_matched"),
		rfc("5/query/no_other_reserved", "Disallow: /a?b=c&d; Disallow: /e?%26", "/a?b%3Dc%26d → no_rule_matched", "/e?& → no_rule_matched", "/e?%26 → disallow 3"),
		rfc("5/query/wildcard_before_the_question_mark", "Disallow: /*?u=/x; Disallow: *?v=%2Fx", "/a?u=%2Fx → disallow 2", "/a?v=/x → disallow 3"),
		rfc("5/query/wildcard_behind_the_question_mark", "Disallow: /a?*/x$", "/a?u=%2Fx → disallow 2", "/a?u=%2Fx%2F → no_rule_matched"),
		rfc("5/query/without_a_literal_question_mark", "Disallow: /*%2Fadmin; Disallow: /*handmade/", "/?u=%2Fadmin → disallow 2", "/?u=/admin → no_rule_matched",
			"/?f=handmade%2Fx → no_rule_matched", "/?f=handmade/x → disallow 3"),
		rfc("5/query/an_escaped_question_mark_is_not_literal", "Disallow: /*%3Fa=/b", "/%3Fa=/b → disallow 2", "/%3Fa=%2Fb → no_rule_matched", "/?%3Fa=%2Fb → no_rule_matched", "/?%3Fa=/b → disallow 2"),
		rfc("5/query/both_kinds_of_pattern_in_one_group", "Disallow: /a?uu=/x; Allow: /a*%2Fx; Disallow: /a*/x/y",
			"/a?uu=%2Fx → disallow 2", "/a?v=%2Fx → allow 3", "/a?uu=/x/y → disallow 2", "/a?v=/x/y → disallow 4"),
		rfc("5/query/wildcard_may_stand_for_it", "Disallow: /a*/x?y", "/a?b%2Fx?y → disallow 2", "/a?b%2Fx%3Fy → disallow 2", "/a%2Fx?y → no_rule_matched"),
		rfc("6/length/escapes_count_three", "Allow: /%26; Disallow: /*%26*", "/%26 → disallow 3"),
		rfc("6/length/bytes_that_become_escapes_count_three", "Disallow: /\u00E9; Allow: /*****; Disallow: /\u00E9*", "/\u00E9 → disallow 4"),
		rfc("6/length/six_for_two_bytes", "Disallow: /\u00E9; Allow: /*****", "/\u00E9 → disallow 2"),
		rfc("6/length/decoded_ones_count_one", "Disallow: /%61; Allow: /**", "/a → allow 3"),
		rfc("6/length/a_percent_that_becomes_an_escape", "Disallow: /%; Allow: /**", "/% → disallow 2"),
		rfc("6/length/3A_counts_one", "Disallow: /%3A; Allow: /**", "/: → allow 3"),
		rfc("6/length/2A_counts_one", "Disallow: /%2A; Allow: /**", "/* → allow 3"),
		rfc("6/length/24_counts_one", "Disallow: /%24; Allow: /**", "/$ → allow 3"),
		rfc("6/length/2F_in_a_query_counts_one", "Disallow: /?%2F; Allow: /?**", "/?/ → allow 3"),
		rfc("6/length/2F_elsewhere_counts_three", "Disallow: /%2F; Allow: /**", "/%2F → disallow 2"),
		google("pattern/beyond_ASCII", "Disallow: /\u00E9", "/%C3%A9 → disallow 2"),
		google("pattern/hex_digits", "Disallow: /%c3%a9%2f%61", "/%C3%A9%2F%61 → disallow 2", "/%c3%a9%2f%61 → no_rule_matched"),
		google("pattern/nothing_else", "Disallow: /%61 \"%; Disallow: /%2A; Disallow: /%24",
			"/%61 \"% → disallow 2", "/a%20%22%25 → no_rule_matched", "/a → no_rule_matched", "/* → no_rule_matched", "/%2A → disallow 3", "/$ → no_rule_matched", "/%24 → disallow 4"),
		google("URL_is_not_touched", "Disallow: /a; Disallow: /\u00E9; Disallow: /%2F; Disallow: /?u=/",
			"/%61 → no_rule_matched", "/\u00E9 → no_rule_matched", "/%c3%a9 → no_rule_matched", "/%2f → no_rule_matched", "/%2F → disallow 4", "/?u=%2F → no_rule_matched"),
		google("length", "Disallow: /%61; Allow: /**; Allow: /\u00E9; Disallow: /*****", "/%61 → disallow 5", "/%C3%A9 → allow 4"),
		google("length_of_an_escape", "Disallow: /%61; Allow: /**", "/%61 → disallow 2"),
	}
	return cases
}
