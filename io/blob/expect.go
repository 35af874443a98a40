package blob

import (
	"cmp"
	"slices"
	"sync"
)

// Range is a part of a file.
type Range struct {
	Offset, Length int64
}

func (r Range) end() int64 { return r.Offset + r.Length }

func (r Range) contains(other Range) bool { return r.Offset <= other.Offset && other.end() <= r.end() }

const (
	// maxGap is how many octets that nobody wants are fetched between two
	// announced ranges rather than asking twice.
	maxGap = 64 << 10
	// maxJoined is the most octets that several ranges are fetched as at once.
	maxJoined = 8 << 20
)

// segment is one or several ranges that were announced, which are fetched at
// once when the first of them is read.
type segment struct {
	Range
	left []Range // those that are not done

	once sync.Once
	data []byte
	err  error
}

// Expect says that ranges will be read, each with any number of calls of ReadAt
// that stay inside it. Those of an object are each fetched with one request,
// small ones close together with one for all, and kept in memory until Done was
// called for each. For a local file it does nothing, and kept is false.
func (f *File) Expect(ranges ...Range) (kept bool) {
	o, ok := f.in.(*object)
	if ok {
		o.expect(ranges)
	}
	return ok
}

// Done says that a range that was announced has been read.
func (f *File) Done(r Range) {
	if o, ok := f.in.(*object); ok {
		o.forget(r)
	}
}

func (o *object) expect(ranges []Range) {
	ranges = slices.DeleteFunc(slices.Clone(ranges), func(r Range) bool { return r.Length <= 0 || r.Offset < 0 || r.Offset > o.size-r.Length })
	slices.SortFunc(ranges, func(a, b Range) int { return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Length, b.Length)) })
	o.mu.Lock()
	defer o.mu.Unlock()
	var last *segment
	for _, r := range ranges {
		if last != nil && r.Offset-last.end() <= maxGap && max(last.end(), r.end())-last.Offset <= maxJoined {
			last.Length = max(last.end(), r.end()) - last.Offset
			last.left = append(last.left, r)
			continue
		}
		last = &segment{Range: r, left: []Range{r}}
		o.segments = append(o.segments, last)
	}
}

// forget gives a segment's memory back once its last range is done.
func (o *object) forget(r Range) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, s := range o.segments {
		if at := slices.Index(s.left, r); at >= 0 {
			if s.left = slices.Delete(s.left, at, at+1); len(s.left) == 0 {
				o.segments = slices.Delete(o.segments, i, i+1)
			}
			return
		}
	}
}

// segment finds the announced segment that has these octets, or nil.
func (o *object) segment(offset, length int64) *segment {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.segments {
		if s.contains(Range{offset, length}) {
			return s
		}
	}
	return nil
}

// read fills p from the segment, which it fetches first if nobody has.
func (s *segment) read(o *object, p []byte, offset int64) error {
	s.once.Do(func() {
		data := make([]byte, s.Length)
		if s.err = o.fetch(o.ctx, data, s.Offset); s.err == nil {
			s.data = data
		}
	})
	if s.err != nil {
		return s.err
	}
	copy(p, s.data[offset-s.Offset:])
	return nil
}
