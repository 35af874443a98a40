package batch

// mayScatter tells whether most rows of a block are likely to be recalled, and
// their authorities need not be known.
func (e *Evaluator) mayScatter() bool {
	return e.memory.scattered && !e.ahead.many && !e.wantsFacts()
}

// evaluateScattered is evaluatePlain for rows without order: all that are recalled
// are found at once.
func evaluateScattered[O int32 | int64](e *Evaluator, c *Column, offsets []O, v *Verdicts, low, high int) (int, error) {
	m, p := &e.memory, &e.pending
	hashes := m.hashes[:high-low]
	recallAll(&m.kept.starts, c.Data, offsets[low:high+1], hashes)
	clear(m.rewritten[:])
	before := uint64(0)
	for i, hash := range hashes {
		row, place := low+i, placeIn(hash)
		if hash&isKept != 0 && m.rewritten[place/64]>>(place%64)&1 == 0 {
			switch m.kept.unanimous[place] {
			case allAllowed:
				for agent := range v.Agents {
					v.Agents[agent].set(row, true)
				}
			case notUnanimous:
				known := &m.kept.knowledge[place]
				p.add(row, known)
				p.addPath(known, int(offsets[row]), int(offsets[row+1]))
			}
			m.met[place] = 0
			if hash != before {
				m.hits++
			}
			before = hash
			continue
		}
		start, end := trimmed(c.Data, int(offsets[row]), int(offsets[row+1]))
		url := c.Data[start:end]
		if hash&isKept != 0 {
			hash = placeOf(url, 1)
		}
		if err := e.evaluateNew(v, row, url, start, hash); err != nil {
			return row, err
		}
	}
	p.start = nil
	e.settle(v, high)
	return 0, nil
}

// isKept is the bit of a hash by which recallAll says that a URL has the beginning
// that is kept in the hash's place.
const isKept = 2

// recallAllPortable is recallAll in plain Go.
func recallAllPortable[O int32 | int64](starts *[places]beginning, data []byte, offsets []O, hashes []uint64) {
	for i := range hashes {
		url := data[offsets[i]:offsets[i+1]]
		hashes[i] = placeOf(url, 1)
		for octets := 1; octets <= 2; octets++ {
			if hash := placeOf(url, octets); hash != 0 && starts[placeIn(hash)].begins(url) {
				hashes[i] = hash | isKept
				break
			}
		}
	}
}
