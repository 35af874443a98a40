package captures

import (
	"bytes"
	"slices"

	"robotsbatch/matcher/urls"
)

// Target returns the URL that a capture redirects to; empty if it has no Location. Location is
// resolved against the fetched URL (RFC 9110 §10.2.2, RFC 3986 §5.2), and its path normalised.
func Target(x *Capture) []byte {
	location := bytes.TrimSpace(x.Location)
	if len(location) == 0 {
		return location
	}
	target := resolveReference(urls.Trim(x.URL), location)
	start := pathStart(target)
	return appendNormalised(target[:start:start], target[start:])
}

// resolveReference resolves a reference, to, against an absolute URL, base (RFC 3986 §5.2).
// Dot segments remain.
func resolveReference(base, to []byte) []byte {
	origin := base[:pathStart(base)]
	path := base[len(origin):]
	if end := bytes.IndexAny(path, "?#"); end >= 0 {
		path = path[:end]
	}
	switch {
	case hasScheme(to):
		return to
	case bytes.HasPrefix(to, []byte("//")):
		return join(base[:bytes.IndexByte(base, ':')+1], to)
	case to[0] == '/':
		return join(origin, to)
	case to[0] == '?', to[0] == '#':
		return join(origin, path, to)
	}
	folder := path[:bytes.LastIndexByte(path, '/')+1]
	if len(folder) == 0 {
		folder = []byte("/")
	}
	return join(origin, folder, to)
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// hasScheme reports whether a URL reference begins with a scheme and a colon (RFC 3986 §3.1).
func hasScheme(reference []byte) bool {
	for i, c := range reference {
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return i > 0 && c == ':'
		}
	}
	return false
}

// pathStart returns the index at which the path, query or fragment of an absolute URL begins;
// its length if there is none.
func pathStart(url []byte) int {
	scheme := bytes.Index(url, []byte("://"))
	if scheme < 0 {
		return len(url)
	}
	start := scheme + len("://")
	if end := bytes.IndexAny(url[start:], "/?#"); end >= 0 {
		return start + end
	}
	return len(url)
}

// appendNormalised appends a path, with its query and fragment, normalised by RFC 3986 §6.2.2:
// escapes of unreserved characters are decoded, others get upper-case digits, bytes that no URL has
// are escaped, as crawlers do, and dot segments are removed.
func appendNormalised(dst, path []byte) []byte {
	start := len(dst)
	if slices.ContainsFunc(path, urls.NeedsWork) {
		dst = appendEscaped(dst, path)
	} else {
		dst = append(dst, path...)
	}
	path, rest := dst[start:], []byte(nil)
	if end := bytes.IndexAny(path, "?#"); end >= 0 {
		path, rest = path[:end], path[end:]
	}
	if !bytes.Contains(path, []byte("/.")) {
		return dst
	}
	return append(dst[:start+removeDots(path)], rest...)
}

// appendEscaped appends text with escapes of unreserved characters decoded, upper-case digits in
// others, and escapes of bytes that no URL has. A % that begins no escape stays.
func appendEscaped(dst, text []byte) []byte {
	for i := 0; i < len(text); i++ {
		c, escaped := urls.Unescape(text, i)
		switch {
		case !escaped && text[i] != '%' && urls.NeedsWork(text[i]):
			dst = urls.AppendEscape(dst, text[i])
			continue
		case !escaped:
			dst = append(dst, text[i])
			continue
		case urls.IsUnreserved(c):
			dst = append(dst, c)
		default:
			dst = urls.AppendEscape(dst, c)
		}
		i += 2
	}
	return dst
}

// removeDots removes the dot segments of a path that begins with a slash (RFC 3986
// §5.2.4), in place, and returns its new length.
func removeDots(path []byte) (length int) {
	for rest := path; len(rest) > 0; {
		end := bytes.IndexByte(rest[1:], '/') + 1
		if end == 0 {
			end = len(rest)
		}
		segment := rest[:end]
		last := end == len(rest)
		rest = rest[end:]
		switch string(segment) {
		case "/.":
		case "/..":
			length = max(bytes.LastIndexByte(path[:length], '/'), 0)
		default:
			length += copy(path[length:], segment)
			continue
		}
		if last { // "/a/." is "/a/"
			path[length] = '/'
			length++
		}
	}
	return length
}
