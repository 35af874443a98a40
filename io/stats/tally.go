package stats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/matcher/domains"
)

// Options say what is counted.
type Options struct {
	// Domains counts registered domains instead of authorities.
	Domains bool
	// Ranks, if not nil, are the ranks of domains.
	Ranks *Ranks
}

// Count counts sites by how much they deny an agent.
type Count struct {
	// Rank is All, or how many of a list's first domains are counted.
	Rank  int
	Agent string
	// Sites counts all; each is also in one of Full, Partial, None and Undecided.
	Sites, Full, Partial, None, Undecided int64
	// Of the sites that deny all or some, those whose group names the agent, and those
	// whose group is for everyone. The others have no rules: nobody could be asked.
	FullNamed, FullEveryone, PartialNamed, PartialEveryone int64
}

// All is the rank of counts of all sites.
const All = 0

// state is what is known about a site and an agent: a set of bits, because a site may have
// several authorities.
type state uint8

const (
	isNone state = 1 << iota
	isSome
	isAll
	isUndecided
	byName
	byEveryone
)

// Tally counts a survey.
type Tally struct {
	options Options
	agents  []string
	numbers map[string]int // of agents
	counts  [][]Count      // by rank, then agent
	sites   map[string]int // the number of a registered domain
	states  [][]state      // by site, then agent
}

// NewTally returns a Tally that has counted nothing.
func NewTally(o Options) *Tally {
	t := &Tally{options: o, numbers: make(map[string]int), counts: make([][]Count, 1+len(o.Ranks.tops()))}
	if o.Domains {
		t.sites = make(map[string]int)
	}
	return t
}

// columns are the columns of a survey that are used.
type columns struct{ authority, domain, agent, blocked, by arrow.Array }

// Add counts a record of a survey. An error says what it lacks.
func (t *Tally) Add(r arrow.Record) error {
	var c columns
	for _, column := range []struct {
		name string
		to   *arrow.Array
	}{{"authority", &c.authority}, {"registered_domain", &c.domain}, {"agent", &c.agent}, {"blocked", &c.blocked}, {"by", &c.by}} {
		found := r.Schema().FieldIndices(column.name)
		if len(found) != 1 {
			return fmt.Errorf("there is no column %q: this is no survey, as robotsbatch survey makes it", column.name)
		}
		*column.to = r.Column(found[0])
	}
	for row := range int(r.NumRows()) {
		s, err := stateOf(value(c.blocked, row), value(c.by, row))
		if err != nil {
			return err
		}
		t.addRow(value(c.authority, row), value(c.domain, row), t.agent(value(c.agent, row)), s)
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

// agent returns an agent's number.
func (t *Tally) agent(name string) int {
	number, ok := t.numbers[name]
	if !ok {
		number = len(t.agents)
		name = strings.Clone(name)
		t.numbers[name] = number
		t.agents = append(t.agents, name)
	}
	return number
}

func stateOf(blocked, by string) (s state, err error) {
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
		return 0, fmt.Errorf("the column blocked has %q, and not none, some or all: this is no survey", blocked)
	}
	switch by {
	case "name":
		s |= byName
	case "everyone":
		s |= byEveryone
	}
	return s, nil
}

func (t *Tally) addRow(authority, domain string, agent int, s state) {
	host := string(domains.Host([]byte(authority)))
	if !t.options.Domains {
		t.count(t.options.Ranks.of(domain, host), agent, s)
		return
	}
	if domain == "" { // an IP address
		domain = host
	}
	site, ok := t.sites[domain]
	if !ok {
		site = len(t.states)
		t.sites[strings.Clone(domain)] = site // the record's memory is reused
		t.states = append(t.states, nil)
	}
	states := &t.states[site]
	for len(*states) <= agent {
		*states = append(*states, 0)
	}
	(*states)[agent] |= s
}

// count counts a site of a rank, 0 for none.
func (t *Tally) count(rank, agent int, s state) {
	t.countIn(0, agent, s)
	for i, top := range t.options.Ranks.tops() {
		if 0 < rank && rank <= top {
			t.countIn(i+1, agent, s)
		}
	}
}

func (t *Tally) countIn(table, agent int, s state) {
	for len(t.counts[table]) <= agent {
		t.counts[table] = append(t.counts[table], Count{})
	}
	c := &t.counts[table][agent]
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
	default:
		c.Undecided++
	}
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Tables returns the counts of all sites, then those by rank, the smallest first. Within
// each, agents that most sites deny all come first, then those that most deny some.
func (t *Tally) Tables() []Count {
	for domain, site := range t.sites {
		rank := t.options.Ranks.of(domain, domain)
		for agent, s := range t.states[site] {
			if s != 0 {
				t.count(rank, agent, s)
			}
		}
	}
	t.sites, t.states = nil, nil
	var all []Count
	for table, counts := range t.counts {
		first := len(all)
		for agent, c := range counts {
			if c.Agent = t.agents[agent]; table > 0 {
				c.Rank = t.options.Ranks.tops()[table-1]
			}
			all = append(all, c)
		}
		slices.SortStableFunc(all[first:], func(a, b Count) int {
			if a.Full != b.Full {
				return int(b.Full - a.Full)
			}
			return int(b.Partial - a.Partial)
		})
	}
	return all
}

// AddAll counts a survey whose batches are Arrow records. Errors name it by the given name.
func (t *Tally) AddAll(ctx context.Context, survey batch.Source, name string) error {
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
