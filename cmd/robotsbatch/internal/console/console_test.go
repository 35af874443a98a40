package console

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

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
			if !strings.Contains(out.String(), want) {
				t.Errorf("JSON %t: %q is not in %s", json, want, &out)
			}
		}
	}
}
