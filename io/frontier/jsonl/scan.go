package jsonl

import (
	"bytes"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is the deepest nesting of objects and arrays, the same as in encoding/json.
const maxDepth = 10_000

// key is a key whose value is wanted. With anyCase, a key in other case counts where an
// object has none in its own. A name such as metadata.url also stands for the key url in
// the object metadata, where an object has no such key itself.
type key struct {
	name    []byte
	anyCase bool
}

// nested looks for a key with a dot, such as metadata.url: the key url in the object metadata.
type nested struct {
	key     int     // the index of the key in the outer scanner
	outer   []byte  // the part before the dot
	scanner scanner // looks for the part after it
}

// mostKeys is the most keys that can be wanted.
const mostKeys = 64

// scanner checks that a text is a JSON object (RFC 8259), and finds keys in it. It
// reads each byte once and allocates nothing. It accepts strings that are not UTF-8,
// because URLs may have such bytes.
type scanner struct {
	keys   []key
	nested []nested // of the keys with a dot
	// watched are keys whose presence is reported. Those before the index own are keys that the sink
	// adds unless an object has them; the others are the names of verdicts, which clash.
	watched [][]byte
	own     int

	data []byte
	at   int // the offset in data up to which it was scanned

	// What was found in the last object.
	values  []span // by key, of the last value
	found   uint64 // a bit for each key that occurred
	exact   uint64 // a bit for each key that occurred in its own case
	members int    // the number of members
	owned   uint8  // a bit for each watched key before own that occurred
	clash   int    // the index in watched of the first other one that occurred; -1 for none
	unquote []byte // scratch: a key without escapes
}

// newScanner returns a scanner that looks for keys, and reports watched ones. There are at
// most mostKeys keys.
func newScanner(keys []key, watched [][]byte) scanner {
	if len(keys) > mostKeys {
		panic("more keys are wanted than a scanner has bits")
	}
	s := scanner{keys: keys, watched: watched, values: make([]span, len(keys))}
	for i, k := range keys {
		if outer, rest, dotted := bytes.Cut(k.name, []byte{'.'}); dotted {
			s.nested = append(s.nested, nested{i, outer, newScanner([]key{{name: rest}}, nil)})
		}
	}
	return s
}

// span is a part of the text, given by offsets.
type span struct{ start, end int }

// value returns the raw value of the key with an index in the last object; empty if it is absent.
func (s *scanner) value(key int) []byte {
	if s.found>>key&1 == 0 {
		return nil
	}
	return s.data[s.values[key].start:s.values[key].end]
}

// scanObject scans a text without white space around it, and reports whether it is an object.
// What it found is valid until the next call.
func (s *scanner) scanObject(text []byte) bool {
	s.data, s.at = text, 0
	s.found, s.exact, s.members, s.owned, s.clash = 0, 0, 0, 0, -1
	return len(text) > 0 && text[0] == '{' && s.scanOutermost() && s.at == len(text)
}

// scanOutermost scans the outermost object, whose brace is at s.at, and moves past it. It records the
// values of wanted keys, and reports whether the object is valid.
func (s *scanner) scanOutermost() bool {
	s.at++
	if s.skipSpace() == '}' {
		s.at++
		return true
	}
	for {
		start := s.at
		escaped, ok := s.scanString()
		if !ok {
			return false
		}
		name := s.data[start+1 : s.at-1]
		if escaped {
			s.unquote = appendUnquoted(s.unquote[:0], name)
			name = s.unquote
		}
		wanted := s.wantedKeys(name)
		s.findWatched(name)
		if !s.skipColon() {
			return false
		}
		start = s.at
		if !s.scanValue(2) { // the outermost object has depth 1
			return false
		}
		s.found |= wanted
		for ; wanted != 0; wanted &= wanted - 1 {
			s.values[bits.TrailingZeros64(wanted)] = span{start, s.at}
		}
		if len(s.nested) > 0 {
			s.scanNested(name, span{start, s.at})
		}
		s.members++
		if more, ok := s.skipComma('}'); !more {
			return ok
		}
	}
}

// wantedKeys returns a bit for each wanted key that has this name.
func (s *scanner) wantedKeys(name []byte) (keys uint64) {
	for i := range s.keys {
		switch k := &s.keys[i]; {
		case len(name) != len(k.name):
		case bytes.Equal(name, k.name):
			keys |= 1 << i
			s.exact |= 1 << i
		case k.anyCase && s.exact>>i&1 == 0 && bytes.EqualFold(name, k.name):
			keys |= 1 << i
		}
	}
	return keys
}

// scanNested looks for the keys with dots in the value of the key outer, if that is an object.
func (s *scanner) scanNested(outer []byte, value span) {
	for i := range s.nested {
		n := &s.nested[i]
		if s.exact>>n.key&1 != 0 || !bytes.Equal(outer, n.outer) { // the key with the dot itself takes precedence
			continue
		}
		s.found &^= 1 << n.key // what an earlier value of outer had does not count
		if n.scanner.scanObject(s.data[value.start:value.end]) && n.scanner.found != 0 {
			inner := n.scanner.values[0]
			s.found |= 1 << n.key
			s.values[n.key] = span{value.start + inner.start, value.start + inner.end}
		}
	}
}

// findWatched sets owned or clash if a key of the object is a watched one.
func (s *scanner) findWatched(name []byte) {
	for i, watched := range s.watched {
		switch {
		case !bytes.Equal(name, watched):
		case i < s.own:
			s.owned |= 1 << i
		case s.clash < 0:
			s.clash = i
		}
	}
}

// skipSpace skips white space and returns the byte after it; 0 at the end.
func (s *scanner) skipSpace() byte {
	for s.at < len(s.data) {
		switch c := s.data[s.at]; c {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// skipColon skips the colon after a key, and the white space around it. It returns false if there
// is none.
func (s *scanner) skipColon() bool {
	if s.skipSpace() != ':' {
		return false
	}
	s.at++
	s.skipSpace()
	return true
}

// skipComma skips the comma, or the byte end, that follows a member of an object or array. more
// reports whether it was a comma; ok is false if it was neither.
func (s *scanner) skipComma(end byte) (more, ok bool) {
	switch s.skipSpace() {
	case ',':
		s.at++
		s.skipSpace()
		return true, true
	case end:
		s.at++
		return false, true
	}
	return false, false
}

// scanValue scans a value that is nested to that depth, and reports whether it is valid.
func (s *scanner) scanValue(depth int) bool {
	if s.at >= len(s.data) {
		return false
	}
	switch c := s.data[s.at]; c {
	case '"':
		_, ok := s.scanString()
		return ok
	case '{':
		return depth <= maxDepth && s.scanInner(depth, '}')
	case '[':
		return depth <= maxDepth && s.scanInner(depth, ']')
	case 't':
		return s.scanWord("true")
	case 'f':
		return s.scanWord("false")
	case 'n':
		return s.scanWord("null")
	default:
		return s.scanNumber()
	}
}

// scanInner scans an object or array within the outermost object, up to the byte end, and
// reports whether it is valid.
func (s *scanner) scanInner(depth int, end byte) bool {
	s.at++
	if s.skipSpace() == end {
		s.at++
		return true
	}
	for {
		if end == '}' {
			if _, ok := s.scanString(); !ok || !s.skipColon() {
				return false
			}
		}
		if !s.scanValue(depth + 1) {
			return false
		}
		if more, ok := s.skipComma(end); !more {
			return ok
		}
	}
}

// scanWord skips a word such as true; it returns false if another text is there.
func (s *scanner) scanWord(word string) bool {
	if len(s.data)-s.at < len(word) || string(s.data[s.at:s.at+len(word)]) != word {
		return false
	}
	s.at += len(word)
	return true
}

// scanNumber scans a number, and reports whether it is valid.
func (s *scanner) scanNumber() bool {
	if s.data[s.at] == '-' {
		s.at++
	}
	switch {
	case s.at < len(s.data) && s.data[s.at] == '0':
		s.at++
	case !s.scanDigits():
		return false
	}
	if s.at < len(s.data) && s.data[s.at] == '.' {
		s.at++
		if !s.scanDigits() {
			return false
		}
	}
	if s.at < len(s.data) && s.data[s.at]|0x20 == 'e' {
		s.at++
		if s.at < len(s.data) && (s.data[s.at] == '+' || s.data[s.at] == '-') {
			s.at++
		}
		return s.scanDigits()
	}
	return true
}

// scanDigits skips digits; it returns false if there is none.
func (s *scanner) scanDigits() bool {
	start := s.at
	for s.at < len(s.data) && '0' <= s.data[s.at] && s.data[s.at] <= '9' {
		s.at++
	}
	return s.at > start
}

// special marks the bytes of a string that are not plain: quotes, backslashes and control
// characters.
var special = func() (table [256]bool) {
	for c := range ' ' {
		table[c] = true
	}
	table['"'], table['\\'] = true, true
	return table
}()

// scanString scans a string with its quotes, and moves past it. escaped reports whether it has
// escapes. ok is false, and it does not move, if there is no valid string.
func (s *scanner) scanString() (escaped, ok bool) {
	data, at := s.data, s.at
	if at >= len(data) || data[at] != '"' {
		return false, false
	}
	for at++; at < len(data); {
		c := data[at]
		switch {
		case !special[c]:
			at++
		case c == '"':
			s.at = at + 1
			return escaped, true
		case c == '\\':
			n := escapeLength(data[at:])
			if n == 0 {
				return false, false
			}
			at, escaped = at+n, true
		default:
			return false, false // a control character
		}
	}
	return false, false
}

// shortEscapes has the byte that an escape such as \n stands for, by its letter; 0 for letters of no
// such escape.
var shortEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escapeLength returns the length of the escape that data starts with; 0 if it is invalid.
func escapeLength(data []byte) int {
	if len(data) < 2 {
		return 0
	}
	if shortEscapes[data[1]] != 0 {
		return 2
	}
	if _, ok := unicodeEscape(data); ok {
		return 6
	}
	return 0
}

// unicodeEscape returns the UTF-16 code unit of the escape \uXXXX that data starts with; ok is
// false for anything else.
func unicodeEscape(data []byte) (unit rune, ok bool) {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return 0, false
	}
	for _, c := range data[2:6] {
		unit <<= 4
		switch {
		case '0' <= c && c <= '9':
			unit |= rune(c - '0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			unit |= rune(c | 0x20 - 'a' + 10)
		default:
			return 0, false
		}
	}
	return unit, true
}

// appendUnquoted appends the value of a valid string, given without its quotes, to dst. Half
// of a surrogate pair becomes U+FFFD.
func appendUnquoted(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			return append(dst, text...)
		}
		dst, text = append(dst, text[:i]...), text[i:]
		unit, long := unicodeEscape(text)
		if !long {
			dst, text = append(dst, shortEscapes[text[1]]), text[2:]
			continue
		}
		text = text[6:]
		if utf16.IsSurrogate(unit) {
			second, _ := unicodeEscape(text)
			if unit = utf16.DecodeRune(unit, second); unit != utf8.RuneError { // it was a pair
				text = text[6:]
			}
		}
		dst = utf8.AppendRune(dst, unit)
	}
}
