package stats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/report/export"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher"
	"robotsbatch/matcher/domains"
)

// ErrTimeless says that each month should be counted, and no time is known of the rules.
var ErrTimeless = errors.New("the rules know no times")

// OfRules counts the sites of a listing by what their rules deny agents, or by what they state about
// o.Uses. With monthly it counts them in each month, for which the listing needs a history. An
// authority's site is counted once no other authority of it can come.
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
		name := chain.String()
		tally.agent(name, o.Classes[name])
	}
	var end []byte
	err := export.States(listing, chains, o.Uses, o.History.Months, func(s *export.Stated) error {
		if s.Agent == 0 { // the first of an authority, or of its month
			if err := context.Cause(ctx); err != nil {
				return err
			}
			end = o.Site.appendEnd(end[:0], s)
			tally.enter(end, s.SURT)
			if o.sites != nil && o.sites.Err() != nil { // enter writes the sites that ended
				return o.sites.Err()
			}
		}
		return tally.addStated(s)
	})
	for err == nil && len(tally.open) > 0 { // no other authority comes
		tally.leave()
	}
	if err == nil {
		err = listing.Unchanged()
	}
	return tally, err
}

// appendEnd appends a SURT after those of all authorities of the site that an authority belongs to.
func (s Site) appendEnd(dst []byte, of *export.Stated) []byte {
	if s == ByDomain && len(of.Registered) > 0 {
		return domains.AppendSURTEnd(dst, of.Registered)
	}
	return append(append(dst, of.SURT...), 0)
}

// enter makes the sites that end at end, as appendEnd writes it, the current ones, to which t.add then adds.
// Before, it counts the sites that end at or before surt, the SURT at which the listing has arrived: no
// authority of these can follow. t.open has few elements, because only sites whose SURTs begin alike, such
// as a domain and a host below it, are open at a time.
func (t *SiteCounter) enter(end, surt []byte) {
	for n := len(t.open); n > 0 && bytes.Compare(t.open[n-1].end, surt) <= 0; n-- {
		t.leave()
	}
	at, found := slices.BinarySearchFunc(t.open, end, func(o *openSites, end []byte) int { return bytes.Compare(end, o.end) })
	if !found {
		next := &openSites{sites: make(map[string]int)}
		if n := len(t.spare); n > 0 {
			next, t.spare = t.spare[n-1], t.spare[:n-1]
		}
		next.end = append(next.end[:0], end...)
		t.open = slices.Insert(t.open, at, next)
	}
	t.openSites = t.open[at]
}

// mostSpare is the most sites that openSites may have had to be used again.
const mostSpare = 64

// leave counts the open sites that end first, and closes them.
func (t *SiteCounter) leave() {
	last := len(t.open) - 1
	t.openSites = t.open[last]
	t.Flush()
	if t.open = t.open[:last]; len(t.states) <= mostSpare { // to clear a map takes longer the more it has had
		t.spare = append(t.spare, t.openSites)
	}
}

// addStated adds what an authority denies an agent in a month, or states about each use.
func (t *SiteCounter) addStated(s *export.Stated) error {
	captured := state(0)
	if s.Captured {
		captured = isCaptured
	}
	authority, registered := string(s.Authority), string(s.Registered)
	for use := range t.options.Uses {
		t.add(authority, registered, t.subject(s.Agent, use), s.Month, useStateOf(s.Class, s.Said[use])|captured)
	}
	if len(t.options.Uses) > 0 {
		return nil
	}
	known, err := stateOf(s.Class, s.Blocked, s.Root, s.By)
	t.add(authority, registered, s.Agent, s.Month, known|captured)
	return err
}

