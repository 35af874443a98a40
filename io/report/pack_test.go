package report

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/must"
)

// What a pack says of a group costs what its names and its rules cost, not their product.
func TestAuthorityOfManyNames(t *testing.T) {
	t.Chdir(t.TempDir())
	made := func(n int) float64 {
		var names, rules []byte
		for i := range n {
			names, rules = fmt.Appendf(names, "User-agent: a%d\n", i), fmt.Appendf(rules, "Disallow: /%d\n", i)
		}
		folder, pack := fmt.Sprint("robots", n), fmt.Sprint(n, ".rules")
		must.Do(t, os.Mkdir(folder, 0o777))
		must.Do(t, os.WriteFile(filepath.Join(folder, "a.example"), append(names, rules...), 0o666))
		found := must.Get(ruleset.Find(t.Context(), ruleset.Options{Sources: []string{folder}, Memory: 1 << 26, Workers: 1}))(t)
		must.Get(found.Compile(t.Context(), pack))(t)
		var allocations float64
		must.Do(t, ruleset.Inspect(t.Context(), pack, func(p *rulepack.Pack) (err error) {
			allocations = testing.AllocsPerRun(1, func() { err = Authority(io.Discard, p, []byte("https://a.example")) })
			return err
		}))
		return allocations
	}
	if few, many := made(100), made(200); many > 3*few {
		t.Errorf("%v allocations for 100 names and rules, %v for 200", few, many)
	}
}
