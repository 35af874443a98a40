package robotstxt

import (
	"bytes"
	"iter"
	"unicode/utf8"
)

// AgentNames yields the names of the agents that the groups are for, as Names returns them,
// without "*". A name is repeated as often as it occurs. It is valid as long as the body
// is.
func (f *File) AgentNames() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := range f.Groups {
			for _, a := range f.Groups[i].Agents {
				token, word := a.Names(f.Profile)
				if len(token) > 0 && !yield(token) {
					return
				}
				if len(word) > len(token) && !yield(word) {
					return
				}
			}
		}
	}
}

// Everyone reports whether the line is for all crawlers that no group names: its value is
// "*", or "*" and white space, which anything may follow (RFC 9309 §2.2.1).
func (a Agent) Everyone() bool {
	return len(a.Value) > 0 && a.Value[0] == '*' && (len(a.Value) == 1 || isSpace(a.Value[1]))
}

// Names returns the product tokens that the line names, to be compared without ASCII case;
// an empty one names nobody. They alias a.Value.
//
// The token is the value's longest prefix of letters, "_" and "-" (RFC 9309 §2.2.1). The
// word is the value up to its first white space or "/". Under RFC9309 it names a crawler as
// well, because names such as MJ12bot have digits, which the grammar of product tokens
// lacks. The word is nil under Google, and if the value starts with "*".
func (a Agent) Names(p Profile) (token, word []byte) {
	n := 0
	for n < len(a.Value) && isTokenByte(a.Value[n]) {
		n++
	}
	token = a.Value[:n:n]
	if p == Google || len(a.Value) == 0 || a.Value[0] == '*' {
		return token, nil
	}
	for n < len(a.Value) && a.Value[n] != '/' && !isSpace(a.Value[n]) {
		n++
	}
	return token, a.Value[:n:n]
}

// Crawler returns the name of the crawler that the line is for, of those that Names returns; empty for
// nobody. It is the word if that can be a name, which letters beyond ASCII do not prevent: of
// "MJ12bot/1.4" under RFC9309 "MJ12bot", and of "Foo,Bar" only "Foo".
func (a Agent) Crawler(p Profile) []byte {
	token, word := a.Names(p)
	other := func(r rune) bool { return r < utf8.RuneSelf && !isNameByte(byte(r)) }
	if len(word) > len(token) && !bytes.ContainsFunc(word, other) {
		return word
	}
	return token
}

// IsName reports whether a name consists of bytes of product tokens, digits and dots.
func IsName(name []byte) bool {
	return len(name) > 0 && !bytes.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf || !isNameByte(byte(r)) })
}

func isNameByte(c byte) bool { return isTokenByte(c) || '0' <= c && c <= '9' || c == '.' }

func isTokenByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == '_'
}

// isSpace does what C's isspace does: SP, TAB, LF, VT, FF and CR.
func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
