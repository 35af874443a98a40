package stats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/lines"
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

// Options say what is counted.
type Options struct {
	Site Site
	// Ranks, if not nil, are the ranks of domains.
	Ranks *Ranks
	// Months, such as "2026-03", are those of a history in which sites are counted; none
	// for a single count.
	Months []string
	// Uses, if there are any, are what is counted in place of what is denied: what sites
	// state of them.
	Uses []usage.Use
}

// Count counts sites by how much they deny an agent, or by what they state of a use to it.
// Each site is in one of Unreachable, None and the counts of what was asked for.
type Count struct {
	// Month is one of Options.Months; empty without them.
	Month string
	// Rank is All, or how many of a list's first domains are counted.
	Rank  int
	Agent string
	Sites int64
	// Unreachable are sites of which no robots.txt could be fetched, so that they are
	// denied until that works: it is no policy of theirs.
	Unreachable int64
	// None deny nothing, or state nothing of Use.
	None int64

	// Full and Partial deny all or some; of Undecided nothing is known.
	Full, Partial, Undecided int64
	// Of the sites that deny all or some, those whose group names the agent, and those
	// whose group is for everyone.
	FullNamed, FullEveryone, PartialNamed, PartialEveryone int64

	// Use is one of Options.Uses; the zero value without them.
	Use usage.Use
	// Values counts the sites that state one value of Use, by that.
	Values [usage.NumValues]int64
	// Mixed state several: for some paths, or on some hosts, another than for others.
	Mixed int64
}

// Reached is how many sites shares are of: all but those that were unreachable.
func (c *Count) Reached() int64 { return c.Sites - c.Unreachable }

// Stated is how many sites state anything of Use.
func (c *Count) Stated() int64 { return c.Reached() - c.None }

// Headline is how many sites deny all, or disallow the use; of one whose values are grades,
// how many state any.
func (c *Count) Headline() int64 {
	switch {
	case c.Use == usage.Use{}:
		return c.Full
	case c.Use.Graded():
		return c.Stated()
	}
	return c.Values[usage.Disallowed]
}

// All is the rank of counts of all sites.
const All = 0

// State is what is known about a site and an agent: a set of bits, because a site may have
// several authorities.
type State uint8

const (
	isNone State = 1 << iota
	isSome
	isAll
	isUndecided
	isUnreachable
	byName
	byEveryone
)

// stateOf returns what the columns blocked, by and access of a survey say.
func stateOf(blocked, by, access string) (s State, err error) {
	if access == "unreachable" {
		return isUnreachable, nil
	}
	switch blocked {
	case "none":
		return isNone, nil
	case "":
		return isUndecided, nil
	case "some":
		s = isSome
	case "all":
		s = isAll
	default:
		return 0, fmt.Errorf("the column blocked has %q, instead of none, some or all: this is not a survey", blocked)
	}
	switch by {
	case "name":
		s |= byName
	case "everyone":
		s |= byEveryone
	}
	return s, nil
}

// SiteCounter counts a survey.
type SiteCounter struct {
	options Options
	agents  []string
	numbers map[string]int // of agents
	counts  [][]Count      // by month, then rank, then subject
	sites   map[string]int // the number of a site
	states  [][]State      // by site, then subject, then month
}

// A subject is an agent or, where uses are counted, an agent and a use.

// subject returns the number of the subject of an agent and a use.
func (t *SiteCounter) subject(agent, use int) int { return agent*max(1, len(t.options.Uses)) + use }

// newSiteCounter returns a SiteCounter that has counted nothing.
func newSiteCounter(o Options) *SiteCounter {
	t := &SiteCounter{options: o, numbers: make(map[string]int), sites: make(map[string]int)}
	t.counts = make([][]Count, t.months()*t.ranks())
	return t
}

// months and ranks are how many counts of each there are.
func (t *SiteCounter) months() int { return max(1, len(t.options.Months)) }
func (t *SiteCounter) ranks() int  { return 1 + len(t.options.Ranks.tops()) }

// keys are the columns of a survey that are read whatever is counted.
var keys = []string{"authority", "registered_domain", "agent", "blocked", "by", "access"}

