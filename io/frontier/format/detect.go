package format

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

// HeadSize is the number of first bytes that Detect needs; of a shorter input it needs all.
const HeadSize = 4096

// maxArrowMetadata is the largest first message, the schema, by which an Arrow stream
// is recognised, in bytes.
const maxArrowMetadata = 64 << 20

// Detect returns the format of an input from its first bytes, decompressed, and its name,
// which may be empty. Arrow, Parquet, WARC, rule packs and CDX are recognised by their first
// bytes; others by the name. If neither tells, an input is JSONL if it starts with an object,
// CDXJ if it starts with a key, a timestamp and an object, and Text if at least half of its
// first lines look like URLs, or if it is empty; else Unknown. CSV and TSV are recognised by
// name alone; Sniff also recognises their header.
func Detect(head []byte, name string) Format {
	switch {
	case bytes.HasPrefix(head, []byte("ARROW1")):
		return Arrow
	case isArrowStream(head):
		return ArrowS
	case bytes.HasPrefix(head, []byte("PAR1")):
		return Parquet
	case bytes.HasPrefix(head, []byte("WARC/")):
		return WARC
	case bytes.HasPrefix(head, []byte(RulePackMagic)):
		return RulePack
	case bytes.HasPrefix(head, []byte(" CDX ")):
		return CDX
	case bytes.HasPrefix(head, []byte(feather1)):
		return Unknown // though its name is that of an Arrow file
	}
	if f, _ := ByName(name); f != Unknown {
		return f
	}
	if startsWithObject(head) {
		return JSONL
	}
	if startsWithIndexLine(head) {
		return CDXJ
	}
	if len(head) == 0 || looksLikeURLs(head) {
		return Text
	}
	return Unknown
}

// withoutMark returns text without UTF-8's byte order mark.
func withoutMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF")) }

// isArrowStream reports whether head starts as an Arrow stream: with the continuation marker, the
// length of the metadata, and a flatbuffer. It checks where the flatbuffer's root table and that
// table's vtable begin, if head is long enough.
func isArrowStream(head []byte) bool {
	const prefix = 8
	if len(head) < prefix+4 || binary.LittleEndian.Uint32(head) != 0xFFFFFFFF {
		return false
	}
	length := int64(binary.LittleEndian.Uint32(head[4:]))
	root := int64(binary.LittleEndian.Uint32(head[prefix:])) // a flatbuffer begins with the offset of its root table
	if length < 8 || length > maxArrowMetadata || length%8 != 0 || root < 4 || root+4 > length {
		return false
	}
	metadata := head[prefix:min(int64(len(head)), prefix+length)]
	if root+4 > int64(len(metadata)) {
		return true // beyond what can be seen
	}
	vtable := root - int64(int32(binary.LittleEndian.Uint32(metadata[root:]))) // a table begins with the distance back to it
	if vtable < 4 || vtable+4 > length {
		return false
	}
	if vtable+2 > int64(len(metadata)) {
		return true
	}
	return binary.LittleEndian.Uint16(metadata[vtable:]) >= 4 // a vtable begins with its size, and has at least two 16-bit numbers
}

// startsWithObject reports whether head, after blank lines, starts with a JSON object that is empty
// or has its first key on the line of the brace. An object over several lines is no JSONL.
func startsWithObject(head []byte) bool {
	head = bytes.TrimLeft(withoutMark(head), " \t\r\n")
	if !bytes.HasPrefix(head, []byte("{")) {
		return false
	}
	inside := bytes.TrimLeft(head[1:], " \t")
	return len(inside) > 0 && (inside[0] == '"' || inside[0] == '}')
}

// startsWithIndexLine reports whether the first line of head is that of a CDXJ index: a key, a
// timestamp of 14 digits and a brace, with a blank between them.
func startsWithIndexLine(head []byte) bool {
	line, _, _ := bytes.Cut(withoutMark(head), []byte{'\n'})
	key, rest, _ := bytes.Cut(line, []byte{' '})
	timestamp, object, _ := bytes.Cut(rest, []byte{' '})
	isTime := len(timestamp) == len("20060102150405") && len(bytes.Trim(timestamp, "0123456789")) == 0
	return len(key) > 0 && isTime && bytes.HasPrefix(object, []byte{'{'})
}

