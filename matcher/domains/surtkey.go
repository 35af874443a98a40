package domains

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"

	"robotsbatch/matcher/urls"
)

// AppendSURTKey appends the key of a URL in the form of the column url_surtkey of Common
// Crawl's indexes, such as com,example)/a/b?x=1&y=2 for https://www.example.com/A//b/?y=2&x=1.
// The URL comes as urls.Scratch.SplitAuthority returns it: the key of its authority, and the
// rest as written. Time is bounded by its length times the logarithm of its parameters.
//
// The rules are those of the archives' canonical form: the host as AppendSURT has it, with
// the port that is not the scheme's; escapes are decoded until none is left, and blanks,
// control bytes, bytes above 0x7E, # and % are escaped; all in lower case; segments that are
// empty, dots, or left by two dots are dropped, and a slash at the end; parameters are sorted;
// identifiers of sessions and fragments are left out.
func AppendSURTKey(dst, authority, rest []byte) []byte {
	host := Host(authority)
	dst = append(AppendSURT(dst, host), port(authority, host)...)
	dst = append(dst, ')')
	rest, _, _ = bytes.Cut(rest, []byte("#"))
	path, query, _ := bytes.Cut(rest, []byte("?"))
	dst = append(dst, withoutSessions(canonicalPath(path), pathSessions, "/(", ".aspx")...)
	if query = withoutSessions(escaped(decoded(query)), querySessions, "id"); len(query) > 0 {
		dst = append(append(dst, '?'), sortParameters(query)...)
	}
	return dst
}

// port returns what follows the host in the key of an authority, such as ":8080"; mostly empty.
func port(authority, host []byte) []byte {
	at := bytes.LastIndex(authority, host)
	return authority[at+len(host):]
}

// decoded returns a text without TAB, CR and LF, and with its escapes decoded until none is left,
// also those that decoding makes: an escape ends with the byte that was appended last, so each is
// seen once. It takes time linear in the text.
func decoded(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, b := range text {
		if b == '\t' || b == '\r' || b == '\n' {
			continue
		}
		out = append(out, b)
		for {
			escape := max(0, len(out)-len("%XX"))
			char, ok := urls.Unescape(out, escape)
			if !ok {
				break
			}
			out = append(out[:escape], char)
		}
	}
	return out
}

// escaped returns a text with the bytes escaped that AppendSURTKey names, in lower case.
func escaped(text []byte) []byte {
	const digits = "0123456789abcdef"
	out := make([]byte, 0, len(text))
	for _, b := range text {
		switch {
		case b <= ' ' || b >= 0x7F || b == '#' || b == '%':
			out = append(out, '%', digits[b>>4], digits[b&15])
		default:
			out = append(out, urls.ToLower(b))
		}
	}
	return out
}

// canonicalPath returns a path with a slash at the start, its dot segments resolved, decoded and
// escaped again. Two dots at the start remain.
func canonicalPath(path []byte) []byte {
	var segments [][]byte
	for segment := range bytes.SplitSeq(bytes.TrimPrefix(decoded(path), []byte("/")), []byte("/")) {
		switch string(segment) {
		case ".":
		case "..":
			if n := len(segments); n > 0 && string(segments[n-1]) != ".." {
				segments = segments[:n-1]
				continue
			}
			fallthrough
		default:
			segments = append(segments, segment)
		}
	}
	// Two dots leave an empty segment as well, so these are dropped last.
	segments = slices.DeleteFunc(segments, func(segment []byte) bool { return len(segment) == 0 })
	return escaped(append([]byte("/"), bytes.Join(segments, []byte("/"))...))
}

// Identifiers of sessions as they stand in paths of ASP.NET and in queries. What is kept of a match
// is its two groups: before the identifier, and after it.
var (
	pathSessions = []*regexp.Regexp{
		regexp.MustCompile(`^(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)$`),
		regexp.MustCompile(`^(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)$`),
	}
	querySessions = []*regexp.Regexp{
		regexp.MustCompile(`^(.*)jsessionid=[0-9a-z]{32}(?:&(.*))?$`),
		regexp.MustCompile(`^(.*)phpsessid=[0-9a-z]{32}(?:&(.*))?$`),
		regexp.MustCompile(`^(.*)sid=[0-9a-z]{32}(?:&(.*))?$`),
		regexp.MustCompile(`^(.*)aspsessionid[a-z]{8}=[a-z]{24}(?:&(.*))?$`),
		regexp.MustCompile(`^(.*)cfid=[^&]+&cftoken=[^&]+(?:&(.*))?$`),
	}
)

// withoutSessions returns a canonical path or query without the identifiers of sessions: for each of
// the expressions that matches, without what lies between its two groups. None of them matches a text
// that lacks one of parts, so most texts need no expression.
func withoutSessions(text []byte, sessions []*regexp.Regexp, parts ...string) []byte {
	for _, part := range parts {
		if !bytes.Contains(text, []byte(part)) {
			return text
		}
	}
	for _, session := range sessions {
		if m := session.FindSubmatch(text); m != nil {
			text = slices.Concat(m[1], m[2])
		}
	}
	return text
}

// sortParameters returns a query with its parameters sorted by name, then value; of equal names, one
// without "=" comes first.
func sortParameters(query []byte) []byte {
	parameters := bytes.Split(query, []byte("&"))
	slices.SortStableFunc(parameters, func(a, b []byte) int {
		nameA, valueA, hasA := bytes.Cut(a, []byte("="))
		nameB, valueB, hasB := bytes.Cut(b, []byte("="))
		if order := bytes.Compare(nameA, nameB); order != 0 || hasA == hasB {
			return cmp.Or(order, bytes.Compare(valueA, valueB))
		}
		if hasB {
			return -1
		}
		return 1
	})
	return bytes.Join(parameters, []byte("&"))
}
