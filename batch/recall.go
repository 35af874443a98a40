package batch

import "robotsbatch/matcher"

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
	// trialRows is for how many rows it is tried whether most are recalled.
	trialRows = 8 * blockRows
	// maxPause is how many blocks without order there are between two trials at most.
	maxPause = 1024
)

// recall is what is known of beginnings of URLs that came before, wherever: in a
// frontier without order rows of few hosts alternate, and most are settled by what
// one before had to be looked at for. A beginning has one place: by its authority
// and the octet behind the path's slash, or, if it is longer, by two octets. It keeps
// that until another beginning with this place comes twice and its own not in between.
type recall struct {
	met  [places]uint16 // of the beginning that came last, some bits of a hash
	kept *kept          // nil before anything is looked for
	size int64          // octets of the rules in all places

	// Of the block of rows that is evaluated:
	hashes    [blockRows]uint64 // of recallAll
	others    [blockRows]uint16 // of standAll
	hits      int               // rows recalled as others than the one before
	strangers int               // rows that begin unlike it, and are not recalled
	memos     []memo            // for keep

	// While credit is above 0, rows are recalled.
	credit int // in rows
	pause  int // for so many blocks without order it stays 0
	next   int // the pause after this one
}

// kept is what is kept in each place.
type kept struct {
	starts    beginnings
	unanimous [places]unanimity // of its knowledge, in few lines of the cache
	knowledge [places]knowledge
}

// beginning is what the URLs of a place begin with. It fills a line of the cache.
type beginning struct {
	octets [maxRecall]byte
	length uint8 // of octets; 0 for an empty place
}

// beginnings are those of all places.
type beginnings struct {
	all   [places]beginning
	marks [places]uint16 // of their hashes, in few lines of the cache
}

// keep keeps a beginning, which is not longer than maxRecall, in the place of a hash.
func (b *beginnings) keep(hash uint64, start []byte) {
	place := placeIn(hash)
	b.marks[place] = markOf(hash)
	b.all[place].length = uint8(copy(b.all[place].octets[:], start))
}

// endBlock goes over to the next block. Recalling rows pays where three in four are
// recalled: the credit grows by the rows that were, and shrinks by three quarters of
// all. It is tried where most rows begin unlike the one before, but after each failure
// later.
func (m *recall) endBlock(rows int) {
	switch {
	case m.hits+m.strangers <= rows/2: // they have some order
		m.credit = 0
	case m.credit > 0:
		m.credit += m.hits - rows*3/4
		if m.credit >= 2*trialRows {
			m.credit, m.next = 2*trialRows, 0
		} else if m.credit <= 0 {
			m.credit, m.pause, m.next = 0, m.next, min(2*m.next+1, maxPause)
		}
	case m.pause > 0:
		m.pause--
	default:
		m.credit = trialRows
	}
	m.hits, m.strangers = 0, 0
}

// begins tells whether a URL has the beginning that is kept in a place.
func (b *beginning) begins(url []byte) bool {
	n := int(b.length)
	return n > 0 && len(url) >= n && string(url[:n]) == string(b.octets[:n])
}

// placeIn is the number of the place that a hash is for.
func placeIn(hash uint64) uint64 { return hash >> (64 - placeBits) }

// memo is what is to be kept in a place.
type memo struct {
	hash  uint64
	start []byte // in the column
	known *knowledge
}

// remember notes what is known of the URLs of the last stretch, which goes on, for
// keep, if the one met before with this place began alike. It is that of url; hash is
// its placeOf one octet.
func (e *Evaluator) remember(url []byte, hash uint64) {
	m, start, known := &e.memory, e.pending.start, e.pending.like.known
	n := len(start)
	if n > known.path+2 {
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
	m.memos = append(m.memos, memo{hash, start, known})
}

// keep keeps what was noted, as far as the rules take no more than limit octets. What is
// recalled from a place must not be pending any more.
func (m *recall) keep(limit int64) {
	k := m.kept
	for i := range m.memos {
		memo := &m.memos[i]
		place := placeIn(memo.hash)
		size := m.size - sizeOf(k.knowledge[place].tries) + sizeOf(memo.known.tries)
		if size > limit {
			continue
		}
		m.size = size
		k.starts.keep(memo.hash, memo.start)
		k.knowledge[place].set(memo.known)
		k.unanimous[place] = memo.known.unanimity()
	}
	m.memos = m.memos[:0]
}

// forget lets go of what was noted.
func (m *recall) forget() {
	clear(m.memos[:cap(m.memos)])
	m.memos = m.memos[:0]
}

// sizeOf is how many octets of memory tries take.
func sizeOf(tries []matcher.Trie) (size int64) {
	for i := range tries {
		size += int64(tries[i].Size())
	}
	return size
}
