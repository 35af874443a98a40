package matcher_test

import "strings"

// escapeCases are which spellings are equal (RFC 9309 §2.2.2).
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
		rfc("6/length/octets_that_become_escapes_count_three", "Disallow: /\u00E9; Allow: /*****; Disallow: /\u00E9*", "/\u00E9 → disallow 4"),
		rfc("6/length/six_for_two_octets", "Disallow: /\u00E9; Allow: /*****", "/\u00E9 → disallow 2"),
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

// urlCases are how a URL becomes an authority, whose robots.txt it is, and a
// path (RFC 9309 §2.3).
func urlCases() []urlCase {
	cases := []urlCase{
		{"url/trimmed", " \t\r\n\v\fhttp://h/a\f\v\n\r\t ", "http://h /a"},
		{"url/trimmed/not_inside", "http://h/a b", "http://h /a b"},
		{"url/trimmed/nothing_else", "http://h/a\u00A0", "http://h /a\u00A0"},
		{"url/scheme/http", "http://h/", "http://h /"},
		{"url/scheme/https", "https://h/", "https://h /"},
		{"url/scheme/ftp", "ftp://h/", "ftp://h /"},
		{"url/scheme/case", "hTTpS://h/", "https://h /"},
		{"url/scheme/other", "gopher://h/", "unsupported_scheme"},
		{"url/scheme/other_without_host", "file:///etc/hosts", "unsupported_scheme"},
		{"url/scheme/other_with_signs", "Web+x.y-1://h/", "unsupported_scheme"},
		{"url/scheme/other_whatever_follows", "ws://a b:99999\\", "unsupported_scheme"},
		{"url/scheme/other_beginning_the_same", "httpsx://h/", "unsupported_scheme"},
		{"url/authority/ends_at_slash", "http://h/a", "http://h /a"},
		{"url/authority/ends_at_question_mark", "http://h?a/b", "http://h /?a/b"},
		{"url/authority/ends_at_number_sign", "http://h#a/b", "http://h /"},
		{"url/authority/ends_at_semicolon", "http://h;a/b", "http://h /;a/b"},
		{"url/userinfo/dropped", "http://u:p@h/", "http://h /"},
		{"url/userinfo/up_to_the_last_at", "http://a@b:c@h/@", "http://h /@"},
		{"url/userinfo/empty", "http://@h/", "http://h /"},
		{"url/userinfo/not_behind_the_authority", "http://h/a@b", "http://h /a@b"},
		{"url/userinfo/ends_at_semicolon_too", "http://u;p@h/", "http://u /;p@h/"},
		{"url/port/is_of_the_key", "http://h:8080/", "http://h:8080 /"},
		{"url/port/80_of_http", "http://h:80/", "http://h /"},
		{"url/port/443_of_https", "https://h:443/", "https://h /"},
		{"url/port/21_of_ftp", "ftp://h:21/", "ftp://h /"},
		{"url/port/443_of_http", "http://h:443/", "http://h:443 /"},
		{"url/port/80_of_https", "https://h:80/", "https://h:80 /"},
		{"url/port/empty", "http://h:/", "http://h /"},
		{"url/port/1", "http://h:1/", "http://h:1 /"},
		{"url/port/65535", "http://h:65535/", "http://h:65535 /"},
		{"url/port/leading_zeros", "http://h:0008080/", "http://h:8080 /"},
		{"url/port/leading_zeros_of_the_default", "http://h:0000000000000000000000080/", "http://h /"},
		{"url/host/lower_case", "http://Example.COM/", "http://example.com /"},
		{"url/host/escapes_are_decoded", "http://%65%58ample%2Ecom/", "http://example.com /"},
		{"url/host/no_label_checks/underscore", "http://foo_bar.example.com/", "http://foo_bar.example.com /"},
		{"url/host/no_label_checks/hyphens", "http://r3---sn-abc.googlevideo.com/", "http://r3---sn-abc.googlevideo.com /"},
		{"url/host/no_label_checks/hyphen_at_the_ends", "http://-a-.com/", "http://-a-.com /"},
		{"url/host/no_label_checks/length", "http://" + strings.Repeat("a", 3000) + "/", "http://" + strings.Repeat("a", 3000) + " /"},
		{"url/host/no_label_checks/bad_A_label", "http://xn--a.xn--/", "http://xn--a.xn-- /"},
		{"url/host/no_label_checks/other_octets", "http://a!$&'()*+,=~b/", "http://a!$&'()*+,=~b /"},
		{"url/host/IDN", "http://B\u00FCcher.example/", "http://xn--bcher-kva.example /"},
		{"url/host/IDN_escaped", "http://b%C3%BCcher.example/", "http://xn--bcher-kva.example /"},
		{"url/host/IDN_as_A_label", "http://XN--BCHER-KVA.example/", "http://xn--bcher-kva.example /"},
		{"url/host/IDN_mapped", "http://\uFF45xample\u3002com/", "http://example.com /"},
		{"url/host/IDN_not_transitional", "http://fa\u00DF.de/", "http://xn--fa-hia.de /"},
		{"url/host/IDN_beside_labels_that_are_not_checked", "http://foo_bar.b\u00FCcher.r3---sn.XN--/", "http://foo_bar.xn--bcher-kva.r3---sn.xn-- /"},
		{"url/host/separators", "http://a\u3002b\uFF0Ec\uFF61d.e/", "http://a.b.c.d.e /"},
		{"url/host/separator_escaped", "http://a%E3%80%82b/", "http://a.b /"},
		{"url/host/trailing_dot", "http://example.com./", "http://example.com /"},
		{"url/host/trailing_dot_before_a_port", "http://example.com.:81/", "http://example.com:81 /"},
		{"url/host/trailing_separator", "http://b\u00FCcher\u3002/", "http://xn--bcher-kva /"},
		{"url/host/IPv4", "http://192.0.2.1:80/", "http://192.0.2.1 /"},
		{"url/host/IPv4_is_not_canonicalised", "http://192.0.2.01/", "http://192.0.2.01 /"},
		{"url/host/IPv6", "http://[2001:DB8:0:0:0::1]/", "http://[2001:db8::1] /"},
		{"url/host/IPv6_with_port", "https://[2001:db8::1]:8443/", "https://[2001:db8::1]:8443 /"},
		{"url/host/IPv6_with_default_port", "https://[::1]:443", "https://[::1] /"},
		{"url/host/IPv6_with_empty_port", "https://[::1]:", "https://[::1] /"},
		{"url/host/IPv6_with_userinfo", "https://u:p@[::1]", "https://[::1] /"},
		{"url/host/IPv6_escapes_are_decoded", "http://[2001%3Adb8::%31]/", "http://[2001:db8::1] /"},
		{"url/host/IPv6_that_holds_IPv4", "http://[::FFFF:192.0.2.1]/", "http://[::ffff:192.0.2.1] /"},
		{"url/path/up_to_the_number_sign", "http://h/a?b#c?d#e", "http://h /a?b"},
		{"url/path/empty", "http://h", "http://h /"},
		{"url/path/empty_with_query", "http://h?q", "http://h /?q"},
		{"url/path/empty_with_empty_query", "http://h?", "http://h /?"},
		{"url/path/empty_with_parameter", "http://h;p", "http://h /;p"},
		{"url/path/empty_query_is_kept", "http://h/a?", "http://h /a?"},
		{"url/path/empty_query_before_a_fragment", "http://h/a?#b", "http://h /a?"},
		{"url/path/dot_segments_stay", "http://h/a/./../b/..", "http://h /a/./../b/.."},
		{"url/path/slashes_stay", "http://h//a//b//", "http://h //a//b//"},
		{"url/path/as_written", "http://h/%41%2f\u00FC\\\"", "http://h /%41%2f\u00FC\\\""},
	}
	return append(cases, invalidURLCases()...)
}

