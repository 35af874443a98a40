package hosts

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/runs"
	"robotsbatch/io/tables"
)

// Reasons why a robots.txt is wanted.
const (
	missing = iota
	stale
)

var reasons = [...]string{missing: "missing", stale: "stale"}

// Rules say which robots.txt are known; a ruleset.Set implements it.
type Rules interface {
	// Fetch returns the HTTP status of the fetch that decides about an authority, and
	// its time in seconds since 1970; each is 0 if unknown. known is false if nothing
	// is known about the authority.
	Fetch(authority []byte) (status int, fetched int64, known bool, err error)
}

// Options say which robots.txt are wanted.
type Options struct {
	// AsOf is the time at which ages are computed, in seconds since 1970, and MaxAge the
	// most seconds that a fetch may be old. A fetch without a time is not stale.
	AsOf, MaxAge int64
	// Memory is about how many bytes sorting may take.
	Memory int64
	// Folder is where temporary files are made.
	Folder string
	// Locations, if not nil, calls add for each capture that redirects, with the time of
	// its fetch and where it leads. It is called only if a wanted robots.txt redirects.
	Locations func(add func(authority []byte, fetched int64, location []byte) error) error
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

// Find finds out what the rules lack for the rows that wait.
func Find(waiting *Waiting, rules Rules, o Options) (*Wanted, error) {
	w := &Wanted{asOf: o.AsOf, sorter: runs.NewSorter(byRows, o.Memory/2, o.Folder)}
	known := runs.NewSorter(byAuthority, o.Memory/4, o.Folder)
	defer known.Close()
	redirects := false
	err := waiting.counter.Merge(func(authority []byte, rows int64) error {
		w.Authorities++
		status, fetched, isKnown, err := rules.Fetch(authority)
		if err != nil {
			return err
		}
		r := newRecord(authority, rows, status, fetched)
		switch {
		case !isKnown:
			w.Missing++
			w.MissingRows += rows
		case fetched != 0 && o.AsOf-fetched > o.MaxAge:
			r[reasonAt] = stale
			w.Stale++
			w.StaleRows += rows
		default:
			return nil
		}
		redirects = redirects || status/100 == 3
		return known.Add(r)
	})
	if err == nil {
		err = w.rank(known, redirects, o)
	}
	if err != nil {
		w.Close()
		return nil, fmt.Errorf("hosts: %w", err)
	}
	return w, nil
}

// rank sorts the wanted robots.txt by rows and adds the locations of redirects.
func (w *Wanted) rank(known *runs.Sorter, redirects bool, o Options) error {
	if !redirects || o.Locations == nil {
		return known.Merge(func(data []byte) error { return w.sorter.Add(data) })
	}
	locations := runs.NewSorter(byAuthority, o.Memory/4, o.Folder)
	defer locations.Close()
	err := o.Locations(func(authority []byte, fetched int64, location []byte) error {
		if fetched > o.AsOf {
			return nil
		}
		return locations.Add(newRecord(authority, 0, 0, fetched).at(location))
	})
	if err != nil {
		return err
	}
	next, stop := iter.Pull(func(yield func(record) bool) {
		err = locations.Merge(func(data []byte) error {
			if !yield(bytes.Clone(data)) {
				return errEnough
			}
			return nil
		})
	})
	defer stop()
	location, more := next()
	mergeErr := known.Merge(func(data []byte) error {
		r := record(data)
		for more && bytes.Compare(location.authority(), r.authority()) < 0 {
			location, more = next()
		}
		target := []byte(nil) // that of the newest capture
		for more && bytes.Equal(location.authority(), r.authority()) {
			target = location.location()
			location, more = next()
		}
		if r.status()/100 == 3 {
			r = bytes.Clone(r)
			r = r.at(target)
		}
		return w.sorter.Add(r)
	})
	return cmp.Or(mergeErr, err)
}

var errEnough = errors.New("nobody wants more")

// Schema is the schema of the table of wanted robots.txt.
var Schema = arrow.NewSchema([]arrow.Field{
	{Name: "url", Type: arrow.BinaryTypes.String},
	{Name: "rows", Type: arrow.PrimitiveTypes.Int64},
	{Name: "reason", Type: arrow.BinaryTypes.String},
	{Name: "status", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	{Name: "fetched_at", Type: arrow.FixedWidthTypes.Timestamp_ms, Nullable: true},
	{Name: "age", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	{Name: "location", Type: arrow.BinaryTypes.String, Nullable: true},
}, nil)

// Rows yields the table, most wanted first, in records of at most that many rows.
func (w *Wanted) Rows(rows int) iter.Seq2[arrow.Record, error] {
	return tables.WrittenRecords(Schema, rows, func(to *tables.Writer) error {
		return w.sorter.Merge(func(data []byte) error {
			r := record(data)
			to.Text(append(bytes.Clone(r.authority()), "/robots.txt"...))
			to.Long(r.rows())
			to.Text([]byte(reasons[r[reasonAt]]))
			to.Optional(r.status())
			to.Time(r.fetched())
			if r.fetched() == 0 {
				to.Null()
			} else {
				to.Long(w.asOf - r.fetched())
			}
			to.OptionalText(r.location())
			to.End()
			return to.Err()
		})
	})
}

// record is a robots.txt that is wanted, or a redirect:
//
//	 0  u16  length of the record
//	 2  u16  length of the authority
//	 4  u16  status
//	 6  u8   reason
//	 7  u8   0
//	 8  i64  time of the fetch
//	16  u64  rows that wait
//	24       authority, location
type record []byte

const (
	recordHead = 24
	reasonAt   = 6
	// maxLocation is the longest location that is kept; a longer one is left out.
	maxLocation = 2048
)

func newRecord(authority []byte, rows int64, status int, fetched int64) record {
	r := make(record, recordHead, recordHead+len(authority))
	binary.LittleEndian.PutUint16(r[2:], uint16(len(authority)))
	binary.LittleEndian.PutUint16(r[4:], uint16(status))
	binary.LittleEndian.PutUint64(r[8:], uint64(fetched))
	binary.LittleEndian.PutUint64(r[16:], uint64(rows))
	r = append(r, authority...)
	binary.LittleEndian.PutUint16(r, uint16(len(r)))
	return r
}

// at returns the record with a location.
func (r record) at(location []byte) record {
	if len(location) <= maxLocation {
		r = append(r, location...)
	}
	binary.LittleEndian.PutUint16(r, uint16(len(r)))
	return r
}

func (r record) size() int         { return int(binary.LittleEndian.Uint16(r)) }
func (r record) status() int       { return int(binary.LittleEndian.Uint16(r[4:])) }
func (r record) fetched() int64    { return int64(binary.LittleEndian.Uint64(r[8:])) }
func (r record) rows() int64       { return int64(binary.LittleEndian.Uint64(r[16:])) }
func (r record) authority() []byte { return r[recordHead:][:binary.LittleEndian.Uint16(r[2:])] }
func (r record) location() []byte  { return r[recordHead+len(r.authority()) : r.size()] }

func form(key func(record) uint64, compare func(a, b record) int) runs.Form {
	return runs.Form{
		Head: recordHead, Size: func(head []byte) int { return record(head).size() },
		Key:     func(data []byte) uint64 { return key(data) },
		Compare: func(a, b []byte) int { return compare(a, b) },
	}
}

var (
	// byAuthority sorts redirects of an authority by time, too.
	byAuthority = form(func(record) uint64 { return 0 }, func(a, b record) int {
		return cmp.Or(bytes.Compare(a.authority(), b.authority()), cmp.Compare(a.fetched(), b.fetched()))
	})
	// byRows sorts the most wanted first.
	byRows = form(func(r record) uint64 { return math.MaxUint64 - uint64(r.rows()) }, func(a, b record) int {
		return bytes.Compare(a.authority(), b.authority())
	})
)
