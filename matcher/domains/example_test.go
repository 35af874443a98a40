package domains_test

import (
	"fmt"

	"robotsbatch/matcher/domains"
)

func ExampleRegistered() {
	for _, host := range []string{"www.shop.example.co.uk", "user.github.io", "192.0.2.1"} {
		fmt.Printf("%q\n", domains.Registered([]byte(host)))
	}
	// Output:
	// "example.co.uk"
	// "github.io"
	// ""
}

func ExampleAppendSURT() {
	fmt.Printf("%s\n", domains.AppendSURT(nil, []byte("www.example.com")))
	// Output: com,example
}
