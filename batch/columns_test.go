package batch_test

import (
	"strings"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/batch/internal/batchtest"
	"robotsbatch/io/store/must"
)

func TestCheckNames(t *testing.T) {
	verdicts := []batch.VerdictColumn{{Name: "allowed", Kind: batch.Allowed}, {Name: "reason", Kind: batch.Explaining[0]}}
	for _, test := range []struct {
		name  string
		input []string
		clash string
	}{
		{"no input columns", nil, ""},
		{"other names", []string{"url", "host"}, ""},
		{"case tells names apart", []string{"Allowed"}, ""},
		{"first verdict column", []string{"url", "allowed"}, `"allowed"`},
		{"later verdict column", []string{"reason"}, `"reason"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := batch.CheckNames(test.input, verdicts)
			if test.clash == "" {
				must.Do(t, err)
				return
			}
			must.Need(t, err != nil && strings.Contains(err.Error(), test.clash) && strings.Contains(err.Error(), "prefix"),
				"error %v, want one that names %s and the prefix", err, test.clash)
		})
	}
}

func TestVerdictColumns(t *testing.T) {
	names := func(o batch.ColumnOptions) string {
		columns, err := batch.VerdictColumns(o)
		if err != nil {
			return err.Error()
		}
		var list []string
		for _, column := range columns {
			list = append(list, column.Name)
		}
		return strings.Join(list, " ")
	}
	kinds := func(names ...string) (kinds []*batch.ColumnKind) {
		for _, name := range names {
			kind := must.Get(batch.ParseWith(name))(t)
			kinds = append(kinds, kind)
		}
		return kinds
	}
	with := kinds("age", "crawl_delay", "sitemaps")
	for _, test := range []struct {
		options batch.ColumnOptions
		want    string
	}{
		{batch.ColumnOptions{Agents: []string{"*"}}, "allowed"},
		{batch.ColumnOptions{Agents: []string{"*"}, With: with}, "allowed age crawl_delay sitemaps"},
		{batch.ColumnOptions{Agents: []string{"CCBot", "*"}, With: with, Prefix: "r_"}, "r_allowed_ccbot r_allowed_all r_age r_crawl_delay_ccbot r_crawl_delay_all r_sitemaps"},
		{batch.ColumnOptions{Agents: []string{"*"}, Explain: true, With: kinds("robots_status", "robots_fetched_at")}, "allowed reason rule rule_line rule_agent robots_status robots_fetched_at"},
		{batch.ColumnOptions{Agents: []string{"A", "B"}, Combined: true}, "allowed denied_by"},
		{batch.ColumnOptions{Agents: []string{"A-1", "a_1"}, Combined: true, ListOnly: true, Prefix: "r_"}, "r_denied_agents"},
		{
			batch.ColumnOptions{Agents: []string{"A", "B"}, Combined: true, Explain: true, With: kinds("sitemaps")},
			"allowed denied_by reason rule rule_line rule_agent sitemaps",
		},
		{batch.ColumnOptions{Agents: []string{"A", "B"}, Combined: true, With: with}, "a crawl-delay is an agent's: leave crawl_delay out, or give each agent columns of its own with agents-as columns"},
		{batch.ColumnOptions{Agents: []string{"A-1", "a_1"}}, `agents "A-1" and "a_1" would both be written as column "allowed_a_1": leave one out`},
		{batch.ColumnOptions{Agents: []string{"x", "Line-X"}, Explain: true}, `agents "x" and "Line-X" would both be written as column "rule_line_x": leave one out`},
	} {
		must.Equal(t, names(test.options), test.want, test.options)
	}
	for _, name := range []string{"", "allowed", "rule", "Age", "age "} {
		must.Say(t, must.Err(batch.ParseWith(name)), "crawl_delay, sitemaps, robots_status, robots_fetched_at, robots_until, age", name)
	}
}

func TestColumnSlicesAndIndices(t *testing.T) {
	plain := batchtest.Column([]byte("a"), nil, []byte("ccc"), []byte(""))
	dictionary := batch.Column{Offsets64: []int64{0, 1, 4}, Data: []byte("accc"), Indices: []int32{0, 99, 1, 0}, Validity: []byte{0b1101}}
	for name, c := range map[string]batch.Column{"plain": plain, "dictionary": dictionary} {
		err := c.Validate()
		must.Be(t, err == nil, "%s: %v", name, err)
		s := c.Slice(1, 3)
		must.Be(t, s.Len() == 2 && s.Null(0) && !s.Null(1) && string(s.Value(1)) == "ccc", "%s: the slice differs", name)
		err = s.Validate()
		must.Be(t, err == nil, "%s: the slice: %v", name, err)
	}
}

func TestColumnValidateRefuses(t *testing.T) {
	for name, c := range map[string]batch.Column{
		"falling":            {Offsets32: []int32{0, 3, 2}, Data: make([]byte, 9)},
		"negative":           {Offsets64: []int64{-1, 3}, Data: make([]byte, 9)},
		"outside":            {Offsets32: []int32{0, 10}, Data: make([]byte, 9)},
		"both":               {Offsets32: []int32{0}, Offsets64: []int64{0}},
		"short validity":     {Offsets32: make([]int32, 10), Validity: []byte{0xFF}},
		"validity's offset":  {Offsets32: make([]int32, 9), Validity: []byte{0xFF}, ValidityOffset: 1},
		"index":              {Offsets32: []int32{0, 0}, Indices: []int32{1}},
		"negative index":     {Offsets32: []int32{0, 0}, Indices: []int32{-1}},
		"index into nothing": {Indices: []int32{0}},
	} {
		must.Be(t, c.Validate() != nil, "%s: no error", name)
	}
}
