package ruleset

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"robotsbatch/batch/manifest"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/rules/captures"
	"robotsbatch/io/rules/rulesdir"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/compress"
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

// Found holds identified sources. None is open.
type Found struct {
	options Options // whose Warn and Note are not nil
	sources []source
	broken  atomic.Int64 // the number of broken records and rows
	watch   *agentWatch  // the names of agents that open sources have; nil for a Listing and for Compile
	// replaced is [blob.Replaced] of what is read, without folders of robots.txt files.
	replaced func(out string) string
}

// newFound returns a Found without sources. It serialises the calls of o.Warn and o.Note.
func newFound(o Options) *Found {
	var mu sync.Mutex
	serial := func(call func(option.Message)) func(option.Message) {
		return func(message option.Message) {
			mu.Lock()
			defer mu.Unlock()
			if call != nil {
				call(message)
			}
		}
	}
	o.Warn, o.Note = serial(o.Warn), serial(o.Note)
	return &Found{options: o}
}

// shownBroken is the most broken records and rows of which warnBroken warns.
const shownBroken = 10

// warnBroken counts a broken record or row, and warns of the first ones.
func (f *Found) warnBroken(err error) {
	if f.broken.Add(1) <= shownBroken {
		f.options.Warn(option.Messagef("%s", err))
	}
}

// Find finds out what each of o.Sources is, and adds o.Asked as the last source. A mistake in
// the options is a [option.UsageError].
func Find(ctx context.Context, o Options) (*Found, error) {
	if len(o.Sources) > captures.MaxSources {
		return nil, option.Usagef("%s is given %d times, at most %d are possible", option.Rules, len(o.Sources), captures.MaxSources)
	}
	f := newFound(o)
	for _, name := range o.Sources {
		s, err := f.sourceOf(ctx, name)
		if err != nil {
			return nil, err
		}
		f.sources = append(f.sources, s)
		if len(s.unread) > 0 {
			f.options.Warn(option.Messagef("%s has captures, so files in it that are not named as captures are not read, such as %s: put robots.txt files into a folder of their own, and give captures the ending of their format", s.shown(), s.unread[0]))
		}
	}
	if o.Asked != "" {
		if o.Partitions > 1 {
			if err := o.CheckReread(option.Partitions); err != nil {
				return nil, err
			}
		}
		if o.History {
			return nil, option.Usagef("%s lists what was asked for, and not when: it cannot be used with rules of other times", blob.Shown(o.Asked))
		}
		f.sources = append(f.sources, source{kind: askedKind, name: o.Asked, files: []string{o.Asked}})
	}
	var read []string
	for _, s := range f.sources {
		if s.kind != folderKind {
			read = append(append(read, s.name), s.files...)
		}
	}
	f.replaced = blob.Replaced(read...)
	return f, f.checkTogether()
}

// checkTogether returns an error for sources that do not go together: several single files, and, for
// rules of other times, captures before and after a rule pack. All captures are one set, and the
// pack would have precedence over a part of it.
func (f *Found) checkTogether() error {
	if pack := f.packBetween((*source).captured); pack != nil && f.options.History {
		return option.Usagef("%s is a rule pack between captures: name it before all captures, or after them", option.Rules.With(pack.shown()))
	}
	switch singles := f.count(singleKind); {
	case len(f.options.Single) > 0 && singles == 0 && !f.options.SingleElsewhere:
		return ErrNoSingle
	case singles > 1:
		return option.Usagef("%s is about one robots.txt, and there are %d: put them into a folder, named by host", option.For, singles)
	}
	return nil
}

// packBetween returns the first rule pack that has sources both before and after it for which
// isJoined returns true; nil for none.
func (f *Found) packBetween(isJoined func(*source) bool) *source {
	begun, pack := false, (*source)(nil)
	for i := range f.sources {
		s := &f.sources[i]
		switch {
		case isJoined(s) && pack != nil:
			return pack
		case isJoined(s):
			begun = true
		case begun && pack == nil && s.kind == packKind:
			pack = s
		}
	}
	return nil
}

