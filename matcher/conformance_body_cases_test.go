package matcher_test

import (
	"strings"
	unicode "unicode/utf16"
)

// atEveryone starts a group for "*".
const atEveryone = "User-agent: *\n"

// utf16 encodes text in UTF-16, little-endian and with a byte order mark.
func utf16(text string) string {
	var b strings.Builder
	for _, unit := range unicode.Encode([]rune("\uFEFF" + text)) {
		b.Write([]byte{byte(unit), byte(unit >> 8)})
	}
	return b.String()
}

// swapped swaps the bytes of every pair: UTF-16, big-endian.
func swapped(text string) string {
	b := []byte(text)
	for i := 0; i+1 < len(b); i += 2 {
		b[i], b[i+1] = b[i+1], b[i]
	}
	return string(b)
}

// bodyCases test how a body is split into lines, keys and values.
func bodyCases() []verdictCase {
	var cases []verdictCase
	cases = append(cases, lineCases()...)
	cases = append(cases, markCases()...)
	cases = append(cases, sizeCases()...)
	cases = append(cases, longLineCases()...)
	return append(cases, keyCases()...)
}

func lineCases() []verdictCase {
	return []verdictCase{
		{name: "body/line_ends/LF", body: "User-agent: *\n\nDisallow: /a\nDisallow: /b", both: []string{"/a → disallow 3", "/b → disallow 4"}},
		{name: "body/line_ends/CR", body: "User-agent: *\r\rDisallow: /a\rDisallow: /b\r", both: []string{"/a → disallow 3", "/b → disallow 4"}},
		{
			name: "body/line_ends/CRLF_is_one", body: "User-agent: *\r\n\r\nDisallow: /a\r\nDisallow: /b\r\n",
			both: []string{"/a → disallow 3", "/b → disallow 4"},
		},
		{name: "body/line_ends/LF_CR_is_two", body: "User-agent: *\n\rDisallow: /a\n\rDisallow: /b", both: []string{"/a → disallow 3", "/b → disallow 5"}},
		{
			name: "body/line_ends/mixed", body: "User-agent: *\r\r\nDisallow: /a\r\n\nDisallow: /b\n\n\r\nDisallow: /c",
			both: []string{"/a → disallow 3", "/b → disallow 5", "/c → disallow 8"},
		},
		{
			name: "body/line_ends/not_U+2028", body: atEveryone + "Disallow: /a\u2028Disallow: /b",
			both: []string{"/a → no_rule_matched", "/b → no_rule_matched"},
			rfc:  []string{"/a%E2%80%A8Disallow:%20/b → disallow 2 by *: Disallow: /a\u2028Disallow: /b"},
		},
		{
			name: "body/line_ends/not_U+0085", body: atEveryone + "Disallow: /a\u0085Disallow: /b\nDisallow: /c\x85Disallow: /d",
			both: []string{"/a → no_rule_matched", "/b → no_rule_matched", "/c → no_rule_matched", "/d → no_rule_matched"},
			rfc:  []string{"/c%85Disallow:%20/d → disallow 3 by *: Disallow: /c%85Disallow: /d"},
		},
		{name: "body/comment/whole_line", body: atEveryone + "#Disallow: /a\n # Disallow: /b", both: []string{"/a → no_rule_matched", "/b → no_rule_matched"}},
		{
			name: "body/comment/with_a_blank_before", body: "User-agent: * # all\nDisallow: /a # why",
			both: []string{"/a → disallow 2 by *: Disallow: /a", "/ab → disallow 2"},
		},
		{
			name: "body/comment/without_a_blank_before", body: "User-agent: *#all\nDisallow: /a#b # c",
			both: []string{"/a → disallow 2 by *: Disallow: /a", "/ab → disallow 2"},
		},
		{name: "body/comment/before_the_colon", body: atEveryone + "Disallow #: /a", both: []string{"/a → no_rule_matched"}},
		{name: "body/comment/makes_a_pattern_empty", body: atEveryone + "Disallow: # /a", both: []string{"/a → no_rule_matched", "/ → no_rule_matched"}},
		{
			name: "body/NUL/cuts_its_line", body: "User-agent: *\x00x\nDisallow: /a\x00b\nDisallow: /c",
			both: []string{"/a → disallow 2 by *: Disallow: /a", "/c → disallow 3"},
		},
		{
			name: "body/NUL/before_the_colon", body: atEveryone + "Disallow\x00: /a\n\x00Disallow: /b",
			both: []string{"/a → no_rule_matched", "/b → no_rule_matched"},
		},
		{name: "body/NUL/blanks_before_it_are_trimmed", body: atEveryone + "Disallow: /a \t\x00b", both: []string{"/a → disallow 2 by *: Disallow: /a"}},
		{
			name: "body/trimming/SP_TAB_VT_FF_on_both_ends", body: " \t\v\fUser-agent\f\v\t :\v\f\t *\t\f\v \n\v\fDisallow \f: \t\v\f/a \t\v\f",
			both: []string{"/a → disallow 2 by *: Disallow \f: \t\v\f/a", "/ab → disallow 2"},
		},
		{
			name: "body/trimming/nothing_else", body: atEveryone + "Disallow: \u00A0/a\nDisallow:\b/b\n\u00A0Disallow: /c\n",
			both: []string{"/a → no_rule_matched", "/b → no_rule_matched", "/c → no_rule_matched"},
		},
		{
			name: "body/trimming/not_inside", body: atEveryone + "Disallow: /a b\n",
			rfc: []string{"/a%20b → disallow 2 by *: Disallow: /a b", "/a → no_rule_matched"},
		},
		{
			name: "body/HTML_is_read_line_by_line", body: "<html>\n<pre>\nUser-agent: *\nDisallow: /a\n</pre>\n<p>Disallow: /b\n",
			both: []string{"/a → disallow 4", "/b → no_rule_matched"},
		},
		{
			name: "body/binary_is_read_line_by_line", body: "\x89PNG\r\n\x1A\n\x00\x01\xFF\nUser-agent: *\nDisallow: /a\n\xFE\x00\xFE",
			both: []string{"/a → disallow 5", "/ → no_rule_matched"},
		},
		{name: "body/is_never_an_error/empty", body: "", both: []string{"/ → no_group"}},
		{name: "body/is_never_an_error/NULs", body: "\x00\x00\x00", both: []string{"/ → no_group"}},
		{name: "body/is_never_an_error/colons", body: ":\n::\n: :", both: []string{"/ → no_group"}},
		{name: "body/is_never_an_error/line_ends", body: "\r\n\r\r\n\n", both: []string{"/ → no_group"}},
	}
}

