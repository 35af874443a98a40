package urls

// byteClass is a set of classes that a byte belongs to.
type byteClass uint8

const (
	// isBlank: white space that is trimmed from both ends of a URL.
	isBlank byteClass = 1 << iota
	// endsAuthority: a byte that ends the authority.
	endsAuthority
	// isHost: a byte that hosts in keys have unchanged.
	isHost
	// isLabel: the same without the dot.
	isLabel
	// isScheme: a byte that a scheme may have (RFC 3986 §3.1).
	isScheme
	// isUnreserved: a byte whose escape is decoded (RFC 3986 §2.3).
	isUnreserved
	// isEncoded: a byte that no path or query may have as it is; it is escaped.
	isEncoded
)

// notInHost are the printable bytes that no host may have; 0x00 to 0x20 and 0x7F come to
// them.
const notInHost = "\"#%/:<>?@[\\]^{|}`"

// classes has the classes of each byte.
var classes = func() (table [256]byteClass) {
	set := func(s string, class byteClass) {
		for i := range len(s) {
			table[s[i]] |= class
		}
	}
	set(" \t\r\n\v\f", isBlank)
	set("/?#;", endsAuthority)
	for c := 'a'; c <= 'z'; c++ {
		table[c] |= isScheme | isUnreserved
		table[c-'a'+'A'] |= isScheme | isUnreserved
	}
	set("0123456789", isScheme|isUnreserved)
	set("+-.", isScheme)
	set("-._~", isUnreserved)
	for c := range 256 {
		if c <= 0x20 || c >= 0x7F {
			table[c] |= isEncoded
		}
		if c > 0x20 && c < 0x7F && !(c >= 'A' && c <= 'Z') {
			table[c] |= isHost
		}
	}
	set("\"<>[\\]^{|}`", isEncoded)
	for i := range len(notInHost) {
		table[notInHost[i]] &^= isHost
	}
	for c := range 256 {
		if table[c]&(isHost|endsAuthority) == isHost && c != '.' {
			table[c] |= isLabel
		}
	}
	return table
}()

// hexValue has the value of each hex digit, and 0xFF for other bytes.
var hexValue = func() (table [256]byte) {
	for c := range table {
		table[c] = 0xFF
	}
	for i, c := range []byte("0123456789ABCDEF") {
		table[c] = byte(i)
		table[ToLower(c)] = byte(i)
	}
	return table
}()

const hexDigits = "0123456789ABCDEF"

// Unescape returns the byte that the escape at s[i] stands for. ok is false if s[i] does
// not start an escape: a '%' and two hex digits.
func Unescape(s []byte, i int) (char byte, ok bool) {
	if i+2 >= len(s) || s[i] != '%' {
		return 0, false
	}
	high, low := hexValue[s[i+1]], hexValue[s[i+2]]
	if high|low > 0x0F {
		return 0, false
	}
	return high<<4 | low, true
}

// AppendEscape appends the escape of a byte, with upper-case digits.
func AppendEscape(dst []byte, c byte) []byte {
	return append(dst, '%', hexDigits[c>>4], hexDigits[c&15])
}

// IsBlank reports whether a byte is trimmed from both ends of a URL.
func IsBlank(c byte) bool { return classes[c]&isBlank != 0 }
