package rulepack

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"sync"

	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/cache"
	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
)

// extrasMemory bounds the bytes of the extras that are cached.
const extrasMemory = 32 << 20

// Options say how a pack is used. The zero value is the default.
type Options struct {
	// Name is what errors of the open pack call it; empty for the name of its file.
	Name string
	// Chains are the agents that each Origin has rules for, in their order.
	Chains []matcher.Chain
	// Profile must be the profile that the pack was compiled for.
	Profile matcher.Profile
	// Limit is how many bytes of a body count (RFC 9309 §2.5), which must be what the
	// pack was compiled with. Values below robotstxt.DefaultLimit mean
	// robotstxt.DefaultLimit; the Google profile ignores it.
	Limit int
	// Explain keeps the text, line and agent of rules; without it Trie.Rule knows only
	// whether a rule allows.
	Explain bool
	// Records keeps sitemaps and crawl-delays, for Origin.Facts.
	Records bool
	// Usage says what of the statements about use is kept, for Origin.Facts.
	Usage matcher.UsageOptions
	// AsOf is the time, in seconds since 1970, for which Lookup answers from a pack with a
	// history; 0 means Info.AsOf.
	AsOf uint32
	// Budget lends the memory for compiling a body that is kept as its source; nil stands for
	// a budget of inspectMemory bytes.
	Budget *budget.Budget
}

// inspectMemory is the budget in bytes of a pack that is opened without one.
const inspectMemory = 512 << 20

// Pack is an open rule pack. It is a [matcher.Origins], safe for concurrent use.
//
// The file is mapped, not read. It must not change while it is open; to replace it,
// rename another file to its name, as Builder does. If it is written to anyway, the
// result is an error, at the latest from Unchanged, or other verdicts, and never a crash: a
// goroutine that looks up, or uses what was looked up, sets debug.SetPanicOnFault and asks
// Fault what a panic means. Results of lookups are valid until Close.
type Pack struct {
	name string
	file *file
	info *Info

	directory, authorities, rows, rules, notes, records, digests []byte
	names                                                        names
	intervals, starts                                            []byte // nil without a history
	buckets, bodies                                              uint32 // their numbers

	limit       int64 // the most bytes of a body that count, whatever the profile
	agents      *matcher.Agents
	explain     bool
	keepRecords bool
	usage       matcher.UsageOptions
	statements  *statements // nil unless any are wanted
	budget      *budget.Budget
	open        *matcher.Bodies // the section rules
	paging      *paging         // nil for few lookups
	// The buckets that passed their checks.
	checkedBuckets, checkedIntervals bitmap

	checkDigests func() error // compares their checksum, once

	asOf   uint32                        // as Options.AsOf; 0 without a history
	extras *cache.Cache[uint32, *extras] // by the body's index
}

// Open opens the pack in the file name. It reads a few pages, whatever the pack's size. The
// error wraps ErrVersion, ErrDamaged or ErrMismatch, or is one of the file's.
func Open(name string, o Options) (*Pack, error) {
	p, err := open(name, cmp.Or(o.Name, name))
	if err != nil {
		return nil, err
	}
	if err := p.checkCompiledFor(o); err != nil {
		return p.closeOn(withName(p.name, err))
	}
	data := p.file.data
	p.paging = newPaging(len(data), func(how reading) { advise(data, how) })
	return p.closeOn(p.prepare(o))
}

// closeOn closes the pack if err is not nil, and returns what an opening function should
// return.
func (p *Pack) closeOn(err error) (*Pack, error) {
	if err != nil {
		_ = p.Close() // the first error tells more
		return nil, err
	}
	return p, nil
}

// prepare prepares an open pack for lookups with options. The section names is checked when the rules first
// look for an agent in it.
func (p *Pack) prepare(o Options) (err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	if p.budget = o.Budget; p.budget == nil {
		p.budget = budget.New(inspectMemory)
	}
	p.agents, p.explain, p.keepRecords, p.usage = matcher.NewAgents(o.Chains), o.Explain, o.Records, o.Usage
	namesChecked := false
	p.open, err = matcher.NewBodies(p.rules, p.bodies, p.info.Profile, p.agents, func(name string) (number uint32, ok bool, err error) {
		if !namesChecked && checksum(p.names) != p.file.table[namesSection].checksum {
			return 0, false, p.damaged("checksum of the section names")
		}
		namesChecked = true
		number, ok = p.names.find(name)
		return number, ok, nil
	})
	if err != nil {
		return err
	}
	p.checkedBuckets = newBitmap(p.buckets)
	if p.info.History {
		p.checkedIntervals = newBitmap(p.buckets)
		p.asOf = o.AsOf
	}
	if o.Usage.Wanted() {
		p.statements = &statements{most: mostStatements}
	}
	p.extras = cache.New(int(p.bodies), extrasMemory, p.makeExtras)
	return nil
}

// Inspect opens the pack in a file for lookups of a few authorities: the system does not read
// ahead. It takes profile and limit from the pack. Bodies have notes, but origins have no rules,
// because no agents are asked for. name is what errors call the pack; empty for the name of the
// file.
func Inspect(file, name string) (*Pack, error) {
	p, err := open(file, cmp.Or(name, file))
	if err != nil {
		return nil, err
	}
	p.limit = min(p.limit, robotstxt.MaxGoogleBody) // a pack may say that any number counts
	return p.closeOn(p.prepare(Options{Explain: true}))
}