func markCases() []verdictCase {
	const rules = "User-agent: *\nDisallow: /a"
	const wide = "User-agent: *\nDisallow: /ü\nDisallow: /😀"
	denied := []string{"/a → disallow 2 by *: Disallow: /a"}
	noGroup := []string{"/a → no_group"}
	return []verdictCase{
		{name: "body/byte_order_mark/whole", body: "\xEF\xBB\xBF" + rules, both: denied},
		{name: "body/byte_order_mark/first_two", body: "\xEF\xBB" + rules, both: denied},
		{name: "body/byte_order_mark/first_alone", body: "\xEF" + rules, both: denied},
		{name: "body/byte_order_mark/without_its_first", body: "\xBB\xBF" + rules, both: noGroup},
		{name: "body/byte_order_mark/without_its_second", body: "\xEF\xBF" + rules, both: noGroup},
		{name: "body/byte_order_mark/only_one", body: "\xEF\xBB\xBF\xEF\xBB\xBF" + rules, both: noGroup},
		{name: "body/byte_order_mark/not_at_the_very_start", body: "\n\xEF\xBB\xBF" + rules, both: noGroup},
		{name: "body/byte_order_mark/nothing_else", body: "\xEF\xBB\xBF", both: noGroup},
		{
			name: "body/byte_order_mark/UTF_16_little_endian", body: utf16(wide),
			rfc:    []string{"/%C3%BC → disallow 2 by *: Disallow: /ü", "/%F0%9F%98%80 → disallow 3"},
			google: []string{"/%C3%BC → no_group"},
		},
		{
			name: "body/byte_order_mark/UTF_16_big_endian", body: swapped(utf16(wide)),
			rfc:    []string{"/%C3%BC → disallow 2 by *: Disallow: /ü", "/%F0%9F%98%80 → disallow 3"},
			google: []string{"/%C3%BC → no_group"},
		},
		{
			name: "body/byte_order_mark/UTF_16_lone_surrogates", body: utf16(atEveryone+"Disallow: /a") + "\x3D\xD8b\x00\x3D\xD8",
			rfc: []string{"/a%EF%BF%BDb%EF%BF%BD → disallow 2 by *: Disallow: /a\uFFFDb\uFFFD"},
		},
		{
			name: "body/byte_order_mark/UTF_16_half_a_unit_at_the_end", body: utf16(atEveryone+"Disallow: /a") + "b",
			rfc: []string{"/a%EF%BF%BD → disallow 2", "/a → no_rule_matched"},
		},
		{name: "body/byte_order_mark/UTF_16_without_one", body: utf16(rules)[2:], both: noGroup},
	}
}

