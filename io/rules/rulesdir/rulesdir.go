package rulesdir

import (
	"context"
	"crypto/cipher"
	"sync"

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
