package rulepack

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync"

	"robotsbatch/io/blob"
	"robotsbatch/io/runs"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

const (
	// DefaultBuildMemory is what BuildOptions.Memory is by default: 512 MiB.
	DefaultBuildMemory = 512 << 20
	// One part in authorityShare of the memory is for sorting authorities and one in
	// bodyShare for bodies. The rest is for what cannot go to temporary files: some 100
	// bytes for each distinct body, a byte for each authority, and compiling.
	authorityShare = 2
	bodyShare      = 8
)

// BuildOptions are how a pack is made. The zero value is the default.
type BuildOptions struct {
	// Profile is the profile to compile for; default robotstxt.RFC9309.
	Profile matcher.Profile
	// Limit is how many bytes of a body count (RFC 9309 §2.5). Values below
	// robotstxt.DefaultLimit mean robotstxt.DefaultLimit. The Google profile has no
	// limit.
	Limit int
	// Memory is about how many bytes of memory to use; 0 means DefaultBuildMemory. What
	// does not fit goes to temporary files beside the pack.
	Memory int64
	// History makes a pack that has what held at any time, see Entry.History.
	History bool
	// Maker is the version of the program, which is recorded.
	Maker string
	// Partition, of Partitions, leaves out the authorities of the others, which go by
	// their hash (package partition); 0 of 0 takes all.
	Partition, Partitions int
	// Sources keeps all bodies as their source instead of compiling them.
	Sources bool
}

// Entry is what a rules source knows of an authority.
type Entry struct {
	// Authority is a key as urls.Scratch.Split returns it, of at most
	// MaxAuthority bytes.
	Authority []byte
	// Access is the outcome of the fetch of robots.txt (RFC 9309 §2.3.1), and
	// not access.Unknown.
	Access access.Outcome
	// Body is the body of robots.txt when Access is access.Rules.
	Body []byte
	// Cut: Body is only the beginning of what the server sent.
	Cut bool
	// Kept is what Keep returned for the body, in place of Body and Cut; 0 for none.
	Kept uint64
	// Stale: Body is the last good copy of a robots.txt that has been unreachable for
	// long (RFC 9309 §2.3.1.4).
	Stale bool
	// Status is the HTTP status of the fetch, 0 where it is not known.
	Status uint16
	// Fetched is the time of the fetch in seconds since 1970, 0 where it is not
	// known.
	Fetched uint32
	// History is what held at any time, oldest first, with bodies that Keep has, for a
	// pack with a history. An entry without one held at any time.
	History []Interval
	// Source ranks the sources: of several entries for one authority, the one of the
	// lowest source counts; at a time before the history of that one, the next. A
	// source has at most one entry for each authority.
	Source uint32
}

// Builder makes a rule pack. Add may be called by several goroutines at once,
// and is best called so: it compiles bodies.
type Builder struct {
	ctx  context.Context // ends the pack
	name string
	out  blob.Writer
	o    BuildOptions

	bodies bodies
	mu     sync.Mutex // for the following
	queue  *runs.Sorter
	record []byte // reused
	err    error  // the first; see fail
	asOf   uint32
}

// Create starts the pack of that name. It exists once Finish has succeeded; until then,
// and after Abort, what was there before remains. The name may be that of an object. When
// ctx ends, Finish fails with its error.
func Create(ctx context.Context, name string, o BuildOptions) (*Builder, error) {
	if o.Memory <= 0 {
		o.Memory = DefaultBuildMemory
	}
	o.Limit = max(o.Limit, robotstxt.DefaultLimit)
	if o.Profile == robotstxt.Google {
		o.Limit = 0
	}
	out, err := blob.Create(ctx, name)
	if err != nil {
		return nil, err
	}
	folder := spillFolder(name)
	b := &Builder{ctx: ctx, name: blob.Shown(name), out: out, o: o}
	b.queue = runs.NewSorter(queuedForm, o.Memory/authorityShare, folder)
	b.bodies = bodies{
		profile: o.Profile, limit: o.Memory / bodyShare, sources: o.Sources,
		numbers: make(map[digest]uint32), spill: runs.Spill{Folder: folder},
	}
	return b, nil
}

// SetAsOf records the time after which no fetch counted, in seconds since 1970. The
// default, 0, means the newest fetch.
func (b *Builder) SetAsOf(seconds uint32) { b.asOf = seconds }

