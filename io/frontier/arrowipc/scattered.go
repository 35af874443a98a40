package arrowipc

import (
	"fmt"
	"slices"
	"sort"

	"robotsbatch/io/tables"
)

// Values of list views, dense unions and run ends lie anywhere in a child, of which those are
// gathered to which rows that stay refer.

// parts gathers the places of the input's next array, which has shape s.
func (g *gathering) parts(s *shape, places *tables.Places) error {
	parts, end := places.Rows(), 0
	if len(parts) > 0 {
		end = parts[len(parts)-1].High
	}
	return g.array(s, end, parts)
}

// listViews gathers offsets and sizes of width bytes, and the values of the lists. valid is the
// new validity bitmap, nil if no list is null.
func (g *gathering) listViews(s *shape, width, length int, rows tables.Rows, n int, valid []byte) error {
	g.runs += 2 * n // places, and where they begin
	defer func() { g.runs -= 2 * n }()
	to, err := g.build(2 * n * width)
	if err != nil {
		return err
	}
	offsets, sizes := to[:n*width], to[n*width:]
	for _, half := range [][]byte{offsets, sizes} {
		from, err := g.load(length * width)
		if err != nil {
			return err
		}
		copyRuns(half, from, width, rows)
	}
	var places tables.Places
	for i := range n {
		at, size := offset(offsets, width, i), offset(sizes, width, i)
		switch {
		case size == 0 || valid != nil && valid[i>>3]>>(i&7)&1 == 0:
			putNumber(sizes, width, i, 0)
		case at < 0 || size < 0 || at+size < at:
			return fmt.Errorf("damaged: list %d of the output has %d values from %d on", i, size, at)
		default:
			places.Add(at, at+size)
		}
	}
	places.Arrange()
	for i := range n {
		at := 0
		if offset(sizes, width, i) > 0 {
			at = places.Find(offset(offsets, width, i))
		}
		putNumber(offsets, width, i, at)
	}
	if err = g.add(offsets); err == nil {
		err = g.add(sizes)
	}
	if err != nil {
		return err
	}
	return g.parts(&s.children[0], &places)
}

// union gathers type codes, and of a dense union offsets, and the children.
func (g *gathering) union(s *shape, length int, rows tables.Rows, n int) error {
	buffer, err := g.next()
	if err != nil {
		return err
	}
	if !s.dense {
		err := g.copyValues(buffer, 1, length, rows)
		for i := range s.children {
			if err == nil {
				err = g.array(&s.children[i], length, rows)
			}
		}
		return err
	}
	g.runs += 3 * n // places, where they begin, and type codes
	defer func() { g.runs -= 3 * n }()
	from, err := g.read(buffer, length)
	if err != nil {
		return err
	}
	to, err := g.build(4 * n)
	if err != nil {
		return err
	}
	codes := make([]byte, n)
	copyRuns(codes, from, 1, rows)
	if err := g.add(codes); err != nil {
		return err
	}
	if from, err = g.load(4 * length); err != nil {
		return err
	}
	copyRuns(to, from, 4, rows)
	places := make([]tables.Places, len(s.children))
	for i, code := range codes {
		child, at := slices.Index(s.codes, int8(code)), offset(to, 4, i)
		if child < 0 || at < 0 {
			return fmt.Errorf("damaged: value %d of the output has the type code %d and the offset %d", i, code, at)
		}
		places[child].Add(at, at+1)
	}
	for i := range places {
		places[i].Arrange()
	}
	for i, code := range codes {
		putNumber(to, 4, i, places[slices.Index(s.codes, int8(code))].Find(offset(to, 4, i)))
	}
	err = g.add(to)
	for i := range s.children {
		if err == nil {
			err = g.parts(&s.children[i], &places[i])
		}
	}
	return err
}

// runEnds gathers the ends of runs, and a value for each run that a row which stays is in.
func (g *gathering) runEnds(s *shape, length int, rows tables.Rows) error {
	node, err := g.node(0)
	if err != nil {
		return err
	}
	if _, err := g.next(); err != nil { // the ends' validity
		return err
	}
	width, n := s.children[0].width, int(node.length)
	from, err := g.load(n * width)
	if err != nil {
		return err
	}
	last := 0
	for i := range n {
		end := offset(from, width, i)
		if end <= last {
			return fmt.Errorf("damaged: run %d ends at %d after %d", i, end, last)
		}
		last = end
	}
	if last < length {
		return fmt.Errorf("damaged: runs of %d rows for %d", last, length)
	}
	to, err := g.build(n * width)
	if err != nil {
		return err
	}
	var values tables.Rows
	made, row := 0, 0
	for _, r := range rows {
		low := r.Low
		for i := sort.Search(n, func(i int) bool { return offset(from, width, i) > low }); low < r.High; i++ {
			high := min(offset(from, width, i), r.High)
			row, low = row+high-low, high
			if len(values) == 0 || values[len(values)-1].High <= i {
				values = values.Add(i, i+1)
				made++
			}
			putNumber(to, width, made-1, row)
		}
	}
	g.made.nodes = append(g.made.nodes, fieldNode{length: int64(made)})
	if err = g.add(nil); err == nil {
		err = g.add(to[:made*width])
	}
	if err != nil {
		return err
	}
	g.runs += len(values)
	defer func() { g.runs -= len(values) }()
	return g.array(&s.children[1], n, values)
}
