package robotstxt

import "math"

// DefaultLimit is how many bytes of a body count by default: 500 KiB, the least that
// RFC 9309 §2.5 lets a crawler use.
const DefaultLimit = 500 << 10

// MaxGoogleBody is how many bytes of a body readers keep under the Google profile,
// which has no limit: 64 MiB.
const MaxGoogleBody = 64 << 20

// Profile is a reading of the protocol, chosen when rules are compiled.
//
// In this package the profiles differ in the following:
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

// Options say how a body is read. The zero value is the default.
type Options struct {
	// Profile is the reading of the protocol; default RFC9309.
	Profile Profile
	// Limit is how many raw bytes of the body count; values below
	// DefaultLimit mean DefaultLimit. The Google profile has no limit.
	Limit int
	// Cut says that the body is only the start of what the server sent, because
	// the crawler cut it. Its last line may be incomplete, so under either profile
	// the body is read as if the limit were at its end.
	Cut bool
	// Others keeps the records that have no meaning here in File.Others.
	Others bool
}

// lookahead is how many bytes after the limit Parse looks at: one code unit of
// UTF-16, which may be the line end that keeps the last line whole.
const lookahead = 2

// ReadLimit returns how many bytes of a body count: Limit, or MaxGoogleBody under
// the Google profile.
func (o Options) ReadLimit() int {
	if o.Profile == Google {
		return MaxGoogleBody
	}
	return min(max(o.Limit, DefaultLimit), math.MaxInt-lookahead)
}

// ReadSize returns how many bytes of a body a reader must keep so that Parse
// decides as it does with the whole body: those that count and a few more, which
// show that there was more and whether the limit cuts a line.
func (o Options) ReadSize() int { return o.ReadLimit() + lookahead }

// BodyKind is what a body looks like, whatever its records.
type BodyKind uint8

const (
	// NoKind: there is no body, or nobody looked at it.
	NoKind BodyKind = iota
	// TextKind: none of the others, as a robots.txt should be.
	TextKind
	// HTMLKind: it starts with "<", as HTML and XML do.
	HTMLKind
	// EmptyKind: there is nothing in the part that counts but white space.
	EmptyKind
	// BinaryKind: its beginning has control characters that no text has.
	BinaryKind
	// UnreadableKind: it is text in a form that the reader does not decode: UTF-16
	// under the Google profile, or compressed data that is damaged.
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

// Known reports whether k is a kind, and not NoKind.
func (k BodyKind) Known() bool { return NoKind < k && k < bodyKinds }

// File is a parsed body. Its byte slices alias the body, or the decoded copy of a UTF-16
// body, and are valid as long as that is unchanged.
type File struct {
	// Profile is the one that the body was parsed under.
	Profile Profile
	// Kind is what the body looks like.
	Kind BodyKind
	// Groups in file order; not merged.
	Groups []Group
	// Sitemaps are the values of all sitemap records with their lines.
	Sitemaps []Record
	// Others are the records with other keys, such as host, with their lines; with
	// Options.Others. A line without a colon is no record.
	Others []Other
	// Warnings in line order, those of the whole body first, at most
	// MaxWarnings of them.
	Warnings []Warning
	// WarningCount counts all warnings, including those beyond MaxWarnings.
	WarningCount int
	// Limited says that the size limit (or Options.Cut) ended the reading
	// before the body's end.
	Limited bool
	// Lines is how many lines were read. Text after the last line end is a line.
	Lines int
}

// Group is one run of user-agent lines and the rules after it (RFC 9309
// §2.2.1).
type Group struct {
	// Agents are the user-agent lines, at least one.
	Agents []Agent
	// Rules in file order, those with an empty pattern included.
	Rules []Rule
	// CrawlDelays are the values of the group's crawl-delay records.
	CrawlDelays []Record
}

// Agent is one user-agent line.
type Agent struct {
	// Value as written, trimmed; may be empty.
	Value []byte
	// Line number, from 1.
	Line int
}

// Rule is one allow or disallow line (RFC 9309 §2.2.2).
type Rule struct {
	// Allow is true for allow, false for disallow.
	Allow bool
	// Pattern as written, trimmed; not normalised, may be empty.
	Pattern []byte
	// Text is the whole rule as written, from the key's first byte to the
	// pattern's last, without comment.
	Text []byte
	// Line number, from 1.
	Line int
}

// Other is a record that neither makes a group nor is in one of the other lists.
type Other struct {
	// Key as written.
	Key []byte
	Record
}

// Record is the value of another record, as sitemap or crawl-delay (RFC 9309
// §2.2.4).
type Record struct {
	// Value as written, trimmed; may be empty.
	Value []byte
	// Line number, from 1.
	Line int
}
