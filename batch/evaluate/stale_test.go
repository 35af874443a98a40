package evaluate

import (
	"testing"

	"robotsbatch/batch"
	"robotsbatch/batch/internal/batchtest"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
)

// TestStaleRules: the last good copy decides like any other rules. If none of its rules
// decides, the reason says that it is stale (RFC 9309 §2.3.1.4).
func TestStaleRules(t *testing.T) {
	const authority = "http://a.example"
	rules := batchtest.Table(t, map[string]string{authority: "User-agent: x\nDisallow: /no\nAllow: /no/yes\n"}, "x", "y")
	var origin matcher.Origin
	must.Do(t, rules.Lookup([]byte(authority), &origin))
	origin.Stale = true
	rules.Add([]byte(authority), origin)

	tests := []struct {
		path string
		x, y matcher.Reason
	}{
		{"/no", matcher.DisallowRule, matcher.StaleRules},
		{"/no/yes", matcher.AllowRule, matcher.StaleRules},
		{"/other", matcher.StaleRules, matcher.StaleRules},
		{"/robots.txt", matcher.RobotsTxt, matcher.RobotsTxt},
	}
	for _, test := range tests {
		t.Run(test.path, func(t *testing.T) {
			e := New(rules, Options{Agents: 2, Explain: true})
			var v batch.Verdicts
			must.Do(t, e.Evaluate(&batch.Batch{URLs: batchtest.URLs(authority + test.path)}, &v))
			if x, y := v.Agents[0].Reasons[0], v.Agents[1].Reasons[0]; x != test.x || y != test.y {
				t.Errorf("reasons %v and %v, want %v and %v", x, y, test.x, test.y)
			}
			must.Equal(t, v.Agents[0].Allowed[0]&1 == 0, test.x == matcher.DisallowRule)
		})
	}
}
