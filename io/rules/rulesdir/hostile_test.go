//go:build unix

package rulesdir

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

func fifo(t *testing.T, path string) {
	t.Helper()
	must.Do(t, syscall.Mkfifo(path, 0o644))
}

func link(t *testing.T, to, path string) {
	t.Helper()
	must.Do(t, os.Symlink(to, path))
}

// hostile are authorities that would lead out of the folder or to a wrong file
// if they were made into paths. Split lets none of them through; Lookup does
// not rely on it.
var hostile = []string{
	"", "://", "http", "http:", "http://", "https://:", "//a", "gopher://a", "HTTP://a",
	"http://..", "http://../secret", "https://../../etc/passwd", "http://.", "http://./a",
	"http:///etc/passwd", "http://a/../b", "http://a/robots.txt", "http://folder/robots.txt",
	"http://%2e%2e", "http://%2e%2e%2fsecret", "http://..%2fsecret", "http://..\\secret",
	"http://a\x00", "http://a\x00.txt", "http://\x00", "http://a\n", "http:// a", "http://a ",
	"http://NUL", "http://con", "http://aux.txt", "http://COM1", "http://c:", "http://a:b:c",
	"http://a.txt", "http://a.gz", "http://a_80", "http://b_8443", "http://https/a", "http://http",
	"http://escape", "http://~", "http://*", "http://[", "http://]", "http://[::1", "http://a:80",
	"http://a:00080", "http://\xff\xfe", "http://" + strings.Repeat("a", 1<<20), "ftp://a", "http://A",
	strings.Repeat("://", 1000),
}

func TestHostileAuthorities(t *testing.T) {
	outside := t.TempDir()
	write(t, outside, "secret", body(0))
	write(t, outside, "rules/a", body(0))
	write(t, outside, "rules/b_8443", body(0))
	write(t, outside, "rules/https/a", body(0))
	write(t, outside, "rules/folder/robots.txt", body(0))
	link(t, "../secret", filepath.Join(outside, "rules", "escape_1"))
	d := open(t, filepath.Join(outside, "rules"), Options{})
	for _, authority := range hostile {
		var o matcher.Origin
		err := d.Lookup([]byte(authority), &o)
		must.Be(t, err == nil && o.Access == access.Unknown, "%.40q: access %d, error %v", authority, o.Access, err)
	}
	must.Equal(t, d.Stats().Files, 0, "files were read")
}

func TestLinks(t *testing.T) {
	outside := t.TempDir()
	write(t, outside, "secret", body(0))
	write(t, outside, "folder/robots.txt", body(0))
	files := []string{"a", "store/1", "b/robots.txt"}
	for i, name := range files {
		write(t, outside, "rules/"+name, body(i))
	}
	folder := filepath.Join(outside, "rules")
	for name, to := range map[string]string{
		"inside":      "store/1",
		"inside.txt":  "a", // and another host: see below
		"dir.example": "b",
		"escape":      "../secret",
		"escape2":     "../folder",
		"absolute":    filepath.Join(folder, "a"),
		"dangling":    "nothing",
		"loop":        "loop",
		"twice":       "inside",
		"to.fifo":     "pipe",
	} {
		link(t, to, filepath.Join(folder, name))
	}
	write(t, folder, "dirty/", "")
	link(t, "../../secret", filepath.Join(folder, "dirty", "robots.txt"))
	write(t, folder, "dirty2/", "")
	link(t, "nothing", filepath.Join(folder, "dirty2", "robots.txt"))
	fifo(t, filepath.Join(folder, "pipe"))
	must.Do(t, os.Remove(filepath.Join(folder, "inside.txt")))

	d := open(t, folder, Options{})
	for authority, want := range map[string]string{
		"http://inside": "store/1", "http://twice": "store/1", "http://dir.example": "b/robots.txt", "http://store": "",
	} {
		checkFile(t, d, files, authority, want)
	}
	for _, name := range []string{"escape", "escape2", "absolute", "dangling", "loop", "to.fifo"} {
		must.Mention(t, lookupError(t, d, "http://"+name), filepath.Join(folder, name)+": ", "symbolic link")
	}
	for _, name := range []string{"dirty", "dirty2"} {
		must.Mention(t, lookupError(t, d, "http://"+name), filepath.Join(folder, name, "robots.txt")+": ", "symbolic link")
	}
}