// count returns the number of sources of a kind.
func (f *Found) count(k kind) (n int) {
	for _, s := range f.sources {
		if s.kind == k {
			n++
		}
	}
	return n
}

// Compiled reports whether all sources are rule packs.
func (f *Found) Compiled() bool { return f.count(packKind) == len(f.sources) }

// HasSingle reports whether a source is a single robots.txt.
func (f *Found) HasSingle() bool { return f.count(singleKind) > 0 }

// sourceOf finds out what a name of Options.Sources means. It is an error for a single robots.txt
// unless Options.Single says whose it is.
func (f *Found) sourceOf(ctx context.Context, name string) (source, error) {
	name, err := blob.LocalName(name)
	if err != nil {
		return source{}, option.Usagef("%s: %w", option.Rules, err)
	}
	look := peek
	if _, missing := os.Stat(name); missing != nil && name != blob.Stdio && !blob.IsURL(name) && strings.ContainsAny(name, patternBytes) {
		look = peekPattern
	}
	s, err := look(ctx, name)
	if err == nil && s.kind == singleKind && len(f.options.Single) == 0 {
		err = option.Usagef("%s is a single file, and neither a rule pack nor captures (WARC, Arrow, Parquet, csv, tsv, jsonl): "+
			"if it is a robots.txt, say whose with %s, or put it into a folder under the name of its host", option.Rules.With(s.shown()), option.For.With("example.com"))
	}
	return s, err
}

// patternBytes are those that make a name a pattern: of objects, or of files if none has that name.
const patternBytes = "*?["

// peek tells what a name means. A file or an object that is nothing else is a single robots.txt.
func peek(ctx context.Context, name string) (source, error) {
	s := source{kind: singleKind, name: name, files: []string{name}}
	switch {
	case name == blob.Stdio:
		return s, nil
	case blob.IsURL(name):
		u, err := blob.ParseURL(name)
		if err != nil {
			return s, err
		}
		if isPattern := strings.ContainsAny(u.Key, patternBytes); isPattern || u.IsFolder() {
			return peekObjects(ctx, name, u, isPattern)
		}
	default:
		info, err := os.Stat(name)
		if err != nil {
			return s, atName(name, err)
		}
		if info.IsDir() {
			return peekFolder(ctx, name)
		}
		if info.Mode()&fs.ModeNamedPipe != 0 {
			return s, option.Usagef("%s is a pipe, which can be read once, and rules are looked at before they are read: write them to a file; a single robots.txt may come from stdin as -", option.Rules.With(name))
		}
	}
	found, err := Detect(ctx, name)
	switch {
	case err != nil:
		return s, atName(name, err)
	case namesCaptures(found):
		s.kind = capturesKind
	case found == format.RulePack:
		s.kind = packKind
	}
	return s, nil
}

// peekFolder tells whether a folder on this machine holds captures or robots.txt files. A table with a
// log, or a data set, is an error.
func peekFolder(ctx context.Context, name string) (source, error) {
	s := source{kind: folderKind, name: name}
	hasCaptures, err := isCaptureFolder(ctx, name)
	if err != nil || !hasCaptures { // CheckTables looks at the folder of a file; the name state.json makes it look for a data set, too
		return s, cmp.Or(err, withTableAdvice(blob.CheckTables([]string{filepath.Join(name, "state.json")})))
	}
	s.kind = capturesKind
	if s.files, s.unread, err = filesBelow(ctx, name); err == nil {
		err = withTableAdvice(blob.CheckTables(s.files))
	}
	return s, err
}

