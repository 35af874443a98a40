package ruleset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"robotsbatch/io/captures"
	"robotsbatch/io/rulesdir"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// Options say which rules are opened, and what for. Those without a default must be
// set.
type Options struct {
	// Sources are the names of the rule sources, best first; "-" is Stdin.
	Sources []string
	// Single are the URLs of the robots.txt that a source is which is a single one;
	// see ParseFor.
	Single []string
	// Stdin is read for the source "-".
	Stdin io.Reader
	// AllowNone goes on when no source has any rules.
	AllowNone bool

	// Chains are the agents; each Origin gets a Trie for each, in their order.
	Chains []matcher.Chain
	// Profile is the reading of the protocol; default robotstxt.RFC9309.
	Profile matcher.Profile
	// Limit is how many bytes of a body count (RFC 9309 §2.5); values below
	// robotstxt.DefaultLimit mean robotstxt.DefaultLimit.
	Limit int
	// Policy says what captures mean.
	Policy access.Policy
	// AsOf is the time after which no capture counts; the zero time stands for the
	// newest fetch in any source.
	AsOf time.Time
	// History keeps of captures what held at any time, for Set.Historical and for rule
	// packs with a history.
	History bool
	// Explain and Records are whether rules will be described, and whether records
	// such as sitemaps are needed.
	Explain, Records bool

	// Memory is how many bytes making a rule pack of captures may take. A quarter of
	// it is for compiled rules afterwards.
	Memory int64
	// Workers is how many goroutines read captures.
	Workers int
	// HoldHeap, if not nil, is called before a rule pack is made, and what it returns
	// afterwards.
	HoldHeap func() (end func())
	// Maker is what a rule pack says it was made by.
	Maker string

	// OpenTable opens a table of captures.
	OpenTable func(ctx context.Context, name string, o captures.TableOptions) (captures.Reader, error)
	// Used, if not nil, is called for each file of the folder of that name that is
	// read, from any goroutine.
	Used func(source string, u rulesdir.Used)
	// Warn, if not nil, is called for what is odd, such as a broken record, by one
	// goroutine at a time.
	Warn func(message string)
	// Note, if not nil, is called likewise for what is worth knowing: names in a folder
	// that are ignored.
	Note func(message string)
	// AllIgnored lists all names of a folder that are ignored in one note, instead
	// of the first ten.
	AllIgnored bool
}

// RulesShare is the part of Options.Memory that is for compiled rules: one in so many.
const RulesShare = 4

// cache is how many bytes of compiled rules each source may keep.
func (o *Options) cache() int64 { return o.Memory / RulesShare / int64(len(o.Sources)) }

func (o *Options) holdHeap() (end func()) {
	if o.HoldHeap == nil {
		return func() {}
	}
	return o.HoldHeap()
}

// warner calls Options.Warn and Note for one goroutine at a time. It counts broken records, and
// names the first of them.
type warner struct {
	warn, note func(string) // may be nil
	mu         sync.Mutex
	broken     int64
}

// shownBroken is how many broken records are named.
const shownBroken = 10

func (w *warner) say(message string) {
	if w.warn == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.warn(message)
}

func (w *warner) tell(message string) {
	if w.note == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(message)
}

func (w *warner) sayBroken(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken++; w.broken <= shownBroken && w.warn != nil {
		w.warn(err.Error())
	}
}

// UsageError is a mistake in what was asked for, and not in a file.
type UsageError struct{ err error }

func (e *UsageError) Error() string { return e.err.Error() }

func (e *UsageError) Unwrap() error { return e.err }

func usageErrorf(format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...)}
}

// atName says what is wrong with the source of that name, which err may name too.
func atName(name string, err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	return fmt.Errorf("-rules %s: %w", name, err)
}
