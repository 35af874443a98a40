package batch

import (
	"bytes"

	"robotsbatch/matcher"
)

const (
	// placeBits is of how many bits the number of a place is.
	placeBits = 13
	places    = 1 << placeBits
	// maxRecall is the longest beginning that is kept, in octets.
	maxRecall = 63
	// recallShare is by what part of Options.Memory the rules that are kept with
	// all of them are bound: so many a cache may want to drop and cannot. Rules
	// that are kept with several count as often.
	recallShare = 32
)

// recall is what is known of beginnings of URLs that came before, wherever: in a
// frontier without order rows of few hosts alternate, and most are settled by what
// one before had to be looked at for. A beginning has one place: by its authority
// and the octet behind the path's slash, or, if it is longer, by two octets. It keeps
// that until another beginning with this place comes twice and its own not in between.
type recall struct {
	met  [places]uint16 // of the beginning that came last, some bits of a hash
	kept *kept          // nil before anything is
	size int64          // octets of the rules in all places

	// Of the block of rows that is evaluated:
	hashes    [blockRows]uint64 // of recallAll
	others    [blockRows]uint16 // of standAll
	hits      int               // rows recalled as others than the one before
	strangers int               // rows that begin unlike it, and are not recalled
	scattered bool              // most of the block before were hits
	useful    bool              // so many of it were either that some may come again
}

// endBlock goes over to the next block, which is taken to be like this one.
func (m *recall) endBlock() {
	m.scattered = m.hits > blockRows/2
	m.useful = m.hits+m.strangers > blockRows/8
	m.hits, m.strangers = 0, 0
}

// kept is what is kept in each place.
type kept struct {
	starts    [places]beginning
	unanimous [places]unanimity // of its knowledge, in few lines of the cache
	knowledge [places]knowledge
	origins   [places]matcher.Origin
}

// beginning is what the URLs of a place begin with. It fills a line of the cache.
type beginning struct {
	octets [maxRecall]byte
	length uint8 // of octets; 0 for an empty place
}

// begins tells whether a URL has the beginning that is kept in a place.
func (b *beginning) begins(url []byte) bool {
	n := int(b.length)
	return n > 0 && len(url) >= n && string(url[:n]) == string(b.octets[:n])
}

// recall adds a row of whose URL, which lies from start on and before end, something
// is kept, and returns that; nil if nothing is, and then hash is for remember.
func (e *Evaluator) recall(row, start, end int) (known *knowledge, hash uint64) {
	m, p := &e.memory, &e.pending
	if m.kept == nil {
		return nil, placeOf(p.data[start:end], 1)
	}
	offsets, hashes := [2]int64{int64(start), int64(end)}, [1]uint64{}
	recallAll(&m.kept.starts, p.data, offsets[:], hashes[:])
	if hash = hashes[0]; hash&isKept == 0 {
		return nil, hash
	}
	place := placeIn(hash)
	begin, origin := &m.kept.starts[place], &m.kept.origins[place]
	known = &m.kept.knowledge[place]
	written := begin.octets[:known.path:known.path]
	if e.wantsFacts() && !bytes.Equal(e.written, written) {
		e.facts.begin(row, origin)
	}
	e.written, e.origin = written, origin
	m.hits++
	m.met[place] = 0
	p.startWith(begin.octets[:begin.length:begin.length], p.add(row, known))
	return known, hash
}

// placeIn is the number of the place that a hash is for.
func placeIn(hash uint64) uint64 { return hash >> (64 - placeBits) }

// remember keeps what is known of the URLs of the last stretch, which goes on, if
// the one met before with this place began alike. It is that of row, whose URL is url;
// hash is what recall returned for it.
func (e *Evaluator) remember(v *Verdicts, row int, url []byte, hash uint64) {
	m, p := &e.memory, &e.pending
	n := len(p.start)
	if n > p.like.known.path+2 {
		hash = placeOf(url, 2)
	}
	if hash == 0 || n > maxRecall {
		return
	}
	place, part := placeIn(hash), uint16(hash>>32)^uint16(n)<<8^uint16(url[n-1])
	if m.met[place] != part {
		m.met[place] = part
		return
	}
	if m.kept == nil {
		m.kept = new(kept)
	}
	k := m.kept
	old, size := sizeOf(k.origins[place].Tries), sizeOf(e.origin.Tries)
	if m.size-old+size > e.options.Memory/recallShare {
		return
	}
	e.settle(v, row+1) // what is pending may be recalled from this place
	m.size += size - old
	k.starts[place].length = uint8(copy(k.starts[place].octets[:], p.start))
	k.knowledge[place].set(p.like.known)
	k.unanimous[place] = p.like.known.unanimity()
	k.origins[place] = *e.origin
}

// sizeOf is how many octets of memory tries take.
func sizeOf(tries []matcher.Trie) (size int64) {
	for i := range tries {
		size += int64(tries[i].Size())
	}
	return size
}
