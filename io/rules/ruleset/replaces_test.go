package ruleset

import (
	"os"
	"testing"

	"robotsbatch/io/store/must"
)

// Of many outputs only the first that is there has the files of the rules looked up.
func TestReplacesLooksUpOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	must.Do(t, os.WriteFile("a.jsonl", []byte(`{"url":"https://a.test/robots.txt","body":""}`), 0o600))
	must.Do(t, os.WriteFile("out.csv", nil, 0o600))
	found := must.Get(Find(t.Context(), Options{Sources: []string{"*.jsonl"}}))(t)
	must.Equal(t, found.Replaces("out.csv"), "", "out.csv replaces")
	must.Do(t, os.Rename("a.jsonl", "b.csv"))
	must.Equal(t, found.Replaces("b.csv"), "*.jsonl", "b.csv replaces")
}