// A scheme's folder may be a link, too.
func TestLinkedSchemeFolder(t *testing.T) {
	files := []string{"tls/a", "a"}
	folder := bodies(t, files...)
	link(t, "tls", filepath.Join(folder, "https"))
	d := open(t, folder, Options{})
	for authority, want := range map[string]string{"https://a": "tls/a", "http://a": "a"} {
		checkFile(t, d, files, authority, want)
	}
	for _, to := range []string{t.TempDir(), "../", "nothing"} {
		folder := bodies(t, "a")
		link(t, to, filepath.Join(folder, "http"))
		_, err := Open(t.Context(), folder, Options{})
		must.Mention(t, err, filepath.Join(folder, "http")+": ", "symbolic link")
	}
}

func TestNotRegular(t *testing.T) {
	folder := bodies(t, "a/robots.txt/")
	fifo(t, filepath.Join(folder, "pipe"))
	fifo(t, filepath.Join(folder, "zipped.gz"))
	d := open(t, folder, Options{})
	for authority, name := range map[string]string{
		"http://pipe": "pipe", "http://zipped": "zipped.gz", "http://a": "a/robots.txt",
	} {
		must.Mention(t, lookupError(t, d, authority), filepath.Join(folder, name)+": ", "regular")
	}
	_, err := Open(t.Context(), filepath.Join(folder, "pipe"), Options{})
	must.Mention(t, err, "not a folder")
}

func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	folder := bodies(t, "a", "b/robots.txt", "c/robots.txt")
	for _, name := range []string{"a", "b", "c/robots.txt"} {
		path := filepath.Join(folder, name)
		must.Do(t, os.Chmod(path, 0))
		t.Cleanup(func() { _ = os.Chmod(path, 0o755) })
	}
	d := open(t, folder, Options{})
	for authority, name := range map[string]string{
		"http://a": "a", "http://b": "b/robots.txt", "http://c": "c/robots.txt",
	} {
		must.Mention(t, lookupError(t, d, authority), filepath.Join(folder, name)+": ", "permission")
	}
}

func TestBrokenCompression(t *testing.T) {
	whole := strings.Repeat(body(0), 1000)
	for _, name := range []string{"a.gz", "a.txt.zst", "a/robots.txt.gz"} {
		good := compressed(name, []byte(whole))
		flipped := must.Flipped(good, len(good)-5, 0x10) // in the check sum
		for what, data := range map[string][]byte{
			"empty":          {},
			"not compressed": []byte(whole),
			"cut":            good[:len(good)-9],
			"flipped":        flipped,
		} {
			folder := t.TempDir()
			must.WriteFile(t, filepath.Join(folder, name), data)
			if what == "flipped" && strings.HasSuffix(name, ".zst") {
				continue // its check sum is optional, and what precedes it may still be right
			}
			t.Run(what+" "+filepath.Ext(name), func(t *testing.T) {
				d := open(t, folder, Options{})
				must.Mention(t, lookupError(t, d, "http://a"), filepath.Join(folder, name)+": ")
			})
		}
	}
}

// Read as text, a compressed body would have no groups and so allow everything.
func TestCompressedUnderAPlainName(t *testing.T) {
	long := body(0) + strings.Repeat("# \x00\n", 1<<20)
	names := []string{"a", "b.txt", "c/robots.txt", "https/d.example"}
	for _, ending := range []string{".gz", ".zst"} {
		for what, text := range map[string]string{"short": body(0), "longer than what is read": long} {
			folder := t.TempDir()
			packed := compressed(ending, []byte(text))
			for _, name := range names {
				write(t, folder, name, string(packed))
			}
			write(t, folder, "e"+ending, string(packed)) // once more, as its name says
			write(t, folder, "f", string(compressed(".gz", packed)))
			d := open(t, folder, Options{})
			for _, authority := range []string{"http://a", "http://b", "http://c", "https://d.example", "http://e", "http://f"} {
				var o matcher.Origin
				if err := d.Lookup([]byte(authority), &o); err != nil {
					t.Errorf("%s %s, %s: %v", ending, what, authority, err)
				} else if _, err := line(&o); err != nil {
					t.Errorf("%s %s: %v", ending, what, err)
				}
				_, read, err := d.Text([]byte(authority))
				if want := text[:min(len(text), d.size)]; err != nil || string(read) != want {
					t.Errorf("%s %s, %s: %d bytes of text, error %v, want %d", ending, what, authority, len(read), err, len(want))
				}
			}
			for authority, text := range walked(t, d, 1) {
				must.Be(t, strings.HasPrefix(text, body(0)), "%s %s, %s: walked over %.20q", ending, what, authority, text)
			}
		}
	}
}

