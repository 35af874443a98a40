package robotstxt_test

import (
	"fmt"

	"robotsbatch/matcher/robotstxt"
)

// Any body gives a result; the warnings say what is odd about it.
func ExampleParse() {
	warn := func(w robotstxt.Warning) { fmt.Printf("line %d: %s\n", w.Line, w.Kind) }
	file := robotstxt.Parse([]byte("User-agent: CCBot\nDisallow /private/\nDisalow: /tmp/\n"), robotstxt.Options{Warn: warn})
	for _, rule := range file.Groups[0].Rules {
		fmt.Printf("line %d: %s\n", rule.Line, rule.Pattern)
	}
	// Output:
	// line 2: missing_colon
	// line 3: misspelled_key
	// line 2: /private/
	// line 3: /tmp/
}