// peekPattern finds the files and folders of captures that a pattern matches.
func peekPattern(ctx context.Context, pattern string) (source, error) {
	all := source{kind: capturesKind, name: pattern}
	matches, err := blob.Glob(pattern)
	if err != nil {
		return all, option.Usagef("%s: %w", option.Rules.With(pattern), err)
	}
	if len(matches) == 0 {
		return all, option.Errorf("%s: no file matches", option.Rules.With(pattern))
	}
	for _, match := range matches {
		s, err := peek(ctx, match)
		if err != nil {
			return all, err
		}
		if s.kind != capturesKind {
			return all, option.Usagef("%s: %s has no captures: a pattern is for captures; name all others one by one", option.Rules.With(pattern), match)
		}
		all.files, all.unread = append(all.files, s.files...), append(all.unread, s.unread...)
	}
	return all, withTableAdvice(blob.CheckTables(all.files))
}

// withTableAdvice adds to a *[blob.TableError] how to make one file of the table's rows: each of its
// files would be a source of its own. It returns any other error as it is, also nil.
func withTableAdvice(err error) error {
	var table *blob.TableError
	if !errors.As(err, &table) {
		return err
	}
	if table.IsStream {
		return option.Usagef("%s %w. Write it as a table first: %s > rules.arrows", option.Rules, err, table.Command)
	}
	return option.Usagef("%s %w. Write its rows to one table first, such as with DuckDB or Spark: of several %s the first decides, not the newest", option.Rules, err, option.Rules)
}

// Detect tells the format of a file by its first bytes, then by its name. JSON without the keys of
// captures is a robots.txt like any other text, unless the name says more.
func Detect(ctx context.Context, name string) (format.Format, error) {
	f, err := blob.Open(ctx, name)
	if err != nil {
		return format.Unknown, err
	}
	defer f.Close()
	name = f.Name()
	head, err := io.ReadAll(io.LimitReader(f, format.HeadSize))
	if err != nil {
		return format.Unknown, err
	}
	found := format.Detect(head, name)
	if found == format.Unknown && compress.Detect(head) != compress.None {
		sniffed, _, r, err := format.Sniff(bytes.NewReader(head), name)
		if err != nil {
			return format.Unknown, nil // the first bytes say nothing
		}
		defer r.Close()
		found, head = sniffed, format.Head(r)
	}
	if named, _ := format.ByName(name); found == format.JSONL && named != found && !beginsLikeCaptures(head) {
		found = format.Unknown
	}
	return found, nil
}

// beginsLikeCaptures reports whether a text begins with an object, or with the header of csv or
// tsv, that has names which captures have. head is its first bytes, at most [format.HeadSize].
func beginsLikeCaptures(head []byte) bool {
	line, _, ends := bytes.Cut(bytes.ToLower(bytes.TrimLeft(head, "\xEF\xBB\xBF \t\r\n")), []byte{'\n'})
	names := strings.FieldsFunc(string(line), func(r rune) bool { return strings.ContainsRune("\",;|\t\r", r) })
	has := func(wanted ...string) bool {
		return slices.ContainsFunc(wanted, func(name string) bool { return slices.Contains(names, name) })
	}
	switch {
	case bytes.HasPrefix(line, []byte{'{'}): // the other names of an object that is cut are not known
		return has("url", "authority", "body") || !ends && len(head) >= format.HeadSize
	case !bytes.ContainsAny(line, ",;|\t") || !has("url", "authority"):
		return false
	}
	return has("body", "filename", "warc_filename") || !bytes.ContainsAny(line, "#:/{") // robots.txt has these
}

// namesCaptures reports whether a file in a format may hold captures or, as crawl indexes do,
// name the WARC records that do. In a folder an index is what lies next to these.
func namesCaptures(f format.Format) bool {
	return f.HasCaptures() || f == format.CDXJ || f == format.CDX
}

