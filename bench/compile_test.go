package bench

import (
	"fmt"
	"strings"
	"testing"

	"robotsbatch/bench/corpus"
	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
)

// BenchmarkCompile measures parsing and compiling bodies for one agent, one after the other
// with one compiler, as for a folder of rules. With -rules the bodies are real, else
// generated.
func BenchmarkCompile(b *testing.B) {
	var bodies [][]byte
	if *rulesFlag != "" {
		for _, body := range needReal(b).bodies {
			bodies = append(bodies, body)
		}
	} else {
		c := corpus.New(corpus.Options{Origins: 2000})
		for i := range c.Bodies() {
			bodies = append(bodies, c.AppendBody(nil, i))
		}
	}
	agents := matcher.NewAgents([]matcher.Chain{{"CCBot"}})
	size := 0
	for _, body := range bodies {
		size += len(body)
	}
	var parser robotstxt.Parser
	b.Run("stage=parse", func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			for _, body := range bodies {
				parser.Parse(body, robotstxt.Options{})
			}
		}
	})
	for _, explain := range []bool{false, true} {
		b.Run(fmt.Sprintf("stage=parse+compile/explain=%t", explain), func(b *testing.B) {
			compiler := matcher.Compiler{Explain: explain}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for _, body := range bodies {
					compiler.Compile(parser.Parse(body, robotstxt.Options{}), agents)
				}
			}
		})
	}
}

// BenchmarkCompileLargeGroup measures a group of many agents and many rules. The time must
// be linear in its bytes.
func BenchmarkCompileLargeGroup(b *testing.B) {
	for _, n := range []int{1000, 2000, 4000, 8000} {
		var body strings.Builder
		for i := range n {
			fmt.Fprintf(&body, "User-agent: bot%d\n", i)
		}
		for i := range n {
			fmt.Fprintf(&body, "Disallow: /section/%d/page\n", i*7919%n)
		}
		source := []byte(body.String())
		b.Run(fmt.Sprintf("agents=%d/rules=%d", n, n), func(b *testing.B) {
			b.SetBytes(int64(len(source)))
			for b.Loop() {
				matcher.Compile(robotstxt.Parse(source, robotstxt.Options{}), []matcher.Chain{{"bot7"}})
			}
		})
	}
}
