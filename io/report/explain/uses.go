package explain

import (
	"fmt"

	"robotsbatch/matcher"
	"robotsbatch/matcher/usage"
)

// Use is what a robots.txt says of a use of a URL that may be fetched.
type Use struct {
	// Use is its name, such as train-ai or signal:ai-train.
	Use string `json:"use"`
	// Value is allowed, disallowed or unknown, or the grade of the signal use.
	Value string `json:"value"`
	// Line is the number of the line that says so, and Text the line.
	Line int    `json:"line"`
	Text string `json:"text"`
}

// Wanted is what rules must be opened with for Agent.Uses and Agent.Licenses.
func Wanted() matcher.UsageOptions {
	return matcher.UsageOptions{Uses: uses, Licenses: true, Explain: true}
}

// uses are all that the vocabularies define.
var uses = append(usage.Vocabulary(usage.ContentUsage), usage.Vocabulary(usage.ContentSignal)...)

// setUses sets what is said of each use for an agent, given by its index. Uses of
// directives that the agent's groups do not have are left out.
func (a *Agent) setUses(said *matcher.Usage, agent int, path []byte, p matcher.Profile) {
	a.Licenses = said.Licenses(agent)
	if said == nil {
		return
	}
	var target matcher.Target
	target.Set(path, p)
	for i, use := range uses {
		if found := said.Explain(&target, agent, i); found.Line > 0 {
			a.Uses = append(a.Uses, Use{Use: use.String(), Value: found.Value.String(), Line: found.Line, Text: string(found.Text)})
		}
	}
}

// uses prints what may be done with the URL.
func (p *printer) uses(a *Agent) {
	for _, u := range a.Uses {
		p.field(u.Use, fmt.Sprintf("%s  (line %d: %s)", u.Value, u.Line, clip(u.Text)))
	}
	for _, license := range a.Licenses {
		p.field("license", license)
	}
}
