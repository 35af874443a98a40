package lines

import (
	"bytes"
	"sync"
)

// Blanks counts lines of lists of URLs that have a blank or a tab within: a part of the URL, or
// where it ends. It is safe for concurrent use.
type Blanks struct {
	mu    sync.Mutex
	count int64
	line  int64 // the number of the first one
	first string
}

// Count returns how many there are, and the first one of an input.
func (b *Blanks) Count() (count int64, first string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count, b.first
}

// Add counts the lines of a block. It costs next to nothing where there is no blank.
func (b *Blanks) Add(block *Block) {
	if b == nil || bytes.IndexByte(block.Data, ' ') < 0 && bytes.IndexByte(block.Data, '\t') < 0 {
		return
	}
	count, line, first := int64(0), int64(0), []byte(nil)
	for number, rest := block.FirstLine, block.Data; len(rest) > 0; number++ {
		var row []byte
		row, rest = TakeLine(rest)
		if row = bytes.Trim(row, " \t\r\v\f"); bytes.IndexByte(row, ' ') < 0 && bytes.IndexByte(row, '\t') < 0 {
			continue
		}
		if count == 0 {
			line, first = number, row
		}
		count++
	}
	if count == 0 {
		return
	}
	const most = 80
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
