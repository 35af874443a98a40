package batch

import (
	"bytes"

	"robotsbatch/matcher"
)

// minAhead is how many authorities a block of rows has at least that were not met
// lately for those of the next block to be looked up ahead: with fewer, going
// through the rows twice costs more than waiting for memory.
const minAhead = 16

// ahead is what is looked up already: the authorities of a block of rows, all at
// once.
type ahead struct {
	origins matcher.BulkOrigins // nil: authorities are looked up one by one

	runs   []authorityRun // in the order of their rows
	keys   []matcher.Key  // one a run
	found  []matcher.Origin
	memory []byte // of keys that are not written in a URL
	next   int    // the first run that was not taken
	unmet  int    // authorities in the block so far that were not met lately
	many   bool   // so many in the block before
}

// authorityRun is rows of one authority, one after the other but for rows without
// a URL.
type authorityRun struct {
	row     int // the first one
	end     int // the row after the last
	written int // how many octets of their URLs are the authority with its scheme
}

// take returns the run that a row is in.
func (a *ahead) take(row int) (run int, ok bool) {
	for a.next < len(a.runs) && a.runs[a.next].end <= row {
		a.next++
	}
	return a.next, a.next < len(a.runs) && a.runs[a.next].row <= row
}

// lookAhead looks up the authorities of the rows low to high-1, if there are
// likely to be many. It returns the row of an error.
func lookAhead[O int32 | int64](e *Evaluator, c *Column, offsets []O, low, high int) (row int, err error) {
	a := &e.ahead
	a.many = a.unmet >= minAhead
	a.runs, a.keys, a.memory, a.next, a.unmet = a.runs[:0], a.keys[:0], a.memory[:0], 0, 0
	if a.origins == nil || !a.many {
		return 0, nil
	}
	e.found = *e.origin // which may be one of those that are written over
	e.origin = &e.found
	written := e.written // of the run that the row before is in; nil for none
	plain := c.Indices == nil && c.Validity == nil
	for row := low; row < high; row++ {
		if c.Validity != nil && c.Null(row) {
			continue
		}
		value := row
		if c.Indices != nil {
			value = int(c.Indices[row])
		}
		url := matcher.TrimURL(c.Data[offsets[value]:offsets[value+1]])
		if !hasAuthority(url, written) {
			key, rest, reason := e.scratch.SplitAuthority(url)
			if reason != matcher.NoReason {
				written = nil // no run goes on behind it
				continue
			}
			written = url[:len(url)-len(rest)]
			a.add(row, len(written), key, &key[0] == &url[0])
		}
		if n := len(written); plain && n < len(url) && url[n] == '/' {
			row += likeRun(url[:n+1], c.Data, offsets[row+1:high+1])
		}
		if n := len(a.runs); n > 0 {
			a.runs[n-1].end = row + 1
		}
	}
	a.found = grown(a.found, len(a.keys))
	i, err := a.origins.LookupAll(a.keys, a.found)
	if err != nil {
		return a.runs[i].row, err
	}
	return 0, nil
}

// add adds a run. lasting says that nothing will write over the key.
func (a *ahead) add(row, written int, key []byte, lasting bool) {
	if !lasting {
		n := len(a.memory)
		a.memory = append(a.memory, key...)
		key = a.memory[n:len(a.memory):len(a.memory)]
	}
	a.runs = append(a.runs, authorityRun{row, row + 1, written})
	a.keys = append(a.keys, matcher.Key{Text: key, Hash: matcher.HashOf(key)})
}

// hasAuthority tells whether a URL has the authority that is written like this;
// false for none.
func hasAuthority(url, written []byte) bool {
	n := len(written)
	return n > 0 && len(url) >= n && (len(url) == n || matcher.EndsAuthority(url[n])) && bytes.Equal(url[:n], written)
}
