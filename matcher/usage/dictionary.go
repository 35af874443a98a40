package usage

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Pair is a key of a statement and what the statement says of it.
type Pair struct {
	// Key aliases the statement.
	Key []byte
	// At is the offset of the key in a Content-Usage statement.
	At int
	// Value is Unreadable if it is none of those that the directive defines.
	Value Value
}

// formerKeys has for the key of a use the keys of older drafts that covered the use.
var formerKeys = map[string][]string{
	"train-ai": {"train-genai", "ai", "tdm", "bots"},
	"ai-use":   {"ai", "tdm", "bots"},
}

// Of returns what a statement says of a use. pairs and err are what [AppendStatement] returned for
// the statement. If the statement says something of the use that cannot be read, the value is
// Unreadable, rather than Unknown: the use's key has a value that the directive does not define, the
// statement does not parse, or a key of an older draft disallows the use.
func Of(pairs []Pair, err error, u Use) Value {
	value := valueOf(pairs, u.Key)
	switch {
	case value != Unknown:
		return value
	case err != nil:
		return Unreadable
	case u.Directive == ContentUsage && slices.ContainsFunc(formerKeys[u.Key], func(key string) bool { return valueOf(pairs, key) == Disallowed }):
		return Unreadable
	}
	return Unknown
}

// valueOf returns what pairs say of a key, Unknown if they do not have it. The last one counts.
func valueOf(pairs []Pair, key string) Value {
	for _, p := range slices.Backward(pairs) {
		if string(p.Key) == key {
			return p.Value
		}
	}
	return Unknown
}

// SyntaxError means that a statement does not parse. A Content-Usage that is no dictionary
// (RFC 9651 §4.2.2) has no pairs then, not even from the part before the fault; a
// Content-Signal has those that can be read.
type SyntaxError struct {
	// At is the offset of the fault in the statement.
	At int
	// Want is what should be there.
	Want string
}

// Error returns the fault in words.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.Want, e.At+1) }

// AppendStatement appends the pairs of a statement, in order. An error is a *[SyntaxError].
func AppendStatement(dst []Pair, d Directive, statement []byte) ([]Pair, error) {
	if d == ContentSignal {
		return appendSignals(dst, statement)
	}
	return appendDictionary(dst, statement)
}

// appendDictionary appends the members of an RFC 9651 dictionary. A member's value is
// Allowed for the token y, Disallowed for n, and Unreadable for everything else. Parameters
// are ignored.
func appendDictionary(dst []Pair, statement []byte) ([]Pair, error) {
	d := dictionary{rest: statement}
	before := len(dst)
	d.skipSpaces()
	for len(d.rest) > 0 {
		at := len(statement) - len(d.rest)
		key, ok := d.key()
		if ok {
			var value Value
			if value, ok = d.member(); ok {
				dst = append(dst, Pair{Key: key, At: at, Value: value})
				ok = d.comma()
			}
		}
		if !ok {
			return dst[:before], &SyntaxError{At: len(statement) - len(d.rest), Want: d.want}
		}
	}
	return dst, nil
}

// dictionary is a parser of RFC 9651 §4.2. It follows the algorithms of the RFC, and keeps
// nothing of a value but whether it is the token y or n. Each method parses one production from
// the start of rest and cuts it off; it returns false, and sets want, if rest has another text.
type dictionary struct {
	rest []byte
	want string // what a method that returned false was looking for
}

// next returns the next byte, 0 at the end. No value may have a NUL.
func (d *dictionary) next() byte {
	if len(d.rest) == 0 {
		return 0
	}
	return d.rest[0]
}

// consume skips the next byte if it is c.
func (d *dictionary) consume(c byte) bool {
	if len(d.rest) == 0 || d.rest[0] != c {
		return false
	}
	d.rest = d.rest[1:]
	return true
}

// fail sets what is missing and returns false.
func (d *dictionary) fail(want string) bool {
	d.want = want
	return false
}

func (d *dictionary) skipSpaces() { d.rest = bytes.TrimLeft(d.rest, " ") }

func (d *dictionary) skipBlanks() { d.rest = bytes.TrimLeft(d.rest, " \t") }

