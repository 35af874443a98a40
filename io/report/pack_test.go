package report

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/rules/ruleset"
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
		if err := os.Mkdir(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "a.example"), append(names, rules...), 0o666); err != nil {
			t.Fatal(err)
		}
		found, err := ruleset.Find(t.Context(), ruleset.Options{Sources: []string{folder}, Memory: 1 << 26, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := found.Compile(t.Context(), pack, rulepack.BuildOptions{}); err != nil {
			t.Fatal(err)
		}
		var allocations float64
		err = ruleset.Inspect(t.Context(), pack, func(p *rulepack.Pack) (err error) {
			allocations = testing.AllocsPerRun(1, func() { err = Authority(io.Discard, p, []byte("https://a.example")) })
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return allocations
	}
	if few, many := made(100), made(200); many > 3*few {
		t.Errorf("%v allocations for 100 names and rules, %v for 200", few, many)
	}
}
