package rulesdir

import (
	"cmp"
	"context"
	"crypto/cipher"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"robotsbatch/batch"
	"robotsbatch/batch/manifest"
	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/cache"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

// defaultMemory is what Options.Memory is by default: 128 MiB.
const defaultMemory = 128 << 20

// Options control how bodies are read. The zero value is the default.
type Options struct {
	// Chains are the agents that each Origin has rules for, in their order.
	Chains []matcher.Chain
	// Profile is the profile; default robotstxt.RFC9309.
	Profile matcher.Profile
	// Limit is the number of bytes of a body that count, after decompression (RFC 9309
	// §2.5); values below robotstxt.DefaultLimit mean robotstxt.DefaultLimit.
	// No more is read of any file. The Google profile has no limit, but a body
	// above robotstxt.MaxGoogleBody is an error.
	Limit int
	// Explain keeps the text, line and agent of rules; without it Trie.Rule knows only
	// whether a rule allows.
	Explain bool
	// Records keeps the records that are not rules, for Origin.Facts. The time and the
	// status of fetches stay unknown: a file's own time is often that of a copy.
	Records bool
	// Digests says that Records have digests.
	Digests bool
	// Usage says what of the statements about use is kept, for Origin.Facts.
	Usage matcher.UsageOptions
	// Memory bounds the bytes of compiled rules that are kept; 0 means defaultMemory.
	// Rules that were not used for long are dropped, and compiled again when they are
	// needed. The names of the folder's files come on top, some 90 bytes a file.
	Memory int64
	// Budget is the account from which compiling a body is taken; nil is one of
	// batch.DefaultMemory.
	Budget *budget.Budget
	// Used, if not nil, is called once for each file that is read, before its rules decide
	// anything, from any goroutine. The file's name is its path in the folder. A folder HOST
	// in which there was no robots.txt has a name that ends in a slash, the size 0, and the
	// time when its names last changed.
	Used func(manifest.File)
	// Ignored, if not nil, is called by Open for each name that belongs to no authority,
	// except hidden ones, which start with a dot or an underscore.
	Ignored func(name string)
	// Named, if not nil, is called for each agent that a compiled robots.txt names, from
	// any goroutine. If it returns false it is not called again for this robots.txt. The
	// name is valid until it returns.
	Named func(name []byte) bool
}

// Stats count what was found and read so far.
type Stats struct {
	// Listed counts the names that belong to an authority.
	Listed int64
	// Ignored counts the names that do not.
	Ignored int64
	// Files counts the files that were read, each once. Files with equal bodies count
	// separately, though they are compiled once.
	Files int64
	// HTML and Binary count the bodies of these kinds (robotstxt.BodyKind).
	HTML, Binary int64
	// Rereads counts how often a file was read and compiled again because
	// Options.Memory was too small to keep its rules.
	Rereads int64
}

// Dir is a folder of robots.txt files. It is a [matcher.Origins], safe for
// concurrent use.
type Dir struct {
	folder folder
	index  *nameIndex
	rules  *cache.Cache[digest, *rules] // by record; equal bodies share one

	digester cipher.AEAD // makes digests; see newDigester

	o      Options
	agents *matcher.Agents
	parse  robotstxt.Options
	size   int     // bytes of a body that are read: robotstxt.Options.ReadSize
	stamps []stamp // by record: the version that was read
	mu     sync.Mutex
	stats  Stats // guarded by mu
	// workspaces has those not in use.
	workspaces sync.Pool
	large      sync.Mutex // held while a body with a large zstd window is read
}

// Open lists the folder of that name or URL: the keys of objects are as the paths of files. All
// reads of objects end with ctx. It is an error if the folder cannot be listed, or if two of its
// files are for one authority.
func Open(ctx context.Context, name string, o Options) (*Dir, error) {
	f, err := openFolder(ctx, name)
	if err != nil {
		return nil, err
	}
	if o.Budget == nil {
		o.Budget = budget.New(batch.DefaultMemory)
	}
	d := &Dir{folder: f, o: o, agents: matcher.NewAgents(o.Chains), parse: robotstxt.Options{Profile: o.Profile, Limit: o.Limit}}
	d.size, d.digester = d.parse.ReadSize(), newDigester()
	if d.index, err = newIndex(d.folder, o.Ignored); err != nil {
		_ = d.folder.close() // it was only read from
		return nil, err
	}
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	d.stamps = make([]stamp, len(d.index.records))
	d.rules = cache.New(len(d.index.records), o.Memory, d.compileRecord)
	return d, nil
}

// Lookup implements [matcher.Origins]. o.Access is access.Rules for an authority that has a
// file, else access.Unknown. An error names the file that could not be read.
func (d *Dir) Lookup(authority []byte, o *matcher.Origin) error {
	o.Reset()
	for _, file := range d.index.find(authority) {
		if file == none {
			continue
		}
		r, err := d.rules.Get(file)
		if err != nil {
			return err
		}
		if r == absent {
			continue
		}
		o.Access, o.Tries, o.Of = access.Rules, r.tries, r.of
		o.Facts.Records, o.Facts.Usage, o.Facts.Kind = r.records, r.usage, r.kind
		return nil
	}
	return nil
}

// Stats returns what was found and read so far.
func (d *Dir) Stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stats.Listed, d.stats.Ignored = int64(d.index.listed), int64(d.index.ignored)
	return d.stats
}