// isCaptureFolder reports whether a folder holds captures, and not robots.txt files. A folder
// with a WARC file, or with nothing but files named as tables, holds captures. Otherwise all other
// files that are not empty must be captures by their first bytes: if one were enough, a site could
// write a robots.txt that looks like captures of other hosts. If there are only folders, the first
// of them decides.
func isCaptureFolder(ctx context.Context, folder string) (bool, error) {
	f, err := os.Open(folder)
	if err != nil {
		return false, atName(folder, err)
	}
	entries, err := f.ReadDir(-1) // os.ReadDir also sorts them: of a million names that takes longer than reading them
	_ = f.Close()                 // it was only read from
	if err != nil {
		return false, atName(folder, err)
	}
	var files []os.DirEntry // those that are not named as tables
	below := ""             // the first folder by name
	hasTables := false
	for _, entry := range entries {
		name := entry.Name()
		named, _ := format.ByName(name)
		switch {
		case blob.IsHidden(name):
		case entry.IsDir():
			below = min(cmp.Or(below, name), name)
		case named == format.WARC:
			return true, nil
		case named.HasCaptures():
			hasTables = true
		case entry.Type().IsRegular():
			files = append(files, entry)
		}
	}
	if len(files) == 0 && !hasTables && below != "" {
		return isCaptureFolder(ctx, filepath.Join(folder, below))
	}
	hasCaptures := hasTables
	for _, file := range files {
		if info, err := file.Info(); err == nil && info.Size() == 0 {
			continue
		}
		found, err := Detect(ctx, filepath.Join(folder, file.Name()))
		if hasCaptures = err == nil && found.HasCaptures(); !hasCaptures {
			break // a read error is reported when the file is needed
		}
	}
	return hasCaptures, nil
}

// filesBelow lists the files in and below a folder that are captures by their names, or
// all files if there are none. unread are those that it leaves out although they are named as
// robots.txt files of hosts, or have the first bytes of captures.
func filesBelow(ctx context.Context, folder string) (files, unread []string, err error) {
	var captures, unnamed, all []string
	top := folder + string(filepath.Separator) // so that WalkDir follows a link to the folder
	err = filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != top && blob.IsHidden(entry.Name()):
			if entry.IsDir() {
				return fs.SkipDir
			}
		case entry.Type()&^(fs.ModeDir|fs.ModeSymlink) != 0: // to open a pipe would wait for a writer
			return fmt.Errorf("%s is no regular file: move it elsewhere, or name the captures by a pattern", path)
		case !entry.IsDir():
			all = append(all, path)
			if named, _ := format.ByName(path); named.HasCaptures() {
				captures = append(captures, path)
			} else if isHostsFile(strings.TrimPrefix(path, top)) {
				unread = append(unread, path)
			} else if named == format.Unknown && entry.Type().IsRegular() { // a link may lead to a pipe
				unnamed = append(unnamed, path)
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, atName(folder, err)
	}
	if len(captures) == 0 {
		return all, nil, nil
	}
	for _, path := range unnamed { // a file that cannot be opened is no error: none of them is read
		if found, err := Detect(ctx, path); err == nil && found.HasCaptures() {
			unread = append(unread, path)
		}
	}
	return captures, unread, nil
}

// isHostsFile reports whether a path in a folder of captures is named as a robots.txt is:
// HOST/robots.txt or HOST.txt, compressed or not. HOST must have a dot, because a file such as
// notes.txt may have any text.
func isHostsFile(path string) bool {
	_, plain := compress.ByName(filepath.ToSlash(path))
	host, ok := strings.CutSuffix(plain, "/robots.txt")
	if !ok {
		host, ok = strings.CutSuffix(plain, ".txt")
	}
	return ok && strings.Contains(host, ".") && rulesdir.IsRules(plain)
}

// IsRules tells whether a name is that of a folder, a rule pack or a WARC file, and not that
// of a table, which may have anything in it.
func IsRules(ctx context.Context, name string) (bool, error) {
	name, err := blob.LocalName(name)
	if err != nil {
		return false, err
	}
	info, err := os.Stat(name)
	named, _ := format.ByName(name)
	switch {
	case name == blob.Stdio:
		return false, nil
	case strings.HasSuffix(name, "/"), err == nil && info.IsDir(), named == format.WARC:
		return true, nil
	}
	found, err := Detect(ctx, name)
	return found == format.RulePack || found == format.WARC, err
}

