package ruleset

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"robotsbatch/io/rules/rulepack"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

// pack visits each distinct body of a rule pack, named after the first authority that
// has it.
func (v *bodyVisitor) pack(ctx context.Context, name string) error {
	return Inspect(ctx, name, func(p *rulepack.Pack) error {
		first := make(map[uint32]string) // first authority of each body
		err := p.Each(func(authority []byte, a rulepack.Authority) error {
			if known, ok := first[a.Body]; a.Access == access.Rules && (!ok || string(authority) < known) {
				first[a.Body] = string(authority)
			}
			return nil
		})
		if err != nil {
			return err
		}
		numbers := slices.SortedFunc(maps.Keys(first), func(a, b uint32) int { return cmp.Compare(first[a], first[b]) })
		for _, number := range numbers {
			packed, err := p.Body(number)
			if err != nil {
				return err
			}
			b := Body{Name: first[number] + "/robots.txt", Text: packed.Source, Profile: p.Info().Profile}
			if packed.Source == nil {
				b.Packed = true
				if b.Text, err = packedText(packed.Compiled); err != nil {
					return fmt.Errorf("%s: %s: %w", name, b.Name, err)
				}
			}
			if err := v.visitBody(ctx, &b); err != nil {
				return err
			}
		}
		return nil
	})
}

// packedRule is a rule of a body, with the values of its group's user-agent lines that
// name somebody.
type packedRule struct {
	line   int
	text   []byte
	agents []string
}

// packedText writes the rules of a compiled body at their lines. Before the first rule
// of each group it writes the user-agent lines that name its agents; the original had at
// least as many there, so they fit.
func packedText(b *matcher.Body) ([]byte, error) {
	rules := packedRules(b)
	var text []byte
	last, lines := 0, 0 // the line of the rule before, and the number of lines in text
	for i, rule := range rules {
		var agents []string
		if i == 0 || !slices.Equal(rule.agents, rules[i-1].agents) {
			agents = rule.agents
		}
		// Damaged are a line that no body is long enough for, and one without room for its agents.
		if rule.line > robotstxt.MaxGoogleBody || bytes.ContainsAny(rule.text, "\r\n") || rule.line-last <= len(agents) {
			return nil, fmt.Errorf("line %d: %w", rule.line, rulepack.ErrDamaged)
		}
		for ; lines < rule.line-1-len(agents); lines++ {
			text = append(text, '\n')
		}
		for _, agent := range agents {
			text = fmt.Appendf(text, "User-agent: %s\n", agent)
		}
		text = append(append(text, rule.text...), '\n')
		last, lines = rule.line, rule.line
	}
	return text, nil
}

// packedRules returns the rules of a compiled body in the order of their lines.
func packedRules(b *matcher.Body) []*packedRule {
	byLine := make(map[int]*packedRule)
	for _, trie := range b.Groups() {
		for _, written := range trie.Written() {
			rule := byLine[written.Line]
			if rule == nil {
				rule = &packedRule{line: written.Line, text: written.Text}
				byLine[written.Line] = rule
			}
			if agent := string(written.Agent); !slices.Contains(rule.agents, agent) {
				rule.agents = append(rule.agents, agent)
			}
		}
	}
	return slices.SortedFunc(maps.Values(byLine), func(x, y *packedRule) int { return cmp.Compare(x.line, y.line) })
}
