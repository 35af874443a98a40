package usage

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// appendSignals appends the signals of a Content-Signal value: those whose key the policy
// defines, in any case. Other keys are ignored. The policy has no grammar. An item that can only
// be several keys and values, without a comma between them, is a fault: it gives an error, and the
// other items count. Of a key that is repeated the most restrictive value counts.
func appendSignals(dst []Pair, list []byte) (_ []Pair, err error) {
	before, at := len(dst), 0
	for item := range bytes.SplitSeq(list, []byte{','}) {
		key, value, _ := bytes.Cut(item, []byte{'='})
		key, value = trimBlanks(key), trimBlanks(value)
		if bytes.ContainsFunc(key, notInKey) || bytes.IndexByte(value, '=') >= 0 {
			err = &SyntaxError{At: at, Want: "a comma or an equals sign is missing"}
		}
		at += len(item) + 1
		key, v := parseSignal(key, value)
		if v == Unknown {
			continue
		}
		same := func(p Pair) bool { return string(p.Key) == string(key) }
		if i := slices.IndexFunc(dst[before:], same); i >= 0 {
			dst[before+i].Value = Combine(dst[before+i].Value, v)
			continue
		}
		dst = append(dst, Pair{Key: key, Value: v})
	}
	return dst, err
}

// notInKey reports whether no key of a signal has a character.
func notInKey(r rune) bool {
	return r >= utf8.RuneSelf || !isKeyByte(byte(r)) && !isAlpha(byte(r))
}

// parseSignal returns the key of a signal as the vocabulary writes it, and the value; Unknown if
// the policy does not define the key, Unreadable if it does not define the value. A graded
// key takes the grades; any other key takes yes and no.
func parseSignal(key, value []byte) ([]byte, Value) {
	for i, u := range vocabulary {
		if u.Directive != ContentSignal || !equalFold(key, u.Key) {
			continue
		}
		for v, name := range signalValues {
			if name.text != "" && name.graded == u.Graded() && equalFold(value, name.text) {
				return signalKeys[i], Value(v)
			}
		}
		return signalKeys[i], Unreadable
	}
	return nil, Unknown
}

// signalValues are the values as signals write them.
var signalValues = [NumValues]struct {
	text   string
	graded bool // it is a value of a use that is Graded
}{Disallowed: {text: "no"}, Allowed: {text: "yes"}, Immediate: {"immediate", true}, Reference: {"reference", true}, Full: {"full", true}}

// signalKeys are the keys of the vocabulary, by index. A pair has one of them rather than the key as
// written, which may be in another case.
var signalKeys = func() (keys [][]byte) {
	for i := range vocabulary {
		keys = append(keys, []byte(vocabulary[i].Key))
	}
	return keys
}()

// equalFold reports whether a text is an ASCII name, ignoring case. It compares the lengths first,
// because strings.EqualFold also takes a few letters that are not ASCII, such as the Kelvin sign for
// a k. These have more bytes.
func equalFold(text []byte, name string) bool {
	return len(text) == len(name) && strings.EqualFold(string(text), name)
}

// SplitPath splits the value of a Content-Usage or Content-Signal line into its path, nil
// for none, and its statement (attach-05 §3.2). The value has a path only if it starts with
// a slash. The path ends before the first space or tab.
func SplitPath(value []byte) (path, statement []byte) {
	if len(value) == 0 || value[0] != '/' {
		return nil, value
	}
	end := bytes.IndexAny(value, " \t")
	if end < 0 {
		return value, nil
	}
	return value[:end:end], trimBlanks(value[end:])
}

// trimBlanks removes spaces and tabs from both ends.
func trimBlanks(s []byte) []byte { return bytes.Trim(s, " \t") }

// IsLicense reports whether the value of a License line is a licence: an absolute URI (RFC
// 3986 §4.3).
func IsLicense(value []byte) bool {
	scheme, rest, _ := bytes.Cut(value, []byte{':'})
	notInScheme := func(c byte) bool { return !isAlpha(c) && !isDigit(c) && c != '+' && c != '-' && c != '.' }
	notInURI := func(c byte) bool { return c <= ' ' || c >= 0x7F || bytes.IndexByte([]byte("\"<>\\^`{|}"), c) >= 0 }
	switch {
	case len(scheme) == 0 || !isAlpha(scheme[0]) || slices.ContainsFunc(scheme, notInScheme):
		return false
	case len(rest) == 0 || slices.ContainsFunc(rest, notInURI):
		return false
	}
	authority, hasAuthority := bytes.CutPrefix(rest, []byte("//"))
	return !hasAuthority || len(authority) > 0 && authority[0] != '/' && authority[0] != '?' // it must not be empty
}
