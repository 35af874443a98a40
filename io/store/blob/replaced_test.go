package blob

import (
	"os"
	"testing"

	"robotsbatch/io/store/must"
)

// Each name is looked up once for all outputs; links and objects are found as well.
func TestReplaced(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a", "b", "other"} {
		must.Do(t, os.WriteFile(name, []byte("1"), 0o600))
	}
	replaced := Replaced("a", "b", "s3://c/d", "-", "", "missing", ".")
	check := func(out, want string) {
		t.Helper()
		must.Equal(t, replaced(out), want, "output", out, "replaces")
	}
	check("missing", "")
	must.Do(t, os.Rename("b", "c")) // no output is there yet
	check("a", "a")
	check("./a", "a")
	check("c", "")
	check("other", "")
	check("-", "")
	check(".", "")
	check("s3://c/d", "s3://c/d")
	check("s3://c/e", "")
	must.Do(t, os.Link("a", "hard"))
	must.Do(t, os.Remove("a"))
	check("hard", "a")
}
