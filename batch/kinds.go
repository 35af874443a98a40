package batch

import (
	"fmt"
	"slices"
	"strings"

	"robotsbatch/matcher"
	"robotsbatch/matcher/domains"
	"robotsbatch/matcher/partition"
)

// Type is what the values of a column are. Formats write types: none asks for a column
// by name, except that they write Allowed faster than other booleans.
type Type uint8

const (
	// BoolType is true or false.
	BoolType Type = iota
	// Int32Type and Int64Type are integers.
	Int32Type
	Int64Type
	// FloatType is a number of 64 bits.
	FloatType
	// TimeType is a time in seconds since 1970.
	TimeType
	// TextType is UTF-8.
	TextType
	// ListType is a list of texts.
	ListType
)

// ColumnKind describes a column that the program can add: whatever sources, formats,
// flags and help need to know of it. Two columns are of the same kind if they have the
// same pointer. A kind that is known at run time alone, for its name, is made then.
//
// Values have one of three origins. Those that describe a host have Value: the evaluator
// calls it once for the rows of a host. Those of verdicts are views of Verdicts. Where
// neither is the case, the evaluator sets Verdicts.Columns row by row.
type ColumnKind struct {
	// Name of the column, without prefix and agent.
	Name string
	// What it is, for messages, such as "a crawl-delay". It may be empty.
	What string
	Type Type
	// PerAgent says that each agent has a column of its own.
	PerAgent bool
	// Agents says that values are lists of agents, by number.
	Agents bool
	// Required says that no value is null.
	Required bool
	// Plain says that texts have no byte but a-z, 0-9 and _.
	Plain bool
	// Records says that values come from matcher.Records, which sources of rules keep
	// when they are asked to.
	Records bool
	// Licenses says that values are the licences in matcher.Usage.
	Licenses bool
	// Use, if not nil, says that the column is about a use of what may be fetched; the
	// evaluator sets it row by row.
	Use *UseOf
	// Combines says that where the agents' verdicts are combined, so are their values.
	Combines bool
	// ByAuthority says that the authority alone decides, so rows have a value whatever
	// is known of robots.txt.
	ByAuthority bool
	// ByTime says that the value depends on Host.Time, which is the row's own where
	// rows have times.
	ByTime bool
	// Value returns the value for the rows of a host, and for an agent if PerAgent.
	Value func(h *Host, agent int) Value
	// OfURL returns the value for a row, in place of Value: the key of the URL's authority
	// and the rest as written are what urls.Scratch.SplitAuthority returns.
	OfURL func(authority, rest []byte) Value

	// view returns the values of a column that verdicts have in another form.
	view func(v *Verdicts, c *VerdictColumn) (values Values, ok bool)
}

// Host is what is known of the host of some rows.
type Host struct {
	// Authority is its key.
	Authority []byte
	// Facts describe its robots.txt.
	Facts *matcher.Facts
	// HasRules says that a robots.txt was read.
	HasRules bool
	// Time is when ages end, in seconds since 1970; 0 if that is not known.
	Time int64
}

// Value is one value of a column, in the field of its type; null if not Known.
type Value struct {
	Known bool
	Int   int64 // BoolType too, as 0 and 1
	Float float64
	Text  string
	List  []string
}

// The columns of verdicts.
var (
	// Allowed is the verdict, null where there is none. Its values are bits in
	// AgentVerdicts: whoever writes many rows reads them there.
	Allowed = &ColumnKind{Name: "allowed", Type: BoolType, PerAgent: true, view: viewAllowed}
	// deniedBy lists the agents that are denied, where verdicts were combined;
	// deniedAgents is the same list in place of verdicts. They are null where there is no
	// verdict.
	deniedBy     = &ColumnKind{Name: "denied_by", Type: ListType, Agents: true, view: viewDenied}
	deniedAgents = &ColumnKind{Name: "denied_agents", Type: ListType, Agents: true, view: viewDenied}

	// reason says why, and where a rule decides, rule is its text, ruleLine its line, and
	// ruleAgent the value of the user-agent line that it stands under.
	reason    = &ColumnKind{Name: "reason", Type: TextType, PerAgent: true, Required: true, Plain: true, view: viewReasons}
	rule      = &ColumnKind{Name: "rule", Type: TextType, PerAgent: true, view: viewRules(func(e *Explanation, to *Values) { to.Texts = append(to.Texts, e.Text) })}
	ruleLine  = &ColumnKind{Name: "rule_line", Type: Int32Type, PerAgent: true, view: viewRules(func(e *Explanation, to *Values) { to.Ints = append(to.Ints, int64(e.Line)) })}
	ruleAgent = &ColumnKind{Name: "rule_agent", Type: TextType, PerAgent: true, view: viewRules(func(e *Explanation, to *Values) { to.Texts = append(to.Texts, e.Agent) })}

	// Explaining are the columns that say why.
	Explaining = []*ColumnKind{reason, rule, ruleLine, ruleAgent}
)

