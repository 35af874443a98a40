package captures

import (
	"bytes"
	"crypto/sha256"
	"io"
	"math"
	"sync"
	"time"

	"robotsbatch/batch/option"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/runs"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// Capture is one fetch of a robots.txt, or of a URL that one redirects to.
type Capture struct {
	// URL that was fetched.
	URL []byte
	// Time of the fetch; the zero time is unknown.
	Time time.Time
	// Status of the answer; 0 means that it is unknown and counts as 200.
	Status int
	// Failed says that there was no answer. With Unread there may have been one that cannot be
	// read: it denies, and does not count for the 30 days after which failures allow.
	Failed, Unread bool
	// Location is where a redirect leads, as written; empty for none.
	Location []byte
	// Body of the answer, decoded.
	Body []byte
	// Cut says that Body is only the beginning of what the server sent.
	Cut bool
	// Longer says that Body is longer than its Content-Length. This is only counted.
	Longer bool

	// Payload is a WARC record's WARC-Payload-Digest as written, empty for none. Offset is where
	// the record starts in its file (a gzip member's start; in zstd, after decompression), negative
	// for a capture that is no record.
	Payload []byte
	Offset  int64
	// File is the name of a WARC file: the answer is in its record at Offset, which has Length
	// bytes there. It is empty if the capture itself has the answer.
	File   []byte
	Length int64
	// Record and Digest are the names of a WARC record's id and of its payload's digest.
	Record, Digest Name
	// Revisit says that the capture is a 2xx without its body, which another 2xx has, of any source:
	// the one with the same Record or Digest, or the fetch of OriginalURL at OriginalTime.
	Revisit      bool
	OriginalURL  []byte
	OriginalTime time.Time
}

// Bodies stores bodies, each distinct one once; a rulepack.Builder is one. It is safe
// for concurrent use.
type Bodies interface {
	// Keep stores a body and returns a number that identifies it. It does not retain
	// the slice.
	Keep(body []byte, cut bool) (kept uint64, err error)
}

// Options say how captures are taken. Zero values are the defaults; only Bodies must be
// set.
type Options struct {
	// Bodies takes the bodies.
	Bodies Bodies
	// Profile selects the variant of the protocol; default robotstxt.RFC9309.
	Profile matcher.Profile
	// Limit is the number of bytes of a body that count (RFC 9309 §2.5); values below
	// robotstxt.DefaultLimit mean robotstxt.DefaultLimit. The Google profile ignores
	// it: robotstxt.MaxGoogleBody bytes of a body count.
	Limit int
	// Memory is about how many bytes of memory the waiting captures take; 0 means
	// defaultMemory. What does not fit goes to temporary files in Folder.
	Memory int64
	// Folder is where temporary files are made; default os.TempDir.
	Folder string
	// Keep makes decisions carry the captures that may count when others are added later.
	Keep bool
	// Mixed says that captures cannot be inferred from a Decision, because there are several
	// sources, so that Keep leaves none of them out.
	Mixed bool
	// Payload, if not nil, is called from any goroutine with the number of each body that has a
	// named payload, and the name.
	Payload func(kept, name uint64)
}

// defaultMemory is the default of Options.Memory: 64 MiB. heldBytes is Set.part, except in tests.
const defaultMemory, heldBytes = 64 << 20, 256 << 10

// BodySize returns how many bytes of a body a reader must hand out; the rest does not
// matter.
func (o *Options) BodySize() int { return o.parse().ReadSize() }

func (o *Options) parse() robotstxt.Options {
	return robotstxt.Options{Profile: o.Profile, Limit: o.Limit}
}

// Set is a set of captures. Each goroutine adds to it through its own adder.
type Set struct {
	options Options
	limit   int // the most bytes of a body that count
	size    int // the most bytes of a body that are kept; see Options.BodySize
	// part is how many bytes of a URL's captures the judge gets at a time, with a history; and up to how
	// many Options.Keep keeps all, not only those that may decide.
	part int

	mu     sync.Mutex // for all that follows
	sorter *runs.Sorter
	wanted keys // of redirects' targets
	// revisited holds the body of each 2xx to which a revisit refers, 0 until it is found.
	revisited map[Name]uint64
	newest    int64
	later     bool    // whether captures after asOf were left out
	stats     []Stats // by source
	old       continued
	// dropped says that captures of URLs that are no robots.txt were not kept for a later set,
	// whose redirects may lead to them.
	dropped bool
}

// NewSet returns an empty set.
func NewSet(o Options) *Set {
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	return &Set{
		options: o, limit: o.parse().ReadLimit(), size: o.BodySize(), part: heldBytes,
		sorter: runs.NewSorter(captureForm, o.Memory, o.Folder), newest: unknownTime,
	}
}

// Close frees what the set holds.
func (s *Set) Close() {
	s.sorter.Close()
	if s.old.links != nil {
		s.old.links.Close()
	}
}

// Newest returns the time of the newest capture, the zero time when there is none.
func (s *Set) Newest() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return timeOf(s.newest)
}

