package robotstxt

// Warning is a mistake in a body, or something odd about it.
type Warning struct {
	// Kind is what is wrong or odd.
	Kind WarningKind
	// Line is the line number, from 1; 0 for the whole body.
	Line int
}

// wholeBody is the line of a warning about the whole body.
const wholeBody = 0

// WarningKind names what is wrong.
type WarningKind uint8

// These kinds concern the whole body; their line is wholeBody.
const (
	// UTF16Body: the body starts with a UTF-16 byte order mark, though UTF-8 is required
	// (RFC 9309 §2.3). RFC9309 decodes it; Google reads the bytes as UTF-8 and finds
	// nothing.
	UTF16Body WarningKind = iota + 1
	// BodyLimited: the body was cut at the size limit (RFC 9309 §2.5) or by Options.Cut; an
	// incomplete last line is dropped.
	BodyLimited
	// HTMLBody: the body starts with "<", as HTML and XML do.
	HTMLBody
	// BinaryBody: the body starts with control characters that no text has.
	BinaryBody
)

// These kinds concern one line.
const (
	// LineCut: the line is longer than 16,663 bytes, and the rest is ignored; Google only.
	LineCut WarningKind = iota + BinaryBody + 1
	// NULInLine: the line has a NUL byte, which ends it.
	NULInLine
	// NotARecord: the line has no colon and is neither a comment nor a known key and one
	// word; ignored.
	NotARecord
	// EmptyKey: there is no key before the colon; ignored.
	EmptyKey
	// UnknownKey: the key is not known; ignored.
	UnknownKey
	// MissingColon: white space takes the place of the colon; the record counts.
	MissingColon
	// MisspelledKey: the key is a known misspelling, such as "disalow"; the
	// record counts.
	MisspelledKey
	// KeyPrefix: the key only starts with a known key or misspelling, such as "Disallowed";
	// the record counts. Google only; under RFC9309 it is an UnknownKey.
	KeyPrefix
	// RuleBeforeGroup: an allow, disallow or crawl-delay record comes before the
	// first user-agent line (RFC 9309 §2.2.1); ignored.
	RuleBeforeGroup
	// PatternWithoutSlash: the pattern starts with neither "/" nor "*" and
	// never matches (RFC 9309 §2.2.2).
	PatternWithoutSlash

	warningKinds
)

var warningNames = [warningKinds]string{
	UTF16Body:           "utf16_body",
	BodyLimited:         "body_limited",
	HTMLBody:            "html_body",
	BinaryBody:          "binary_body",
	LineCut:             "line_cut",
	NULInLine:           "nul_in_line",
	NotARecord:          "not_a_record",
	EmptyKey:            "empty_key",
	UnknownKey:          "unknown_key",
	MissingColon:        "missing_colon",
	MisspelledKey:       "misspelled_key",
	KeyPrefix:           "key_prefix",
	RuleBeforeGroup:     "rule_before_group",
	PatternWithoutSlash: "pattern_without_slash",
}

// String returns the kind as outputs write it, such as "missing_colon".
func (k WarningKind) String() string {
	if 0 < k && k < warningKinds {
		return warningNames[k]
	}
	return "warning(?)"
}

// warn calls o.Warn, if there is one, with a warning.
func (o *Options) warn(kind WarningKind, line int) {
	if o.Warn != nil {
		o.Warn(Warning{Kind: kind, Line: line})
	}
}