// named are the columns that are read of a survey whose rows are JSON objects.
func (o *Options) named() (named []lines.Named) {
	for _, name := range keys {
		named = append(named, lines.Named{Name: name, Text: true, Missing: option.Messagef("%s", notSurvey)})
	}
	for _, use := range o.Uses {
		missing := option.Messagef("make the survey again with %s", option.Use.With(use.String()))
		named = append(named, lines.Named{Name: use.Column(), Text: true, Missing: missing})
	}
	return named
}

const notSurvey = "this is not a table that robotsbatch survey wrote"

// Add counts a record of a survey. An error says what it lacks.
func (t *SiteCounter) Add(r arrow.Record) error {
	var columns, uses []arrow.Array
	for _, name := range keys {
		found := r.Schema().FieldIndices(name)
		if len(found) != 1 {
			return fmt.Errorf("there is no column %q: %s", name, notSurvey)
		}
		columns = append(columns, r.Column(found[0]))
	}
	for _, use := range t.options.Uses {
		found := r.Schema().FieldIndices(use.Column())
		if len(found) != 1 {
			return &useMissingError{use}
		}
		uses = append(uses, r.Column(found[0]))
	}
	for row := range int(r.NumRows()) {
		at := func(i int) string { return value(columns[i], row) }
		err := errNameless
		if !columns[0].IsNull(row) && !columns[2].IsNull(row) {
			err = t.addSurveyed(at(0), at(1), at(2), at(5), at(3), at(4), func(use int) string { return value(uses[use], row) })
		}
		if err == nil {
			continue
		}
		if lines, ok := r.(interface {
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

// useMissingError says that a survey lacks what sites state of a use.
type useMissingError struct{ Use usage.Use }

func (e *useMissingError) Error() string { return e.Message().String() }

// Message is what Error says, with options that [option.Text] puts into words.
func (e *useMissingError) Message() option.Message {
	return option.Messagef("the survey has no column %q: it was made without the use %s: make it again with %s", e.Use.Column(), e.Use, option.Use.With(e.Use.String()))
}

// addSurveyed adds a row of a survey. use returns the column of a use.
func (t *SiteCounter) addSurveyed(authority, domain, agent, access, blocked, by string, use func(int) string) error {
	number := t.Agent(agent)
	if len(t.options.Uses) == 0 {
		s, err := stateOf(blocked, by, access)
		if err == nil {
			t.add(authority, domain, number, 0, s)
		}
		return err
	}
	for i := range t.options.Uses {
		said, err := usage.ParseValues(use(i))
		if err != nil {
			return fmt.Errorf("the column %s: %w", t.options.Uses[i].Column(), err)
		}
		t.addUse(authority, domain, number, i, 0, said, access)
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

// Agent returns an agent's number.
func (t *SiteCounter) Agent(name string) int {
	number, ok := t.numbers[name]
	if !ok {
		number = len(t.agents)
		name = strings.Clone(name)
		t.numbers[name] = number
		t.agents = append(t.agents, name)
	}
	return number
}

// addState adds what is known of an authority, which has a registered domain or none, in a
// month.
func (t *SiteCounter) addState(authority, domain string, agent, month int, s State) {
	t.add(authority, domain, agent, month, s)
}

// addUse adds what an authority states of one of Options.Uses in a month. access is the value
// of that column of a survey.
func (t *SiteCounter) addUse(authority, domain string, agent, use, month int, said usage.Values, access string) {
	t.add(authority, domain, t.subject(agent, use), month, useStateOf(said, access))
}

func (t *SiteCounter) add(authority, domain string, subject, month int, s State) {
	site := authority
	switch t.options.Site {
	case ByHost:
		site = string(domains.Host([]byte(authority)))
	case ByDomain:
		if site = domain; domain == "" { // an IP address
			site = string(domains.Host([]byte(authority)))
		}
	}
	number, ok := t.sites[site]
	if !ok {
		if number = len(t.sites); number < len(t.states) {
			t.states[number] = t.states[number][:0]
		} else {
			t.states = append(t.states, nil)
		}
		t.sites[strings.Clone(site)] = number // the record's memory is reused
	}
	states := &t.states[number]
	at := subject*t.months() + month
	for len(*states) <= at {
		*states = append(*states, 0)
	}
	(*states)[at] |= s
}

// Flush counts the sites so far, for a caller that knows that none of them comes again. It
// keeps memory small.
func (t *SiteCounter) Flush() {
	for site, number := range t.sites {
		host := string(domains.Host([]byte(site)))
		if t.options.Site != ByAuthority {
			host = site
		}
		rank := t.options.Ranks.of(domains.Registered([]byte(host)), host)
		for at, s := range t.states[number] {
			if s != 0 {
				t.count(rank, at/t.months(), at%t.months(), s)
			}
		}
	}
	clear(t.sites)
}

// count counts a site of a rank, 0 for none.
func (t *SiteCounter) count(rank, subject, month int, s State) {
	first := month * t.ranks()
	t.countIn(first, subject, s)
	for i, top := range t.options.Ranks.tops() {
		if 0 < rank && rank <= top {
			t.countIn(first+i+1, subject, s)
		}
	}
}

// tableOf returns the month and the rank of a table's counts, given by its index.
func (t *SiteCounter) tableOf(table int) (month string, rank int) {
	if len(t.options.Months) > 0 {
		month = t.options.Months[table/t.ranks()]
	}
	if n := table % t.ranks(); n > 0 {
		rank = t.options.Ranks.tops()[n-1]
	}
	return month, rank
}

func (t *SiteCounter) countIn(table, subject int, s State) {
	for len(t.counts[table]) <= subject {
		t.counts[table] = append(t.counts[table], Count{})
	}
	if c := &t.counts[table][subject]; len(t.options.Uses) > 0 {
		c.addStated(s)
	} else {
		c.addDenied(s)
	}
}

func (c *Count) addDenied(s State) {
	c.Sites++
	switch how := s & (isNone | isSome | isAll | isUndecided); {
	case how == isAll:
		c.Full++
		c.FullNamed += bit(s&byName != 0)
		c.FullEveryone += bit(s&byName == 0 && s&byEveryone != 0)
	case how == isNone:
		c.None++
	case how&isSome != 0 || how&isAll != 0 && how&isNone != 0:
		c.Partial++
		c.PartialNamed += bit(s&byName != 0)
		c.PartialEveryone += bit(s&byName == 0 && s&byEveryone != 0)
	case how != 0:
		c.Undecided++
	default:
		c.Unreachable++
	}
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Table returns the counts of all sites, then those by rank, the smallest first; in each
// month of a history anew. Within each, agents that most sites deny all come first, then
// those that most deny some, in a history those of its last month. Where uses are counted,
// agents come in the order in which they were added, and uses in that of the options.
func (t *SiteCounter) Table() *Table {
	t.Flush()
	uses := t.options.Uses
	all := &Table{Site: t.options.Site, Uses: len(uses) > 0}
	last := t.counts[len(t.counts)-t.ranks()]
	order := make([]int, len(t.agents)*max(1, len(uses)))
	for i := range order {
		order[i] = i
	}
	if !all.Uses {
		slices.SortStableFunc(order, func(a, b int) int { return compareClosed(countOf(last, a), countOf(last, b)) })
	}
	for table, counts := range t.counts {
		first := len(all.Counts)
		for _, subject := range order {
			if subject >= len(counts) {
				continue
			}
			c := counts[subject]
			c.Agent = t.agents[subject/max(1, len(uses))]
			if all.Uses {
				c.Use = uses[subject%len(uses)]
			}
			c.Month, c.Rank = t.tableOf(table)
			all.Counts = append(all.Counts, c)
		}
		if !all.Uses && len(t.options.Months) == 0 {
			slices.SortStableFunc(all.Counts[first:], compareClosed)
		}
	}
	return all
}

func countOf(counts []Count, agent int) Count {
	if agent < len(counts) {
		return counts[agent]
	}
	return Count{}
}

// compareClosed puts the count of more sites that deny all first.
func compareClosed(a, b Count) int {
	return cmp.Or(cmp.Compare(b.Full, a.Full), cmp.Compare(b.Partial, a.Partial))
}

// addAll counts a survey whose batches are Arrow records. Errors name it by the given name.
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
