package robotstxt

// MaxWarnings is how many warnings a File keeps, so that a hostile body cannot make each
// of its bytes one. Those beyond are only counted.
const MaxWarnings = 1000

// Warning is a mistake in a body, or something odd about it.
type Warning struct {
	// Kind says what it is.
	Kind WarningKind
	// Line number, from 1; 0 for the whole body.
	Line int
}

// WarningKind names what is wrong.
type WarningKind uint8

// The kinds that concern the whole body; their line is 0.
const (
	// UTF16Body: the body starts with a UTF-16 byte order mark, where UTF-8 is
	// required (RFC 9309 §2.3). RFC9309 decodes it; Google reads its bytes as
	// they are and finds nothing.
	UTF16Body WarningKind = iota + 1
	// BodyLimited: the size limit (RFC 9309 §2.5) or Options.Cut ended the
	// reading, and the line that was cut there is dropped.
	BodyLimited
	// HTMLBody: the body starts with "<", as HTML and XML do.
	HTMLBody
	// BinaryBody: the body's beginning has control characters that no text has.
	BinaryBody
)

// The kinds that concern one line.
const (
	// LineCut: the line is longer than 16,663 bytes, and the rest of it is
	// ignored; Google only.
	LineCut WarningKind = iota + BinaryBody + 1
	// NULInLine: the line has a NUL byte, which ends it.
	NULInLine
	// NotARecord: the line is no comment, has no colon, and is not a known key
	// and one word after it; ignored.
	NotARecord
	// EmptyKey: nothing is before the colon; ignored.
	EmptyKey
	// UnknownKey: the key is not known; ignored.
	UnknownKey
	// MissingColon: white space is in place of the colon; the record counts.
	MissingColon
	// MisspelledKey: the key is a known misspelling, such as "disalow"; the
	// record counts.
	MisspelledKey
	// KeyPrefix: the key only starts with a known key or misspelling, such as
	// "Disallowed"; the record counts. Google only: to RFC9309 it is an
	// UnknownKey.
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

// warn counts a warning, and keeps it if there is room.
func (f *File) warn(kind WarningKind, line int) {
	f.WarningCount++
	if len(f.Warnings) < MaxWarnings {
		f.Warnings = append(f.Warnings, Warning{Kind: kind, Line: line})
	}
}
