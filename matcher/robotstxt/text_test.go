package robotstxt

import (
	"fmt"
	"testing"

	"robotsbatch/io/store/must"
)

func TestLines(t *testing.T) {
	for body, want := range map[string]string{
		"":                                  "",
		"\xEF\xBB\xBFa\rb\r\nc\n\nd":        "1:a 2:b 3:c 4: 5:d ",
		"\n\r":                              "1: 2: ",
		"\xFF\xFEa\x00\r\x00\n\x00b\x00":    "1:a 2:b ",
		"User-agent: *\nDisallow: /a # x\n": "1:User-agent: * 2:Disallow: /a # x ",
	} {
		got := ""
		for number, line := range Lines(Text([]byte(body), Options{})) {
			got += fmt.Sprintf("%d:%s ", number, line)
		}
		must.Equal(t, got, want, body)
		f := Parse([]byte(body), Options{})
		must.Be(t, f.Lines <= 0 || len(want) != 0, "%q: Parse has %d lines", body, f.Lines)
	}
}