// A body that begins as a compressed one is damaged, or is no robots.txt.
func TestDamagedUnderAPlainName(t *testing.T) {
	for _, ending := range []string{".gz", ".zst"} {
		good := compressed(ending, []byte(strings.Repeat(body(0), 1000)))
		for what, data := range map[string][]byte{"cut": good[:len(good)-9], "header": good[:4], "other": append(good[:4:4], "User-agent: *"...)} {
			for _, name := range []string{"a", "a/robots.txt"} {
				folder := t.TempDir()
				write(t, folder, name, string(data))
				d := open(t, folder, Options{})
				t.Run(what+" "+ending, func(t *testing.T) {
					must.Mention(t, lookupError(t, d, "http://a"), filepath.Join(folder, name)+": ")
				})
			}
		}
	}
}

// The size limit is that of robotstxt, on bytes after decompression.
func TestLimit(t *testing.T) {
	filler := func(n int) string { return strings.Repeat("#", n-1) + "\n" }
	const rule, limit = "User-agent: *\nDisallow: /x", robotstxt.DefaultLimit
	read := robotstxt.Options{}.ReadSize()
	for _, test := range []struct {
		name, body string
		limit      int
		rules      bool // whether the rule counts
		limited    bool
		length     int
	}{
		{"up to the limit", filler(limit-len(rule)) + rule, 0, true, false, limit},
		{"the next byte ends the line", filler(limit-len(rule)) + rule + "\nmore", 0, true, true, read},
		{"the line goes on", filler(limit-len(rule)) + rule + "yz\n", 0, false, true, read},
		{"beyond", filler(limit) + rule, 0, false, true, read},
		{"UTF-16, the next two bytes end the line", utf16LE(filler((limit-2)/2-len(rule)) + rule + "\nmore"), 0, true, true, read},
		{"UTF-16, the line goes on", utf16LE(filler((limit-2)/2-len(rule)) + rule + "yz\n"), 0, false, true, read},
		{"raised", filler(2*limit) + rule, 3 * limit, true, false, 2*limit + len(rule)},
		{"not lowered", filler(limit/2) + rule, 10, true, false, limit/2 + len(rule)},
	} {
		for _, file := range []string{"a", "a.gz", "a.zst"} {
			t.Run(test.name+" "+file, func(t *testing.T) {
				folder := t.TempDir()
				write(t, folder, file, test.body)
				d := open(t, folder, Options{Limit: test.limit})
				var o matcher.Origin
				must.Do(t, d.Lookup([]byte("http://a"), &o))
				if _, err := line(&o); (err == nil) != test.rules {
					t.Errorf("the rule: %v", err)
				}
				_, text, err := d.Text([]byte("http://a"))
				if limited := robotstxt.Parse(text, d.parse).Limited; err != nil || limited != test.limited || len(text) != test.length {
					t.Errorf("%d bytes, limited %t, error %v, want limited %v, %d bytes", len(text), limited, err, test.limited, test.length)
				}
			})
		}
	}
}

// utf16LE encodes ASCII as UTF-16 with a byte order mark.
func utf16LE(ascii string) string {
	body := []byte{0xFF, 0xFE}
	for i := range len(ascii) {
		body = append(body, ascii[i], 0)
	}
	return string(body)
}

