package robotstxt

// field is what a key stands for.
type field uint8

const (
	unknownField field = iota
	userAgentField
	allowField
	disallowField
	sitemapField
	crawlDelayField
	// otherField is a known key whose value is of no use here.
	otherField
)

// spelling is one way to write a key, in lower case.
type spelling struct {
	name       string
	field      field
	misspelled bool
}

// spellings has the known keys by their first letter, the most frequent first.
// None is the beginning of another, so that under Google, where the beginning
// decides, at most one fits.
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
		{"clean-param", otherField, false},
	},
	'h': {{"host", otherField, false}},
	'n': {{"noindex", otherField, false}},
	'r': {{"request-rate", otherField, false}},
}

// lookUp returns what key, which is not empty, stands for: where prefix is set,
// by its beginning, else as a whole, without ASCII case in both. The kind is
// what is to be warned of, or 0.
func lookUp(key []byte, prefix bool) (field, WarningKind) {
	letter := lower(key[0])
	if int(letter) >= len(spellings) {
		return unknownField, UnknownKey
	}
	for i := range spellings[letter] {
		s := &spellings[letter][i]
		if len(key) != len(s.name) && !(prefix && len(key) > len(s.name)) || !equalFold(key[:len(s.name)], s.name) {
			continue
		}
		switch {
		case len(key) > len(s.name):
			return s.field, KeyPrefix
		case s.misspelled:
			return s.field, MisspelledKey
		}
		return s.field, 0
	}
	return unknownField, UnknownKey
}

// equalFold compares without ASCII case; name is in lower case and as long as
// key.
func equalFold(key []byte, name string) bool {
	for i := range key {
		if lower(key[i]) != name[i] {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
