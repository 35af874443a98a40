package extent_test

import (
	"fmt"

	"robotsbatch/matcher"
	"robotsbatch/matcher/extent"
	"robotsbatch/matcher/robotstxt"
)

// A test of the path "/" alone takes the first of these for a full block, and the second
// for none at all.
func ExampleOf() {
	for _, rules := range []string{"Disallow: /$", "Disallow: /\nAllow: /$", "Disallow: *"} {
		file := robotstxt.Parse([]byte("User-agent: *\n"+rules), robotstxt.Options{})
		trie := &matcher.Compile(file, []matcher.Chain{{matcher.Everyone}})[0]
		fmt.Println(extent.Of(trie).Extent)
	}
	// Output:
	// some
	// some
	// all
}
