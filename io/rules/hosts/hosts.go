package hosts

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"math"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/store/runs"
	"robotsbatch/matcher/urls"
)

// Reasons why a robots.txt is wanted.
const (
	missing = iota
	stale
)

var reasons = [...]string{missing: "missing", stale: "stale"}

// Rules returns the HTTP status of the fetch that decides about an authority, and its time in
// seconds since 1970; each is 0 if unknown. stale says that it is a last good copy, and that later
// fetches failed. known is false if nothing is known about the authority. ruleset.Set.Fetch is one.
type Rules func(authority []byte) (status int, fetched int64, stale, known bool, err error)

// NoRules know nothing.
func NoRules([]byte) (status int, fetched int64, stale, known bool, err error) {
	return 0, 0, false, false, nil
}

// AddFetch adds a fetch of an authority's robots.txt: the rank of its source, its status, its time, and
// where it leads, if it is a redirect.
type AddFetch = func(source int, authority []byte, status int, fetched time.Time, location []byte) error

// Options say which robots.txt are wanted.
type Options struct {
	// AsOf is the time at which ages are computed, in seconds since 1970, and MaxAge the
	// most seconds that a fetch may be old. A fetch without a time is not stale.
	AsOf, MaxAge int64
	// Memory is about how many bytes sorting may take.
	Memory int64
	// Folder is where temporary files are made.
	Folder string
	// Fetches, if not nil, calls its argument for each capture of a robots.txt. It is called only if a
	// wanted robots.txt redirects, or is a last good copy.
	Fetches func(AddFetch) error
}

// Wanted holds the robots.txt that must be fetched.
type Wanted struct {
	// Authorities counts the frontier's authorities, Missing and Stale the wanted ones,
	// and MissingRows and StaleRows the rows that wait for these.
	Authorities, Missing, Stale int64
	MissingRows, StaleRows      int64

	asOf   int64
	sorter *runs.Sorter // of records, most rows first
}

// Close removes temporary files.
func (w *Wanted) Close() { w.sorter.Close() }

