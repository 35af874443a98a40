package stats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/report/export"
	"robotsbatch/matcher"
	"robotsbatch/matcher/domains"
	"robotsbatch/matcher/usage"
)

// Site is what counts as one site.
type Site uint8

const (
	// ByDomain counts registered domains, and hosts that have none, such as IP addresses.
	ByDomain Site = iota
	// ByHost counts hosts: http, https and all ports together.
	ByHost
	// ByAuthority counts http and https, and ports, apart.
	ByAuthority
)

var siteNames = [...]string{"sites (registered domains)", "sites (hosts)", "authorities (http and https apart)"}

// String says what is counted, such as "sites (hosts)".
func (s Site) String() string { return siteNames[s] }

// of returns the name of the site that an authority belongs to. domain is the authority's registered
// domain; empty for none.
func (s Site) of(authority, domain string) string {
	switch {
	case s == ByAuthority:
		return authority
	case s == ByHost || domain == "": // or an IP address
		return string(domains.Host([]byte(authority)))
	}
	return domain
}

// Options say what is counted.
type Options struct {
	Site Site
	// Base says which sites shares are of.
	Base Base
	// Ranks, if not nil, are the ranks of sites, read for the same Site.
	Ranks *Ranks
	// History has the months in which sites are counted; none for a single count.
	History export.History
	// Uses, if there are any, are what is counted in place of what is denied: what sites
	// state of them.
	Uses []usage.Use
	// Classes has the class of an agent, by its chain, where that is known.
	Classes map[string]string

	sites *tableio.Writer // if not nil, sites are written as rows in place of being counted
}

// SiteCounter counts the sites of a survey. It collects what is known of the current sites, its
// openSites, and Flush counts them.
//
// A subject is what sites are counted for: an agent or, if uses are counted, an agent and a use. The
// subjects after those of the last agent are the groups.
type SiteCounter struct {
	options Options
	agents  []string
	numbers map[string]int // by agent, its index in agents
	classes []string       // by agent
	groups  []group
	counts  [][]Count    // by table (month, then rank), then subject
	open    []*openSites // of OfRules: all sites that are not counted yet; the last ones end first
	spare   []*openSites // counted ones, to be used again
	*openSites
}

// openSites are sites that are not counted yet.
type openSites struct {
	end    []byte         // of OfRules: a SURT after those of all their authorities; see appendEnd
	sites  map[string]int // by site, its index in states
	states [][]state      // by site; its states by subject, then month
}

// subject returns the number of the subject of an agent and a use; the use is 0 if none is counted.
func (t *SiteCounter) subject(agent, use int) int { return agent*max(1, len(t.options.Uses)) + use }

// newSiteCounter returns a SiteCounter that has counted nothing.
func newSiteCounter(o Options) *SiteCounter {
	o.Ranks = cmp.Or(o.Ranks, new(Ranks))
	t := &SiteCounter{options: o, numbers: make(map[string]int), openSites: &openSites{sites: make(map[string]int)}}
	t.counts = make([][]Count, t.months()*len(t.ranks()))
	return t
}

// months returns the number of months that are counted, at least 1.
func (t *SiteCounter) months() int { return max(1, len(t.options.History.Months)) }

// ranks returns the ranks that are counted.
func (t *SiteCounter) ranks() []int {
	ranks := []int{All}
	if len(t.options.History.Months) > 0 {
		ranks = append(ranks, Panel)
	}
	return append(ranks, t.options.Ranks.top...)
}

// keys are the columns of a survey that are always read. missing says what a table without the column
// is. The columns that surveys of all versions have come first, so that their errors do.
var keys = [...]struct{ name, missing string }{
	authorityKey:  {"authority", notSurvey},
	domainKey:     {"registered_domain", notSurvey},
	agentKey:      {"agent", notSurvey},
	blockedKey:    {"blocked", notSurvey},
	byKey:         {"by", notSurvey},
	agentClassKey: {"agent_class", olderSurvey},
	classKey:      {"class", olderSurvey},
	rootKey:       {"root", olderSurvey},
}