// Folder is where the builder's temporary files go.
func (b *Builder) Folder() string { return b.bodies.spill.Folder }

// spillFolder is where temporary files go: beside a file, where there has to be room for
// the pack, too; for an object, the system's folder for temporary files.
func spillFolder(name string) string {
	if info, err := os.Stat(name); name == blob.Stdio || blob.IsURL(name) || err == nil && !info.Mode().IsRegular() {
		return os.TempDir()
	}
	return filepath.Dir(name)
}

// Add adds what is known of an authority. It keeps no memory of e. An invalid entry is
// refused and the pack may go on without it; after any other error Finish fails. It must
// not be called after Finish or Abort.
func (b *Builder) Add(e Entry) error {
	if err := b.add(e); err != nil {
		return fmt.Errorf("rulepack: %s: %w", b.name, err)
	}
	return nil
}

func (b *Builder) add(e Entry) error {
	if n := len(e.Authority); n == 0 || n > MaxAuthority {
		return fmt.Errorf("%.80q is no authority: it has %d bytes, and may have %d", e.Authority, n, MaxAuthority)
	}
	if !has(b.o.Partition, b.o.Partitions, e.Authority) {
		return nil
	}
	kept := e.Kept
	if e.Access == access.Rules && kept == 0 {
		var err error
		if kept, err = b.keep(e.Body, e.Cut); err != nil {
			return fmt.Errorf("%s: %w", e.Authority, err)
		}
	}
	o, err := b.originOf(e.Access, kept, e.Stale, e.Status, e.Fetched)
	if err != nil {
		return fmt.Errorf("%s: %w", e.Authority, err)
	}
	var history intervals
	if b.o.History {
		if history, err = b.intervals(&e, o); err != nil {
			return err
		}
	}
	b.mu.Lock()
	b.record = appendQueued(b.record[:0], e.Authority, e.Source, o, history)
	err = b.queue.Add(b.record)
	b.mu.Unlock()
	return b.fail(err)
}

// originOf is what an entry or an interval says, with the number that the builder gave
// the body.
func (b *Builder) originOf(a access.Outcome, kept uint64, stale bool, status uint16, fetched uint32) (origin, error) {
	o := origin{body: noBody, fetched: fetched, status: status, outcome: uint8(a)}
	if stale {
		o.flags |= flagStale
	}
	switch a {
	case access.Rules:
		if kept == 0 {
			return o, errors.New("rules without a body")
		}
		o.body = uint32(kept) - 1
		if kept&keptLimited != 0 {
			o.flags |= flagLimited
		}
	case access.AllowAll, access.DisallowAll:
	default:
		return o, fmt.Errorf("access %d is no outcome of a fetch", a)
	}
	return o, nil
}

// keptLimited is set in what Keep returns if not all of the body counts. The bits below
// are 1 + the body's number in the builder.
const keptLimited = 1 << 32

// Keep compiles a body before its authority is known; cut says that it is only the
// beginning of what the server sent. It keeps no memory of the body, and may be called by
// several goroutines, as Add. A body that no Entry names is not in the pack.
func (b *Builder) Keep(body []byte, cut bool) (kept uint64, err error) {
	if kept, err = b.keep(body, cut); err != nil {
		return 0, fmt.Errorf("rulepack: %s: %w", b.name, err)
	}
	return kept, nil
}

func (b *Builder) keep(body []byte, cut bool) (kept uint64, err error) {
	counted, limited := robotstxt.Counted(body, robotstxt.Options{Profile: b.o.Profile, Limit: b.o.Limit, Cut: cut})
	if uint64(len(counted)) > math.MaxUint32 {
		return 0, fmt.Errorf("the body has %d bytes", len(counted))
	}
	number, err := b.bodies.add(counted)
	if err != nil {
		return 0, b.fail(err)
	}
	kept = uint64(number) + 1
	if limited {
		kept |= keptLimited
	}
	return kept, nil
}

// fail keeps the first error after which something is missing, for Finish.
func (b *Builder) fail(err error) error {
	if err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.err = cmp.Or(b.err, err)
	}
	return err
}

// Abort discards the pack. It does nothing after Finish.
func (b *Builder) Abort() {
	b.out.Abort()
	b.queue.Close()
	b.bodies.spill.Close()
}

