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

// packedText writes the rules of a compiled body at their lines. Before the first rule
// of each group it writes the user-agent lines that name its agents; the original had at
// least as many there, so they fit.
func packedText(b *matcher.Body) ([]byte, error) {
	var rules []matcher.RuleInfo // a rule is in each group that has it, for another agent
	for _, trie := range b.Groups() {
		rules = append(rules, trie.Written()...)
	}
	slices.SortStableFunc(rules, func(x, y matcher.RuleInfo) int { return cmp.Compare(x.Line, y.Line) })
	var text []byte
	var before []string // the agents of the rule before
	last := 0           // its line, which is the last of text
	for len(rules) > 0 {
		rule, agents := rules[0], []string(nil)
		for ; len(rules) > 0 && rules[0].Line == rule.Line; rules = rules[1:] {
			if agent := string(rules[0].Agent); !slices.Contains(agents, agent) {
				agents = append(agents, agent)
			}
		}
		named := agents // by lines before the rule
		if slices.Equal(agents, before) {
			named = nil
		}
		// Damaged are a line that no body is long enough for, and one without room for its agents.
		if rule.Line > robotstxt.MaxGoogleBody || bytes.ContainsAny(rule.Text, "\r\n") || rule.Line-last <= len(named) {
			return nil, fmt.Errorf("line %d: %w", rule.Line, rulepack.ErrDamaged)
		}
		text = append(text, bytes.Repeat([]byte("\n"), rule.Line-last-1-len(named))...)
		for _, agent := range named {
			text = fmt.Appendf(text, "User-agent: %s\n", agent)
		}
		text = append(append(text, rule.Text...), '\n')
		before, last = agents, rule.Line
	}
	return text, nil
}
