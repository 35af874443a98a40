package delimited

import (
	"bytes"
	"strings"

	"robotsbatch/io/frontier/lines"
)

// cutter is a lines.Cutter. A record ends at a line end outside of quotes. It
// interprets quotes like the decoder: a quote at the start of a field, or right after a
// closing quote, opens; a quote in quotes closes; any other is a plain character.
type cutter struct {
	separator byte // 0 while it is not known: each of separators counts
	quoted    bool // the last byte is in quotes
	closed    int  // the offset of the last closing quote; -1 if there is none
}

// Cut implements lines.Cutter: it returns how many records end in data[from:], at most most, and the
// offset after the last of them. If it searched all of data, it remembers whether that ended in
// quotes, for a call that goes on there.
func (c *cutter) Cut(data []byte, from, most int) (end, records int) {
	if from == 0 { // data is another one
		c.quoted, c.closed = false, -1
	}
	for at := from; at < len(data); {
		if c.quoted { // go to the end of the quoted text
			i := bytes.IndexByte(data[at:], '"')
			if i < 0 {
				break // it ends in a later call
			}
			c.quoted, c.closed = false, at+i
			at += i + 1
			continue
		}
		// Search no further than a small block may need, because the bytes after a
		// block are searched again with the next one.
		const size = 4 << 10
		plain := data[at:min(at+size, len(data))]
		quote := bytes.IndexByte(plain, '"')
		if quote >= 0 {
			plain = plain[:quote]
		}
		if cut, found := lines.CutLines(plain, most-records); found > 0 {
			end, records = at+cut, records+found
			if records == most {
				break
			}
		}
		at += len(plain)
		if quote >= 0 {
			c.quoted = c.opens(data, at)
			at++
		}
	}
	return end, records
}

// opens reports whether the quote at data[at], which is outside of quotes, begins a quoted
// text.
func (c *cutter) opens(data []byte, at int) bool {
	if at == 0 || c.closed == at-1 {
		return true
	}
	before := data[at-1]
	if c.separator == 0 && strings.IndexByte(separators, before) >= 0 {
		return true
	}
	return before == c.separator || before == '\n'
}
