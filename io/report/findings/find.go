package findings

import (
	"context"
	"slices"

	"robotsbatch/io/rules/ruleset"
	"robotsbatch/matcher/lint"
)

// Options say which findings count. The zero value takes all, and fails for each.
type Options struct {
	// Least is the least severity of a finding that is written and counted.
	Least lint.Severity
	// FailOn is the severity from which on a finding makes Find fail, unless NeverFail.
	FailOn    lint.Severity
	NeverFail bool
	// Ignore are codes that are left out.
	Ignore []string
}

// Find writes to out what is found in each robots.txt of the sources, counts it, and tells
// whether anything is as grave as FailOn. It does not close out.
func Find(ctx context.Context, sources ruleset.Options, o Options, out Writer) (tally *Counts, fails bool, err error) {
	tally = new(Counts)
	err = ruleset.Bodies(ctx, sources, func(body *ruleset.Body) error {
		found := lint.Body(body.Text, lint.Options{Limit: sources.Limit, Cut: body.Cut, Packed: body.Packed, Profile: body.Profile})
		shown := slices.DeleteFunc(found.Findings, func(f lint.Finding) bool {
			ignored := slices.Contains(o.Ignore, f.Code)
			fails = fails || !ignored && !o.NeverFail && f.Severity >= o.FailOn
			return ignored || f.Severity < o.Least
		})
		tally.Add(shown, found.More)
		return out.Add(body.Name, shown)
	})
	return tally, fails, err
}
