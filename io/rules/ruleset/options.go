package ruleset

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"robotsbatch/batch/manifest"
	"robotsbatch/batch/option"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/budget"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// Options say which rules are opened, and for what. Fields without a default must be
// set.
type Options struct {
	// Sources are the names of the rule sources, best first; "-" is Stdin.
	Sources []string
	// Single holds the URLs of the robots.txt when a source is a single file; see
	// ParseFor.
	Single []string
	// SingleElsewhere accepts Single where no source is a single file: that may be among
	// the sources of another set, which these are compared with.
	SingleElsewhere bool
	Stdin           io.Reader
	// Asked names a list of robots.txt that a crawler asked for, or of their hosts, a URL a
	// line; empty for none. A host of which no source has anything did not answer: it is
	// unreachable. It goes without History, for it has no times.
	Asked string
	// Update names a rule pack to which Compile adds the sources; empty for none.
	Update string
	// Partition is the one of Partitions whose hosts Compile takes, as in rulepack.BuildOptions;
	// 0 of 0 is all.
	Partition, Partitions int
	// AllowNone goes on when no source has any rules.
	AllowNone bool

	// Chains are the agents; each Origin gets a Trie for each, in their order.
	Chains []matcher.Chain
	// Listed is the number of chains at the end that come from a list, which somebody checked: no
	// Set.Misspelt is about them.
	Listed int
	// Profile selects the variant of the protocol; default robotstxt.RFC9309.
	Profile matcher.Profile
	// Limit is the number of bytes of a body that count (RFC 9309 §2.5); values below
	// robotstxt.DefaultLimit mean robotstxt.DefaultLimit.
	Limit int
	// Policy says what captures mean.
	Policy access.Policy
	// WARCBase is the folder, on disk or in a store, below which the WARC files are of which
	// tables name records; empty if it was not given.
	WARCBase string
	// AsOf is the time after which no capture counts; the zero time stands for the
	// newest fetch in any source.
	AsOf time.Time
	// Clock says that AsOf is the clock's time, which may be earlier than a crawler's: a rule
	// pack of a later moment is used as it is.
	Clock bool
	// History keeps the captures of all times, for Set.Historical and for rule packs
	// with a history.
	History bool
	// Explain keeps what describing rules needs. Records keeps records such as
	// sitemaps, Digests their matcher.Records.Digest, too.
	Explain, Records, Digests bool
	// Verdicts says that verdicts, and what Explain, Records and Usage ask for, are all that
	// is wanted of rules: no others are compiled of captures.
	Verdicts bool
	// Usage says what of the statements about use is kept.
	Usage matcher.UsageOptions

	// Memory is the most bytes that making a rule pack of captures may take. A quarter of
	// it is for compiled rules afterwards.
	Memory int64
	// Budget is the account of all else that runs, from which compiling a robots.txt is taken.
	Budget *budget.Budget
	// Workers is the number of goroutines that read captures; 0 means one a processor.
	Workers int
	// HoldHeap, if not nil, is called before a rule pack is made, and its result
	// afterwards.
	HoldHeap func() (end func())
	// Maker names the program that makes a rule pack; the pack records it.
	Maker string

	// Used, if not nil, is called for each file that is read of the folder source, from
	// any goroutine.
	Used func(source string, file manifest.File)
	// Warn, if not nil, is called with warnings, such as of a broken record, by one
	// goroutine at a time.
	Warn func(message option.Message)
	// Note, if not nil, is called in the same way with notes, such as about the names in a
	// folder that are ignored.
	Note func(message option.Message)
	// MoreIgnored lists the first thousand names of a folder that are ignored in a note,
	// instead of the first ten.
	MoreIgnored bool
}

// CheckReread returns an error if Asked is no regular file, which the option by would read several times.
func (o *Options) CheckReread(by option.Name) error {
	if info, err := os.Stat(o.Asked); err == nil && !info.Mode().IsRegular() {
		return option.Usagef("%s is no regular file, and %s reads it several times: write it to a file", option.FetchList.With(o.Asked), by)
	}
	return nil
}

// RulesShare divides Options.Memory: compiled rules take 1/RulesShare of it.
const RulesShare = 4

// cachePerSource returns how many bytes of compiled rules each source may keep.
func (o *Options) cachePerSource() int64 { return o.Memory / RulesShare / int64(len(o.Sources)) }

// onlyAgents returns the agents whose groups alone are compiled of captures; nil if all are compiled,
// with notes and records.
func (o *Options) onlyAgents() []matcher.Chain {
	if !o.Verdicts || o.Explain || o.Records || o.Usage.Wanted() {
		return nil
	}
	return o.Chains
}

// atName names the source in an error, in place of the path in a PathError. An error about
// an object names it itself.
func atName(name string, err error) error {
	if blob.IsURL(name) {
		return option.Errorf("%s: %w", option.Rules, err)
	}
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	return option.Errorf("%s: %w", option.Rules.With(name), err)
}
