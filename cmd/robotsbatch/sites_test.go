package main

import (
	"bytes"
	"path/filepath"
	"strconv"
	"testing"

	"robotsbatch/io/store/must"
)

// TestSiteTables: a table of sites has the numbers of rows that the counts have, of each class,
// for each agent and for any of them.
func TestSiteTables(t *testing.T) {
	rules := must.Get(filepath.Abs(filepath.Join(sample, "rules")))(t)
	t.Chdir(t.TempDir())
	survey := []string{"survey", "-rules", rules, "-agent", "*", "-agent", "GPTBot", "-agent", "CCBot", "-agent", "Googlebot"}
	for _, by := range []string{"domain", "authority"} {
		mustRun(t, append(survey, "-by", by, "-out", "sites.parquet", "-batch-rows", "7")...)
		sites := tableOf(t, []byte(mustRun(t, "-in", "sites.parquet", "-url-column", map[string]string{"domain": "registered_domain", "authority": "authority"}[by], "-rules", rules, "-out", "-", "-out-format", "csv")))
		if len(sites) < 10 {
			t.Fatalf("%d sites", len(sites))
		}
		for _, count := range tableOf(t, []byte(mustRun(t, append(survey, "-by", by, "-as", "csv")...))) {
			column := map[string]string{"*": "blocked_all", "GPTBot": "blocked_gptbot", "CCBot": "blocked_ccbot", "Googlebot": "blocked_googlebot", "any of 3": "blocked"}[count["agent"]]
			counted := make(map[string]int)
			for _, site := range sites {
				counted[site[column]]++
				if site["root"] == "true" {
					counted["root"]++
				}
			}
			if column == "blocked" && count["root"] != strconv.Itoa(counted["root"]) {
				t.Errorf("by %s: %d with root, want %s", by, counted["root"], count["root"])
			}
			for value, name := range map[string]string{"all": "full", "some": "partial", "none": "none"} {
				must.Equal(t, count[name], strconv.Itoa(counted[value]), "by", by, value, count["agent"], counted[value])
			}
		}
	}
	var b bytes.Buffer
	b.WriteString(mustRun(t, append(survey, "-by", "domain", "-out", "-")...))
	if !bytes.HasPrefix(b.Bytes(), []byte("registered_domain,class,root,blocked,blocked_all,blocked_gptbot,blocked_ccbot,blocked_googlebot\n")) {
		t.Errorf("%.200s", b.Bytes())
	}
}
