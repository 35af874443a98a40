package stats

import (
	"context"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/report/export"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/matcher"
	"robotsbatch/matcher/domains"
)

// siteColumns are the names of the columns that say which site a row is of.
var siteColumns = [...]string{"registered_domain", "surt_host_name", "authority"}

// SiteTable returns the table that has a row for each site: what it denies any of the agents, as
// counts have it, and in a column for each agent what it denies that. columns are the names of
// these.
func SiteTable(ctx context.Context, chains []matcher.Chain, columns []string, o Options) *export.Table {
	fields := []arrow.Field{
		{Name: siteColumns[o.Site], Type: arrow.BinaryTypes.String},
		{Name: "class", Type: arrow.BinaryTypes.String},
		{Name: "root", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "blocked", Type: arrow.BinaryTypes.String, Nullable: true},
	}
	for _, name := range columns {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true})
	}
	return &export.Table{Name: "survey", Schema: arrow.NewSchema(fields, nil), Make: func(l *ruleset.Listing, w *tableio.Writer) error {
		o.sites = w
		t, err := OfRules(ctx, l, chains, false, o)
		if err == nil {
			t.Flush()
		}
		return err
	}}
}

// writeSites writes the rows of the sites so far, those of hosts that have one SURT as one.
func (t *SiteCounter) writeSites(w *tableio.Writer) {
	rows := make(map[string][]state)
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
			others := slices.Clone(each)
			if everyone, ok := t.numbers[matcher.Everyone]; ok {
				others = slices.Delete(others, everyone, everyone+1)
			}
			most = anyOf(others)
		}
		w.Put(site, most.class().String(), most.class().Reached() && most&isRootOpen == 0, most.word())
		if len(each) > 1 {
			for _, s := range each {
				w.Put(s.word())
			}
		}
		w.End()
	}
}

// word returns none, some or all as a survey has it; empty where it is not known.
func (s state) word() string {
	for _, blocked := range blockedStates {
		if blocked.state == s.denied() {
			return blocked.word
		}
	}
	return ""
}