// invalidURLCases are the URLs that have no verdict.
func invalidURLCases() []urlCase {
	var cases []urlCase
	for _, c := range []struct{ name, url string }{
		{"empty", ""},
		{"blank", " \t\r\n"},
		{"scheme/none", "example.com/a"},
		{"scheme/none_but_a_port", "example.com:80/a"},
		{"scheme/path_alone", "/a"},
		{"scheme/network_path", "//h/a"},
		{"scheme/one_slash", "http:/h"},
		{"scheme/no_slash", "mailto:x"},
		{"scheme/in_a_query", "h/?u=http://h"},
		{"scheme/empty", "://h/"},
		{"scheme/begins_with_a_digit", "1http://h/"},
		{"scheme/with_a_blank", "ht tp://h/"},
		{"scheme/beyond_ASCII", "h\u00FCttp://h/"},
		{"host/none", "http:///a"},
		{"host/none_at_all", "http://"},
		{"host/none_but_userinfo", "http://u@/"},
		{"host/none_but_a_port", "http://:80/"},
		{"host/a_dot_alone", "http://./"},
		{"host/label_empty_at_the_start", "http://.h/"},
		{"host/label_empty_inside", "http://a..h/"},
		{"host/label_empty_at_the_end", "http://h../"},
		{"host/label_empty_beside_an_IDN", "http://\u00FC..h/"},
		{"host/label_empty_by_mapping", "http://a.\u00AD.h/"},
		{"host/label_empty_by_mapping_at_the_end", "http://a.\u00AD/"},
		{"host/percent_alone", "http://a%zz/"},
		{"host/percent_decoded", "http://a%25zz/"},
		{"port/0", "http://h:0/"},
		{"port/00", "http://h:00/"},
		{"port/65536", "http://h:65536/"},
		{"port/huge", "http://h:18446744073709551697/"},
		{"port/sign", "http://h:+80/"},
		{"port/letters", "http://h:http/"},
		{"port/blank", "http://h: 80/"},
		{"port/escaped", "http://h:%38%30/"},
		{"port/two", "http://h:80:80/"},
		{"IPv6/bare", "http://2001:db8::1/"},
		{"IPv6/not_closed", "http://[::1/"},
		{"IPv6/something_behind", "http://[::1]h/"},
		{"IPv6/something_before", "http://h[::1]/"},
		{"IPv6/empty", "http://[]/"},
		{"IPv6/IPv4", "http://[192.0.2.1]/"},
		{"IPv6/name", "http://[h]/"},
		{"IPv6/escaped_brackets", "http://%5B::1%5D/"},
		{"IPv6/zone", "http://[fe80::1%eth0]/"},
		{"IPv6/zone_escaped", "http://[fe80::1%25eth0]/"},
		{"IPv6/too_long", "http://[1:2:3:4:5:6:7:8:9]/"},
		{"IPv6/with_port_0", "http://[::1]:0/"},
		{"IDN/not_UTF_8", "http://\u00FC\xFF/"},
		{"IDN/not_UTF_8_escaped", "http://%FF/"},
		{"IDN/disallowed", "http://\u2100.com/"},
		{"IDN/slash_by_mapping", "http://a\uFF0Fb/"},
		{"IDN/underscore_in_its_label", "http://a_\u00FC/"},
		{"IDN/hyphen_at_the_end_of_its_label", "http://\u00FC-/"},
		{"IDN/1025_octets", "http://\u00FC." + strings.Repeat("a", 1022) + "/"},
		{"inside/NUL", "http://h/a\x00b"},
		{"inside/NUL_at_the_end", "http://h/a\x00"},
		{"inside/NUL_in_the_fragment", "http://h/#\x00b"},
		{"inside/CR", "http://h/a\rb"},
		{"inside/LF", "http://h/a\nb"},
		{"inside/LF_in_the_host", "http://h\nh/"},
		{"inside/LF_in_the_query", "http://h/?a\nb"},
		{"inside/LF_in_userinfo", "http://u\n@h/"},
		{"inside/LF_with_another_scheme", "gopher://h/\na"},
	} {
		cases = append(cases, urlCase{"url/invalid/" + c.name, c.url, "invalid_url"})
	}
	for _, scheme := range []string{"xttp://", "hxtp://", "htxp://", "httx://", "httpx://", "httpsx://", "httxs://", "htt://", "ft://", "ftps://", "xtp://"} {
		cases = append(cases, urlCase{"url/scheme/other_by_an_octet/" + scheme, scheme + "h/a", "unsupported_scheme"})
	}
	for _, scheme := range []string{"http;//", "http:x/", "http:/x", "http//", "https;//", "https:x/", "https:/x", "https//", "ftp:/", "ftp//", "ht_tp://"} {
		cases = append(cases, urlCase{"url/invalid/scheme/by_an_octet/" + scheme, scheme + "h/a://h/", "invalid_url"})
	}
	for _, char := range "\x01\t\v\f \x1F\x7F\"%<>[\\]^{|}`" {
		cases = append(cases, urlCase{"url/invalid/octet_in_host/" + string(char), "http://a" + string(char) + "b/", "invalid_url"})
	}
	for _, escape := range []string{"00", "09", "0A", "20", "22", "23", "25", "2F", "3A", "3C", "3E", "3F", "40", "5B", "5C", "5D", "5E", "60", "7B", "7C", "7D", "7F"} {
		cases = append(cases, urlCase{"url/invalid/octet_in_host/%" + escape, "http://a%" + escape + "b/", "invalid_url"})
	}
	return append(cases, urlCase{
		"url/host/IDN_of_1024_octets", "http://\u00FC." + strings.Repeat("a", 1021) + "/", "http://xn--tda." + strings.Repeat("a", 1021) + " /",
	})
}
