package lines

import (
	"bytes"
	"sync"
)

// Blanks counts lines of lists of URLs that have a blank or a tab between other characters, where
// the URL may have been meant to end. It is safe for concurrent use.
type Blanks struct {
	mu    sync.Mutex
	count int64
	line  int64  // the number of lines before the first one; of several inputs, the lowest
	first string // the text of that line, cut
}

// Count returns the number of lines that have a blank within, and the text of the first of them.
func (b *Blanks) Count() (count int64, first string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count, b.first
}

// Add counts the lines of a block that have a blank or tab between other characters. A nil Blanks
// counts nothing.
func (b *Blanks) Add(block *Block) {
	if b == nil || !hasBlank(block.Data) { // as in most lists, whose lines need no look
		return
	}
	count, firstLine, first := int64(0), int64(0), []byte(nil)
	for line, rest := block.FirstLine, block.Data; len(rest) > 0; line++ {
		var row []byte
		row, rest = CutLine(rest)
		if row = bytes.Trim(row, " \t\r\v\f"); !hasBlank(row) {
			continue
		}
		if count == 0 {
			firstLine, first = line, row
		}
		count++
	}
	if count == 0 {
		return
	}
	const most = 80
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.count == 0 || firstLine < b.line {
		b.line, b.first = firstLine, string(first[:min(len(first), most)])
		if len(first) > most {
			b.first += "…"
		}
	}
	b.count += count
}

func hasBlank(text []byte) bool {
	return bytes.IndexByte(text, ' ') >= 0 || bytes.IndexByte(text, '\t') >= 0
}
