package urls_test

import (
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher/reference"
	"robotsbatch/matcher/urls"
)

// TestSplit checks engine and reference against the table of URLs.
func TestSplit(t *testing.T) {
	for _, c := range urlCases() {
		t.Run(c.name, func(t *testing.T) {
			must.Equal(t, referenceSplit(c.url), c.want, "reference", c.url)
			must.Equal(t, engineSplit(c.url), c.want, "engine", c.url)
		})
	}
}

// urlCase is a URL and what it splits into: "AUTHORITY PATH", or the reason for which it
// has no verdict.
type urlCase struct{ name, url, want string }

func referenceSplit(url string) string {
	authority, path, reason := reference.SplitURL(url)
	if reason != "" {
		return reason
	}
	return authority + " " + path
}

func engineSplit(url string) string {
	var scratch urls.Scratch
	authority, path, err := scratch.Split([]byte(url))
	switch err {
	case nil:
		return string(authority) + " " + string(path)
	case urls.ErrUnsupportedScheme:
		return "unsupported_scheme"
	}
	return "invalid_url"
}

// FuzzSplit compares how engine and reference split URLs.
func FuzzSplit(f *testing.F) {
	for _, c := range urlCases() {
		f.Add(c.url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		want := referenceSplit(url)
		got := engineSplit(url)
		must.Need(t, got == want, "%q: engine says %q, reference %q", url, got, want)
		// Splitting a key gives the same key, unless its host has a ";", which must be
		// escaped in a URL.
		if key, _, ok := strings.Cut(want, " "); ok && !strings.Contains(key, ";") {
			again := engineSplit(key)
			must.Need(t, again == key+" /", "%q: its key %q splits into %q", url, key, again)
		}
	})
}

// FuzzNormalise compares the spellings of paths with the reference's, and checks that
// normalising twice changes nothing.
func FuzzNormalise(f *testing.F) {
	for _, path := range []string{"/%61%5A%30%2D%2E%5F%7E", "/%2f%C3%a9%26", "/\x01\t \x7F", "/100%", "/a?b=%2F%3f", "/%2541", "/f-%2A.html%24"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		plain, query := reference.NormalisePath(path)
		gotPlain, gotQuery := urls.Normalise([]byte(path)), urls.NormaliseQuery([]byte(path))
		must.Need(t, string(gotPlain) == plain && string(gotQuery) == query, "%q: engine says %q and %q, reference %q and %q", path, gotPlain, gotQuery, plain, query)
		again := urls.Normalise(gotPlain)
		must.Need(t, string(again) == plain, "%q: twice is %q, once %q", path, again, plain)
		again = urls.NormaliseQuery(gotQuery)
		must.Need(t, string(again) == query, "%q: twice is %q, once %q, with the query's escapes", path, again, query)
		again = urls.NormaliseQuery(gotPlain)
		must.Need(t, string(again) == query, "%q: the query's escapes of %q are %q, want %q", path, plain, again, query)
	})
}

// urlCases test how a URL is split into authority and path (RFC 9309 §2.3).
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
		{"url/host/no_label_checks/other_bytes", "http://a!$&'()*+,=~b/", "http://a!$&'()*+,=~b /"},
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

// invalidURLCases are URLs without a verdict.
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
		{"IDN/1025_bytes", "http://\u00FC." + strings.Repeat("a", 1022) + "/"},
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
		cases = append(cases, urlCase{"url/scheme/other_by_a_byte/" + scheme, scheme + "h/a", "unsupported_scheme"})
	}
	for _, scheme := range []string{"http;//", "http:x/", "http:/x", "http//", "https;//", "https:x/", "https:/x", "https//", "ftp:/", "ftp//", "ht_tp://"} {
		cases = append(cases, urlCase{"url/invalid/scheme/by_a_byte/" + scheme, scheme + "h/a://h/", "invalid_url"})
	}
	for _, char := range "\x01\t\v\f \x1F\x7F\"%<>[\\]^{|}`" {
		cases = append(cases, urlCase{"url/invalid/byte_in_host/" + string(char), "http://a" + string(char) + "b/", "invalid_url"})
	}
	for _, escape := range []string{"00", "09", "0A", "20", "22", "23", "25", "2F", "3A", "3C", "3E", "3F", "40", "5B", "5C", "5D", "5E", "60", "7B", "7C", "7D", "7F"} {
		cases = append(cases, urlCase{"url/invalid/byte_in_host/%" + escape, "http://a%" + escape + "b/", "invalid_url"})
	}
	return append(cases, urlCase{
		"url/host/IDN_of_1024_bytes", "http://\u00FC." + strings.Repeat("a", 1021) + "/", "http://xn--tda." + strings.Repeat("a", 1021) + " /",
	})
}
