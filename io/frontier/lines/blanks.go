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
// counts nothing. It looks only at lines that have one, because in most lists few do.
func (b *Blanks) Add(block *Block) {
	if b == nil {
		return
	}
	data := block.Data
	count, firstStart, first := int64(0), 0, []byte(nil) // first is the first line that counts, and firstStart its offset
	blank, tab := -1, -1                                 // the offsets of the next ones
	for at := 0; ; {
		blank, tab = nextByte(data, at, ' ', blank), nextByte(data, at, '\t', tab)
		next := min(blank, tab)
		if next == len(data) {
			break
		}
		start := at + bytes.LastIndexByte(data[at:next], '\n') + 1
		row, rest := CutLine(data[start:])
		at = len(data) - len(rest)
		if row = bytes.Trim(row, " \t\r\v\f"); bytes.IndexByte(row, ' ') < 0 && bytes.IndexByte(row, '\t') < 0 {
			continue // they are around the URL, not within
		}
		if count == 0 {
			firstStart, first = start, row
		}
		count++
	}
	if count == 0 {
		return
	}
	const most = 80
	line := block.FirstLine + int64(bytes.Count(data[:firstStart], newline))
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.count == 0 || line < b.line {
		b.line, b.first = line, string(first[:min(len(first), most)])
		if len(first) > most {
			b.first += "…"
		}
	}
	b.count += count
}

// nextByte returns the offset of the first byte c in data from at on; the length of data if there is
// none. last is what it returned for an earlier at: it searches only if that is passed, so that a
// byte that does not occur is searched once.
func nextByte(data []byte, at int, c byte, last int) int {
	if last >= at {
		return last
	}
	if i := bytes.IndexByte(data[at:], c); i >= 0 {
		return at + i
	}
	return len(data)
}
