package matcher

import (
	"bytes"

	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// star stands for the wildcard in a compiled pattern. No normalised pattern
// has a NUL: the parser cuts its line there.
const star = 0

// pattern is a rule's pattern in compiled form.
type pattern struct {
	// text is the normalised pattern with a star for each run of '*'. It has
	// no star at its end, and no '$' that anchors.
	text []byte
	// prefix is how many bytes of text come before the first star.
	prefix int
	// length counts the bytes of the normalised pattern, every '*' and '$'
	// included: the rule's specificity (RFC 9309 §2.2.2).
	length int
	// anchored: the pattern ends in '$' and matches whole paths only.
	anchored bool
	// query: the pattern has a literal '?' and is compared with the query
	// spelling of a path; see NormaliseQuery.
	query bool
}

// literalPrefix is the text up to the first star.
func (c *pattern) literalPrefix() []byte { return c.text[:c.prefix] }

// compile normalises a pattern into c, which is zero. The text is a part of source
// where that is normal as it is, else it is appended to arena, which never ends with a
// star. ok is false for a pattern that can match nothing: empty, or starting with
// neither '/' nor '*'.
func (c *pattern) compile(arena, source []byte, p Profile) (_ []byte, ok bool) {
	if len(source) == 0 || (source[0] != '/' && source[0] != '*') {
		return arena, false
	}
	if source[len(source)-1] == '$' {
		c.anchored = true
		c.length = 1
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
		// A match may end anywhere, so "*" and "*$" at the end say nothing.
		arena = arena[:last]
		c.anchored = false
	}
	c.text = arena[start:]
	if c.prefix = bytes.IndexByte(c.text, star); c.prefix < 0 {
		c.prefix = len(c.text)
	}
	return arena, true
}

// appendStar appends a star, unless there is one, and then counts it alone.
func (c *pattern) appendStar(dst []byte) []byte {
	if n := len(dst); n > 0 && dst[n-1] == star {
		c.length++
		return dst
	}
	return append(dst, star)
}

// appendRFC9309 normalises as Normalise and, after a literal '?',
// NormaliseQuery do for paths.
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
				i += 2
			}
		}
	}
	return dst
}

// plainRun is how many of the bytes that a pattern begins with stand for
// themselves alone, under either profile.
func plainRun(source []byte) int {
	for i, char := range source {
		if !isPlain[char] {
			return i
		}
	}
	return len(source)
}

// isPlain are the bytes that stand for themselves alone in a pattern.
var isPlain = func() (table [256]bool) {
	for c := range table {
		table[c] = !urls.NeedsWork(byte(c)) && c != '*' && c != '?'
	}
	return table
}()

// appendGoogle escapes bytes beyond ASCII and brings the digits of escapes to
// upper case.
func (c *pattern) appendGoogle(dst, source []byte) []byte {
	for i := 0; i < len(source); i++ {
		char := source[i]
		switch _, isEscape := urls.Unescape(source, i); {
		case char == '*':
			dst = c.appendStar(dst)
		case isEscape:
			dst = append(dst, '%', upper(source[i+1]), upper(source[i+2]))
			i += 2
		case char >= 0x80:
			dst = urls.AppendEscape(dst, char)
		default:
			dst = append(dst, char)
		}
	}
	return dst
}

func upper(digit byte) byte {
	if digit >= 'a' {
		digit -= 'a' - 'A'
	}
	return digit
}

// indexPattern returns the second pattern that Google's parser makes of an
// allow rule for a directory's index page: the directory alone. value is the
// rule's pattern as written.
func indexPattern(value []byte) (_ []byte, ok bool) {
	const index = "/index.htm"
	slash := bytes.LastIndexByte(value, '/')
	if slash < 0 || !bytes.HasPrefix(value[slash:], []byte(index)) {
		return nil, false
	}
	return append(append([]byte(nil), value[:slash+1]...), '$'), true
}
