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

// Count returns how many lines have a blank within, and the first of them in an input.
func (b *Blanks) Count() (count int64, first string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count, b.first
}

// Add counts the lines of a block that have a blank or tab between other characters. A nil Blanks
// counts nothing.
func (b *Blanks) Add(block *Block) {
	if b == nil {
		return
	}
	count, start, first := int64(0), 0, []byte(nil)
	blank, tab := -1, -1 // the next ones
	for at := 0; ; {
		blank, tab = nextByte(block.Data, at, ' ', blank), nextByte(block.Data, at, '\t', tab)
		found := min(blank, tab)
		if found == len(block.Data) {
			break
		}
		begin := at + bytes.LastIndexByte(block.Data[at:found], '\n') + 1
		row, rest := CutLine(block.Data[begin:])
		at = len(block.Data) - len(rest)
		if row = bytes.Trim(row, " \t\r\v\f"); bytes.IndexByte(row, ' ') < 0 && bytes.IndexByte(row, '\t') < 0 {
			continue
		}
		if count == 0 {
			start, first = begin, row
		}
		count++
	}
	if count == 0 {
		return
	}
	const most = 80
	line := block.FirstLine + int64(bytes.Count(block.Data[:start], []byte{'\n'}))
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

// nextByte returns the index of the next byte c in data from at on; the length of data if
// there is none. last is the result for an earlier at.
func nextByte(data []byte, at int, c byte, last int) int {
	if last >= at {
		return last
	}
	if i := bytes.IndexByte(data[at:], c); i >= 0 {
		return at + i
	}
	return len(data)
}