// peekObjects tells what the URL of a folder in a store, or of a pattern, means.
func peekObjects(ctx context.Context, name string, u blob.URL, isPattern bool) (source, error) {
	found := source{kind: folderKind, name: name}
	if !isPattern {
		if is, err := isCaptureKeys(ctx, u); err != nil || !is {
			return found, err
		}
	}
	found.kind = capturesKind
	objects, err := blob.Expand(ctx, u)
	if table := (*blob.TableError)(nil); errors.As(err, &table) {
		return found, withTableAdvice(err)
	} else if err != nil {
		return found, atName(name, err)
	}
	for _, object := range objects {
		switch named, _ := format.ByName(object.URL.Key); {
		case named.HasCaptures():
			found.files = append(found.files, object.URL.String())
		case isPattern:
			return found, option.Usagef("%s: %s has no captures, by its name: a pattern is for captures; name all others one by one", option.Rules.With(u.Name()), object.URL.Name())
		case isHostsFile(object.Stem):
			found.unread = append(found.unread, object.URL.Name())
		}
	}
	return found, nil
}

// triedKeys is the most names that are read to find out what a folder in a store holds.
const triedKeys = 1000

// isCaptureKeys reports whether a folder holds captures, and not robots.txt files. It does if one of its first
// names is a WARC file's, or all are tables'. Files of a table's log do not count.
func isCaptureKeys(ctx context.Context, u blob.URL) (bool, error) {
	folder, err := blob.OpenFolder(ctx, u)
	if err != nil {
		return false, err
	}
	enough := errors.New("enough")
	files, tables, isWARC := 0, true, false
	err = folder.List(func(key string, _ blob.Info) error {
		if slices.ContainsFunc(strings.Split(key, "/"), blob.IsHidden) || strings.HasSuffix(key, "/") || blob.IsTableMetadata(key) {
			return nil
		}
		files++
		named, _ := format.ByName(key)
		tables, isWARC = tables && named.HasCaptures(), named == format.WARC
		if isWARC || files == triedKeys {
			return enough
		}
		return nil
	})
	switch {
	case err != nil && !errors.Is(err, enough):
		return false, option.Errorf("%s: %w", option.Rules, err)
	case files == 0:
		return false, option.Errorf("%s: the folder has no objects", option.Rules.With(u.Name()))
	}
	return isWARC || tables, nil
}

// Replaces returns the name, for people, of the source of which an output would replace a file, or to
// whose folder it would add a robots.txt; "" for none. Links are followed.
func (f *Found) Replaces(out string) string {
	if out == blob.Stdio || out == "" {
		return ""
	}
	if info, err := os.Stat(out); !blob.IsURL(out) && (strings.HasSuffix(out, "/") || err == nil && !info.Mode().IsRegular()) {
		return "" // a folder, of whose outputs each is asked about, or a device
	}
	replaced := f.replaced(out)
	for _, s := range f.sources {
		if s.kind == folderKind && isBelow(s.name, out) || replaced != "" && (s.name == replaced || slices.Contains(s.files, replaced)) {
			return s.shown()
		}
	}
	return ""
}

// isBelow reports whether a file is a robots.txt of a folder of rules, by its name.
func isBelow(folder, file string) bool {
	if blob.IsURL(folder) || blob.IsURL(file) {
		key, ok := strings.CutPrefix(blob.Shown(file), blob.Shown(folder))
		return ok && rulesdir.IsRules(key)
	}
	real := func(name string) (string, error) {
		name, err := filepath.EvalSymlinks(name)
		if err == nil {
			name, err = filepath.Abs(name)
		}
		return name, err
	}
	to, err := real(file)
	if err != nil { // a file that is not there yet
		to, err = real(filepath.Dir(file))
		to = filepath.Join(to, filepath.Base(file))
	}
	from, fromErr := real(folder)
	below, belowErr := filepath.Rel(from, to)
	return cmp.Or(err, fromErr, belowErr) == nil && filepath.IsLocal(below) && rulesdir.IsRules(filepath.ToSlash(below))
}
