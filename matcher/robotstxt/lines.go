package robotstxt

import "bytes"

// lines iterates over the lines of a text, which end with LF, CR or CRLF.
//
// It keeps the next position of each byte that has a meaning in a line, and searches for
// that byte again only after passing the position. So each of these bytes is searched for
// once in the whole text, at the speed of bytes.IndexByte. Searching each line would be
// slower, because most lines have none of them.
type lines struct {
	text []byte
	// next is where the next line starts.
	next int
	// These are the positions of the first such byte at or after the line's start;
	// len(text) for none.
	lf, cr, nul, hash int
}

func newLines(text []byte) lines {
	return lines{text: text, lf: -1, cr: -1, nul: -1, hash: -1}
}

// advance returns the bounds of the next line, without its end; ok is false after the last.
// Text after the last line end is a line if it is not empty.
func (l *lines) advance() (start, end int, ok bool) {
	start = l.next
	if start >= len(l.text) {
		return 0, 0, false
	}
	if l.lf < start {
		l.lf = l.find('\n', start)
	}
	if l.cr < start {
		l.cr = l.find('\r', start)
	}
	if l.nul < start {
		l.nul = l.find(0, start)
	}
	if l.hash < start {
		l.hash = l.find('#', start)
	}
	end = min(l.lf, l.cr)
	l.next = end + 1
	if l.cr+1 == l.lf {
		l.next++ // CRLF is one line end
	}
	return start, end, true
}

// find returns the position of the first byte c at or after from; len(l.text) for none.
func (l *lines) find(c byte, from int) int {
	if i := bytes.IndexByte(l.text[from:], c); i >= 0 {
		return from + i
	}
	return len(l.text)
}

func trimLeft(b []byte) []byte {
	low := 0
	for low < len(b) && isBlank(b[low]) {
		low++
	}
	return b[low:]
}

func trimRight(b []byte) []byte {
	high := len(b)
	for high > 0 && isBlank(b[high-1]) {
		high--
	}
	return b[:high]
}

// isBlank reports whether c is white space that a line can have: SP, TAB, VT or FF. A word with
// a bit for each of them saves a branch for each.
func isBlank(c byte) bool {
	return c <= ' ' && uint64(1<<' '|1<<'\t'|1<<'\v'|1<<'\f')>>c&1 != 0
}