// comma skips what comes between two members, or to the end of the dictionary. A comma must
// have a member after it.
func (d *dictionary) comma() bool {
	d.skipBlanks()
	if len(d.rest) == 0 {
		return true
	}
	if !d.consume(',') {
		return d.fail("a comma is missing")
	}
	d.skipBlanks()
	return len(d.rest) > 0 || d.fail("a key is missing")
}

// key parses a key (RFC 9651 §4.2.3.3).
func (d *dictionary) key() (key []byte, ok bool) {
	if c := d.next(); !isLower(c) && c != '*' {
		return nil, d.fail("a key, in lower case, is missing")
	}
	n := 1
	for n < len(d.rest) && isKeyByte(d.rest[n]) {
		n++
	}
	key, d.rest = d.rest[:n:n], d.rest[n:]
	return key, true
}

// member parses what follows a key: a value, if there is one, and its parameters.
func (d *dictionary) member() (v Value, ok bool) {
	if !d.consume('=') {
		return Unreadable, d.parameters() // the value is true
	}
	if d.next() == '(' {
		return Unreadable, d.innerList()
	}
	if v, ok = d.bareItem(); !ok {
		return Unknown, false
	}
	return v, d.parameters()
}

// parameters skips the parameters of a value (RFC 9651 §4.2.3.2).
func (d *dictionary) parameters() bool {
	for d.consume(';') {
		d.skipSpaces()
		if _, ok := d.key(); !ok {
			return false
		}
		if d.consume('=') {
			if _, ok := d.bareItem(); !ok {
				return false
			}
		}
	}
	return true
}

// innerList skips a list in parentheses (RFC 9651 §4.2.1.2).
func (d *dictionary) innerList() bool {
	d.consume('(')
	for {
		d.skipSpaces()
		if d.consume(')') {
			return d.parameters()
		}
		if _, ok := d.bareItem(); !ok || !d.parameters() {
			return false
		}
		if c := d.next(); c != ' ' && c != ')' {
			return d.fail("a space or a closing parenthesis is missing")
		}
	}
}

// bareItem parses a value without parameters (RFC 9651 §4.2.3.1).
func (d *dictionary) bareItem() (v Value, ok bool) {
	switch c := d.next(); {
	case isAlpha(c) || c == '*':
		return d.token(), true
	case c == '-' || isDigit(c):
		_, ok = d.number()
	case c == '"':
		ok = d.quoted()
	case c == ':':
		ok = d.byteSequence()
	case c == '?':
		ok = d.boolean()
	case c == '@':
		ok = d.date()
	case c == '%':
		ok = d.displayString()
	default:
		ok = d.fail("a value is missing")
	}
	return Unreadable, ok
}

// token parses a token (RFC 9651 §4.2.6). The caller has checked its first byte, a letter or '*'.
func (d *dictionary) token() Value {
	n := 1
	for n < len(d.rest) && isTokenByte(d.rest[n]) {
		n++
	}
	token := d.rest[:n]
	d.rest = d.rest[n:]
	switch string(token) {
	case "y":
		return Allowed
	case "n":
		return Disallowed
	}
	return Unreadable
}

// number skips an integer or a decimal (RFC 9651 §4.2.4). integer reports whether it is an integer.
// The most digits are those of the RFC.
func (d *dictionary) number() (integer, ok bool) {
	const mostInteger, mostWhole, mostFraction = 15, 12, 3
	d.consume('-')
	whole := d.digits()
	switch {
	case whole == 0:
		return false, d.fail("a digit is missing")
	case whole > mostInteger:
		return false, d.fail("the number is too long")
	case d.next() != '.':
		return true, true
	case whole > mostWhole:
		return false, d.fail("the number is too long")
	}
	d.consume('.')
	if n := d.digits(); n == 0 || n > mostFraction {
		return false, d.fail("one to three digits are missing after the point")
	}
	return false, true
}

// digits skips digits and returns their number.
func (d *dictionary) digits() (n int) {
	for n < len(d.rest) && isDigit(d.rest[n]) {
		n++
	}
	d.rest = d.rest[n:]
	return n
}