// open maps a file and finds the sections of the pack in it, which errors call name.
func open(file, name string) (*Pack, error) {
	m, err := mapFile(file)
	if err != nil {
		return nil, withName(name, err)
	}
	advise(m.data, fewPlaces)
	return openMapped(name, m)
}

// openMapped opens a pack in a mapped file. It closes the mapping after an error.
func openMapped(name string, m mapping) (*Pack, error) {
	p := &Pack{name: name, file: &file{mapping: m}}
	return p.closeOn(p.findSections())
}

// withName prefixes an error with the pack's name, which replaces the path of an fs.PathError.
func withName(name string, err error) error {
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// findSections sets the pack's sections and its Info from the mapped file, and how many buckets, bodies and
// bytes of a body there are. It copies the sections that lookups use into fields, so that they need not look
// in the table.
func (p *Pack) findSections() (err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	f := p.file
	if err := f.findSections(); err != nil {
		return withName(p.name, err)
	}
	p.intervals, p.starts = f.section(intervalsSection), f.section(startsSection)
	if err := f.info.readMeta(f.section(metaSection), p.starts); err != nil {
		return withName(p.name, err)
	}
	p.info = &f.info
	p.directory, p.authorities, p.rows = f.section(directorySection), f.section(authoritiesSection), f.section(bodiesSection)
	p.rules, p.notes, p.records = f.section(rulesSection), f.section(notesSection), f.section(recordsSection)
	p.digests, p.names = f.section(digestsSection), f.section(namesSection)
	p.checkDigests = sync.OnceValue(func() error {
		if checksum(p.digests) != f.table[digestsSection].checksum {
			return p.damaged("checksum of the section digests")
		}
		return nil
	})
	p.buckets = uint32(len(p.directory)/8 - 1)
	p.bodies = uint32(len(p.rows)/rowSize - 1)
	p.limit = int64(robotstxt.Options{Profile: p.info.Profile, Limit: p.info.Limit}.ReadLimit())
	return nil
}

// checkCompiledFor returns an ErrMismatch if the pack was compiled for another profile or size
// limit than o has.
func (p *Pack) checkCompiledFor(o Options) error {
	if p.info.Profile != o.Profile {
		return fmt.Errorf("%w: profile %s, and not %s: ask for that profile, or compile a pack for the other", ErrMismatch, p.info.Profile, o.Profile)
	}
	if limit := max(o.Limit, robotstxt.DefaultLimit); o.Profile != robotstxt.Google && p.info.Limit != limit {
		return fmt.Errorf("%w: a size limit of %d bytes, and not %d: ask for that limit, or compile a pack for the other", ErrMismatch, p.info.Limit, limit)
	}
	return nil
}

// Info returns what the pack says of itself.
func (p *Pack) Info() *Info { return p.info }

// Close unmaps and closes the file.
func (p *Pack) Close() error {
	if p.file == nil {
		return nil
	}
	err := p.file.close()
	name := p.name
	*p = Pack{name: name}
	if err != nil {
		return withName(name, err)
	}
	return nil
}

// errClosed is returned by lookups in a closed pack.
var errClosed = errors.New("the rule pack is closed")

// guard turns a panic while the mapped file is read into the error that Fault returns, and
// panics again if Fault returns nil. Each function that reads the file defers it:
//
//	defer p.guard(debug.SetPanicOnFault(true), &err)
//
// Go evaluates the argument at once, so that a memory fault is a panic while the function runs, and
// not the end of the program. guard restores the setting before, panicOnFault. In a closed pack *err
// becomes errClosed, whether there was a panic or not.
func (p *Pack) guard(panicOnFault bool, err *error) {
	debug.SetPanicOnFault(panicOnFault)
	value := recover()
	switch {
	case p.file == nil:
		*err = fmt.Errorf("%s: %w", p.name, errClosed)
	case value != nil:
		explained := p.Fault(value)
		if explained == nil {
			panic(value)
		}
		*err = explained
	}
}

// Fault implements [matcher.Mapped]. It returns ErrChanged for any panic after the file was
// written to, ErrUnreadable for a memory fault in the mapped file (its disk fails, or it was
// cut), and nil for any other panic. The caller must have set debug.SetPanicOnFault.
func (p *Pack) Fault(recovered any) error {
	if err := p.Unchanged(); err != nil {
		return err
	}
	if fault, ok := recovered.(interface{ Addr() uintptr }); ok && p.file != nil && p.file.has(fault.Addr()) {
		return fmt.Errorf("%s: %w", p.name, ErrUnreadable)
	}
	return nil
}

// Unchanged returns ErrChanged if the file was written to since it was opened. It compares
// size and time alone. A pack whose name was given to another file counts as unchanged.
func (p *Pack) Unchanged() error {
	if p.file == nil || p.file.file == nil {
		return nil
	}
	now, err := p.file.file.Stat()
	if err != nil {
		return withName(p.name, err)
	}
	before := p.file.mapped
	switch {
	case now.Size() != before.Size():
		return fmt.Errorf("%s: %w: it had %d bytes and has %d", p.name, ErrChanged, before.Size(), now.Size())
	case !now.ModTime().Equal(before.ModTime()):
		return fmt.Errorf("%s: %w", p.name, ErrChanged)
	}
	return nil
}