// OfSurvey counts the sites of a table that robotsbatch survey wrote. reading says how the table is
// read; OfSurvey sets the columns in it.
func OfSurvey(ctx context.Context, survey frontier.Input, reading frontier.Options, o Options) (*SiteCounter, error) {
	t := newSiteCounter(o)
	name := blob.Shown(survey.Path)
	reading.URLColumn, reading.Columns, reading.Named = "authority", true, o.jsonKeys()
	src, err := frontier.Concatenate(ctx, []frontier.Input{survey}, reading)
	if err != nil {
		return nil, surveyError(err, name)
	}
	defer src.Close()
	if err := t.addAll(ctx, src, name); err != nil {
		return nil, err
	}
	return t, src.Complete()
}

// surveyError replaces an error that asks for the name of the URL column, which does not help
// with a survey. It returns other errors as they are.
func surveyError(err error, name string) error {
	if !slices.ContainsFunc(option.PartsOf(err), func(p option.Part) bool { return p.Option == option.URLColumn }) {
		return err
	}
	lacking := fmt.Errorf("%s: there is no column %q of strings: %s", name, keys[authorityKey].name, notSurvey)
	if errors.As(err, new(*option.UsageError)) {
		return &option.UsageError{Err: lacking}
	}
	return lacking
}

// siteColumns are the names of the columns that say which site a row is of.
var siteColumns = [...]string{"registered_domain", "surt_host_name", "authority"}

// SiteTable returns the table with a row for each site: what it denies any of the agents and, if there
// are several, a column for each with what it denies that one. Two agents with the same name for their
// column are an [option.UsageError].
func SiteTable(ctx context.Context, chains []matcher.Chain, o Options) (*export.Table, error) {
	fields := []arrow.Field{
		{Name: siteColumns[o.Site], Type: arrow.BinaryTypes.String},
		{Name: "class", Type: arrow.BinaryTypes.String},
		{Name: "root", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "blocked", Type: arrow.BinaryTypes.String, Nullable: true},
	}
	var agents []string
	for _, chain := range chains {
		agents = append(agents, chain[0])
	}
	suffixes, err := batch.AgentSuffixes(agents)
	if err != nil {
		return nil, err
	}
	for i := 0; len(chains) > 1 && i < len(chains); i++ {
		fields = append(fields, arrow.Field{Name: "blocked_" + suffixes[i], Type: arrow.BinaryTypes.String, Nullable: true})
	}
	return &export.Table{Name: "survey", Schema: arrow.NewSchema(fields, nil), Make: func(l *ruleset.Listing, w *tableio.Writer) error {
		o.sites = w
		t, err := OfRules(ctx, l, chains, false, o) // not monthly
		if err == nil {
			t.Flush()
		}
		return err
	}}, nil
}

// writeSites writes the rows of the current sites: what each denies any of the agents and, if there are
// several, what it denies each. Hosts with the same SURT share a row.
func (t *SiteCounter) writeSites(w *tableio.Writer) {
	rows := make(map[string][]state) // by site, its state for each agent
	for site, number := range t.sites {
		if t.options.Site == ByHost {
			site = string(domains.AppendSURT(nil, []byte(site)))
		}
		states := append(rows[site], make([]state, len(t.agents)-len(rows[site]))...)
		for agent, s := range t.states[number] {
			states[agent] |= s
		}
		rows[site] = states
	}
	for _, site := range slices.Sorted(maps.Keys(rows)) {
		each := rows[site]
		most := each[0]
		if len(each) > 1 {
			others := slices.Clone(each) // all agents but everyone
			if everyone, ok := t.numbers[matcher.Everyone]; ok {
				others = slices.Delete(others, everyone, everyone+1)
			}
			most = combine(others)
		}
		w.Put(site, most.class().String(), tableio.IfKnown(most&isRootOpen == 0, most.class().Reached()), most.word())
		if len(each) > 1 {
			for _, s := range each {
				w.Put(s.word())
			}
		}
		w.End()
	}
}

// word returns what the column blocked of a survey says of a state: none, some or all; empty if that
// is not known.
func (s state) word() string {
	for _, blocked := range blockedStates {
		if blocked.state == s.denied() {
			return blocked.word
		}
	}
	return ""
}