func sizeCases() []verdictCase {
	const limit = 512000
	const rule = "Disallow: /a"
	// before returns a body, up to the start of line 3, that n more bytes fill to the
	// limit.
	before := func(n int) string { return atEveryone + "#" + strings.Repeat("x", limit-n-len(atEveryone)-2) + "\n" }
	// wide does the same in UTF-16, for n more characters.
	wide := func(n int, text string) string {
		return utf16(atEveryone + "#" + strings.Repeat("x", limit/2-1-n-len(atEveryone)-2) + "\n" + text)
	}
	denied := []string{"/ab → disallow 3"}
	none := []string{"/ab → no_rule_matched"}
	return []verdictCase{
		{name: "body/size/512000_bytes", body: before(len(rule)) + rule, both: denied},
		{name: "body/size/cut_line_is_dropped_whole", body: before(len(rule)) + rule + "b", rfc: none, google: denied},
		{name: "body/size/cut_comment_drops_its_line", body: before(len(rule)+1) + rule + "#b", rfc: none, google: denied},
		{name: "body/size/LF_at_512001_is_no_cut", body: before(len(rule)) + rule + "\nAllow: /ab", rfc: denied},
		{name: "body/size/CR_at_512001_is_no_cut", body: before(len(rule)) + rule + "\rAllow: /ab", rfc: denied},
		{name: "body/size/nothing_beyond_counts", body: before(0) + rule, rfc: none, google: denied},
		{name: "body/size/mark_included/whole", body: "\xEF\xBB\xBF" + before(len(rule)+3) + rule, both: denied},
		{name: "body/size/mark_included/cut", body: "\xEF\xBB\xBF" + before(len(rule)+2) + rule, rfc: none, google: denied},
		{name: "body/size/before_UTF_16_decoding/whole", body: wide(len(rule), rule), rfc: denied},
		{name: "body/size/before_UTF_16_decoding/cut", body: wide(len(rule)-1, rule), rfc: none},
		{name: "body/size/before_UTF_16_decoding/LF_is_no_cut", body: wide(len(rule), rule+"\nx"), rfc: denied},
		{name: "body/size/before_UTF_16_decoding/U+010A_is_no_LF", body: wide(len(rule), rule+"\u010A"), rfc: none},
		{name: "body/size/limit_raised", body: before(0) + rule, limit: limit + len(rule), both: denied},
		{name: "body/size/limit_raised_not_enough", body: before(0) + rule, limit: limit + len(rule) - 1, rfc: none},
		{name: "body/size/nothing_lowers_the_limit", body: before(len(rule)) + rule, limit: 100, both: denied},
	}
}

func longLineCases() []verdictCase {
	const kept = 16663
	// long returns a line of n bytes that starts with start and ends in "z".
	long := func(start string, n int) string { return start + strings.Repeat("y", n-len(start)-1) + "z" }
	ys := func(n int) string { return strings.Repeat("y", n) }
	whole := ys(kept - len("Disallow: /a") - 1)
	return []verdictCase{
		{
			name: "body/over_long_line/16663_bytes", body: atEveryone + long("Disallow: /a", kept),
			both: []string{"/a" + whole + "z → disallow 2", "/a" + whole + "y → no_rule_matched"},
		},
		{
			name: "body/over_long_line/16664_bytes", body: atEveryone + long("Disallow: /a", kept+1),
			rfc:    []string{"/a" + whole + "yz → disallow 2", "/a" + whole + "y → no_rule_matched"},
			google: []string{"/a" + whole + "yz → disallow 2", "/a" + whole + "y → disallow 2 by *: Disallow: /a" + whole + "y"},
		},
		{
			name: "body/over_long_line/rest_is_ignored", body: atEveryone + long("#", kept) + "\tDisallow: /a\nDisallow: /b",
			both: []string{"/a → no_rule_matched", "/b → disallow 3"},
		},
		{
			name: "body/over_long_line/counted_before_trimming", body: atEveryone + strings.Repeat(" ", kept-12) + "Disallow: /abc",
			rfc: []string{"/abc → disallow 2", "/a → no_rule_matched"}, google: []string{"/a → disallow 2 by *: Disallow: /a"},
		},
		{
			name: "body/over_long_line/blanks_alone_are_kept", body: atEveryone + strings.Repeat(" ", kept) + "Disallow: /a",
			rfc: []string{"/a → disallow 2"}, google: []string{"/a → no_rule_matched"},
		},
		{name: "body/over_long_line/comments_count", body: atEveryone + long("Disallow: /a #", 2*kept), both: []string{"/a → disallow 2 by *: Disallow: /a"}},
		{
			name: "body/over_long_line/byte_order_mark_does_not_count", body: "\xEF\xBB\xBF" + strings.Repeat(" ", kept-13) + "User-agent: *\nDisallow: /",
			both: []string{"/ → disallow 2"},
		},
	}
}

