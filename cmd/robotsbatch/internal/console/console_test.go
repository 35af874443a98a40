package console

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"robotsbatch/io/report"
	"robotsbatch/io/store/must"
	"robotsbatch/io/store/panics"
)

// Whoever reports an internal error can send the stack.
func TestFailWithStack(t *testing.T) {
	bug := func() (err error) {
		defer panics.Recover(&err, panics.As(panics.Bug))
		panic("broken")
	}()
	for _, json := range []bool{false, true} {
		var out bytes.Buffer
		must.Equal(t, New(&out, Options{JSON: json}).Fail(fmt.Errorf("a.parquet: %w", bug)), ExitFailed, "exit status")
		for _, want := range []string{"a.parquet: internal error, please report it: broken", "TestFailWithStack"} {
			must.Be(t, strings.Contains(out.String(), want), "JSON %t: %q is not in %s", json, want, &out)
		}
	}
}

// What an earlier run did counts as done, and not for the speed at which the rest will be done.
func TestShareOfOutputs(t *testing.T) {
	p := &Progress{sizes: []float64{100, 100, 300, 500}, total: 1000}
	at := func(share, left float64) {
		t.Helper()
		s, l := report.ShareAndLeft(p.done, p.total, p.done-p.skipped, 10)
		must.Be(t, math.Abs(s-share) <= 1e-9 && math.Abs(l-left) <= 1e-9, "%g done, %g s left, want %g, %g", s, l, share, left)
	}
	first := p.Output(2)
	at(0, -1)
	first.setDone(first.size(1.5))
	at(0.15, 10*0.85/0.15)
	first.Skip()
	at(0.2, -1)
	second, third := p.Output(1), p.Output(1)
	second.setDone(second.size(1))
	at(0.5, 10*0.5/0.3)
	second.setDone(second.size(0.5))
	third.setDone(third.size(0.1))
	at(0.4, 10*0.6/0.2)
	second.End()
	third.setDone(third.size(0.5))
	at(0.75, 10*0.25/0.55)
	third.setDone(third.size(7))
	at(1, 0)
	p = new(Progress)
	p.Output(1).End()
	at(-1, -1)
}
