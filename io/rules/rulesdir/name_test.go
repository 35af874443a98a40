package rulesdir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

func TestNames(t *testing.T) {
	const ignored = tierCount
	for _, test := range []struct {
		name     string // a folder's ends in a slash
		in, tier tier
		key      string
	}{
		// The forms.
		{"example.com", general, general, "example.com"},
		{"example.com.txt", general, general, "example.com"},
		{"example.com.robots.txt", general, general, "example.com"},
		{"github.com_robots.txt", general, general, "github.com"},
		{"example.com_8443_robots.txt.gz", general, general, "example.com:8443"},
		{"_robots.txt", general, ignored, ""},
		{"example.com/", general, general, "example.com"},
		{"example.com.gz", general, general, "example.com"},
		{"example.com.zst", general, general, "example.com"},
		{"example.com.txt.gz", general, general, "example.com"},
		{"example.com.robots.txt.zst", general, general, "example.com"},
		{"EXAMPLE.COM.TXT", general, general, "example.com"},
		{"example.com.txt/", general, general, "example.com.txt"},
		{"localhost", general, general, "localhost"},
		{"robots.txt", general, ignored, ""},
		{"Robots.TXT.gz", httpsOnly, ignored, ""},
		{"robots.txt/", general, general, "robots.txt"},
		{"foo_bar.example", general, general, "foo_bar.example"},
		{"r3---sn-abc.example", general, general, "r3---sn-abc.example"},
		{"example.com.", general, general, "example.com"},

		// Ports.
		{"example.com_8443", general, general, "example.com:8443"},
		{"example.com:8443", general, general, "example.com:8443"},
		{"example.com_8443.txt", general, general, "example.com:8443"},
		{"example.com:8443.robots.txt.gz", general, general, "example.com:8443"},
		{"example.com_8443/", general, general, "example.com:8443"},
		{"foo_bar.example_8443", general, general, "foo_bar.example:8443"},
		{"example.com_443", general, port443, "example.com"},
		{"example.com:443", general, port443, "example.com"},
		{"example.com_80", general, port80, "example.com"},
		{"example.com_21", general, general, "example.com:21"},
		{"example.com_080", general, port80, "example.com"},
		{"example.com_0", general, ignored, ""},
		{"example.com_65536", general, ignored, ""},
		{"example.com_99999999999999999999", general, ignored, ""},
		{"example.com_", general, general, "example.com_"},
		{"example.com:", general, ignored, ""},
		{"example.com:http", general, ignored, ""},
		{"example.com:80_80", general, ignored, ""},
		{"_8443", general, ignored, ""},

		// The schemes' folders.
		{"example.com", httpOnly, httpOnly, "example.com"},
		{"example.com_80", httpOnly, httpOnly, "example.com"},
		{"example.com_443", httpOnly, httpOnly, "example.com:443"},
		{"example.com_443", httpsOnly, httpsOnly, "example.com"},
		{"example.com_80", httpsOnly, httpsOnly, "example.com:80"},
		{"example.com", ftpOnly, ftpOnly, "example.com"},
		{"example.com_21.txt", ftpOnly, ftpOnly, "example.com"},
		{"example.com_2121", ftpOnly, ftpOnly, "example.com:2121"},
		{"http", general, general, "http"},

		// IP addresses.
		{"192.0.2.7", general, general, "192.0.2.7"},
		{"192.0.2.7_8080", general, general, "192.0.2.7:8080"},
		{"[2001-db8--1]", general, general, "[2001:db8::1]"},
		{"[2001-DB8-0-0--1].txt", general, general, "[2001:db8::1]"},
		{"[2001:db8::1]", general, general, "[2001:db8::1]"},
		{"[2001-db8--1]_8443", general, general, "[2001:db8::1]:8443"},
		{"[2001-db8--1]:8443", general, general, "[2001:db8::1]:8443"},
		{"[2001-db8--1]_443.gz", general, port443, "[2001:db8::1]"},
		{"2001:db8::1", general, general, "[2001:db8::1]"},
		{"2001:db8::8443", general, general, "[2001:db8::8443]"},
		{"2001:db8::1_8443", general, general, "[2001:db8::1]:8443"},
		{"::1", general, general, "[::1]"},
		{"[--ffff-192.0.2.7]", general, general, "[::ffff:192.0.2.7]"},
		{"[2001-db8--1", general, ignored, ""},
		{"[2001-db8--1]x", general, ignored, ""},
		{"[fe80--1%eth0]", general, ignored, ""},
		{"[example.com]", general, ignored, ""},
		{"2001-db8--1", general, general, "2001-db8--1"},
		{"1:2:3", general, ignored, ""},

		// IDN in either spelling.
		{"xn--bcher-kva.example", general, general, "xn--bcher-kva.example"},
		{"bücher.example", general, general, "xn--bcher-kva.example"},
		{"BÜCHER.example.txt", general, general, "xn--bcher-kva.example"},
		{"bu\u0308cher.example_443.zst", general, port443, "xn--bcher-kva.example"},
		{"XN--BCHER-KVA.EXAMPLE/", general, general, "xn--bcher-kva.example"},
		{"bücher。example", general, general, "xn--bcher-kva.example"},

		// What is no host.
		{".DS_Store", general, ignored, ""},
		{".robots.txt", general, ignored, ""},
		{".txt", general, ignored, ""},
		{".gz", general, ignored, ""},
		{"_SUCCESS", general, ignored, ""},
		{"_dmarc.example.com", general, general, "_dmarc.example.com"},
		{"_dmarc.example.com/", general, general, "_dmarc.example.com"},
		{"_manifest.json", general, ignored, ""},
		{"README.md", general, ignored, ""},
		{"README", general, ignored, ""},
		{"captures.db", general, ignored, ""},
		{"captures.jsonl.bz2", general, ignored, ""},
		{"readme.example", general, general, "readme.example"},
		{"README/", general, general, "readme"},
		{"example.md", general, general, "example.md"},
		{"LICENSE.txt", general, ignored, ""},
		{"hosts.csv.gz", general, ignored, ""},
		{"index.html", general, ignored, ""},
		{"example.com.bak", general, ignored, ""},
		{"https___b.com", general, ignored, ""},
		{"HTTP__b.com_8080.txt", general, ignored, ""},
		{"https___b.com/", general, ignored, ""},
		{"https_b.com", general, general, "https_b.com"},
		{"a..b", general, ignored, ""},
		{"user@example.com", general, ignored, ""},
		{"example.com%2fx", general, ignored, ""},
		{"%65xample.com", general, ignored, ""},
		{"example.com;x", general, ignored, ""},
		{"example.com?x", general, ignored, ""},
		{"example.com#x", general, ignored, ""},
		{"example.com\\x", general, ignored, ""},
		{" example.com", general, ignored, ""},
		{"example.com\n", general, ignored, ""},
		{"exam ple.com", general, ignored, ""},
		{"\xff\xfe.example", general, ignored, ""},
		{"\u202e.example", general, ignored, ""},
	} {
		var n namer
		name, isDir := test.name, false
		if l := len(name) - 1; name[l] == '/' {
			name, isDir = name[:l], true
		}
		key, got, ok := n.parse(name, isDir, test.in)
		if !ok {
			got = ignored
		}
		if got != test.tier || string(key) != test.key {
			t.Errorf("%q in folder %q: tier %d, key %q; want tier %d, key %q",
				test.name, folders[test.in], got, key, test.tier, test.key)
		}
	}
}

