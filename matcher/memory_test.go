package matcher_test

import (
	"fmt"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
)

// What is allocated for a body while it is compiled, garbage included, is at most three times what
// CompileMemory says is in use.
func TestCompileMemory(t *testing.T) {
	const size = 128 << 10
	everyone := "User-agent: *\n"
	for _, test := range []struct{ head, line string }{
		{everyone, "\n"},
		{everyone, "x:\n"},
		{everyone, "allow:\r\n"},
		{everyone, "allow:/\n"},
		{everyone, "allow:/%x\n"},
		{everyone, "allow:/*%x$\n"},
		{everyone, "allow:/*%x*a*b*c*d*e*f*g\n"},
		{everyone, "allow:/%x" + strings.Repeat("abcdef/", 20) + "\n"},
		{everyone + "allow:/", strings.Repeat("a", size)},
		{everyone + "allow:/", strings.Repeat("\xff", size)},
		{everyone + "allow:/", strings.Repeat("{\"%", size/3)},
		{everyone + "allow:/", strings.Repeat("%c3", size/3)},
		{everyone, "content-usage:/ train-ai=n\n"},
		{"", "sitemap:\n"},
		{"", "user-agent:a%x\n"},
		{"", "user-agent:a%x\nallow:/\n"},
		{"", "user-agent:a\nallow:/\n"},
	} {
		var b strings.Builder
		b.WriteString(test.head)
		for i := 0; b.Len() < size; i++ {
			if strings.Contains(test.line, "/%x") || strings.Contains(test.line, "*%x") || strings.Contains(test.line, "a%x") {
				fmt.Fprintf(&b, test.line, i)
			} else {
				b.WriteString(test.line)
			}
		}
		body := []byte(b.String())
		for _, explain := range []bool{false, true} {
			taken, said := must.Allocated(func() {
				c := matcher.Compiler{Explain: explain}
				c.Compile(robotstxt.Parse(body, robotstxt.Options{}), matcher.NewAgents([]matcher.Chain{{"a"}, {matcher.Everyone}}))
			}), uint64(matcher.CompileMemory(body))
			t.Logf("%.60q: %.2f", test.line, float64(taken)/float64(said))
			must.Be(t, taken <= 3*said, "%.60q: %d bytes were allocated, where %d are said to be in use", test.line, taken, said)
		}
	}
}
