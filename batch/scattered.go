package batch

// mayScatter tells whether most rows of a block may be recalled, and need neither
// authorities nor reasons.
func (e *Evaluator) mayScatter() bool {
	return e.memory.credit > 0 && !e.ahead.many && !e.options.Explain && !e.wantsFacts()
}

// evaluateScattered is evaluatePlain for rows without order: all that are recalled
// are found at once. Which these are nobody can foretell, so it branches as little as
// it can before the others are evaluated.
func evaluateScattered[O int32 | int64](e *Evaluator, c *Column, offsets []O, v *Verdicts, low, high int) (int, error) {
	m, p := &e.memory, &e.pending
	if m.kept == nil {
		m.kept = new(kept)
	}
	hashes := m.hashes[:high-low]
	recallAll(&m.kept.starts, c.Data, offsets[low:high+1], hashes)
	for _, row := range e.standAll(v, hashes, low) {
		known := &m.kept.knowledge[placeIn(hashes[row])]
		p.add(low+int(row), known)
		p.addPath(known, int(offsets[low+int(row)]), int(offsets[low+int(row)+1]))
	}
	if p.start != nil { // the run from the block before has its paths behind those
		p.like.paths = p.paths.Len()
	}
	// Lists with some order are tried, too: there most go on like the row before.
	for i, hash := range hashes {
		row := low + i
		if hash&isKept != 0 || addLike(p, offsets[row:row+2], row) > 0 {
			continue
		}
		start, end := trimmed(c.Data, int(offsets[row]), int(offsets[row+1]))
		if err := e.evaluate(v, row, c.Data[start:end], start, hash); err != nil {
			return row, err
		}
	}
	p.start = nil
	e.settle(v, high)
	m.keep(e.options.Memory / recallShare)
	return 0, nil
}

// standAll sets the verdicts of all rows, from row low on, of which those of all agents
// are kept, and returns the others of which something is, as numbers from low on.
// hashes are of recallAll.
func (e *Evaluator) standAll(v *Verdicts, hashes []uint64, low int) []uint16 {
	m, kept := &e.memory, e.memory.kept
	var allowed [blockRows / 8]byte
	others, before := 0, uint64(0)
	for i, hash := range hashes {
		if hash&isKept == 0 {
			continue
		}
		place := placeIn(hash)
		verdict, bit := kept.unanimous[place], byte(0)
		if verdict == allAllowed {
			bit = 1
		}
		allowed[i/8] |= bit << (i % 8)
		m.others[others] = uint16(i)
		if verdict == notUnanimous {
			others++
		}
		m.met[place] = 0
		if hash != before {
			m.hits++
		}
		before = hash
	}
	for agent := range v.Agents {
		v.Agents[agent].allowEach(low, allowed[:(len(hashes)+7)/8])
	}
	return m.others[:others]
}

// isKept is the bit of a hash by which recallAll says that a URL has the beginning
// that is kept in the hash's place.
const isKept = 2

// recallAllPortable is recallAll in plain Go.
func recallAllPortable[O int32 | int64](starts *beginnings, data []byte, offsets []O, hashes []uint64) {
	for i := range hashes {
		url := data[offsets[i]:offsets[i+1]]
		hashes[i] = placeOf(url, 1)
		hash := hashes[i]
		if two := placeOf(url, 2); two != 0 && starts.marks[placeIn(two)] == markOf(two) {
			hash = two
		}
		if hash != 0 && starts.all[placeIn(hash)].begins(url) {
			hashes[i] = hash | isKept
		}
	}
}
