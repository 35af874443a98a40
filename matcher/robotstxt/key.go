package robotstxt

import (
	"encoding/binary"
	"strings"

	"robotsbatch/matcher/usage"
)

// field is the meaning of a key.
type field uint8

const (
	unknownField field = iota
	userAgentField
	allowField
	disallowField
	sitemapField
	crawlDelayField
	// otherField is a known key whose value is not needed.
	otherField
	// statementField and the following ones are the keys of package usage's directives.
	statementField
)

// isStatement reports whether the key is a directive of package usage.
func (f field) isStatement() bool { return f >= statementField }

// spelling is one way to write a key, in lower case.
type spelling struct {
	name       string
	field      field
	misspelled bool
}

// spellings are the known keys by their first letter, most frequent first. None is a
// prefix of another, so under Google, where a prefix is enough, at most one matches.
var spellings = ['z' + 1][]spelling{
	'u': {
		{"user-agent", userAgentField, false},
		{"useragent", userAgentField, true},
		{"user agent", userAgentField, true},
	},
	'a': {{"allow", allowField, false}},
	'd': {
		{"disallow", disallowField, false},
		{"dissallow", disallowField, true},
		{"dissalow", disallowField, true},
		{"disalow", disallowField, true},
		{"diasllow", disallowField, true},
		{"disallaw", disallowField, true},
	},
	's': {
		{"sitemap", sitemapField, false},
		{"site-map", sitemapField, true},
	},
	'c': {
		{"crawl-delay", crawlDelayField, false},
		{"content-signal", statementField + field(usage.ContentSignal), false},
		{"content-usage", statementField + field(usage.ContentUsage), false},
		{"clean-param", otherField, false},
	},
	'h': {{"host", otherField, false}},
	'l': {{"license", statementField + field(usage.License), false}},
	'n': {{"noindex", otherField, false}},
	'r': {{"request-rate", otherField, false}},
}

// usualKey recognises the three keys that nearly all records have, spelled correctly, in
// any case, with the colon right after them. It returns the field and the length of the
// key, or unknownField. Without it usual files take 1.2 to 1.4 times as long to parse.
func usualKey(line []byte) (f field, length int) {
	const (
		// lowerCase changes upper-case letters to lower case. It changes no other byte to a
		// letter.
		lowerCase = 0x20_20_20_20_20_20_20_20
		disallow  = 'd' | 'i'<<8 | 's'<<16 | 'a'<<24 | 'l'<<32 | 'l'<<40 | 'o'<<48 | 'w'<<56
		userAge   = 'u' | 's'<<8 | 'e'<<16 | 'r'<<24 | '-'<<32 | 'a'<<40 | 'g'<<48 | 'e'<<56
		allow     = 'a' | 'l'<<8 | 'l'<<16 | 'o'<<24 | 'w'<<32
		allowMask = 1<<40 - 1
	)
	if len(line) < 8 {
		return unknownField, 0
	}
	// The '-' is compared as written, because lowerCase makes one of a CR as well.
	switch word := binary.LittleEndian.Uint64(line) | lowerCase; {
	case word == disallow && len(line) > 8 && line[8] == ':':
		return disallowField, 8
	case word&allowMask == allow && line[5] == ':':
		return allowField, 5
	case word == userAge && line[4] == '-' && len(line) > 10 && line[8]|0x20 == 'n' && line[9]|0x20 == 't' && line[10] == ':':
		return userAgentField, 10
	}
	return unknownField, 0
}

// lookUp returns the field of a key that is not empty, ignoring ASCII case, and the kind of the
// warning to add, 0 for none. If prefix is set, anything may follow a known key, unless it is a
// statement's.
func lookUp(key []byte, prefix bool) (field, WarningKind) {
	letter := key[0] | 0x20 // in lower case, if it is a letter; else it is no letter still
	if int(letter) >= len(spellings) {
		return unknownField, UnknownKey
	}
	for i := range spellings[letter] {
		s := &spellings[letter][i]
		goesOn := len(key) > len(s.name)
		if goesOn && (!prefix || s.field.isStatement()) || len(key) < len(s.name) ||
			!strings.EqualFold(string(key[:len(s.name)]), s.name) { // last, because lengths mostly differ; as many bytes fold as ASCII alone
			continue
		}
		switch {
		case goesOn:
			return s.field, KeyPrefix
		case s.misspelled:
			return s.field, MisspelledKey
		}
		return s.field, 0
	}
	return unknownField, UnknownKey
}

// ExtendsKey reports whether a key that is not empty starts with the key of a user-agent line, a
// rule, a sitemap or a crawl-delay, or with a misspelling of it, and goes on. Under RFC9309 the
// record is unknown; under Google it counts.
func ExtendsKey(key []byte) bool {
	const prefix = true
	field, kind := lookUp(key, prefix)
	return kind == KeyPrefix && field < otherField
}
