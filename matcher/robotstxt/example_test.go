package robotstxt_test

import (
	"fmt"

	"robotsbatch/matcher/robotstxt"
)

// Any body gives a result; the warnings say what is odd about it.
func ExampleParse() {
	file := robotstxt.Parse([]byte("User-agent: CCBot\nDisallow /private/\nDisalow: /tmp/\n"), robotstxt.Options{})
	for _, rule := range file.Groups[0].Rules {
		fmt.Printf("line %d: %s\n", rule.Line, rule.Pattern)
	}
	for _, warning := range file.Warnings {
		fmt.Printf("line %d: %s\n", warning.Line, warning.Kind)
	}
	// Output:
	// line 2: /private/
	// line 3: /tmp/
	// line 2: missing_colon
	// line 3: misspelled_key
}
