package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"robotsbatch/io/blob"
	"robotsbatch/io/captures"
	"robotsbatch/io/format"
	"robotsbatch/io/warc"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// captureSource is the captures of the files that one -rules names.
type captureSource struct {
	*captures.Origins // nil until all sources are read
	name              string
	collector         *captures.Collector
	broken            int64
}

// File is the name that -rules has, if captures decide about an authority.
func (s *captureSource) File(authority []byte) (string, error) {
	var o matcher.Origin
	if err := s.Lookup(authority, &o); err != nil || o.Access == access.Unknown {
		return "", err
	}
	return s.name, nil
}

// Close does nothing: the files are closed as soon as they are read.
func (s *captureSource) Close() error { return nil }

// readCaptures reads all files of a source.
func readCaptures(ctx context.Context, c *rulesConfig, name string, files []string, use ruleUse, log *console) (*captureSource, error) {
	options := captures.Options{Chains: c.agents, Profile: c.profile, Limit: int(c.limit), Records: use.records}
	s := &captureSource{name: name, collector: captures.NewCollector(options)}
	for _, file := range files {
		if err := s.read(ctx, file, options.BodyLimit(), log); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// shownBroken is how many broken records are named; those beyond are counted
// only.
const shownBroken = 10

// read reads one file.
func (s *captureSource) read(ctx context.Context, name string, limit int, log *console) error {
	f, err := blob.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	var file io.Reader = f
	if size, regular := f.Size(); regular {
		file = io.NewSectionReader(f, 0, size) // which can go back
	}
	r, err := warc.NewReader(file, warc.Options{Name: name, BodyLimit: limit, Broken: func(err error) {
		if s.broken++; s.broken <= shownBroken {
			log.warn(err.Error())
		}
	}})
	if err != nil {
		return err
	}
	defer r.Close()
	var x captures.Capture
	for {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := r.Next(&x); err == io.EOF {
			if r.Stats() == (warc.Stats{}) {
				log.warn(name + " has no records: was it cut off?")
			}
			return nil
		} else if err != nil {
			return err
		}
		s.collector.Add(&x)
	}
}

// finishCaptures makes rules of what was read, all as of one time.
func (c *rulesConfig) finishCaptures(sources ruleSources, log *console) {
	for _, source := range sources {
		if s, ok := source.(*captureSource); ok {
			s.Origins = s.collector.Finish(c.asOf, c.policy)
			s.collector = nil
			log.info(s.text(c.asOf), "rules", "captures", s.counts(c.asOf))
		}
	}
}

// captureCounts are what is said of a source of captures.
type captureCounts struct {
	Rules       string    `json:"rules"`
	AsOf        time.Time `json:"as_of"`
	Captures    int64     `json:"captures"`
	Broken      int64     `json:"broken_records"`
	Bodies      int64     `json:"distinct_bodies"`
	Authorities int64     `json:"authorities"`
	WithRules   int64     `json:"authorities_with_rules"`
	Stale       int64     `json:"authorities_stale"`
	Unavailable int64     `json:"authorities_unavailable"`
	Unreachable int64     `json:"authorities_unreachable"`
	Resolved    int64     `json:"redirects_resolved"`
	Unresolved  int64     `json:"redirects_unresolved"`
	HTML        int64     `json:"authorities_html"`
	Limited     int64     `json:"authorities_limited"`
}

func (s *captureSource) counts(asOf time.Time) captureCounts {
	n := s.Stats()
	return captureCounts{
		Rules: s.name, AsOf: asOf, Captures: n.Captures, Broken: s.broken, Bodies: n.Bodies,
		Authorities: n.Authorities, WithRules: n.Rules, Stale: n.Stale, Unavailable: n.Unavailable, Unreachable: n.Unreachable,
		Resolved: n.Resolved, Unresolved: n.Unresolved, HTML: n.HTML, Limited: n.Limited,
	}
}

// text is what is said of the source in one line.
func (s *captureSource) text(asOf time.Time) string {
	n := s.Stats()
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", s.name, counted(n.Captures, "capture", "captures"))
	if !asOf.IsZero() {
		b.WriteString(asOf.Format(" as of " + time.RFC3339))
	}
	fmt.Fprintf(&b, "; %s: %s with rules, %s unavailable, %s unreachable; %s",
		counted(n.Authorities, "authority", "authorities"), grouped(n.Rules), grouped(n.Unavailable), grouped(n.Unreachable),
		counted(n.Bodies, "distinct body", "distinct bodies"))
	fmt.Fprintf(&b, "; redirects: %s resolved, %s not", grouped(n.Resolved), grouped(n.Unresolved))
	for _, odd := range []struct {
		count     int64
		one, more string
	}{
		{n.Stale, "authority with a stale copy", "authorities with a stale copy"},
		{n.HTML, "with HTML instead of robots.txt", "with HTML instead of robots.txt"},
		{n.Limited, "cut by the size limit or the crawler", "cut by the size limit or the crawler"},
		{s.broken, "broken record skipped", "broken records skipped"},
	} {
		if odd.count > 0 {
			b.WriteString("; " + counted(odd.count, odd.one, odd.more))
		}
	}
	return b.String()
}

// warcFiles finds the WARC files that a -rules stands for: a file, those of a
// folder, or those that a pattern matches. There are none when it stands for
// something else.
func warcFiles(name string) ([]string, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		if is, err := isWARCFolder(name); err != nil || !is {
			return nil, err
		}
		return filesBelow(name)
	case err == nil:
		found, err := detectRules(name)
		if err != nil {
			return nil, atName("-rules "+name, err)
		}
		if found == format.WARC {
			return []string{name}, nil
		}
		return nil, nil
	case !strings.ContainsAny(name, "*?["):
		return nil, nil // who opens it says what is wrong
	}
	return matchingWARC(name)
}

// matchingWARC finds what a pattern of WARC files and folders matches.
func matchingWARC(pattern string) ([]string, error) {
	matches, err := filepath.Glob(pattern)
	if err != nil {
		return nil, usageErrorf("-rules %s: %w", pattern, err)
	}
	if len(matches) == 0 {
		return nil, fmt.Errorf("-rules %s: no file matches", pattern)
	}
	var files []string
	for _, match := range matches {
		found, err := warcFiles(match)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, usageErrorf("-rules %s: %s is not WARC: a pattern is for captures; name all others one by one", pattern, match)
		}
		files = append(files, found...)
	}
	return files, nil
}

