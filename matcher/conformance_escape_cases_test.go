package matcher_test

import "strings"

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
