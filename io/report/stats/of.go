package stats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"robotsbatch/batch/option"
	"robotsbatch/io/frontier"
	"robotsbatch/io/report/export"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher"
)

// ErrTimeless says that rules of which each month should be counted know no times.
var ErrTimeless = errors.New("stats: the rules know no times")

// OfRules counts what rules deny agents, or what they state of o.Uses; with monthly for each
// month, whose names it puts into the options, and of which the listing needs a history.
func OfRules(ctx context.Context, listing *ruleset.Listing, chains []matcher.Chain, monthly bool, o Options) (*SiteCounter, error) {
	var months []export.Month
	if monthly {
		var err error
		if months, err = export.Months(listing); err != nil {
			return nil, err
		}
		if len(months) == 0 {
			return nil, ErrTimeless
		}
		for _, month := range months {
			o.Months = append(o.Months, month.Name)
		}
	}
	tally := newSiteCounter(o)
	for _, chain := range chains {
		tally.Agent(strings.Join(chain, ","))
	}
	var domain []byte // of the sites that were added last
	err := export.States(listing, chains, o.Uses, months, func(s *export.Stated) error {
		site := s.Registered
		if len(site) == 0 {
			site = s.SURT
		}
		if !bytes.Equal(site, domain) { // those of a domain follow one another
			if err := context.Cause(ctx); err != nil {
				return err
			}
			domain = append(domain[:0], site...)
			tally.Flush()
		}
		authority, registered := string(s.Authority), string(s.Registered)
		if len(o.Uses) > 0 {
			for use := range o.Uses {
				tally.addUse(authority, registered, s.Agent, use, s.Month, s.Of(use), s.Access)
			}
			return nil
		}
		state, err := stateOf(s.Blocked, s.By, s.Access)
		tally.addState(authority, registered, s.Agent, s.Month, state)
		return err
	})
	if err == nil {
		err = listing.Unchanged()
	}
	return tally, err
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
	asks := false
	option.Text(err, func(given option.Given) string {
		asks = asks || given.Name == option.URLColumn
		return given.String()
	})
	if !asks {
		return err
	}
	lacking := fmt.Errorf("%s: there is no column %q of strings: %s", name, keys[0], notSurvey)
	if errors.As(err, new(*option.UsageError)) {
		return &option.UsageError{Err: lacking}
	}
	return lacking
}
