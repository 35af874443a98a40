package ruleset

import (
	"robotsbatch/batch/option"
	"robotsbatch/matcher/urls"
)

// A source that is a single robots.txt is read as captures, one for each URL of
// Options.Single.

// ParseFor returns the URLs of the robots.txt of a host, for http and for https, or of
// an origin such as https://example.com:8443.
func ParseFor(host string) (found []string, err error) {
	var scratch urls.Scratch
	for _, origin := range spellings(host) {
		authority, path, err := scratch.Split([]byte(origin))
		if err != nil || string(path) != "/" {
			return nil, option.Usagef("%s: want a host, such as example.com, or an origin, such as https://example.com:8443", option.For.With(host))
		}
		found = append(found, string(authority)+"/robots.txt")
	}
	return found, nil
}

// ErrNoSingle is the error of sources none of which is the single robots.txt that
// Options.Single is about.
var ErrNoSingle error = option.Usagef("%s is about a %s that is a single robots.txt, and there is none", option.For, option.Rules)

// checkSingle checks that Options.Single has a single robots.txt to apply to, and that
// there is only one.
func (f *Found) checkSingle() error {
	switch singles := f.count(singleKind); {
	case len(f.options.Single) > 0 && singles == 0 && !f.options.SingleElsewhere:
		return ErrNoSingle
	case singles > 1:
		return option.Usagef("%s is about one robots.txt, and there are %d: put them into a folder, named by host", option.For, singles)
	}
	return nil
}

// HasSingle reports whether a source is a single robots.txt.
func (f *Found) HasSingle() bool { return f.count(singleKind) > 0 }