// Later reports, after Resolve, whether captures after the time that decides were left out.
func (s *Set) Later() bool { return s.later }

// isMostlyPages reports whether most captures are of URLs that are no robots.txt. Of such URLs only
// those are then kept to which a redirect leads.
func (s *Set) isMostlyPages() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all Stats
	for _, n := range s.stats {
		all.Add(n)
	}
	return 2*all.Elsewhere > all.Captures
}

// Stats returns the counts of a source's captures and, after Resolve, of its decisions.
func (s *Set) Stats(source int) Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.statsOf(source)
}

// statsOf returns the counts of a source, which the caller may change while it holds s.mu.
func (s *Set) statsOf(source int) *Stats {
	for source >= len(s.stats) {
		s.stats = append(s.stats, Stats{})
	}
	return &s.stats[source]
}

// add stores a capture until Resolve, and records which URL it redirects to or which body it lacks.
// toPage says that it redirects to a URL that is no robots.txt.
func (s *Set) add(r captureRecord, toPage bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := s.statsOf(r.source())
	stats.Captures++
	if len(r.authority()) == 0 {
		stats.Elsewhere++
	}
	if r.hasTarget() {
		s.wanted.add(r.target())
	}
	if toPage && s.old.dropped { // the pack that is continued may lack the captures of that page
		if err := s.old.addRedirect(r); err != nil {
			return err
		}
	}
	if r.isRevisit() {
		s.wantRevisited(r)
	}
	if !s.fits(0) { // what was added above
		return errMemory("what %d redirects and revisits of captures refer to", len(s.wanted)+len(s.revisited))
	}
	s.newest = max(s.newest, r.time())
	return s.sorter.Add(r)
}

const (
	// What fits compares may take targetsShare times Options.Memory, and leastHeld bytes even if
	// that is less.
	targetsShare = 4
	leastHeld    = 64 << 10

	wantedSize    = int64(len(key{}))
	revisitedSize = 40 // about what an entry of a map takes
)

// fits reports whether held more bytes fit into memory together with what is known of redirects
// and revisits.
func (s *Set) fits(held int64) bool {
	held += wantedSize*int64(len(s.wanted)+len(s.old.asked)+len(s.old.known)) + revisitedSize*int64(len(s.revisited))
	return held <= max(targetsShare*s.options.Memory, leastHeld)
}

// errMemory returns an error that says that something, named by format and args, must fit into
// memory.
func errMemory(format string, args ...any) error {
	return option.Errorf(format+" must fit into memory: raise %s", append(args, option.Memory)...)
}

// update changes the counts of a source.
func (s *Set) update(source int, change func(*Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s.statsOf(source))
}

// MaxSources is the most sources that there may be.
const MaxSources = math.MaxUint16

// adder adds captures to a Set. It is for one goroutine.
type adder struct {
	set     *Set
	scratch urls.Scratch
	// Reused for each URL: what its key is a hash of, its path, and the capture's record.
	key, path, waiting []byte
}

