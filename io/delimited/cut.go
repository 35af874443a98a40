package delimited

import (
	"bytes"
	"strings"

	"robotsbatch/io/lines"
)

// cutter is a lines.Cutter. A record ends at a line end outside of quotes. A quote
// means what it means to the decoder: at the start of a field, or right after one that
// closed, it opens; in quotes it closes; elsewhere it is a plain character.
type cutter struct {
	separator byte // 0 while it is unknown: then it may be any of separators
	quoted    bool
	closed    int // where a quote closed last; -1 for nowhere
}

// Cut implements lines.Cutter.
func (c *cutter) Cut(data []byte, from, most int) (end, records int) {
	if from == 0 {
		c.quoted, c.closed = false, -1
	}
	for at := from; at < len(data); {
		if c.quoted {
			i := bytes.IndexByte(data[at:], '"')
			if i < 0 {
				break
			}
			c.quoted, c.closed = false, at+i
			at += i + 1
			continue
		}
		// Only as far as a small block may need: what follows a block is read
		// again with the next.
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

// opens reports whether the quote at data[at], which is not in quotes, opens.
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
