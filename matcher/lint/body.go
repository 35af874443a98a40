package lint

import (
	"bytes"
	"unicode/utf8"

	"robotsbatch/matcher/robotstxt"
)

// nearLimit is the percentage of the size limit from which a body is near it.
const nearLimit = 90

// checkBody adds findings about the byte order mark and the size of a body, which may be longer
// than the part that counts under o.
func (c *checker) checkBody(body []byte, o robotstxt.Options) {
	if bytes.HasPrefix(body, []byte("\xEF\xBB\xBF")) {
		c.add("byte-order-mark", 1, 0, "a byte order mark comes before the first line: some crawlers then misread that line")
	}
	limit := o.ReadLimit()
	switch {
	case c.profile == robotstxt.Google: // has no limit
	case o.Cut:
		c.add("size-limit", c.file.Lines, 0, "the crawler cut the body after this line: later rules are unknown")
	case c.limited:
		c.add("size-limit", c.file.Lines, 0, "the body is larger than %d bytes (RFC 9309 §2.5): everything after this line is ignored", limit)
	case len(body) > limit/100*nearLimit:
		c.add("size-near", c.file.Lines, 0, "the body has %d of the %d bytes that count (RFC 9309 §2.5)", len(body), limit)
	}
}

// checkEncoding adds a finding for the first byte of a line, without its comment, that is not
// UTF-8.
func (c *checker) checkEncoding(number int, line []byte) {
	text := content(line)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			c.add("not-utf8", number, indent(line)+i, "byte %02X is not UTF-8 (RFC 9309 §2.3): in a rule it matches only %%%02X", text[i], text[i])
			return
		}
		i += size
	}
}
