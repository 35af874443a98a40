package ruleset

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"robotsbatch/io/compress"
)

// Each robots.txt of each kind of source comes once, in order.
func TestBodies(t *testing.T) {
	redirect := "HTTP/1.1 301 Moved\r\nLocation: /a\r\n\r\nno rules"
	gz, err := compress.AppendCompressed(nil, []byte(rules), compress.Gzip)
	if err != nil {
		t.Fatal(err)
	}
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
		{"site.rules", "!is a rule pack"},
		{"nowhere", "!nowhere: no such file"},
		{"robots.txt *.none", "!*.none: no file matches"},
	} {
		var got []string
		err := Bodies(t.Context(), Options{Sources: strings.Fields(test.sources), Stdin: strings.NewReader("# in")}, func(b *Body) error {
			got = append(got, filepath.ToSlash(b.Name)+":"+string(b.Text))
			return nil
		})
		if part, wantsError := strings.CutPrefix(test.want, "!"); wantsError || err != nil {
			if err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "-rules") {
				t.Errorf("%s: %v, want %s", test.sources, err, test.want)
			}
		} else if strings.Join(got, " ") != test.want {
			t.Errorf("%s:\n got %q\nwant %q", test.sources, got, test.want)
		}
	}
	if err := os.Mkdir("empty", 0o777); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	for _, source := range []string{"hosts", "robots.txt", "crawl.warc"} {
		if err := Bodies(t.Context(), Options{Sources: []string{source}}, func(*Body) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("%s: %v", source, err)
		}
	}
	if err := Bodies(t.Context(), Options{Sources: []string{"empty"}}, nil); err == nil || !strings.Contains(err.Error(), "empty has no robots.txt") {
		t.Errorf("an empty folder: %v", err)
	}
}
