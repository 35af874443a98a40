package stats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"robotsbatch/batch/option"
	"robotsbatch/io/frontier"
	"robotsbatch/io/report/export"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher"
)

// ErrTimeless says that rules of which each month should be counted know no times.
var ErrTimeless = errors.New("the rules know no times")

// OfRules counts what rules deny agents, or what they state of o.Uses; with monthly in each
// month of the listing, which needs a history.
func OfRules(ctx context.Context, listing *ruleset.Listing, chains []matcher.Chain, monthly bool, o Options) (*SiteCounter, error) {
	if monthly {
		history, err := export.Months(listing)
		if err != nil {
			return nil, err
		}
		if o.History = *history; len(o.History.Months) == 0 {
			return nil, ErrTimeless
		}
	}
	tally := newSiteCounter(o)
	for _, chain := range chains {
		name := strings.Join(chain, ",")
		tally.agent(name, o.Classes[name])
	}
	var domain []byte // of the sites that were added last
	err := export.States(listing, chains, o.Uses, o.History.Months, func(s *export.Stated) error {
		site := s.Registered
		if len(site) == 0 {
			site = s.SURT
		}
		if !bytes.Equal(site, domain) { // those of a domain follow one another
			if err := context.Cause(ctx); err != nil {
				return err
			}
			domain = append(domain[:0], site...)
			if tally.Flush(); o.sites != nil && o.sites.Err() != nil {
				return o.sites.Err()
			}
		}
		return tally.addStated(s)
	})
	if err == nil {
		err = listing.Unchanged()
	}
	return tally, err
}

// addStated adds what is known of an authority in a month.
func (t *SiteCounter) addStated(s *export.Stated) error {
	captured := state(0)
	if s.Captured {
		captured = isCaptured
	}
	authority, registered := string(s.Authority), string(s.Registered)
	for use := range t.options.Uses {
		t.add(authority, registered, t.subject(s.Agent, use), s.Month, useStateOf(s.Class, s.Of(use))|captured)
	}
	if len(t.options.Uses) > 0 {
		return nil
	}
	known, err := stateOf(s.Class, s.Blocked, s.Root, s.By)
	t.add(authority, registered, s.Agent, s.Month, known|captured)
	return err
}

// OfSurvey counts a survey: a table that robotsbatch survey wrote. reading says how it is read,
// but for its columns.
func OfSurvey(ctx context.Context, survey frontier.Input, reading frontier.Options, o Options) (*SiteCounter, error) {
	t := newSiteCounter(o)
	name := blob.Shown(survey.Path)
	reading.URLColumn, reading.Columns, reading.Named = "authority", true, o.named()
	src, err := frontier.Concatenate(ctx, []frontier.Input{survey}, reading)
	if err != nil {
		return nil, asSurvey(err, name)
	}
	defer src.Close()
	if err := t.addAll(ctx, src, name); err != nil {
		return nil, err
	}
	return t, src.Complete()
}

// asSurvey replaces an error that asks for the name of the column with the URLs: a survey has
// one of authorities, whose name nobody chooses.
func asSurvey(err error, name string) error {
	if !slices.ContainsFunc(option.PartsOf(err), func(p option.Part) bool { return p.Option == option.URLColumn }) {
		return err
	}
	lacking := fmt.Errorf("%s: there is no column %q of strings: %s", name, keys[0], notSurvey)
	if errors.As(err, new(*option.UsageError)) {
		return &option.UsageError{Err: lacking}
	}
	return lacking
}
