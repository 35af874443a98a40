package robotstxt_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher/reference"
	"robotsbatch/matcher/robotstxt"
)

const limit = robotstxt.DefaultLimit

// filled returns start, a comment that fills up to size bytes, and end.
func filled(start string, size int, end string) []byte {
	start += "#"
	return []byte(start + strings.Repeat("x", size-len(start)-len(end)) + end)
}

func TestLimit(t *testing.T) {
	const start = "User-agent: a\nAllow: /x\n"
	type options = robotstxt.Options
	for _, test := range []struct {
		row     string
		body    []byte
		options options
		want    string
		limited bool
	}{
		{"as long as the limit", filled(start, limit, "\nAllow: /y"), options{}, "1@a 2+/x 4+/y", false},
		{"the limit cuts a rule", filled(start, limit+1, "\nAllow: /y"), options{}, "1@a 2+/x", true},
		{"the limit before LF", append(filled(start, limit, "\nAllow: /y"), "\nAllow: /z"...), options{}, "1@a 2+/x 4+/y", true},
		{"the limit before CR", append(filled(start, limit, "\nAllow: /y"), "\r\nAllow: /z"...), options{}, "1@a 2+/x 4+/y", true},
		{"the limit after LF", append(filled(start, limit, "\nAllow: /y\n"), "Allow: /z"...), options{}, "1@a 2+/x 4+/y", true},
		{"the limit inside CRLF", append(filled(start, limit, "\r\nAllow: /y\r"), "\nAllow: /z"...), options{}, "1@a 2+/x 4+/y", true},
		{"the limit before a comment", append(filled(start, limit, "\nAllow: /y"), "#\n"...), options{}, "1@a 2+/x", true},
		{"the mark counts", append([]byte("\xEF\xBB\xBF"), filled(start, limit-2, "\nAllow: /y")...), options{}, "1@a 2+/x", true},
		{"a single line", bytes.Repeat([]byte("a"), limit+1), options{}, "", true},
		{"a lower limit does nothing", filled(start, limit, "\nAllow: /y"), options{Limit: 10}, "1@a 2+/x 4+/y", false},
		{"a negative limit does nothing", filled(start, limit+1, "\nAllow: /y"), options{Limit: -1}, "1@a 2+/x", true},
		{"a higher limit", filled(start, limit+1, "\nAllow: /y"), options{Limit: limit + 1}, "1@a 2+/x 4+/y", false},
		{"a higher limit cuts, too", filled(start, limit+2, "\nAllow: /y"), options{Limit: limit + 1}, "1@a 2+/x", true},
		{"google has none", append(bytes.Repeat([]byte("#\n"), limit), start...), options{Profile: robotstxt.Google}, "512001@a 512002+/x", false},

		{"cut inside a line", []byte("User-agent: a\nAllow: /x\nAllow: /y"), options{Cut: true}, "1@a 2+/x", true},
		{"cut after LF", []byte("User-agent: a\nAllow: /x\n"), options{Cut: true}, "1@a 2+/x", true},
		{"cut after CR", []byte("User-agent: a\rAllow: /x\r"), options{Cut: true}, "1@a 2+/x", true},
		{"cut to nothing", nil, options{Cut: true}, "", true},
		{"cut at the limit", filled(start, limit, "\nAllow: /y"), options{Cut: true}, "1@a 2+/x", true},
		{"cut beyond the limit", filled(start, limit+20, "\nAllow: /y\nAllow: /z"), options{Cut: true}, "1@a 2+/x", true},
		{"cut, google", []byte("User-agent: a\nAllow: /x\nAllow: /y"), options{Cut: true, Profile: robotstxt.Google}, "1@a 2+/x", true},
	} {
		f := parse(test.body, test.options)
		want := test.want
		if test.limited {
			want = strings.TrimSpace(want + " ; 0!body_limited")
		}
		got := summary(f)
		must.Be(t, got == want && f.Limited == test.limited, "%s: got %s (limited %v), want %s", test.row, got, f.Limited, want)
		checkCounted(t, test.row, test.body, test.options)
	}
}

// checkCounted checks that the part that counts parses like the whole body.
func checkCounted(t *testing.T, row string, body []byte, o robotstxt.Options) {
	t.Helper()
	want := parse(body, o)
	counted, limited := robotstxt.Counted(body, o)
	got := parse(counted, robotstxt.Options{Profile: o.Profile, Limit: o.Limit})
	must.Be(t, limited == want.Limited && !got.Limited && bytes.HasPrefix(body, counted),
		"%s: %d of %d bytes count, limited: %v, %v of those", row, len(counted), len(body), limited, got.Limited)
	must.Equal(t, got.Kind, want.Kind, row, "what counts", "whole body")
	cut := func(s string) string { return strings.TrimRight(strings.ReplaceAll(s, " 0!body_limited", ""), " ;") }
	must.Equal(t, cut(summary(got)), cut(summary(want)), row, "what counts", "whole body")
}

