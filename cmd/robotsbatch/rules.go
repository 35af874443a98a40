package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"robotsbatch/io/compress"
	"robotsbatch/io/format"
	"robotsbatch/io/rulepack"
	"robotsbatch/io/rulesdir"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// ruleSource is what one -rules names.
type ruleSource interface {
	matcher.Origins
	// File is the name of the file that decides about an authority; empty where
	// there is none.
	File(authority []byte) (string, error)
	Close() error
}

// ruleSources are all that -rules names, as one matcher.Origins: the first that
// knows an authority decides.
type ruleSources []ruleSource

// ruleUse says what rules are used for.
type ruleUse struct {
	// memory is how many octets of compiled rules folders and packs may keep.
	memory int64
	// explain is whether rules will be described.
	explain bool
	// records is whether the records that are no rules are needed.
	records bool
}

// openRules opens the sources of rules, and reads those that are captures. It
// sets c.asOf, unless that was asked for, to the newest fetch in any of them.
func openRules(ctx context.Context, c *rulesConfig, use ruleUse, log *console) (ruleSources, error) {
	var sources ruleSources
	use.memory /= int64(len(c.folders))
	for _, name := range c.folders {
		source, err := openSource(ctx, name, c, use, log)
		if err != nil {
			return nil, errors.Join(err, sources.Close())
		}
		sources = append(sources, source)
	}
	if c.asOf.IsZero() {
		c.asOf = sources.newest()
	}
	c.finishCaptures(sources, log)
	return sources, nil
}

// newest is the time of the newest fetch in any source, the zero time where none
// is known: a folder has none.
func (r ruleSources) newest() (newest time.Time) {
	for _, source := range r {
		var t time.Time
		switch s := source.(type) {
		case *captureSource:
			t = s.collector.Newest()
		case *rulepack.Pack:
			if seconds := s.Info().AsOf; seconds != 0 {
				t = time.Unix(seconds, 0).UTC()
			}
		}
		if t.After(newest) {
			newest = t
		}
	}
	return newest
}

func openSource(ctx context.Context, name string, c *rulesConfig, use ruleUse, log *console) (ruleSource, error) {
	files, err := warcFiles(name)
	if err != nil {
		return nil, err
	}
	if len(files) > 0 {
		return readCaptures(ctx, c, name, files, use, log)
	}
	isFolder, err := checkSource(name)
	if err != nil {
		return nil, err
	}
	if isFolder {
		return rulesdir.Open(name, rulesdir.Options{
			Chains: c.agents, Profile: c.profile, Limit: int(c.limit), Records: use.records, Memory: use.memory,
		})
	}
	pack, err := rulepack.Open(name, rulepack.Options{
		Chains: c.agents, Profile: c.profile, Limit: int(c.limit), Explain: use.explain, Records: use.records, Memory: use.memory,
	})
	if errors.Is(err, rulepack.ErrMismatch) {
		err = usageError{err}
	}
	if err != nil {
		return nil, err // and not a nil pack that is no nil source
	}
	return pack, nil
}

// checkSource tells folders from rule packs, and refuses what is neither.
func checkSource(name string) (isFolder bool, err error) {
	if isURL(name) {
		return false, unavailable(fmt.Sprintf("-rules %s: reading from an object store", name))
	}
	info, err := os.Stat(name)
	if err != nil {
		return false, atName("-rules "+name, err)
	}
	if info.IsDir() {
		return true, nil
	}
	found, err := detectRules(name)
	if err != nil {
		return false, atName("-rules "+name, err)
	}
	if found != format.RulePack {
		return false, usageErrorf("-rules %s is neither a folder nor a rule pack, nor WARC: tables of captures are not available in this version", name)
	}
	return false, nil
}

// detectRules tells the format of a file by its first octets, then by its name.
func detectRules(name string) (format.Format, error) {
	f, err := os.Open(name)
	if err != nil {
		return format.Unknown, err
	}
	defer f.Close()
	head := make([]byte, format.HeadSize)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return format.Unknown, err
	}
	found := format.Detect(head[:n], name)
	if found != format.Unknown || compress.Detect(head[:n]) == compress.None {
		return found, nil
	}
	found, _, r, err := format.Sniff(bytes.NewReader(head[:n]), name)
	if err != nil {
		return format.Unknown, nil // its beginning says nothing
	}
	defer r.Close()
	return found, nil
}

// Lookup implements matcher.Origins.
func (r ruleSources) Lookup(authority []byte, o *matcher.Origin) error {
	for _, source := range r {
		if err := source.Lookup(authority, o); err != nil {
			return err
		}
		if o.Access != access.Unknown {
			break
		}
	}
	return nil
}

// file is the name of the file that decides about an authority; empty when
// there is none.
func (r ruleSources) file(authority []byte) (string, error) {
	for _, source := range r {
		name, err := source.File(authority)
		if err != nil || name != "" {
			return name, err
		}
	}
	return "", nil
}

// Close closes all sources.
func (r ruleSources) Close() error {
	var err error
	for _, source := range r {
		err = errors.Join(err, source.Close())
	}
	return err
}