// isWARCFolder tells a folder of WARC files from one of robots.txt files: the
// names of its files say so, or the beginning of the first of them, or, where it
// has only folders, those of the first folder.
func isWARCFolder(folder string) (bool, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return false, atName("-rules "+folder, err)
	}
	firstFile, firstFolder := "", ""
	for _, entry := range entries {
		switch {
		case isHidden(entry.Name()):
		case isWARCName(entry.Name()) && !entry.IsDir():
			return true, nil
		case entry.IsDir() && firstFolder == "":
			firstFolder = entry.Name()
		case entry.Type().IsRegular() && firstFile == "":
			firstFile = entry.Name()
		}
	}
	switch {
	case firstFile != "":
		found, err := detectRules(filepath.Join(folder, firstFile))
		return found == format.WARC && err == nil, nil // what cannot be read here is named when it is needed
	case firstFolder != "":
		return isWARCFolder(filepath.Join(folder, firstFolder))
	}
	return false, nil
}

// filesBelow lists the WARC files in and below a folder by name; where no name
// says that it is one, all files.
func filesBelow(folder string) ([]string, error) {
	var named, all []string
	top := folder + string(filepath.Separator) // the folder, also where it is a link
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != top && isHidden(entry.Name()):
			if entry.IsDir() {
				return fs.SkipDir
			}
		case !entry.IsDir():
			all = append(all, path)
			if isWARCName(path) {
				named = append(named, path)
			}
		}
		return nil
	})
	if err != nil {
		return nil, atName("-rules "+folder, err)
	}
	if len(named) > 0 {
		return named, nil
	}
	return all, nil
}

func isHidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") }

func isWARCName(name string) bool {
	found, _ := format.ByName(name)
	return found == format.WARC
}

// timeOf sets dst to a time as RFC 3339 has it, or to the end of a day.
func timeOf(dst *time.Time) func(string) error {
	return func(s string) error {
		t, err := time.Parse(time.RFC3339, s)
		if err != nil {
			if t, err = time.Parse(time.DateOnly, s); err != nil {
				return fmt.Errorf("want a time such as 2026-03-01T12:00:00Z, or a day such as 2026-03-01, which stands for its end")
			}
			t = t.AddDate(0, 0, 1).Add(-time.Nanosecond)
		}
		*dst = t.UTC()
		return nil
	}
}
