package rulesdir

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
)

// usedOf opens a folder, looks an authority up, and returns what was used.
func usedOf(t *testing.T, folder string, authorities ...string) []Used {
	t.Helper()
	var mu sync.Mutex
	var list []Used
	d, err := Open(t.Context(), folder, Options{Chains: []matcher.Chain{{"*"}}, Used: func(u Used) {
		mu.Lock()
		defer mu.Unlock()
		list = append(list, u)
	}})
	must.Do(t, err)
	defer d.Close()
	for _, authority := range append(authorities, authorities...) {
		var o matcher.Origin
		must.Do(t, d.Lookup([]byte(authority), &o))
	}
	return list
}

func put(t *testing.T, name, content string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(name), 0o777))
	must.Do(t, os.WriteFile(name, []byte(content), 0o666))
}

func TestUsed(t *testing.T) {
	folder := t.TempDir()
	put(t, filepath.Join(folder, "a.example"), "User-agent: *\nDisallow: /\n")
	put(t, filepath.Join(folder, "b.example", "robots.txt"), "")
	put(t, filepath.Join(folder, "c.example", "other"), "")
	put(t, filepath.Join(folder, "d.example"), "never asked for")
	list := usedOf(t, folder, "http://a.example", "http://b.example", "http://c.example", "http://e.example", "https://a.example")
	var names []string
	for _, u := range list {
		names = append(names, u.Name)
		must.Equal(t, must.Get(Version(folder, u.Name))(t), u, u.Name, "used")
	}
	must.EqualSlices(t, names, []string{"a.example", "b.example/robots.txt", "c.example/"}, "used")
	// A robots.txt that comes later changes what was known of its absence.
	later := time.Now().Add(time.Hour)
	put(t, filepath.Join(folder, "c.example", "robots.txt"), "")
	must.Do(t, os.Chtimes(filepath.Join(folder, "c.example"), later, later))
	if now, err := Version(folder, "c.example/"); err != nil || now == list[2] {
		t.Errorf("c.example/ is still %+v, %v", now, err)
	}
}

func TestNamesChecksum(t *testing.T) {
	names := func(files ...string) string {
		folder := t.TempDir()
		for _, file := range files {
			put(t, filepath.Join(folder, file), "")
		}
		d := must.Get(Open(t.Context(), folder, Options{}))(t)
		defer d.Close()
		return d.Names()
	}
	one := names("a.example", "b.example/robots.txt", "c.example")
	must.Equal(t, names("c.example", "b.example/robots.txt", "a.example"), one, "order matters")
	for _, files := range [][]string{{"a.example", "b.example/robots.txt"}, {"a.example", "b.example", "c.example"}, {}} {
		if other := names(files...); other == one {
			t.Errorf("%q: %s, too", files, other)
		}
	}
}

// TestChangedFile has a file that is another when it is read again, since its
// rules were dropped.
func TestChangedFile(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "a.example")
	put(t, name, "User-agent: *\nDisallow: /\n")
	d := must.Get(Open(t.Context(), folder, Options{Chains: []matcher.Chain{{"*"}}, Memory: 1}))(t)
	defer d.Close()
	var o matcher.Origin
	for range 2 {
		must.Do(t, d.Lookup([]byte("http://a.example"), &o))
	}
	put(t, name, "User-agent: *\nAllow: /\n")
	must.Say(t, d.Lookup([]byte("http://a.example"), &o), name+": it was written to or replaced")
}
