package corpus

import "cmp"

// Options shape a corpus. The zero value of a field means its default; a negative number
// means none, if that makes sense. Shares are between 0 and 1.
type Options struct {
	// Seed is the seed of everything random.
	Seed uint64
	// Origins is the number of authorities; default 1,000.
	Origins int
	// URLs is the exact number of URLs; default 20 per origin. If there are enough, each
	// origin has at least one.
	URLs int64
	// LargestOrigin is about how many URLs the largest origin has. A smaller number makes
	// the origins more even. The default is 5,000, but at most a twentieth of all URLs and
	// at least twice the mean.
	LargestOrigin int64

	// HTTPS is the share of origins with https, default 0.85; the others use http.
	HTTPS float64
	// Ports is the share of origins with a non-default port, default 0.01.
	Ports float64
	// IDN is the share of origins with an internationalised host, default 0.01.
	// Most of their URLs spell it in Unicode, the others in Punycode.
	IDN float64

	// Missing is the share of origins without a robots.txt, default 0.3.
	Missing float64
	// Distinct is the number of distinct bodies, divided by the number of origins that have
	// one; default 0.7.
	Distinct float64
	// Rules is the mean number of rules in the group for everyone, default 40. The median
	// is about a third of it; one file in ten has nearly none, one in a hundred eleven
	// times as many.
	Rules int
	// Wildcards is the share of rules with "*" or "$", default 0.2.
	Wildcards float64
	// AgentGroups is the share of files with a group for CCBot, default 0.15.
	AgentGroups float64
	// OtherGroups is the share of files with groups for other agents, default
	// 0.4.
	OtherGroups float64

	// Bare leaves out everything except these groups: pages instead of robots.txt,
	// comments, further sitemaps, long lists of agents, groups that repeat others. The
	// bodies then have a third of the bytes, and the URLs are the same.
	Bare bool

	// Escapes is the share of URLs and of rules with a percent-escape, or with a byte that
	// should have been escaped; default 0.05.
	Escapes float64
	// Queries is the share of URLs and of rules with a query, default 0.15.
	Queries float64
	// Denied is the share of denied URLs, default 0.2, for CCBot and for everyone alike. It
	// is approximate, and reached only if it is below one half and there are enough origins
	// with rules.
	Denied float64
	// Invalid is the share of rows that are not a URL or have another scheme, default
	// 0.001.
	Invalid float64
}

// SampleOptions are those of the small corpus that is checked in as bench/corpus/sample. It
// has everything, the rare things more often.
func SampleOptions() Options {
	return Options{
		Seed:        1994,
		Origins:     60,
		URLs:        2000,
		Ports:       0.06,
		IDN:         0.06,
		Missing:     0.2,
		AgentGroups: 0.3,
		Rules:       25,
		Bare:        true,
		Invalid:     0.005,
	}
}

// withDefaults fills in the defaults and clamps the numbers to their ranges, in which the
// arithmetic of New and Origin cannot overflow.
func (o Options) withDefaults() Options {
	if o.Origins <= 0 {
		o.Origins = 1000
	}
	o.Origins = min(o.Origins, 1<<28)
	origins := int64(o.Origins)
	if o.URLs == 0 {
		o.URLs = 20 * origins
	}
	o.URLs = min(max(o.URLs, 0), 1<<62/origins)
	if o.LargestOrigin <= 0 {
		o.LargestOrigin = min(5000, max(o.URLs/20, 2*o.URLs/origins))
	}
	o.LargestOrigin = min(o.LargestOrigin, 1<<62/origins/origins)
	if o.Rules == 0 {
		o.Rules = 40
	}
	o.Rules = min(max(o.Rules, 0), 1<<20)

	for _, share := range o.Shares() {
		*share.Value = min(max(cmp.Or(*share.Value, share.Usual), 0), 1)
	}
	return o
}

// Share is an option that is a share.
type Share struct {
	Value       *float64
	Usual       float64 // the default
	Name, Usage string  // for a command line
}

// Shares returns those of o.
func (o *Options) Shares() []Share {
	return []Share{
		{&o.HTTPS, 0.85, "https", "origins with https"},
		{&o.Ports, 0.01, "ports", "origins with a port"},
		{&o.IDN, 0.01, "idn", "origins with an internationalised host"},
		{&o.Missing, 0.3, "missing", "origins without robots.txt"},
		{&o.Distinct, 0.7, "distinct", "bodies by origins that have one"},
		{&o.Wildcards, 0.2, "wildcards", "rules with * or $"},
		{&o.AgentGroups, 0.15, "agent-groups", "files with a group for CCBot"},
		{&o.OtherGroups, 0.4, "other-groups", "files with groups for other agents"},
		{&o.Escapes, 0.05, "escapes", "URLs and rules with a percent-escape"},
		{&o.Queries, 0.15, "queries", "URLs and rules with a query"},
		{&o.Denied, 0.2, "denied", "URLs that are denied, about"},
		{&o.Invalid, 0.001, "invalid", "rows that are no URL"},
	}
}