func keyCases() []verdictCase {
	denied := []string{"/a → disallow 2"}
	none := []string{"/a → no_rule_matched"}
	cases := []verdictCase{
		{name: "body/key/case", body: "uSER-aGENT: *\ndISALLOW: /a\nALLOW: /ab", both: []string{"/a → disallow 2", "/ab → allow 3"}},
		{name: "body/key/empty_is_ignored", body: atEveryone + ": /a\n : /a", both: none},
		{name: "body/key/first_colon_ends_it", body: atEveryone + "Disallow:/a:b\nDisallow::/c", both: []string{"/a:b → disallow 2", "/a → no_rule_matched", "/c → no_rule_matched"}},
		{name: "body/key/prefix/Disallowed", body: atEveryone + "Disallowed: /a", rfc: none, google: []string{"/a → disallow 2 by *: Disallowed: /a"}},
		{name: "body/key/prefix/Disallow_x", body: atEveryone + "Disallow /x: /a", rfc: none, google: denied},
		{name: "body/key/prefix/Allow-foo", body: atEveryone + "Allow-foo: /a\nDisallow: /", rfc: []string{"/a → disallow 3"}, google: []string{"/a → allow 2"}},
		{name: "body/key/prefix/User-agents", body: "User-agents: *\nDisallow: /a", rfc: []string{"/a → no_group"}, google: denied},
		{name: "body/key/prefix/user_agent_name", body: "user agent name: *\nDisallow: /a", rfc: []string{"/a → no_group"}, google: denied},
		{name: "body/key/end_does_not_count", body: atEveryone + "xDisallow: /a", both: none},
		{name: "body/key/a_misspelling_that_is_not_listed", body: atEveryone + "Dissalllow: /a\nDisallo: /a\nDisalllow: /a", both: none},
		{name: "body/no_colon/SP", body: "User-agent *\nDisallow /a", both: []string{"/a → disallow 2 by *: Disallow /a"}},
		{name: "body/no_colon/TAB", body: "User-agent\t*\nDisallow\t/a", both: denied},
		{name: "body/no_colon/several_blanks", body: atEveryone + " Disallow \t /a ", both: denied},
		{name: "body/no_colon/VT_does_not_separate", body: atEveryone + "Disallow\v/a", both: none},
		{name: "body/no_colon/one_word", body: atEveryone + "Disallow", both: none},
		{name: "body/no_colon/three_words", body: atEveryone + "Disallow /a b", both: none},
		{name: "body/no_colon/the_key_user_agent_is_two_words", body: "user agent *\nDisallow: /a", both: []string{"/a → no_group"}},
		{name: "body/no_colon/a_colon_in_the_value", body: atEveryone + "Disallow /a:b\nDisallow https://h/a", both: none},
		{name: "body/no_colon/a_colon_in_a_comment_does_not_count", body: atEveryone + "Disallow /a # b: c", both: denied},
		{name: "body/no_colon/misspelt", body: "useragent *\ndisalow /a", both: denied},
		{name: "body/no_colon/prefix_of_a_key", body: atEveryone + "Disallowed /a", rfc: none, google: denied},
	}
	for _, key := range []string{"user-agent", "useragent", "user agent", "User-Agent", "USER AGENT"} {
		cases = append(cases, verdictCase{name: "body/key/spelling/" + key, body: key + ": *\nDisallow: /a", both: denied})
	}
	for _, key := range []string{"disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw", "DisAlow"} {
		cases = append(cases, verdictCase{name: "body/key/spelling/" + key, body: atEveryone + key + ": /a", both: denied})
	}
	for _, key := range []string{"sitemap", "site-map", "crawl-delay", "host", "clean-param", "request-rate", "noindex"} {
		cases = append(cases, verdictCase{
			name: "body/key/no_rule/" + key,
			body: "User-agent: Bar\n" + key + ": /a\nUser-agent: FooBot\n" + key + ": /a\nDisallow: /b\n" + key + ": /b",
			both: []string{"/a → no_rule_matched", "/b → disallow 5"},
		}, verdictCase{
			name: "body/key/closes_no_list/" + key, chain: "Bar",
			body: "User-agent: Bar\n" + key + ": /a\nUser-agent: FooBot\n" + key + ": /a\nDisallow: /b\n" + key + ": /b",
			both: []string{"/a → no_rule_matched", "/b → disallow 5 by Bar: Disallow: /b"},
		})
	}
	return cases
}