// The columns of keys.
const (
	authorityKey = iota
	domainKey
	agentKey
	blockedKey
	byKey
	agentClassKey
	classKey
	rootKey
)

const (
	notSurvey = "this is not a table that robotsbatch survey wrote"
	// olderSurvey is for a table that lacks what surveys have had since their second version.
	olderSurvey = "it is a survey of an earlier version: make it again with robotsbatch survey"
)

// jsonKeys returns the keys that are read of a survey whose rows are JSON objects.
func (o *Options) jsonKeys() (named []lines.Named) {
	for i, key := range keys { // all are texts but root, which is true or false
		named = append(named, lines.Named{Name: key.name, Text: i != rootKey, Missing: option.Messagef("%s", key.missing)})
	}
	for _, use := range o.Uses {
		missing := option.Messagef("make the survey again with %s", option.Use.With(use.String()))
		named = append(named, lines.Named{Name: use.Column(), Text: true, Missing: missing})
	}
	return named
}

// Add adds the rows of a record of a survey to the current sites. It returns an error if the record lacks a
// column or a value.
func (t *SiteCounter) Add(r arrow.Record) error {
	var columns, uses []arrow.Array
	for _, key := range keys {
		column := columnOf(r, key.name)
		if column == nil {
			return fmt.Errorf("there is no column %q: %s", key.name, key.missing)
		}
		columns = append(columns, column)
	}
	for _, use := range t.options.Uses {
		column := columnOf(r, use.Column())
		if column == nil {
			return option.Errorf("the survey has no column %q: it was made without the use %s: make it again with %s", use.Column(), use, option.Use.With(use.String()))
		}
		uses = append(uses, column)
	}
	for row := range int(r.NumRows()) {
		err := errNameless
		if !columns[authorityKey].IsNull(row) && !columns[agentKey].IsNull(row) {
			err = t.addSurveyed(func(key int) string { return value(columns[key], row) }, func(use int) string { return value(uses[use], row) })
		}
		if err == nil {
			continue
		}
		if lines, ok := r.(interface { // rows of JSON, which also know what is wrong with a value
			Check(row int) (where string, err error)
		}); ok {
			where, wrong := lines.Check(row)
			err = fmt.Errorf("%s: %w", where, cmp.Or(wrong, err))
		}
		return err
	}
	return nil
}

var errNameless = errors.New("it has no authority or no agent: " + notSurvey)

// columnOf returns the column of a record with a name; nil if there is none, or several.
func columnOf(r arrow.Record, name string) arrow.Array {
	found := r.Schema().FieldIndices(name)
	if len(found) != 1 {
		return nil
	}
	return r.Column(found[0])
}

// onlyMonth is the month of all rows of a survey table, which has no history.
const onlyMonth = 0

// addSurveyed adds a row of a survey. at returns the row's value in a column of keys, by its index;
// use returns the value in the column of a use.
func (t *SiteCounter) addSurveyed(at, use func(int) string) error {
	if at(classKey) == "" {
		return errors.New(olderSurvey)
	}
	class, err := export.ParseClass(at(classKey))
	if err != nil {
		return err
	}
	agent := t.agent(at(agentKey), at(agentClassKey))
	if len(t.options.Uses) == 0 {
		root, err := strconv.ParseBool(at(rootKey)) // True, where a data frame wrote it
		if err != nil {
			return fmt.Errorf("the column root has %q, instead of true or false: this is not a survey", at(rootKey))
		}
		s, err := stateOf(class, at(blockedKey), root, at(byKey))
		if err == nil {
			t.add(at(authorityKey), at(domainKey), t.subject(agent, 0), onlyMonth, s)
		}
		return err
	}
	for i := range t.options.Uses {
		said, err := usage.ParseValues(use(i))
		if err != nil {
			return fmt.Errorf("the column %s: %w", t.options.Uses[i].Column(), err)
		}
		t.add(at(authorityKey), at(domainKey), t.subject(agent, i), onlyMonth, useStateOf(class, said))
	}
	return nil
}