// looksLikeURLs reports whether at least half of the lines of head start with a scheme and
// "://", not counting blank ones, and no byte is NUL.
func looksLikeURLs(head []byte) bool {
	head = withoutMark(head)
	lines, urls := 0, 0
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		lines++
		if scheme, _, ok := bytes.Cut(line, []byte("://")); ok && isScheme(scheme) {
			urls++
		}
	}
	return urls > 0 && 2*urls >= lines && bytes.IndexByte(head, 0) < 0
}

// tableByHeader returns CSV or TSV if the first line of head is a header, else Unknown. It is meant
// for text whose name tells no format, or says that it is a list. A header is either
//   - the line "url" alone, before URLs without a quote or a separator, or
//   - several field names, if one is "url", or if the second line has at least as many fields
//     and a URL in one of them.
func tableByHeader(head []byte) Format {
	header, rest, more := bytes.Cut(withoutMark(head), []byte{'\n'})
	if !more {
		return Unknown
	}
	header = bytes.TrimRight(header, "\r")
	if isURLWord(header) {
		if !looksLikeURLs(rest) || bytes.ContainsAny(rest, ",\"\t;|") {
			return Unknown
		}
		return CSV
	}
	second, _, _ := bytes.Cut(rest, []byte{'\n'})
	for _, separator := range []byte{',', '\t', ';', '|'} {
		names := bytes.Split(header, []byte{separator})
		if len(names) < 2 {
			continue
		}
		if slices.ContainsFunc(names, func(name []byte) bool { return !isFieldName(name) }) {
			return Unknown // a field with another separator in it is no name either
		}
		values := bytes.Split(second, []byte{separator})
		hasURLs := slices.ContainsFunc(names, isURLWord) || len(values) >= len(names) && slices.ContainsFunc(values, isURLValue)
		switch {
		case hasURLs && separator == '\t':
			return TSV
		case hasURLs:
			return CSV
		}
	}
	return Unknown
}

// isURLValue reports whether a field of a row is a URL, which may be in quotes.
func isURLValue(field []byte) bool {
	scheme, _, ok := bytes.Cut(bytes.Trim(field, " \""), []byte("://"))
	return ok && isScheme(scheme)
}

func isURLWord(field []byte) bool {
	return bytes.EqualFold(bytes.Trim(field, " \""), []byte("url"))
}

// isFieldName reports whether a field of a header looks like a name: letters, digits and a few
// other characters, and not empty.
func isFieldName(field []byte) bool {
	field = bytes.Trim(bytes.TrimSpace(field), "\"")
	for _, c := range field {
		isLetter := 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80 // also of other alphabets
		isDigit := '0' <= c && c <= '9'
		if !isLetter && !isDigit && strings.IndexByte("_-. /()#", c) < 0 {
			return false
		}
	}
	return len(field) > 0
}

// Schemeless returns the first line of head if no line has a scheme and it looks like a host,
// perhaps with a path; else nil.
func Schemeless(head []byte) []byte {
	var first []byte
	for line := range bytes.Lines(withoutMark(head)) {
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0:
		case bytes.Contains(line, []byte("://")):
			return nil
		case first == nil:
			first = line
		}
	}
	host, _, _ := bytes.Cut(first, []byte{'/'})
	dot := bytes.IndexByte(host, '.')
	if looksLikeHost := 0 < dot && dot < len(host)-1; !looksLikeHost || bytes.ContainsAny(first, " \t,;\"<>{}|:") {
		return nil
	}
	return first
}

// isScheme reports whether s is a URL's scheme (RFC 3986 §3.1).
func isScheme(s []byte) bool {
	for i, c := range s {
		isLetter := 'a' <= c|0x20 && c|0x20 <= 'z'
		isOther := '0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'
		if !isLetter && (i == 0 || !isOther) {
			return false
		}
	}
	return len(s) > 0
}
