package urls_test

import (
	"fmt"

	"robotsbatch/matcher/urls"
)

func ExampleScratch_Split() {
	var scratch urls.Scratch
	for _, url := range []string{"HTTPS://me@Example.COM:443?q=1#top", "http://bücher.example:8080/a%20b", "gopher://example.com/"} {
		authority, path, err := scratch.Split([]byte(url))
		fmt.Printf("%s %s %v\n", authority, path, err)
	}
	// Output:
	// https://example.com /?q=1 <nil>
	// http://xn--bcher-kva.example:8080 /a%20b <nil>
	//   neither http, https nor ftp
}

func ExampleNormalise() {
	fmt.Printf("%s\n", urls.Normalise([]byte("/%7euser/über%2f*")))
	// Output: /~user/%C3%BCber%2F*
}