// value is a text, empty for null.
func value(a arrow.Array, row int) string {
	if a.IsNull(row) {
		return ""
	}
	return a.ValueStr(row)
}

// agent returns the number of an agent, which it adds if it is new. class is empty if the
// agent has none.
func (t *SiteCounter) agent(name, class string) int {
	number, ok := t.numbers[name]
	if !ok {
		number = len(t.agents)
		name = strings.Clone(name)
		t.numbers[name] = number
		t.agents, t.classes = append(t.agents, name), append(t.classes, strings.Clone(class))
	}
	return number
}

// add adds a state to that of an authority's site, for a subject in a month. domain is the
// registered domain; empty for none.
func (t *SiteCounter) add(authority, domain string, subject, month int, s state) {
	site := t.options.Site.of(authority, domain)
	number, ok := t.sites[site]
	if !ok {
		number = len(t.sites)
		t.sites[strings.Clone(site)] = number // cloned, because the caller reuses the memory of authority and domain
		if number == len(t.states) {
			t.states = append(t.states, nil)
		}
		t.states[number] = t.states[number][:0] // memory of a site that Flush has counted
	}
	states := &t.states[number]
	at := subject*t.months() + month
	for len(*states) <= at {
		*states = append(*states, 0)
	}
	(*states)[at] |= s
}

// group is a set of agents that are counted together.
type group struct {
	name   string // their class; empty for the group of all agents
	agents []int
}

// groupsOf returns the groups of agents that are counted together: all agents but everyone,
// and those of each class. A group has at least two agents.
func groupsOf(agents, classes []string) []group {
	all := []group{{}}
	for agent, name := range agents {
		if name == matcher.Everyone {
			continue
		}
		all[0].agents = append(all[0].agents, agent)
		if classes[agent] == "" {
			continue
		}
		n := 1 + slices.IndexFunc(all[1:], func(g group) bool { return g.name == classes[agent] })
		if n == 0 { // no group of this class yet
			n = len(all)
			all = append(all, group{name: classes[agent]})
		}
		all[n].agents = append(all[n].agents, agent)
	}
	return slices.DeleteFunc(all, func(g group) bool { return len(g.agents) < 2 })
}

// Flush counts the sites so far, and frees their memory. None of them may be added again, nor
// a new agent.
func (t *SiteCounter) Flush() {
	if t.options.sites != nil {
		t.writeSites(t.options.sites)
		clear(t.sites)
		return
	}
	if len(t.sites) > 0 && t.groups == nil && len(t.options.Uses) == 0 {
		t.groups = groupsOf(t.agents, t.classes)
	}
	for site, number := range t.sites {
		t.countSite(t.options.Ranks.of(site, t.sites), t.states[number])
	}
	clear(t.sites)
}

// countSite counts a site in the table of each month and rank that it belongs to. rank is the site's
// own; 0 for none. states are the site's, by subject, then month; a state is 0 if nothing is known.
func (t *SiteCounter) countSite(rank int, states []state) {
	ranks, months, panel := t.ranks(), t.months(), t.isInPanel(states)
	count := func(month, subject int, s state) {
		for i, r := range ranks {
			belongs := r == All || r == Panel && panel || 0 < rank && rank <= r // the site, to the table
			if s != 0 && belongs {
				t.count(month*len(ranks)+i, subject).add(s, t.options.Base, len(t.options.Uses) > 0)
			}
		}
	}
	for at, s := range states { // an agent's states of all months follow each other
		count(at%months, at/months, s)
	}
	each := make([]state, 0, len(t.agents)) // of a group's agents
	for month := range months {
		for n, g := range t.groups {
			each = each[:0]
			for _, agent := range g.agents {
				if at := agent*months + month; at < len(states) && states[at] != 0 {
					each = append(each, states[at])
				}
			}
			count(month, t.subject(len(t.agents), n), combine(each))
		}
	}
}