func TestBodyKinds(t *testing.T) {
	little := func(text string) string { return string(encodeUTF16(binary.LittleEndian, text)) }
	for _, test := range []struct {
		body, kind, google string
		options            robotstxt.Options
	}{
		{body: "User-agent: *\n", kind: "text"},
		{body: "# nothing but a comment", kind: "text"},
		{body: "{\"error\": 404}", kind: "text"},
		{body: "", kind: "empty"},
		{body: " \t\r\n\v\f", kind: "empty"},
		{body: "\xEF\xBB\xBF\n", kind: "empty"},
		{body: strings.Repeat("\n", 1000), kind: "empty"},
		{body: strings.Repeat("\n", 1000) + "<html>", kind: "text"}, // only the start is looked at
		{body: "<!DOCTYPE html>", kind: "html"},
		{body: "\xEF\xBB\xBF \n<?xml version='1.0'?>", kind: "html"},
		{body: "<\x00", kind: "html"},
		{body: "GIF89a\x01", kind: "binary"},
		{body: "\x1F\x8B\x08", kind: "binary"}, // gzip
		{body: "User-agent: \x1B$B", kind: "text"},
		{body: "User-agent: \xE9", kind: "text"},
		{body: little("User-agent: *"), kind: "text", google: "unreadable"},
		{body: little("\r\n"), kind: "empty", google: "unreadable"},
		{body: little("<p>"), kind: "html", google: "unreadable"},
		{body: "no line is whole", kind: "empty", options: robotstxt.Options{Cut: true}},
	} {
		if test.google == "" {
			test.google = test.kind
		}
		must.Equal(t, parse([]byte(test.body), test.options).Kind.String(), test.kind, test.body)
		checkCounted(t, test.body, []byte(test.body), test.options)
		test.options.Profile = robotstxt.Google
		must.Equal(t, parse([]byte(test.body), test.options).Kind.String(), test.google, test.body, "google")
	}
	k := robotstxt.BodyKind(99)
	must.Be(t, !k.Known() && !robotstxt.NoKind.Known() && robotstxt.NoKind.String() == "" && k.String() == "kind(?)", "kinds that are none")
}

func TestUTF16(t *testing.T) {
	const text = "User-agent: a\r\nDisallow: /\u00e9\U0001F916\u0a0d\nAllow: /\r"
	const want = "1@a 2-/\u00e9\U0001F916\u0a0d 3+/ ; 0!utf16_body"
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		body := encodeUTF16(order, text)
		must.Equal(t, summary(parse(body, robotstxt.Options{})), want, order)
		f := parse(body, robotstxt.Options{Profile: robotstxt.Google})
		must.Be(t, f.Groups == nil && f.warnings[0].Kind == robotstxt.UTF16Body, "%s: google got %s", order, summary(f))
	}
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		var body []byte
		for _, u := range []uint16{0xFEFF, 'a', ':', 0xD800, 'b', 0xDC00, 0xD83E, 0xD83E, 0xDD16, 0xD83E} {
			body = order.AppendUint16(body, u)
		}
		body = append(body, 'x')
		body = bytes.Replace(body, encodeUTF16(order, "a:")[2:], encodeUTF16(order, "user-agent:")[2:], 1)
		got := summary(parse(body, robotstxt.Options{}))
		must.Equal(t, got, "1@\uFFFDb\uFFFD\uFFFD\U0001F916\uFFFD\uFFFD ; 0!utf16_body", "halves", order)
	}
}

// TestUTF16Limit: the limit counts raw bytes and cuts between code units.
func TestUTF16Limit(t *testing.T) {
	units := limit/2 - 1 // without the mark
	text := string(filled("User-agent: a\n", units, "\nAllow: /y"))
	for _, test := range []struct {
		row, text  string
		limit, cut int
		want       string
	}{
		{"as long as the limit", text, 0, 0, "1@a 3+/y ; 0!utf16_body"},
		{"the limit cuts a rule", text + "z", 0, 0, "1@a ; 0!utf16_body 0!body_limited"},
		{"the limit before LF", text + "\nz", 0, 0, "1@a 3+/y ; 0!utf16_body 0!body_limited"},
		{"the limit before U+0A0A", text + "\u0a0a", 0, 0, "1@a ; 0!utf16_body 0!body_limited"},
		{"the limit halves LF", text + "\nz", limit + 1, 0, "1@a 3+/y ; 0!utf16_body 0!body_limited"},
		{"the limit halves z", text + "z\n", limit + 1, 0, "1@a ; 0!utf16_body 0!body_limited"},
		{"the body ends with half a unit", text + "z", 0, 1, "1@a ; 0!utf16_body 0!body_limited"},
	} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			body := encodeUTF16(order, test.text)
			body = body[:len(body)-test.cut]
			f := parse(body, robotstxt.Options{Limit: test.limit})
			must.Equal(t, summary(f), test.want, test.row, order)
			checkCounted(t, test.row, body, robotstxt.Options{Limit: test.limit})
			for cut := range min(len(body), 6) {
				checkCounted(t, test.row+", cut", body[:len(body)-cut], robotstxt.Options{Limit: test.limit, Cut: true})
			}
		}
	}
}

