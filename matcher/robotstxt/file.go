package robotstxt

import "math"

// DefaultLimit is the number of bytes of a body that count by default: 500 KiB, the least limit that
// RFC 9309 §2.5 permits.
const DefaultLimit = 500 << 10

// MaxGoogleBody is the number of bytes of a body that readers keep under the Google profile, which
// sets no limit: 64 MiB.
const MaxGoogleBody = 64 << 20

// Profile is the dialect of the protocol to follow, chosen when rules are compiled.
//
// In this package the profiles differ as follows:
//
//   - Size: RFC9309 reads the first Options.Limit bytes (RFC 9309 §2.5) and
//     drops the line that the limit cuts; Google reads everything.
//   - Long lines: RFC9309 keeps them whole; Google reads the first 16,663 bytes of
//     each.
//   - Keys: RFC9309 requires the whole key; under Google a known key may be followed
//     by anything.
//   - UTF-16 with a byte order mark: RFC9309 decodes it; Google does not.
//   - Agents with digits in their names: see [Agent.Names].
type Profile uint8

const (
	// RFC9309 follows RFC 9309, and Google's parser where the RFC is silent.
	RFC9309 Profile = iota
	// Google promises parity with Google's open-source parser.
	Google
)

// String returns the profile's name, such as "rfc9309".
func (p Profile) String() string { return [...]string{RFC9309: "rfc9309", Google: "google"}[p] }

// Options control how a body is parsed. The zero value is the default.
type Options struct {
	// Profile is the dialect to follow; default RFC9309.
	Profile Profile
	// Limit is the number of raw bytes of the body that count; values below
	// DefaultLimit mean DefaultLimit. The Google profile has no limit.
	Limit int
	// Cut means that the body is only the start of what the server sent, because the
	// crawler cut it. Its last line may be incomplete, so under either profile the body is
	// parsed as if the limit were at its end.
	Cut bool
	// Others makes Parse keep records of other kinds in File.Others.
	Others bool
	// Warn, if not nil, is called for each warning, in line order; those about the whole body
	// come first. A line gives a few at most.
	Warn func(Warning)
}

// lookahead is the number of bytes after the limit Parse looks at: one code unit of UTF-16,
// which may be the line end that keeps the last line complete.
const lookahead = 2

// ReadLimit returns how many bytes of a body count: Limit, or MaxGoogleBody under
// the Google profile.
func (o Options) ReadLimit() int {
	if o.Profile == Google {
		return MaxGoogleBody
	}
	return min(max(o.Limit, DefaultLimit), math.MaxInt-lookahead)
}

// ReadSize returns how many bytes of a body a reader must keep for Parse to give the same
// result as for the whole body: those that count and a few more, which show that the body
// goes on and whether the limit cuts a line.
func (o Options) ReadSize() int { return o.ReadLimit() + lookahead }

// BodyKind is what a body looks like, regardless of its records.
type BodyKind uint8

const (
	// NoKind: there is no body, or it was not looked at.
	NoKind BodyKind = iota
	// TextKind: text, as a robots.txt should be.
	TextKind
	// HTMLKind: it starts with "<", as HTML and XML do.
	HTMLKind
	// EmptyKind: the part that counts has only white space.
	EmptyKind
	// BinaryKind: it starts with control characters that no text has.
	BinaryKind
	// UnreadableKind: it is in a form that the reader does not decode: UTF-16 under the
	// Google profile, or damaged compressed data.
	UnreadableKind

	bodyKinds
)

var kindNames = [bodyKinds]string{"", "text", "html", "empty", "binary", "unreadable"}

// String returns the kind as outputs write it, such as "html"; NoKind is empty.
func (k BodyKind) String() string {
	if k < bodyKinds {
		return kindNames[k]
	}
	return "kind(?)"
}

// Known reports whether k is one of the kinds other than NoKind.
func (k BodyKind) Known() bool { return NoKind < k && k < bodyKinds }

// File is a parsed body. Its byte slices alias the body, or the decoded copy of a UTF-16
// body, and are valid as long as that is unchanged.
type File struct {
	// Profile is the one that the body was parsed under.
	Profile Profile
	// Kind is what the body looks like.
	Kind BodyKind
	// Groups are in file order and not merged.
	Groups []Group
	// Sitemaps are the values of all sitemap records, with their lines.
	Sitemaps []Record
	// Statements are the lines about the use of what is fetched, in file order.
	Statements []Statement
	// Others are the records with other keys, such as host, with their lines, if
	// Options.Others is set. A line without a colon is not a record.
	Others []Other
	// Limited means that the body was cut at the size limit, or by Options.Cut.
	Limited bool
	// Lines is the number of lines that were read. Text after the last line end is a line.
	Lines int
}

// Group is a sequence of user-agent lines and the rules after it (RFC 9309 §2.2.1).
type Group struct {
	// Agents are the user-agent lines, at least one.
	Agents []Agent
	// Rules are in file order, including those with an empty pattern.
	Rules []Rule
	// CrawlDelays are the values of the group's crawl-delay records.
	CrawlDelays []Record
}

// Agent is one user-agent line.
type Agent struct {
	// Value is as written, trimmed; it may be empty.
	Value []byte
	// Line is the line number, from 1.
	Line int
}

// Rule is one allow or disallow line (RFC 9309 §2.2.2).
type Rule struct {
	// Allow is true for allow, false for disallow.
	Allow bool
	// Pattern is as written, trimmed and not normalised; it may be empty.
	Pattern []byte
	// Text is the whole rule as written, from the key's first byte to the
	// pattern's last, without comment.
	Text []byte
	// Line is the line number, from 1.
	Line int
}

// Other is a record that neither belongs to a group nor to one of the other lists.
type Other struct {
	// Key is as written.
	Key []byte
	Record
}

// Record is the value of a record such as sitemap or crawl-delay (RFC 9309 §2.2.4).
type Record struct {
	// Value is as written, trimmed; it may be empty.
	Value []byte
	// Line is the line number, from 1.
	Line int
}
