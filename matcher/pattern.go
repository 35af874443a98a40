package matcher

import (
	"bytes"

	"robotsbatch/matcher/robotstxt"
)

// star stands for the wildcard in a compiled pattern. No normalised pattern
// has a NUL: the parser cuts its line there.
const star = 0

// pattern is a rule's pattern in compiled form.
type pattern struct {
	// text is the normalised pattern with a star for each run of '*'. It has
	// no star at its end, and no '$' that anchors.
	text []byte
	// length counts the octets of the normalised pattern, every '*' and '$'
	// included: the rule's specificity (RFC 9309 §2.2.2).
	length int
	// anchored: the pattern ends in '$' and matches whole paths only.
	anchored bool
	// query: the pattern has a literal '?' and is compared with the query
	// spelling of a path; see NormaliseQuery.
	query bool
}

// compilePattern normalises a pattern into dst. ok is false for a pattern that
// can match nothing: empty, or starting with neither '/' nor '*'.
func compilePattern(dst, source []byte, p Profile) (_ pattern, ok bool) {
	if len(source) == 0 || (source[0] != '/' && source[0] != '*') {
		return pattern{}, false
	}
	c := pattern{text: dst}
	if source[len(source)-1] == '$' {
		c.anchored = true
		c.length = 1
		source = source[:len(source)-1]
	}
	if p == robotstxt.Google {
		c.appendGoogle(source)
	} else {
		c.appendRFC9309(source)
	}
	if n := len(c.text); n > 0 && c.text[n-1] == star {
		// A match may end anywhere, so "*" and "*$" at the end say nothing.
		c.text = c.text[:n-1]
		c.anchored = false
	}
	return c, true
}

func (c *pattern) appendStar() {
	c.length++
	if n := len(c.text); n == 0 || c.text[n-1] != star {
		c.text = append(c.text, star)
	}
}

// appendRFC9309 normalises as Normalise and, after a literal '?',
// NormaliseQuery do for paths.
func (c *pattern) appendRFC9309(source []byte) {
	for i := 0; i < len(source); i++ {
		octet := source[i]
		before := len(c.text)
		switch {
		case octet == '*':
			c.appendStar()
			continue
		case octet == '?':
			c.query = true
			c.text = append(c.text, octet)
		case !needsWork[octet]:
			run := plainRun(source[i:])
			c.text = append(c.text, run...)
			i += len(run) - 1
		case octet != '%':
			c.text = appendEscape(c.text, octet)
		default:
			decoded, ok := escaped(source, i)
			switch {
			case !ok:
				c.text = append(c.text, "%25"...)
			case c.query && (decoded == '/' || decoded == '?'):
				c.text = append(c.text, decoded)
			default:
				c.text = appendDecoded(c.text, decoded)
			}
			if ok {
				i += 2
			}
		}
		c.length += len(c.text) - before
	}
}

// plainRun is the octets that a pattern begins with, all of which stand for
// themselves alone.
func plainRun(source []byte) []byte {
	for i, octet := range source {
		if needsWork[octet] || octet == '*' || octet == '?' {
			return source[:i]
		}
	}
	return source
}

// appendGoogle escapes octets beyond ASCII and brings the digits of escapes to
// upper case.
func (c *pattern) appendGoogle(source []byte) {
	for i := 0; i < len(source); i++ {
		octet := source[i]
		before := len(c.text)
		switch _, isEscape := escaped(source, i); {
		case octet == '*':
			c.appendStar()
			continue
		case isEscape:
			c.text = append(c.text, '%', upper(source[i+1]), upper(source[i+2]))
			i += 2
		case octet >= 0x80:
			c.text = appendEscape(c.text, octet)
		default:
			c.text = append(c.text, octet)
		}
		c.length += len(c.text) - before
	}
}

func upper(digit byte) byte { return hexDigits[hexValue[digit]] }

// indexPattern returns the second pattern that Google's parser makes of an
// allow rule for a directory's index page: the directory alone. value is the
// rule's pattern as written.
func indexPattern(dst, value []byte) (_ pattern, ok bool) {
	slash := -1
	for i, c := range value {
		if c == '/' {
			slash = i
		}
	}
	const index = "/index.htm"
	if slash < 0 || len(value)-slash < len(index) || string(value[slash:slash+len(index)]) != index {
		return pattern{}, false
	}
	directory := append(append([]byte(nil), value[:slash+1]...), '$')
	return compilePattern(dst, directory, robotstxt.Google)
}

// literalPrefix is a text up to its first star.
func literalPrefix(text []byte) []byte {
	if i := bytes.IndexByte(text, star); i >= 0 {
		return text[:i]
	}
	return text
}
