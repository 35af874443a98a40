package ruleset

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

func listOf(t *testing.T, sources ...string) (*Listing, error) {
	t.Helper()
	found, err := Find(t.Context(), Options{Sources: sources, Chains: []matcher.Chain{{matcher.Everyone}}, Memory: 16 << 20, Workers: 2})
	if err != nil {
		return nil, err
	}
	return found.List(t.Context())
}

// folderOf makes a folder of robots.txt files for http, each with a text.
func folderOf(t *testing.T, text string, hosts ...string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "rules")
	must.Do(t, os.MkdirAll(filepath.Join(folder, "http"), 0o777))
	for _, host := range hosts {
		must.Do(t, os.WriteFile(filepath.Join(folder, "http", host), []byte(text), 0o666))
	}
	return folder
}

// unreachablePack makes a rule pack of authorities of which everything is unreachable.
func unreachablePack(t *testing.T, hosts ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "site.rules")
	b := must.Get(rulepack.Create(t.Context(), name, rulepack.BuildOptions{}))(t)
	for _, host := range hosts {
		must.Do(t, b.Add(rulepack.Entry{Authority: []byte("http://" + host), Access: access.DisallowAll, Status: 503, Fetched: 7}))
	}
	must.Get(b.Finish())(t)
	return name
}

// The first source that knows an authority is listed for it, in the order of names from
// right to left.
func TestList(t *testing.T) {
	folder := folderOf(t, "Allow: /\n", "b.test", "www.a.test", "a.b.test")
	other := folderOf(t, "", "a.test", "b.test")
	first, second := unreachablePack(t, "b.test", "c.test"), unreachablePack(t, "c.test", "z.example", "a.test")
	tests := []struct {
		sources []string
		want    string
	}{
		{[]string{folder}, "www.a.test=1/0 b.test=1/0 a.b.test=1/0"},
		{[]string{first, folder, second}, "z.example=3/503 a.test=3/503 www.a.test=1/0 b.test=3/503 a.b.test=1/0 c.test=3/503"},
		{[]string{folder, other, first}, "a.test=1/0 www.a.test=1/0 b.test=1/0 a.b.test=1/0 c.test=3/503"},
		{[]string{second}, "z.example=3/503 a.test=3/503 c.test=3/503"},
	}
	for _, test := range tests {
		l, err := listOf(t, test.sources...)
		must.Do(t, err)
		for range 2 {
			var got []string
			err = l.Each(func(x *Listed) error {
				found, known, err := l.Find(x.Key)
				must.Be(t, err == nil && known && found.Authority == x.Authority && string(found.SURT) == string(x.SURT), "%s: %+v is found as %+v, %v", x.Key, x, found, err)
				got = append(got, fmt.Sprintf("%s=%d/%d", strings.TrimPrefix(string(x.Key), "http://"), x.Access, x.Status))
				return nil
			})
			s := strings.Join(got, " ")
			must.Be(t, err == nil && s == test.want && l.Len() == int64(len(got)), "%s, %v, want %s", s, err, test.want)
		}
		if _, known, err := l.Find([]byte("http://nobody.test")); known || err != nil {
			t.Errorf("nobody: %v, %v", known, err)
		}
		must.Do(t, l.Close())
	}
	for _, sources := range [][]string{{folder, first, other}, {unreachablePack(t)}, {folderOf(t, "")}} {
		must.Fail(t, must.Err(listOf(t, sources...)), sources, "can be listed")
	}
}

// A listing's bodies are those of the files.
func TestListedBodies(t *testing.T) {
	l, err := listOf(t, folderOf(t, "User-agent: *\nDisallow: /x\n", "a.test"))
	must.Do(t, err)
	defer l.Close()
	var sources []string
	err = l.Each(func(x *Listed) error {
		b, err := x.Pack().Body(x.Body)
		if err == nil {
			sources = append(sources, string(b.Source))
		}
		return err
	})
	want := []string{"User-agent: *\nDisallow: /x\n"}
	must.Be(t, err == nil && slices.Equal(sources, want), "%q, %v", sources, err)
}