// A few kilobytes that decompress to very much more are read up to the limit.
func TestBomb(t *testing.T) {
	for _, name := range []string{"a.gz", "a.zst"} {
		folder := t.TempDir()
		write(t, folder, name, strings.Repeat("\x00", 1<<26))
		d := open(t, folder, Options{})
		got := must.Allocated(func() { must.Do(t, d.Lookup([]byte("http://a"), new(matcher.Origin))) })
		must.Be(t, got <= 1<<24, "%s: %d bytes were allocated for a body of %d", name, got, robotstxt.DefaultLimit)
		_, text, err := d.Text([]byte("http://a"))
		must.Be(t, err == nil && len(text) == (robotstxt.Options{}).ReadSize(), "%s: %d bytes, error %v", name, len(text), err)
	}
}

// A large zstd window is bad manners in a small file, but no error; beyond what
// anyone accepts it is one.
func TestZstdWindow(t *testing.T) {
	folder := t.TempDir()
	for name, exponent := range map[string]byte{"a.zst": 27, "b.zst": 28, "c.zst": 41} {
		frame := []byte{0x28, 0xB5, 0x2F, 0xFD, 0, (exponent - 10) << 3}
		body := body(0)
		block := 1 | len(body)<<3 // the last one, not compressed
		frame = append(frame, byte(block), byte(block>>8), byte(block>>16))
		must.Do(t, os.WriteFile(filepath.Join(folder, name), append(frame, body...), 0o644))
	}
	d := open(t, folder, Options{})
	checkFile(t, d, []string{"a.zst"}, "http://a", "a.zst") // a window of 128 MiB
	for _, name := range []string{"b", "c"} {
		must.Mention(t, lookupError(t, d, "http://"+name), filepath.Join(folder, name+".zst")+": ", "window")
	}
}

func TestGoogleLimit(t *testing.T) {
	folder := t.TempDir()
	long := strings.Repeat("#\n", robotstxt.DefaultLimit) + body(0)
	write(t, folder, "a.gz", long)
	write(t, folder, "b.zst", strings.Repeat("#", robotstxt.MaxGoogleBody+1))
	d := open(t, folder, Options{Profile: robotstxt.Google, Limit: 1})
	var o matcher.Origin
	must.Do(t, d.Lookup([]byte("http://a"), &o))
	must.Equal(t, must.Get(line(&o))(t), robotstxt.DefaultLimit+2, "line")
	must.Mention(t, lookupError(t, d, "http://b"), filepath.Join(folder, "b.zst")+": ", "64 MiB")
}

// Whatever is in the folder, it can be opened, and looked up without a panic.
func TestRandomFolder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	folder := t.TempDir()
	const alphabet = "ab._:-[]@%80443ü"
	runes := []rune(alphabet)
	for i := range 2000 {
		name := make([]rune, 1+random.IntN(8))
		for j := range name {
			name[j] = runes[random.IntN(len(runes))]
		}
		if name := string(name); name != "." && name != ".." {
			// A directory clashes with nothing unless it has a robots.txt.
			write(t, folder, fmt.Sprintf("%s/", name), body(i))
		}
	}
	d := open(t, folder, Options{})
	for i := range d.index.records {
		key := d.index.key(&d.index.records[i])
		for _, scheme := range []string{"http://", "https://", "ftp://"} {
			var o matcher.Origin
			must.Do(t, d.Lookup(append([]byte(scheme), key...), &o))
		}
	}
	s := d.Stats()
	must.Be(t, s.Listed != 0 && s.Ignored != 0 && s.Files == 0, "%+v", s)
}

// A body that takes more memory to compile than may be lent is an error that says so and names
// the file.
func TestBodyTakesFromBudget(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "a", strings.Repeat("Allow: /\n", 100_000))
	d := open(t, folder, Options{Limit: 1 << 20, Budget: budget.New(64 << 20)})
	var large *budget.MemoryError
	err := lookupError(t, d, "http://a")
	must.Mention(t, err, filepath.Join(folder, "a")+": ", "robots.txt of 900000 bytes")
	must.Need(t, errors.As(err, &large) && large.Limit == 32<<20, "%v", err)
	d = open(t, folder, Options{Limit: 1 << 20, Budget: budget.New(2 * large.Need)})
	must.Do(t, d.Lookup([]byte("http://a"), new(matcher.Origin)))
}
