package matcher

import "bytes"

// HasLineOctet tells whether there is a NUL, CR or LF in data: octets that no
// URL may have inside. It serves for one URL as for a column of many.
func HasLineOctet(data []byte) bool {
	return mayHaveLineOctet(data) &&
		(bytes.IndexByte(data, '\n') >= 0 || bytes.IndexByte(data, '\r') >= 0 || bytes.IndexByte(data, 0) >= 0)
}
