package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"robotsbatch/io/blob"
	"robotsbatch/io/captures"
	"robotsbatch/io/compress"
	"robotsbatch/io/format"
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

// ruleUse says what rules are used for, and with what.
type ruleUse struct {
	// memory is how many octets there are for making a rule pack of captures,
	// before anything else runs. A part of it is for compiled rules afterwards.
	memory int64
	// workers make it.
	workers int
	// explain is whether rules will be described.
	explain bool
	// records is whether the records that are no rules are needed.
	records bool
}

// cache is how many octets of compiled rules each source may keep.
func (u ruleUse) cache(c *rulesConfig) int64 { return u.memory / rulesMemory / int64(len(c.folders)) }

// openRules opens the sources of rules, and makes a rule pack of those that are
// captures. It sets c.asOf, unless that was asked for, to the newest fetch in any
// of them.
func openRules(ctx context.Context, c *rulesConfig, use ruleUse, log *console) (ruleSources, error) {
	found, err := c.find(ctx)
	if err != nil {
		return nil, err
	}
	sources := make(ruleSources, len(found)) // nil where captures are
	for i, f := range found {
		if f.kind != captureRules {
			if sources[i], err = openSource(ctx, f, c, use); err != nil {
				sources[i] = nil // and not something that is no nil source
				return nil, errors.Join(err, sources.Close())
			}
		}
	}
	if first := slices.IndexFunc(found, func(f foundRules) bool { return f.kind == captureRules }); first >= 0 {
		pack, err := openCaptures(ctx, c, found, sources, use, log)
		if err != nil {
			return nil, errors.Join(err, sources.Close())
		}
		sources[first] = pack
	}
	if c.asOf.IsZero() {
		c.asOf = sources.newest()
	}
	return slices.DeleteFunc(sources, func(s ruleSource) bool { return s == nil }), nil
}

// newest is the time of the newest fetch in any pack, the zero time where none
// is known: a folder has none.
func (r ruleSources) newest() (newest time.Time) {
	for _, source := range r {
		if pack, ok := source.(*packSource); ok {
			if t := time.Unix(pack.Info().AsOf, 0).UTC(); pack.Info().AsOf != 0 && t.After(newest) {
				newest = t
			}
		}
	}
	return newest
}

func openSource(ctx context.Context, f foundRules, c *rulesConfig, use ruleUse) (ruleSource, error) {
	if f.kind == folderRules {
		options := rulesdir.Options{
			Chains: c.agents, Profile: c.profile, Limit: int(c.limit),
			Explain: use.explain, Records: use.records, Memory: use.cache(c),
		}
		if c.used != nil {
			options.Used = func(u rulesdir.Used) { c.used(f.name, u) }
		}
		return openFolder(ctx, f.name, options)
	}
	if blob.IsURL(f.name) {
		return fetchPack(ctx, f.name, c, use)
	}
	return openPack(f.name, f.name, c, use)
}

// rulesKind is what a -rules may be.
type rulesKind int

const (
	folderRules rulesKind = iota
	packRules
	captureRules
)

// foundRules is what one -rules names.
type foundRules struct {
	name  string
	kind  rulesKind
	files []string // of captures
}

// find finds out what each -rules names.
func (c *rulesConfig) find(ctx context.Context) ([]foundRules, error) {
	if len(c.folders) > captures.MaxSources {
		return nil, usageErrorf("-rules is there %d times: at most %d can be", len(c.folders), captures.MaxSources)
	}
	var all []foundRules
	for _, name := range c.folders {
		found, err := findRules(ctx, name)
		if err != nil {
			return nil, err
		}
		all = append(all, found)
	}
	return all, nil
}

func findRules(ctx context.Context, name string) (foundRules, error) {
	found := foundRules{name: name}
	if blob.IsURL(name) {
		return findObjects(ctx, name)
	}
	files, err := captureFiles(ctx, name)
	if err != nil {
		return found, err
	}
	if len(files) > 0 {
		found.kind, found.files = captureRules, files
		return found, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return found, atName("-rules "+name, err)
	}
	if info.IsDir() {
		return found, nil
	}
	detected, err := detectRules(ctx, name)
	if err != nil {
		return found, atName("-rules "+name, err)
	}
	if detected != format.RulePack {
		return found, usageErrorf("-rules %s is neither a folder nor a rule pack, nor captures: those are WARC, Arrow, Parquet, csv, tsv or jsonl", name)
	}
	found.kind = packRules
	return found, nil
}

// detectRules tells the format of a file by its first octets, then by its name.
func detectRules(ctx context.Context, name string) (format.Format, error) {
	f, err := blob.Open(ctx, name)
	if err != nil {
		return format.Unknown, err
	}
	defer f.Close()
	name = f.Name()
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

// origins are the sources as they are asked: a single one by itself, which may be
// able to look many authorities up at once.
func (r ruleSources) origins() matcher.Origins {
	if len(r) == 1 {
		return r[0]
	}
	return r
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
		if source == nil {
			continue // captures that are not read yet
		}
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
		if source != nil {
			err = errors.Join(err, source.Close())
		}
	}
	return err
}