// Names come from whoever filled the folder.
func FuzzName(f *testing.F) {
	f.Add("example.com_8443.txt.gz", false)
	f.Add("[2001-db8--1]:443", true)
	f.Fuzz(func(t *testing.T, name string, isDir bool) {
		var n namer
		for _, in := range []tier{general, httpOnly, httpsOnly, ftpOnly} {
			key, got, ok := n.parse(name, isDir, in)
			must.Be(t, !ok || len(key) != 0 && got < nowhere, "%q: key %q, tier %d", name, key, got)
		}
	})
}

// All pairs of files for one authority are named at once, up to a number, and files with the same
// body are one.
func TestPairsOfFilesAreNamedAtOnce(t *testing.T) {
	folder := t.TempDir()
	put := func(name, body string) {
		t.Helper()
		must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte(body), 0o666))
	}
	open := func() (string, int) {
		t.Helper()
		dir, err := Open(t.Context(), folder, Options{})
		if err != nil {
			return err.Error(), 0
		}
		defer dir.Close()
		return "", int(dir.Stats().Listed)
	}
	put("same.example", "User-agent: *")
	put("same.example.txt", "User-agent: *")
	put("alone.example", "User-agent: *")
	if text, listed := open(); text != "" || listed != 2 {
		t.Errorf("files with the same body: %d files, %s", listed, text)
	}
	for i := range mostClashes + 3 {
		put(fmt.Sprintf("h%02d.example", i), "User-agent: a")
		put(fmt.Sprintf("h%02d.example.txt", i), "User-agent: b")
	}
	text, _ := open()
	if n := strings.Count(text, "are both for"); n != mostClashes || !strings.HasSuffix(text, "and 3 more pairs of files are for one host each") || strings.Contains(text, "same.example") {
		t.Errorf("%d pairs: %s", n, text)
	}
}