// Finish completes the pack and returns what is in it. After an error there is no pack.
func (b *Builder) Finish() (*Info, error) {
	defer b.Abort()
	w := newPackWriter(b.out, b.version(), b.o.Partition, b.o.Partitions)
	info, err := (*Info)(nil), b.err
	if err == nil {
		info, err = b.write(w)
	}
	if err == nil {
		err = w.finish()
	}
	if err == nil {
		err = b.out.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("rulepack: %s: %w", b.name, err)
	}
	info.Size, info.Sections, info.Checksum = w.at, w.sections, identityOf(w.head, w.table, uint64(w.at))
	return info, nil
}

// version is that of the pack's format.
func (b *Builder) version() int {
	if b.o.History {
		return historyVersion
	}
	return version
}

// write writes the sections.
func (b *Builder) write(w *packWriter) (*Info, error) {
	info := &Info{
		Version: b.version(), Maker: b.o.Maker, Profile: b.o.Profile, Limit: b.o.Limit, Partition: b.o.Partition, Partitions: b.o.Partitions,
	}
	ranks := b.bodies.ranks()
	used := make([]bool, len(ranks)) // by rank
	if err := b.writeAuthorities(w, info, ranks, used); err != nil {
		return nil, err
	}
	if b.asOf != 0 {
		info.AsOf = int64(b.asOf)
	}
	for number, rank := range ranks {
		if used[rank] {
			info.addBody(b.bodies.known[number])
		}
	}
	if err := b.writeBodies(w, used); err != nil {
		return nil, err
	}
	w.begin(metaSection)
	_, err := w.Write(info.append(nil))
	return info, err
}

// writeAuthorities writes the buckets and their directory, and sets which bodies are
// used.
func (b *Builder) writeAuthorities(w *packWriter, info *Info, ranks []uint32, used []bool) error {
	w.begin(authoritiesSection)
	buckets := newBucketWriter(w, b.queue.Len())
	if b.o.History {
		buckets.intervals = newIntervalWriter(b.bodies.spill.Folder)
		defer buckets.intervals.close()
	}
	number := func(body *uint32) { // as it is in the pack
		if *body != noBody {
			*body = ranks[*body]
			used[*body] = true
		}
	}
	err := mergeQueued(b.queue, func(authority queued, history intervals) error {
		if err := context.Cause(b.ctx); err != nil {
			return err
		}
		o := authority.origin()
		var flags uint8
		if o.body != noBody {
			flags = b.bodies.known[o.body].flags
		}
		number(&o.body)
		info.add(o, flags)
		info.Intervals += int64(history.len())
		if err := buckets.add(authority.hash(), o, authority.authority()); err != nil {
			return err
		}
		rows := history[:0]
		for n := range history.len() {
			i := history.at(n)
			number(&i.body)
			rows = i.appendTo(rows)
		}
		return buckets.intervals.add(rows)
	})
	if err == nil {
		err = buckets.finish()
	}
	if err != nil {
		return err
	}
	b.queue.Close() // its memory and file are needed for bodies
	w.begin(directorySection)
	if err := binary.Write(w, binary.LittleEndian, buckets.directory); err != nil {
		return err
	}
	return buckets.intervals.write(w)
}

// writeBodies writes the sections of bodies.
func (b *Builder) writeBodies(w *packWriter, used []bool) error {
	folder := b.bodies.spill.Folder
	rest := [...]struct {
		kind   int
		buffer *bufio.Writer
		spill  runs.Spill
	}{{kind: notesSection}, {kind: recordsSection}, {kind: bodiesSection}, {kind: digestsSection}}
	for i := range rest {
		r := &rest[i]
		r.spill.Folder = folder
		r.buffer = bufio.NewWriterSize(&r.spill, copyingSize)
		defer r.spill.Close()
	}
	w.begin(rulesSection)
	err := b.bodies.write(
		bodyOutputs{rules: w, notes: rest[0].buffer, records: rest[1].buffer, rows: rest[2].buffer, digests: rest[3].buffer},
		func(rank uint32) bool { return used[rank] && b.ctx.Err() == nil },
	)
	if err == nil {
		err = context.Cause(b.ctx)
	}
	for i := range rest {
		r := &rest[i]
		if err == nil {
			err = r.buffer.Flush()
		}
		if err == nil {
			w.begin(r.kind)
			_, err = io.Copy(w, r.spill.All())
		}
	}
	return err
}
