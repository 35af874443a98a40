package matcher_test

import (
	"fmt"

	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
)

const exampleBody = `User-agent: *
Disallow: /private/
Allow: /private/*.html$

User-agent: CCBot
Disallow: /search?
`

// Compile one robots.txt for two crawlers and decide on a path.
func ExampleCompile() {
	file := robotstxt.Parse([]byte(exampleBody), robotstxt.Options{})
	agents := []matcher.Chain{{"CCBot"}, {"GPTBot"}}
	tries := matcher.Compile(file, agents)

	var target matcher.Target
	target.Set([]byte("/search?q=robots"), robotstxt.RFC9309)
	for i := range agents {
		fmt.Println(agents[i][0], tries[i].Match(&target).Allowed)
	}
	// Output:
	// CCBot false
	// GPTBot true
}

// The rule that decides has a number, which gives its text and line.
func ExampleTrie_Match() {
	file := robotstxt.Parse([]byte(exampleBody), robotstxt.Options{})
	trie := &matcher.Compile(file, []matcher.Chain{{"GPTBot"}})[0]

	var target matcher.Target
	for _, path := range []string{"/private/a.html", "/private/a.pdf", "/"} {
		target.Set([]byte(path), robotstxt.RFC9309)
		decision := trie.Match(&target)
		fmt.Print(path, ": ", decision.Reason)
		if decision.Reason.HasRule() {
			rule := trie.Rule(decision.Rule)
			fmt.Printf(", %q in line %d", rule.Text, rule.Line)
		}
		fmt.Println()
	}
	// Output:
	// /private/a.html: allow_rule, "Allow: /private/*.html$" in line 3
	// /private/a.pdf: disallow_rule, "Disallow: /private/" in line 2
	// /: no_rule_matched
}

// A chain names the groups that a crawler obeys, most specific first.
func ExampleParseChain() {
	chain, err := matcher.ParseChain("Googlebot-News,Googlebot")
	fmt.Println(len(chain), chain[0], err)
	_, err = matcher.ParseChain("Mozilla/5.0 (compatible; CCBot/2.0)")
	fmt.Println(err != nil)
	// Output:
	// 2 Googlebot-News <nil>
	// true
}
