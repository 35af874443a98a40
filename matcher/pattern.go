package matcher

import (
	"bytes"

	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// star is the wildcard in a compiled pattern. A normalised pattern has no NUL: the parser
// cuts lines there.
const star = 0

// pattern is a rule's pattern in compiled form.
type pattern struct {
	// text is the normalised pattern, with one star for each run of '*'. It has no star at
	// its end and no '$' that anchors.
	text []byte
	// prefix is the number of bytes of text before the first star.
	prefix int
	// length is the rule's specificity: the number of bytes of the normalised pattern,
	// including every '*' and '$' (RFC 9309 §2.2.2).
	length int
	// anchored: the pattern ends in '$' and matches whole paths only.
	anchored bool
	// query: the pattern has a literal '?' and is compared with the query spelling of a
	// path; see urls.AppendQueryNormal.
	query bool
}

// literalPrefix returns the text before the first star.
func (c *pattern) literalPrefix() []byte { return c.text[:c.prefix] }

// compile normalises a pattern into c, which must be zero. The text aliases source if that
// is normal as written; else it is appended to arena. Neither the arena given nor the one
// returned ends with a star, which appendStar would take for one of the next pattern. ok is
// false for a pattern that cannot match: empty, or starting with neither '/' nor '*'.
func (c *pattern) compile(arena, source []byte, p Profile) (_ []byte, ok bool) {
	if len(source) == 0 || (source[0] != '/' && source[0] != '*') {
		return arena, false
	}
	if source[len(source)-1] == '$' {
		c.anchored = true
		c.length = 1 // of the '$'
		source = source[:len(source)-1]
	}
	run := plainRun(source)
	if run == len(source) {
		c.text, c.prefix = source, run
		c.length += run
		return arena, true
	}
	start := len(arena)
	arena = append(arena, source[:run]...)
	if p == robotstxt.Google {
		arena = c.appendGoogle(arena, source[run:])
	} else {
		arena = c.appendRFC9309(arena, source[run:])
	}
	c.length += len(arena) - start
	if last := len(arena) - 1; arena[last] == star {
		// A match may end anywhere, so a trailing "*" or "*$" changes nothing.
		arena = arena[:last]
		c.anchored = false
	}
	c.text = arena[start:]
	if c.prefix = bytes.IndexByte(c.text, star); c.prefix < 0 {
		c.prefix = len(c.text)
	}
	return arena, true
}

// appendStar appends a star. If dst ends with one already, it only counts its length.
func (c *pattern) appendStar(dst []byte) []byte {
	if n := len(dst); n > 0 && dst[n-1] == star {
		c.length++
		return dst
	}
	return append(dst, star)
}

// appendRFC9309 appends a part of a pattern, normalised as urls.AppendNormal does paths and,
// after a literal '?', as urls.AppendQueryNormal does. It sets c.query at a '?' and adds to
// c.length the wildcards that it does not append.
func (c *pattern) appendRFC9309(dst, source []byte) []byte {
	for i := 0; i < len(source); i++ {
		char := source[i]
		switch {
		case char == '*':
			dst = c.appendStar(dst)
		case char == '?':
			c.query = true
			dst = append(dst, char)
		case !urls.NeedsWork(char):
			run := plainRun(source[i:])
			dst = append(dst, source[i:i+run]...)
			i += run - 1
		case char != '%':
			dst = urls.AppendEscape(dst, char)
		default:
			decoded, ok := urls.Unescape(source, i)
			switch {
			case !ok:
				dst = append(dst, "%25"...)
			case c.query && (decoded == '/' || decoded == '?'):
				dst = append(dst, decoded)
			default:
				dst = urls.AppendDecoded(dst, decoded)
			}
			if ok {
				i += 2 // the escape's digits
			}
		}
	}
	return dst
}

// plainRun returns the number of leading bytes of a pattern that need no normalisation
// under either profile.
func plainRun(source []byte) int {
	for i, char := range source {
		if !isPlain[char] {
			return i
		}
	}
	return len(source)
}

// isPlain has the bytes of a pattern that mean themselves and need no normalisation.
var isPlain = func() (table [256]bool) {
	for c := range table {
		table[c] = !urls.NeedsWork(byte(c)) && c != '*' && c != '?'
	}
	return table
}()

// appendGoogle appends a part of a pattern as Google's parser has it: bytes that are not ASCII
// escaped, and the hex digits of escapes in upper case. It adds to c.length the wildcards that
// it does not append.
func (c *pattern) appendGoogle(dst, source []byte) []byte {
	for i := 0; i < len(source); i++ {
		char := source[i]
		switch decoded, isEscape := urls.Unescape(source, i); {
		case char == '*':
			dst = c.appendStar(dst)
		case isEscape:
			dst = urls.AppendEscape(dst, decoded)
			i += 2
		case char >= 0x80:
			dst = urls.AppendEscape(dst, char)
		default:
			dst = append(dst, char)
		}
	}
	return dst
}

// indexPattern returns the second pattern that Google's parser makes of an allow rule for a
// directory's index page: the pattern of the directory alone, in memory of its own. value is the
// rule's pattern as written. ok is false if it has no second pattern.
func indexPattern(value []byte) (_ []byte, ok bool) {
	const index = "/index.htm"
	slash := bytes.LastIndexByte(value, '/')
	if slash < 0 || !bytes.HasPrefix(value[slash:], []byte(index)) {
		return nil, false
	}
	return append(append([]byte(nil), value[:slash+1]...), '$'), true
}