// Find returns the robots.txt that the rules lack, or have only from long ago, of the authorities of the rows
// that wait.
func Find(waiting *Waiting, rules Rules, o Options) (*Wanted, error) {
	s := search{ // with two sorters, which have half of the memory each
		Wanted: &Wanted{asOf: o.AsOf, sorter: runs.NewSorter(byRows, o.Memory/2, o.Folder)},
		found:  runs.NewSorter(byAuthority, o.Memory/2, o.Folder), rules: rules, o: &o,
	}
	defer s.found.Close()
	err := waiting.counter.Merge(s.addWaiting)
	if err == nil && o.Fetches != nil && (s.redirects || s.copies) {
		err = o.Fetches(s.addFetch)
	}
	if err == nil {
		err = s.rank()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s.Wanted, nil
}

// search is the state of Find. The sorter found puts each wanted robots.txt before the fetches of it, so
// that rank can complete it in one pass.
type search struct {
	*Wanted
	rules             Rules
	o                 *Options
	found             *runs.Sorter // what is wanted, and fetches, also of what is not wanted
	redirects, copies bool         // a wanted robots.txt redirects; one is a last good copy
}

// addWaiting adds the robots.txt of an authority for which rows wait, if it is wanted.
func (s *search) addWaiting(authority []byte, rows int64) error {
	s.Authorities++
	status, fetched, isCopy, isKnown, err := s.rules(authority)
	if err != nil {
		return err
	}
	r := newRecord(authority, rows, status, fetched)
	switch {
	case !isKnown:
		s.Missing++
		s.MissingRows += rows
	case fetched != 0 && s.o.AsOf-fetched > s.o.MaxAge:
		r[reasonAt] = stale
		if isCopy {
			r[copyAt], s.copies = 1, true
		}
		s.Stale++
		s.StaleRows += rows
	default:
		return nil
	}
	s.redirects = s.redirects || isRedirect(status)
	return s.found.Add(r)
}

// addFetch adds a fetch of a robots.txt, as Options.Fetches calls it. It leaves out a fetch after
// AsOf and, unless a last good copy is wanted, one that is no redirect.
func (s *search) addFetch(source int, authority []byte, status int, at time.Time, location []byte) error {
	fetched := int64(0)
	if !at.IsZero() {
		fetched = at.Unix()
	}
	if fetched > s.o.AsOf || !isRedirect(status) && !s.copies {
		return nil
	}
	r := newRecord(authority, 0, status, fetched).withLocation(location)
	binary.LittleEndian.PutUint64(r[fractionAt:], uint64(at.Nanosecond()))
	binary.LittleEndian.PutUint16(r[sourceAt:], uint16(source))
	return s.found.Add(r)
}

// rank adds the wanted robots.txt, with what add takes from their fetches, to the sorter by rows.
func (s *search) rank() error {
	var r, last hostRecord // the wanted robots.txt, and the newest fetch of its first source; empty for none
	var target []byte      // that of the redirect that decides
	err := s.found.Merge(func(data []byte) error {
		x := hostRecord(data)
		ofFirstSource := len(last) == 0 || x.source() == last.source()
		switch {
		case x.rows() > 0: // the next wanted one, whose fetches follow
			if err := s.add(r, last, target); err != nil {
				return err
			}
			r, last, target = append(r[:0], x...), last[:0], target[:0]
		case len(r) > 0 && bytes.Equal(x.authority(), r.authority()) && ofFirstSource: // a fetch of r
			last = append(last[:0], x...)
			if isRedirect(x.status()) && x.fetched() == r.fetched() { // the fetch that decides
				target = append(target[:0], x.location()...)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.add(r, last, target)
}

// add adds a wanted robots.txt, r, to the sorter by rows, with target as its location if it
// redirects. r may be empty, for none. last is the newest fetch of its first source. If r is a last
// good copy and last is later, r gets the time and the status of last; and if last is newer than
// MaxAge, the robots.txt is not wanted again yet.
func (s *search) add(r, last hostRecord, target []byte) error {
	if len(r) == 0 {
		return nil
	}
	if r[copyAt] != 0 && len(last) > 0 && last.fetched() > r.fetched() {
		if s.o.AsOf-last.fetched() <= s.o.MaxAge {
			s.Stale--
			s.StaleRows -= r.rows()
			return nil
		}
		r.setLast(last)
	}
	if isRedirect(r.status()) {
		r = r.withLocation(target)
	}
	return s.sorter.Add(r)
}

// isRedirect reports whether an answer leads elsewhere; 304 does not.
func isRedirect(status int) bool { return status/100 == 3 && status != 304 }

// Schema is the schema of the table of wanted robots.txt.
var Schema = arrow.NewSchema([]arrow.Field{
	{Name: "url", Type: arrow.BinaryTypes.String},
	{Name: "rows", Type: arrow.PrimitiveTypes.Int64},
	{Name: "reason", Type: arrow.BinaryTypes.String},
	{Name: "status", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	{Name: "fetched_at", Type: arrow.FixedWidthTypes.Timestamp_ms, Nullable: true},
	{Name: "age", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	{Name: "location", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "copy_status", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	{Name: "copy_fetched_at", Type: arrow.FixedWidthTypes.Timestamp_ms, Nullable: true},
}, nil)

// Rows yields the table, most wanted first, in records of at most that many rows.
func (w *Wanted) Rows(rows int) iter.Seq2[arrow.Record, error] {
	return tableio.WrittenRecords(Schema, rows, func(to *tableio.Writer) error {
		return w.sorter.Merge(func(data []byte) error {
			r := hostRecord(data)
			to.Put(append(bytes.Clone(r.authority()), "/robots.txt"...), r.rows(), reasons[r[reasonAt]], r.status(), r.fetched())
			to.Put(tableio.IfKnown(w.asOf-r.fetched(), r.fetched() != 0), r.location(), r.copyStatus(), r.copyFetched())
			to.End()
			return to.Err()
		})
	})
}

// URLs calls visit with the URL of each robots.txt, most wanted first.
func (w *Wanted) URLs(visit func(url []byte) error) error {
	var url []byte
	return w.sorter.Merge(func(data []byte) error {
		url = append(append(url[:0], hostRecord(data).authority()...), "/robots.txt"...)
		return visit(url)
	})
}

// hostRecord is a robots.txt that is wanted or, without rows that wait, a fetch of one:
//
//	 0  u16  length of the record
//	 2  u16  length of the authority
//	 4  u16  status
//	 6  u8   reason
//	 7  u8   1 for a last good copy
//	 8  i64  time of the fetch
//	16  u64  rows that wait
//	24  i64  time of the last good copy, if the fetch is a later one; of a fetch, its fraction
//	32  u16  the copy's status; of a fetch, the rank of its source
//	34       authority, location
type hostRecord []byte

const (
	// Where the fields of a record start, and recordHead, where they end.
	sizeAt, statusAt, reasonAt, copyAt, fetchedAt, rowsAt, copyFetchedAt, copyStatusAt, recordHead = 2, 4, 6, 7, 8, 16, 24, 32, 34
	fractionAt, sourceAt                                                                           = copyFetchedAt, copyStatusAt // of a fetch
	// maxLocation is the longest location that is kept; a longer one is left out.
	maxLocation = 2048
)

// newRecord returns a record with the reason missing, and without a location or a last good
// copy. The authority has at most maxAuthority bytes, so that lengths fit in a u16.
func newRecord(authority []byte, rows int64, status int, fetched int64) hostRecord {
	r := make(hostRecord, recordHead, recordHead+len(authority))
	binary.LittleEndian.PutUint16(r[sizeAt:], uint16(len(authority)))
	binary.LittleEndian.PutUint16(r[statusAt:], uint16(status))
	binary.LittleEndian.PutUint64(r[fetchedAt:], uint64(fetched))
	binary.LittleEndian.PutUint64(r[rowsAt:], uint64(rows))
	r = append(r, authority...)
	binary.LittleEndian.PutUint16(r, uint16(len(r)))
	return r
}

// withLocation returns the record with a location, in r's memory if that is large enough.
func (r hostRecord) withLocation(location []byte) hostRecord {
	if len(location) <= maxLocation {
		r = append(r, location...)
	}
	binary.LittleEndian.PutUint16(r, uint16(len(r)))
	return r
}

// setLast moves the time and the status of a last good copy to the fields for it, and takes those of
// the later fetch, last. A fetch with 2xx that does not decide had no body that can be read: that
// counts as no answer, so the status is 0.
func (r hostRecord) setLast(last hostRecord) {
	copy(r[copyFetchedAt:copyStatusAt], r[fetchedAt:rowsAt])
	copy(r[copyStatusAt:recordHead], r[statusAt:reasonAt])
	copy(r[fetchedAt:rowsAt], last[fetchedAt:rowsAt])
	copy(r[statusAt:reasonAt], last[statusAt:reasonAt])
	if last.status()/100 == 2 {
		binary.LittleEndian.PutUint16(r[statusAt:], 0)
	}
}

func (r hostRecord) copyFetched() int64 { return int64(binary.LittleEndian.Uint64(r[copyFetchedAt:])) }
func (r hostRecord) copyStatus() int    { return int(binary.LittleEndian.Uint16(r[copyStatusAt:])) }
func (r hostRecord) fraction() int64    { return int64(binary.LittleEndian.Uint64(r[fractionAt:])) }
func (r hostRecord) source() int        { return int(binary.LittleEndian.Uint16(r[sourceAt:])) }

func (r hostRecord) size() int      { return int(binary.LittleEndian.Uint16(r)) }
func (r hostRecord) status() int    { return int(binary.LittleEndian.Uint16(r[statusAt:])) }
func (r hostRecord) fetched() int64 { return int64(binary.LittleEndian.Uint64(r[fetchedAt:])) }
func (r hostRecord) rows() int64    { return int64(binary.LittleEndian.Uint64(r[rowsAt:])) }
func (r hostRecord) authority() []byte {
	return r[recordHead:][:binary.LittleEndian.Uint16(r[sizeAt:])]
}
func (r hostRecord) location() []byte { return r[recordHead+len(r.authority()) : r.size()] }

// form returns the form of host records that are sorted by a key, and then as compare says.
func form(key func(hostRecord) uint64, compare func(a, b hostRecord) int) runs.Form {
	return runs.Form{
		Head: recordHead, Size: func(head []byte) int { return hostRecord(head).size() },
		Key:     func(data []byte) uint64 { return key(data) },
		Compare: func(a, b []byte) int { return compare(a, b) },
	}
}

var (
	// byAuthority sorts fetches after the robots.txt that is wanted, by source, the oldest first.
	byAuthority = form(func(hostRecord) uint64 { return 0 }, func(a, b hostRecord) int {
		return cmp.Or(bytes.Compare(a.authority(), b.authority()), cmp.Compare(b.rows(), a.rows()), cmp.Compare(a.source(), b.source()),
			cmp.Compare(a.fetched(), b.fetched()), cmp.Compare(a.fraction(), b.fraction()))
	})
	// byRows sorts the most wanted first.
	byRows = form(func(r hostRecord) uint64 { return math.MaxUint64 - uint64(r.rows()) }, func(a, b hostRecord) int {
		return bytes.Compare(a.authority(), b.authority())
	})
)

// maxAuthority is the most bytes of a host's authority. A DNS name has at most 255 (RFC
// 1035 §2.3.4).
const maxAuthority = 2048

// Waiting counts rows by authority.
type Waiting struct {
	counter *runs.Counter
	// invalid counts the rows that have no authority.
	invalid atomic.Int64
}

// NewWaiting returns a Waiting that uses about that many bytes of memory, and puts its
// temporary files into folder.
func NewWaiting(memory int64, folder string) *Waiting {
	return &Waiting{counter: runs.NewCounter(memory, folder)}
}

// Invalid returns how many rows have no authority.
func (w *Waiting) Invalid() int64 { return w.invalid.Load() }

// Close removes temporary files.
func (w *Waiting) Close() { w.counter.Close() }

// NewEvaluator returns a batch.Evaluator that only counts rows and sets no verdicts.
func (w *Waiting) NewEvaluator() batch.Evaluator {
	return &evaluator{waiting: w, rows: make(map[string]int64)}
}

// evaluator counts the rows of batches for one worker.
type evaluator struct {
	waiting *Waiting
	scratch urls.Scratch
	rows    map[string]int64 // by authority, of a batch
	last    []byte           // the authority of the row before
	run     int64            // its rows that are not in the map yet
}

// Evaluate implements batch.Evaluator. Rows with the same authority one after the other take one access to
// the map.
func (e *evaluator) Evaluate(b *batch.Batch, v *batch.Verdicts) error {
	rows := b.URLs.Len()
	v.Reset(rows, batch.Want{}) // no verdicts
	invalid := int64(0)
	for row := range rows {
		if b.URLs.Null(row) {
			invalid++
			continue
		}
		url := urls.Trim(b.URLs.Value(row))
		key, _, err := e.scratch.SplitAuthority(url)
		if err != nil || len(key) > maxAuthority || urls.HasLineByte(url) {
			invalid++
			continue
		}
		if !bytes.Equal(key, e.last) {
			e.endRun()
			e.last = append(e.last[:0], key...)
		}
		e.run++
	}
	e.endRun()
	e.waiting.invalid.Add(invalid)
	for authority, n := range e.rows {
		if err := e.waiting.counter.Add([]byte(authority), n); err != nil {
			return err
		}
	}
	clear(e.rows)
	return nil
}

// endRun adds the rows of the run, e.run, to those of its authority, e.last.
func (e *evaluator) endRun() {
	if e.run > 0 {
		e.rows[string(e.last)] += e.run
	}
	e.run = 0
}