// isInPanel reports whether a site was captured in each month that has captures, by its states for the first
// subject: they say the same for all.
func (t *SiteCounter) isInPanel(states []state) bool {
	for i, month := range t.options.History.Months {
		if month.Captured && (i >= len(states) || states[i]&isCaptured == 0) {
			return false
		}
	}
	return true
}

// count returns the count of a subject in a table, which is an index of t.counts.
func (t *SiteCounter) count(table, subject int) *Count {
	for len(t.counts[table]) <= subject {
		t.counts[table] = append(t.counts[table], Count{})
	}
	return &t.counts[table][subject]
}

// Table returns the counts: month by month, and in each month first those of all sites, then those of
// the panel if it has sites, and then those by rank, the smallest first. Among these, counts of
// several agents come first, and then the agents that most sites deny everything. In a history, all
// months have the order of the last one. If uses are counted, agents and uses keep their order.
func (t *SiteCounter) Table() *Table {
	t.Flush()
	uses, ranks := t.options.Uses, t.ranks()
	all := &Table{Site: t.options.Site, Base: t.options.Base, Uses: len(uses) > 0, First: t.options.History.First, Last: t.options.History.Last}
	last := len(t.counts) - len(ranks)                                  // the table of all sites in the last month
	order := make([]int, len(t.agents)*max(1, len(uses))+len(t.groups)) // of subjects
	for i := range order {
		order[i] = i
	}
	if !all.Uses {
		slices.SortStableFunc(order, func(a, b int) int { return compareClosed(t.labelled(last, a), t.labelled(last, b)) })
	}
	for table := range t.counts {
		first := len(all.Counts) // of the table
		if ranks[table%len(ranks)] == Panel && len(t.counts[1]) == 0 {
			continue // no site is in the panel, which is the second rank: its table of the first month is empty
		}
		for _, subject := range order {
			all.Counts = append(all.Counts, t.labelled(table, subject))
		}
		if !all.Uses && !all.IsHistory() { // each rank has an order of its own
			slices.SortStableFunc(all.Counts[first:], compareClosed)
		}
	}
	return all
}

// labelled returns the count of a subject in a table, with the fields that say what it counts: agent,
// use, month and rank.
func (t *SiteCounter) labelled(table, subject int) Count {
	var c Count
	if subject < len(t.counts[table]) {
		c = t.counts[table][subject]
	}
	uses, ranks := max(1, len(t.options.Uses)), t.ranks()
	if agent := subject / uses; agent < len(t.agents) {
		c.Agent = t.agents[agent]
	} else {
		g := t.groups[subject-t.subject(len(t.agents), 0)]
		c.Agent, c.AnyOf = g.label(), len(g.agents)
	}
	if len(t.options.Uses) > 0 {
		c.Use = t.options.Uses[subject%uses]
	}
	if months := t.options.History.Months; len(months) > 0 {
		c.Month = months[table/len(ranks)].Name
	}
	c.Rank = ranks[table%len(ranks)]
	c.Listed = t.options.Ranks.listed(c.Rank)
	return c
}

// label names a group, such as "any of 12".
func (g *group) label() string {
	if g.name == "" {
		return fmt.Sprintf("any of %d", len(g.agents))
	}
	return fmt.Sprintf("any of %d, %s", len(g.agents), g.name)
}

// addAll counts the batches of a survey, which are Arrow records. name is that of the survey
// for errors.
func (t *SiteCounter) addAll(ctx context.Context, survey batch.Source, name string) error {
	for {
		piece, err := survey.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		b, err := piece.Decode()
		if err != nil {
			return fmt.Errorf("%s: %w", piece.Name(), err)
		}
		if err := t.Add(b.Table.(arrow.Record)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if b.Release != nil {
			b.Release()
		}
	}
}