// Add adds a capture of a source, whose number is below MaxSources. It does not retain the
// capture's memory. Of two captures with the same time, the one with the greater order counts
// as newer; orders must be distinct within a source. A capture of a URL that cannot have rules
// is only counted. An error comes from Bodies or a temporary file; after it the set cannot be
// used.
func (a *adder) Add(x *Capture, source int, order uint64) error {
	r := newCaptureRecord(a.waiting, x, source, order)
	hash, authority, ok := a.urlKey(x.URL)
	if !ok {
		a.set.update(source, func(s *Stats) { s.Ignored++ })
		return nil
	}
	r = r.withURL(hash, authority)
	a.waiting = r
	toPage := false // whether it redirects to a URL that is no robots.txt
	switch {
	case x.Failed: // it has neither a target nor a body
	case x.Status/100 == 3 && x.Status != access.NotModified:
		if hash, authority, ok := a.urlKey(Target(x)); ok { // not so without a Location
			r.setTarget(hash)
			toPage = authority == nil
		}
	case x.Status != 0 && x.Status/100 != 2: // its body is an error's
	case x.Revisit:
		a.setRevisit(r, x)
		r.setNames(x)
	default:
		r.setNames(x)
		if err := a.storeBody(r, x); err != nil {
			return err
		}
	}
	return a.set.add(r, toPage)
}

// storeBody stores the body of a 2xx and sets its number in r. If the body cannot be
// decompressed, r becomes a fetch without an answer.
func (a *adder) storeBody(r captureRecord, x *Capture) error {
	body, cut, layers, err := Decompress(x.Body, x.Cut, a.set.size)
	if err != nil {
		a.set.update(r.source(), func(s *Stats) { s.Damaged++ })
		r[flagsAt] |= flagFailed | flagUnread
		return nil
	}
	if layers > 0 || x.Longer {
		a.set.update(r.source(), func(s *Stats) {
			s.Compressed += ones(layers > 0)
			s.Longer += ones(x.Longer)
		})
	}
	if a.set.options.Profile == robotstxt.Google && len(body) > a.set.limit {
		body, cut = body[:a.set.limit], true
	}
	kept, err := a.set.options.Bodies.Keep(body[:min(len(body), a.set.size)], cut)
	if err != nil {
		return err
	}
	r.setBody(kept)
	if x.Digest != 0 && a.set.options.Payload != nil {
		a.set.options.Payload(kept, uint64(x.Digest))
	}
	return nil
}

// maxAuthority is the most bytes of an authority; a longer one is ignored. A DNS name
// has at most 255 (RFC 1035 §2.3.4).
const maxAuthority = 2048

// urlKey returns the key of a URL and, if the URL is that of a robots.txt, its authority, which is
// valid until the next call. ok is false for a URL without an authority, or with too long a one.
func (a *adder) urlKey(url []byte) (hash key, authority []byte, ok bool) {
	authority, path, err := a.scratch.Split(url)
	if err != nil || len(authority) > maxAuthority {
		return key{}, nil, false
	}
	a.path = appendNormalised(a.path[:0], path)
	path = a.path
	a.key = append(append(a.key[:0], authority...), path...)
	// A weaker hash would not do, because strangers choose the URLs and could make two collide.
	sum := sha256.Sum256(a.key)
	if string(path) != "/robots.txt" {
		authority = nil
	}
	return key(sum[:len(hash)]), authority, true
}

// Decompress returns up to size bytes of a body, decompressed if it is gzip or zstd, as often as it is
// compressed but at most compress.MaxLayers times. Read as text, such a body would have no groups and so
// allow everything. cut and the bool that is returned say whether the body is only the beginning of the
// original. layers is how many times it was decompressed. It returns an error if nothing could be
// decompressed; of a body that is damaged further on, it returns the beginning.
func Decompress(body []byte, cut bool, size int) (_ []byte, _ bool, layers int, err error) {
	for ; layers < compress.MaxLayers; layers++ {
		codec := compress.Detect(body)
		if codec == compress.None {
			break
		}
		r, err := compress.NewSmallReader(bytes.NewReader(body), codec)
		if err != nil {
			return nil, false, layers, err
		}
		var text bytes.Buffer
		_, err = io.CopyN(&text, r, int64(size))
		_ = r.Close() // it reads from memory
		damaged := err != nil && err != io.EOF
		if damaged && text.Len() == 0 {
			return nil, false, layers, err
		}
		body, cut = text.Bytes(), cut || damaged
	}
	return body, cut, layers, nil
}