// FetchedAt is the time of the fetch that decides.
var FetchedAt = &ColumnKind{
	Name: "robots_fetched_at", Type: TimeType,
	Value: func(h *Host, _ int) Value { return timeValue(h.Facts.Fetched) },
}

// BodyDigest is the digest of the body with the rules: of a redirect, the target's.
var BodyDigest = &ColumnKind{
	Name: "body_digest", Type: TextType, Plain: true, Records: true,
	Value: func(h *Host, _ int) Value {
		if h.Facts.Records == nil {
			return Value{}
		}
		return Value{Known: h.Facts.Records.Digest != "", Text: h.Facts.Records.Digest}
	},
}

// withKinds are the columns that are asked for by name, in the order of the help.
var withKinds = []*ColumnKind{
	{
		Name: "crawl_delay", What: "a crawl-delay", Type: FloatType, PerAgent: true, Records: true,
		Value: func(h *Host, agent int) Value {
			seconds, known := h.Facts.CrawlDelay(agent)
			return Value{Known: known, Float: seconds}
		},
	},
	{
		Name: "sitemaps", Type: ListType, Records: true,
		Value: func(h *Host, _ int) Value {
			if h.Facts.Records == nil {
				return Value{}
			}
			return Value{Known: true, List: h.Facts.Records.Sitemaps}
		},
	},
	{
		Name: "robots_status", Type: Int32Type,
		Value: func(h *Host, _ int) Value { return intValue(int64(h.Facts.Status), h.Facts.Status != 0) },
	},
	FetchedAt,
	{
		Name: "robots_until", Type: TimeType,
		Value: func(h *Host, _ int) Value { return timeValue(h.Facts.Until) },
	},
	{
		Name: "age", Type: Int64Type, ByTime: true,
		Value: func(h *Host, _ int) Value { return intValue(h.Facts.Age(h.Time)) },
	},
	{
		Name: "body_kind", Type: TextType, Plain: true,
		Value: func(h *Host, _ int) Value { return Value{Known: h.Facts.Kind.Known(), Text: h.Facts.Kind.String()} },
	},
	BodyDigest,
	{
		Name: "authority", Type: TextType, ByAuthority: true,
		Value: func(h *Host, _ int) Value { return Value{Known: true, Text: string(h.Authority)} },
	},
	{
		Name: "robots_url", Type: TextType, ByAuthority: true,
		Value: func(h *Host, _ int) Value { return Value{Known: true, Text: string(h.Authority) + "/robots.txt"} },
	},
	{
		Name: "registered_domain", Type: TextType, ByAuthority: true,
		Value: func(h *Host, _ int) Value {
			domain := domains.Registered(domains.Host(h.Authority))
			return Value{Known: domain != "", Text: domain}
		},
	},
	{
		Name: "url_surtkey", What: "the key of a URL", Type: TextType,
		OfURL: func(authority, rest []byte) Value {
			return Value{Known: true, Text: string(domains.AppendSURTKey(nil, authority, rest))}
		},
	},
	{
		Name: "authority_hash", Type: Int64Type, ByAuthority: true,
		Value: func(h *Host, _ int) Value { return intValue(partition.Hash(h.Authority), true) },
	},
	signalUse,
	licenses,
}

func intValue(n int64, known bool) Value { return Value{Known: known, Int: n} }

// timeValue returns a time as a value, null for 0.
func timeValue(seconds int64) Value { return intValue(seconds, seconds != 0) }

// WithNames returns the names of the columns that are asked for by name, in the order of the help.
func WithNames() []string { return namesOf(withKinds) }

// ExplainingNames returns the names of the columns that explain.
func ExplainingNames() []string { return namesOf(Explaining) }

func namesOf(kinds []*ColumnKind) []string {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = kind.Name
	}
	return names
}

// ParseWith returns the column that one of WithNames asks for, such as "crawl_delay".
func ParseWith(name string) (*ColumnKind, error) {
	if i := slices.Index(WithNames(), name); i >= 0 {
		return withKinds[i], nil
	}
	return nil, fmt.Errorf("%q is none of %s", name, strings.Join(WithNames(), ", "))
}

// IsSet reports whether the evaluator sets the column's values, in Verdicts.Columns.
func (k *ColumnKind) IsSet() bool { return k.view == nil }
