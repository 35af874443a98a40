package ruleset

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/lint"
)

// Each robots.txt of each kind of source comes once, in order.
func TestBodies(t *testing.T) {
	redirect := "HTTP/1.1 301 Moved\r\nLocation: /a\r\n\r\nno rules"
	gz, err := compress.AppendCompressed(nil, []byte(rules), compress.Gzip)
	must.Do(t, err)
	files(t, map[string]string{
		"hosts/b.example": rules, "hosts/a.example.txt": "# a", "hosts/c.example/robots.txt": "# c", "hosts/d.example/other": "", "hosts/robots.txt": "# own",
		"hosts/README.md": "", "hosts/https/a.example": "# https", "robots.txt": "# one", "robots.txt.gz": string(gz), "packed.txt": string(gz),
		"crawl.warc": warcOf("# x", 0, "x.example", "y.example") + strings.Replace(warcOf("", 0, "z.example"), "Content-Length: 19\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(redirect), redirect), 1) +
			strings.Replace(warcOf("# o", 0, "o.example"), "/robots.txt", "/other.html", 1),
	})
	packOf(t, "site.rules", "hosts")
	for _, test := range []struct{ sources, want string }{
		{"hosts", "hosts/robots.txt:# own hosts/a.example.txt:# a hosts/b.example:" + rules + " hosts/c.example/robots.txt:# c hosts/https/a.example:# https"},
		{"robots.txt robots.txt.gz packed.txt -", "robots.txt:# one robots.txt.gz:" + rules + " packed.txt:" + rules + " stdin:# in"},
		{"crawl.warc", "http://x.example/robots.txt:# x http://y.example/robots.txt:# x"},
		{"site.rules", "http://a.example/robots.txt: http://b.example/robots.txt:" + rules + " http://c.example/robots.txt: https://a.example/robots.txt:"},
		{"nowhere", "!nowhere: no such file"},
		{"robots.txt *.none", "!*.none: no file matches"},
	} {
		var got []string
		err := Bodies(t.Context(), Options{Sources: strings.Fields(test.sources), Stdin: strings.NewReader("# in")}, func(b *Body) error {
			got = append(got, filepath.ToSlash(b.Name)+":"+string(b.Text))
			return nil
		})
		if part, wantsError := strings.CutPrefix(test.want, "!"); wantsError || err != nil {
			must.Be(t, err != nil && strings.Contains(err.Error(), part) && !strings.Contains(err.Error(), "-rules"), "%s: %v, want %s", test.sources, err, test.want)
		} else if strings.Join(got, " ") != test.want {
			t.Errorf("%s:\n got %q\nwant %q", test.sources, got, test.want)
		}
	}
	must.Do(t, os.Mkdir("empty", 0o777))
	stop := errors.New("stop")
	for _, source := range []string{"hosts", "robots.txt", "crawl.warc"} {
		must.Is(t, Bodies(t.Context(), Options{Sources: []string{source}}, func(*Body) error { return stop }), stop, source)
	}
	must.Say(t, Bodies(t.Context(), Options{Sources: []string{"empty"}}, nil), "empty has no robots.txt", "empty folder")
}

// What is found in the rules of a pack is found in the files that it was made of, in the
// same lines, and nothing on rules is missed.
func TestPackedBodies(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	bodies := make(map[string]string)
	contents := make(map[string]string)
	for i := range 120 {
		b := strings.Builder{}
		fmt.Fprintf(&b, "# %d\n", i)
		for range 1 + r.IntN(4) {
			for range 1 + r.IntN(2) {
				b.WriteString("User-agent: " + pick("*", "A", "MJ12bot", "b/1", "C d") + pick("\n", "\n\n"))
			}
			for range r.IntN(5) {
				b.WriteString(pick("Allow: /", "Disallow: /", "disallow /", "Disallowed: /", "Sitemap: /", "Disallow: x") + pick("", "a", "a*", "%zz", "a$b", "%7e", "a b") + pick("", "b") + "\n")
			}
		}
		name := fmt.Sprintf("h%d.example", i)
		contents["hosts/"+name], bodies["http://"+name+"/robots.txt"] = b.String(), b.String()
	}
	files(t, contents)
	packOf(t, "site.rules", "hosts")
	compared := 0
	err := Bodies(t.Context(), Options{Sources: []string{"site.rules"}}, func(b *Body) error {
		if !b.Packed {
			return fmt.Errorf("%s is not packed", b.Name)
		}
		packed := lint.Body(b.Text, lint.Options{Packed: true, Profile: b.Profile}).Findings
		want := make(map[lint.Finding]bool)
		found := lint.Body([]byte(bodies[b.Name]), lint.Options{}).Findings
		noSlash := make(map[int]bool) // such a line is not a rule, so a pack does not have it
		for _, f := range found {
			if f.Code == "missing-slash" {
				noSlash[f.Line] = true
			}
		}
		for _, f := range found {
			if f.IsOnRule() && f.Profile != "google" && !noSlash[f.Line] {
				f.Profile, f.Message = "", "" // groups of the same agents that follow each other are one in the pack
				want[f] = true
			}
		}
		for _, f := range packed {
			f.Profile, f.Message = "", ""
			must.Be(t, want[f], "%s: %+v in\n%s\nof\n%s", b.Name, f, b.Text, bodies[b.Name])
			delete(want, f)
			compared++
		}
		for f := range want {
			t.Errorf("%s: missed %+v in\n%s\nof\n%s", b.Name, f, b.Text, bodies[b.Name])
		}
		return nil
	})
	must.Do(t, err)
	must.Be(t, compared >= 100, "only %d findings", compared)
}

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
	for _, test := range []struct {
		sources []string
		want    string
	}{
		{[]string{folder}, "www.a.test=1/0 b.test=1/0 a.b.test=1/0"},
		{[]string{first, folder, second}, "z.example=3/503 a.test=3/503 www.a.test=1/0 b.test=3/503 a.b.test=1/0 c.test=3/503"},
		{[]string{folder, other, first}, "a.test=1/0 www.a.test=1/0 b.test=1/0 a.b.test=1/0 c.test=3/503"},
		{[]string{second}, "z.example=3/503 a.test=3/503 c.test=3/503"},
	} {
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