// TestReadSize: the first ReadSize bytes of a body give the same result as the whole body,
// with Parse and with the reference, in each encoding and for all positions of a line end.
func TestReadSize(t *testing.T) {
	const start, rule = "User-agent: a\n", "\nAllow: /y"
	for name, encoding := range map[string]struct {
		unit   int // size in bytes
		encode func(string) []byte
	}{
		"UTF-8":    {1, func(s string) []byte { return []byte(s) }},
		"UTF-16LE": {2, func(s string) []byte { return encodeUTF16(binary.LittleEndian, s) }},
		"UTF-16BE": {2, func(s string) []byte { return encodeUTF16(binary.BigEndian, s) }},
	} {
		for _, o := range []robotstxt.Options{{}, {Limit: limit + 1}, {Cut: true}} {
			if name == "UTF-16BE" && (o.Cut || o.Limit > 0) {
				continue // the order of bytes is nothing to limits
			}
			for _, more := range must.Short([]int{0}, []int{-1, 0, 1}) { // characters after the limit
				for _, end := range []string{"", "\n", "\r", "\r\n", "z", "z\n", "\nz", "\nAllow: /z\n", "\u0a0a"} {
					text := string(filled(start, limit/encoding.unit+more, rule)) + end
					body := encoding.encode(text)
					counts := body[:min(len(body), o.ReadSize())]
					got, want := parse(counts, o), parse(body, o)
					must.Equal(t, summary(got), summary(want), name, o, more, end, "whole body")
					if o.Cut {
						continue
					}
					if want := reference.Parse(body, reference.RFC9309, o.Limit); !sameAsReference(got.File, &want) {
						t.Errorf("%s, %+v, %d, %q: %s, the reference finds %+v", name, o, more, end, summary(got), want)
					}
				}
			}
		}
	}
}

// encodeUTF16 encodes text, with a mark.
func encodeUTF16(order binary.AppendByteOrder, text string) []byte {
	body := order.AppendUint16(nil, 0xFEFF)
	for _, u := range utf16.Encode([]rune(text)) {
		body = order.AppendUint16(body, u)
	}
	return body
}

func TestGoogleLineLength(t *testing.T) {
	const longest = 16663
	rule := func(n int, key string) string { return key + strings.Repeat("x", n-len(key)) }
	for _, test := range []struct {
		row, line string
		want      int // length of the pattern
		cut       bool
	}{
		{"as long as permitted", rule(longest, "Allow: /"), longest - len("Allow: "), false},
		{"a byte longer", rule(longest+1, "Allow: /"), longest - len("Allow: "), true},
		{"counted before trimming", rule(longest+5, "     Allow: /"), longest - len("     Allow: "), true},
		{"counted with the comment", rule(longest+5, "Allow: /yz #"), len("/yz"), true},
		{"NUL beyond", rule(longest, "Allow: /") + "\x00", longest - len("Allow: "), true},
		{"NUL within", "Allow: /ab\x00" + rule(longest, "Allow: /"), len("/ab"), true},
		{"comment beyond", rule(longest, "Allow: /") + "#", longest - len("Allow: "), true},
	} {
		for _, end := range []string{"", "\n", "\r\n"} {
			body := []byte("User-agent: a\n" + test.line + end)
			f := parse(body, robotstxt.Options{Profile: robotstxt.Google})
			cut := len(f.warnings) > 0 && f.warnings[0] == robotstxt.Warning{Kind: robotstxt.LineCut, Line: 2} ||
				len(f.warnings) > 1 && f.warnings[1] == robotstxt.Warning{Kind: robotstxt.LineCut, Line: 2}
			got := len(f.Groups[0].Rules[0].Pattern)
			must.Be(t, got == test.want && cut == test.cut, "%s: pattern of %d bytes, want %d; cut: %v", test.row, got, test.want, cut)
		}
	}

	mark := []byte("\xEF\xBB\xBF" + rule(longest, "User-agent: "))
	if f := parse(mark, robotstxt.Options{Profile: robotstxt.Google}); len(f.warnings) != 0 {
		t.Errorf("the skipped mark counts: %s", f.warnings[0].Kind)
	}
	long := []byte("User-agent: a\n" + rule(10*longest, "Allow: /"))
	must.Equal(t, len(parse(long, robotstxt.Options{}).Groups[0].Rules[0].Pattern), 10*longest-len("Allow: "), "rfc9309: pattern of", "bytes")
}