// Close closes the folder. Rules that were looked up stay valid; a Lookup that has to
// read a file fails from then on.
func (d *Dir) Close() error { return d.folder.close() }

// Has reports whether the folder has a file with an authority's rules, which it opens to find out. Each call
// looks at the folder.
func (d *Dir) Has(authority []byte) (bool, error) {
	found := d.index.find(authority)
	return d.hasFile(found[:], true)
}

// hasFile reports whether any of these index records has a robots.txt; some records may be the
// constant none. In a store the listing says so. A local folder HOST is looked into, because it may
// be without a robots.txt. A local file is opened only with verify; then it is an error if that fails.
func (d *Dir) hasFile(records []uint32, verify bool) (bool, error) {
	for _, record := range records {
		if record == none {
			continue
		}
		r := &d.index.records[record]
		if d.folder.objects != nil || !r.isDir && !verify { // the listing suffices
			return true, nil
		}
		f, err := d.folder.openRecord(d.index.path(r), r.isDir)
		if err != nil {
			return false, err
		}
		if f != nil { // else it is a folder without a robots.txt
			_ = f.Close() // nothing was read from it
			return true, nil
		}
	}
	return false, nil
}

// Text returns a robots.txt of an authority: the name of its file, with the folder's name, and
// the body, decompressed and cut at robotstxt.Options.ReadSize. The name is "" if there is no
// file. Each call reads the file.
func (d *Dir) Text(authority []byte) (name string, body []byte, err error) {
	for _, record := range d.index.find(authority) {
		if record == none {
			continue
		}
		found, version, err := d.read(record, &body)
		if err != nil {
			return "", nil, err
		}
		if found { // else the record is a folder HOST without a robots.txt, and the next one counts
			return d.folder.full(version.Name), body, nil
		}
	}
	return "", nil, nil
}

// Files calls visit for each file that belongs to an authority, in the order of their names,
// which are as those of Text. body is valid until visit returns. The first error, of a file or
// of visit, ends it and is returned.
func (d *Dir) Files(visit func(name string, body []byte) error) error {
	x := d.index
	order := make([]uint32, 0, len(x.records))
	for i := range x.records {
		if x.records[i].tier != nowhere {
			order = append(order, uint32(i))
		}
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(x.path(&x.records[a]), x.path(&x.records[b])) })
	var buffer []byte
	for _, i := range order {
		found, version, err := d.read(i, &buffer)
		if err == nil && found {
			err = visit(d.folder.full(version.Name), buffer)
		}
		if err != nil {
			return err
		}
		if cap(buffer) > keptBuffer {
			buffer = nil
		}
	}
	return nil
}

// Walk calls visit for each authority that has a file, with the body whose rules Lookup gives:
// decompressed, and at most a byte longer than Options.Limit. It reads each file once.
//
// workers goroutines, at least one, read files and call visit, in any order. They call done
// after each of Len files. authority and body are valid until visit returns. The first error,
// of a file or of visit, ends the walk and is returned.
func (d *Dir) Walk(workers int, done func(), visit func(authority, body []byte) error) error {
	var next atomic.Int64 // the first index record that no goroutine has taken
	group, ctx := errgroup.WithContext(context.Background())
	for range max(1, workers) {
		group.Go(func() error {
			var buffer, authority []byte
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				if i >= int64(d.Len()) {
					break
				}
				var err error
				if authority, err = d.visitRecord(uint32(i), authority, &buffer, visit); err != nil {
					return err
				}
				if cap(buffer) > keptBuffer {
					buffer = nil
				}
				done()
			}
			return nil
		})
	}
	return group.Wait()
}

// Len returns the number of files that Walk reads, and of folders that may have one.
func (d *Dir) Len() int { return len(d.index.records) }

// visitRecord calls visit with each authority of an index record, as Walk does, except those for
// which a record of higher precedence has a file. It reads the file once, into *buffer, and only if
// an authority needs it. authority is memory to reuse, which it returns.
func (d *Dir) visitRecord(record uint32, authority []byte, buffer *[]byte, visit func(authority, body []byte) error) ([]byte, error) {
	x := d.index
	r := &x.records[record]
	read := false
	for _, scheme := range schemes {
		precedence := slices.Index(scheme.tiers, r.tier)
		if precedence < 0 { // the record stands for no authority of the scheme
			continue
		}
		authority = append(append(authority[:0], scheme.text...), x.key(r)...)
		candidates := x.find(authority)
		const verify = false // the visit of that record finds out whether its file can be opened
		if preceded, err := d.hasFile(candidates[:precedence], verify); err != nil {
			return authority, err
		} else if preceded {
			continue
		}
		if !read {
			if found, _, err := d.read(record, buffer); err != nil || !found {
				return authority, err
			}
			read = true
		}
		if err := visit(authority, *buffer); err != nil {
			return authority, err
		}
	}
	return authority, nil
}