// quoted skips a string (RFC 9651 §4.2.5).
func (d *dictionary) quoted() bool {
	d.consume('"')
	for len(d.rest) > 0 {
		c := d.rest[0]
		switch {
		case c == '"':
			d.rest = d.rest[1:]
			return true
		case c == '\\':
			if len(d.rest) < 2 || d.rest[1] != '"' && d.rest[1] != '\\' {
				return d.fail("a quotation mark or a backslash is missing after a backslash")
			}
			d.rest = d.rest[1:]
		case c < ' ' || c > '~':
			return d.fail("a string has printable ASCII characters only")
		}
		d.rest = d.rest[1:]
	}
	return d.fail("a closing quotation mark is missing")
}

// byteSequence skips a byte sequence in base64 (RFC 9651 §4.2.7). Its padding may be
// missing, all or a part of it: it is synthesised.
func (d *dictionary) byteSequence() bool {
	end := bytes.IndexByte(d.rest[1:], ':')
	if end < 0 {
		return d.fail("a closing colon is missing")
	}
	text := d.rest[1 : 1+end]
	unpadded := bytes.TrimRight(text, "=")
	for _, c := range unpadded {
		if !isAlpha(c) && !isDigit(c) && c != '+' && c != '/' {
			return d.fail("base64 is missing")
		}
	}
	// Four characters stand for three bytes. A last one alone stands for nothing, and padding fills up
	// to four.
	if padding := len(text) - len(unpadded); len(unpadded)%4 == 1 || padding > (4-len(unpadded)%4)%4 {
		return d.fail("base64 is missing")
	}
	d.rest = d.rest[end+2:]
	return true
}

// boolean skips a boolean (RFC 9651 §4.2.8).
func (d *dictionary) boolean() bool {
	d.consume('?')
	return d.consume('0') || d.consume('1') || d.fail("0 or 1 is missing")
}

// date skips a date (RFC 9651 §4.2.9).
func (d *dictionary) date() bool {
	d.consume('@')
	if c := d.next(); c != '-' && !isDigit(c) {
		return d.fail("a number is missing")
	}
	integer, ok := d.number()
	return ok && (integer || d.fail("a date has no fraction"))
}

// displayString skips a string of Unicode (RFC 9651 §4.2.10).
func (d *dictionary) displayString() bool {
	d.consume('%')
	if !d.consume('"') {
		return d.fail("a quotation mark is missing")
	}
	var char [utf8.UTFMax]byte // the bytes of a character that has begun
	n := 0
	for len(d.rest) > 0 {
		c := d.rest[0]
		switch {
		case c < ' ' || c > '~':
			return d.fail("a string has printable ASCII characters only")
		case c == '"' && n > 0:
			return d.fail("the string is not UTF-8")
		case c == '"':
			d.rest = d.rest[1:]
			return true
		case c == '%':
			const digits = "0123456789abcdef"
			high, low := -1, -1
			if len(d.rest) >= 3 {
				high, low = strings.IndexByte(digits, d.rest[1]), strings.IndexByte(digits, d.rest[2])
			}
			if high < 0 || low < 0 {
				return d.fail("two hex digits in lower case are missing")
			}
			c = byte(high<<4 | low)
			d.rest = d.rest[2:]
		}
		d.rest = d.rest[1:]
		char[n] = c
		n++
		switch r, size := utf8.DecodeRune(char[:n]); {
		case r != utf8.RuneError || size > 1: // a whole character, which may be U+FFFD
			n = 0
		case utf8.FullRune(char[:n]):
			return d.fail("the string is not UTF-8")
		}
	}
	return d.fail("a closing quotation mark is missing")
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

func isAlpha(c byte) bool { return isLower(c | 0x20) }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isKeyByte(c byte) bool {
	return isLower(c) || isDigit(c) || c == '_' || c == '-' || c == '.' || c == '*'
}

func isTokenByte(c byte) bool {
	return isAlpha(c) || isDigit(c) || bytes.IndexByte([]byte("!#$%&'*+-.^_`|~:/"), c) >= 0
}
