package blob

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"robotsbatch/io/store/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func create(t *testing.T, name string) Writer {
	t.Helper()
	return must.Get(Create(t.Context(), name))(t)
}

func write(t *testing.T, w io.Writer, text string) {
	t.Helper()
	n, err := io.WriteString(w, text)
	must.Need(t, n == len(text) && err == nil, "Write = %d, %v", n, err)
}

// wantFiles checks that the folder has these files and no others.
func wantFiles(t *testing.T, folder string, want map[string]string) {
	t.Helper()
	entries := must.Get(os.ReadDir(folder))(t)
	for _, entry := range entries {
		_, ok := want[entry.Name()]
		must.Be(t, ok, "%s is left over", entry.Name())
	}
	for name, content := range want {
		got, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Error(err)
		} else if string(got) != content {
			t.Errorf("%s is %q, want %q", name, got, content)
		}
	}
}

func TestCreateAppearsAtClose(t *testing.T) {
	for _, before := range []string{"", "what was there before"} {
		t.Run(before, func(t *testing.T) {
			folder := t.TempDir()
			name := filepath.Join(folder, "out.csv")
			if before != "" {
				must.WriteFile(t, name, before)
			}
			w := create(t, name)
			write(t, w, "url,allowed\n")
			got, err := os.ReadFile(name)
			must.Be(t, (before != "" || errors.Is(err, fs.ErrNotExist)) && (before == "" || string(got) == before), "before Close there is %q, error %v", got, err)
			must.Do(t, w.Close())
			w.Abort()
			wantFiles(t, folder, map[string]string{"out.csv": "url,allowed\n"})
			must.Fail(t, w.Close(), "second Close")
			must.Fail(t, must.Err(w.Write([]byte("x"))), "Write after Close")
			wantFiles(t, folder, map[string]string{"out.csv": "url,allowed\n"})
		})
	}
}

func TestAbortLeavesWhatWasThere(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "out.csv")
	w := create(t, name)
	write(t, w, "half")
	w.Abort()
	w.Abort()
	wantFiles(t, folder, nil)
	must.Fail(t, w.Close(), "Close after Abort")
	wantFiles(t, folder, nil)

	must.WriteFile(t, name, "before")
	w = create(t, name)
	write(t, w, strings.Repeat("x", 3*writeSize))
	w.Abort()
	wantFiles(t, folder, map[string]string{"out.csv": "before"})
}

// TestTemporaryName is what a killed run leaves behind.
func TestTemporaryName(t *testing.T) {
	folder := t.TempDir()
	w := create(t, filepath.Join(folder, "out.csv"))
	defer w.Abort()
	entries := must.Get(os.ReadDir(folder))(t)
	must.Need(t, len(entries) == 1, "%d files", len(entries))
	ok, _ := filepath.Match(".out.csv.robotsbatch-????????.tmp", entries[0].Name())
	must.Be(t, ok, "the temporary file is %s", entries[0].Name())
}

func TestLongName(t *testing.T) {
	folder := t.TempDir()
	base := strings.Repeat("ä", 120) + ".csv"
	w := create(t, filepath.Join(folder, base))
	must.Do(t, w.Close())
	wantFiles(t, folder, map[string]string{base: ""})
}

func TestTwoWritersOfOneName(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "out.csv")
	first, second := create(t, name), create(t, name)
	write(t, first, "first")
	write(t, second, "second")
	must.Do(t, errors.Join(second.Close(), first.Close()))
	wantFiles(t, folder, map[string]string{"out.csv": "first"})
}

func TestSmallAndLargeWrites(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out")
	w := create(t, name)
	var want bytes.Buffer
	for i := range 80 {
		part := bytes.Repeat([]byte{byte(i)}, i*i*1009%(2*writeSize)+i)
		want.Write(part)
		write(t, w, string(part))
		for j := range part {
			part[j] = 0 // w keeps nothing of it
		}
	}
	must.Do(t, w.Close())
	got, err := os.ReadFile(name)
	must.Be(t, err == nil && bytes.Equal(got, want.Bytes()), "%d bytes came back with error %v, want %d", len(got), err, want.Len())
}

func TestCreateRefuses(t *testing.T) {
	folder := t.TempDir()
	must.WriteFile(t, filepath.Join(folder, "file"), "")
	for _, test := range []struct{ name, want string }{
		{"", "empty"},
		{folder, "is a folder"},
		{filepath.Join(folder, "new") + "/", "name of a folder"},
		{filepath.Join(folder, "missing", "out.csv"), "missing is missing: make it"},
		{filepath.Join(folder, "file", "out.csv"), "file"},
		{"mem://bucket/out.csv", "cannot be opened"},
	} {
		w, err := Create(t.Context(), test.name)
		if err == nil {
			w.Abort()
			t.Errorf("Create(%q): no error", test.name)
			continue
		}
		must.Be(t, strings.Contains(err.Error(), test.want) && strings.Contains(err.Error(), test.name), "Create(%q): %v, want it to say %q", test.name, err, test.want)
	}
	wantFiles(t, folder, map[string]string{"file": ""})
}

// TestCloseFails takes the folder away under the output.
func TestCloseFails(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "folder")
	must.Do(t, os.Mkdir(folder, 0o777))
	name := filepath.Join(folder, "out.csv")
	w := create(t, name)
	write(t, w, "text")
	if err := os.RemoveAll(folder); err != nil {
		t.Skip(err) // a system that keeps open files
	}
	err := w.Close()
	must.Be(t, errors.Is(err, fs.ErrNotExist) && strings.Contains(err.Error(), name+":") && !strings.Contains(err.Error(), temporaryMark), "Close: %v", err)
	w.Abort()
}

func TestOpen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "urls.txt")
	must.WriteFile(t, name, "0123456789")
	f := must.Get(Open(t.Context(), name))(t)
	size, regular := f.Size()
	must.Be(t, size == 10 && regular, "Size = %d, %v", size, regular)
	must.Equal(t, f.Name(), name, "Name")
	part := make([]byte, 3)
	_, err := f.ReadAt(part, 4)
	must.Be(t, err == nil && string(part) == "456", "ReadAt = %q, %v", part, err)
	n, err := f.ReadAt(part, 8)
	must.Be(t, n == 2 && err == io.EOF, "ReadAt at the end = %d, %v", n, err)
	all, err := io.ReadAll(f)
	must.Be(t, err == nil && string(all) == "0123456789", "Read = %q, %v", all, err)
	must.Do(t, f.Close())
	_, err = f.Read(part)
	must.Be(t, errors.Is(err, fs.ErrClosed) && strings.Contains(err.Error(), name), "Read after Close: %v", err)
	must.Fail(t, f.Close(), "second Close")
}

func TestOpenRefuses(t *testing.T) {
	folder := t.TempDir()
	missing := filepath.Join(folder, "missing")
	_, err := Open(t.Context(), missing)
	must.Be(t, errors.Is(err, fs.ErrNotExist) && strings.Contains(err.Error(), missing), "missing file: %v", err)
	must.Say(t, must.Err(Open(t.Context(), folder)), "is a folder", "folder")
	must.Fail(t, must.Err(Open(t.Context(), "")), "empty name")
	must.Say(t, must.Err(Open(t.Context(), "mem://bucket/urls.arrow")), "cannot be opened", "object store")
}

// withStdin makes f stdin during the test.
func withStdin(t *testing.T, f *os.File) {
	before := os.Stdin
	os.Stdin = f
	t.Cleanup(func() { os.Stdin = before })
}

func TestOpenStdin(t *testing.T) {
	r, w, err := os.Pipe()
	must.Do(t, err)
	defer r.Close()
	withStdin(t, r)
	write(t, w, "http://a.example/\n")
	w.Close()
	f := must.Get(Open(t.Context(), Stdio))(t)
	_, regular := f.Size()
	must.Be(t, !regular && f.Name() == "stdin", "a pipe is %q, regular: %v", f.Name(), regular)
	must.Is(t, must.Err(f.ReadAt(make([]byte, 1), 0)), errStream, "ReadAt")
	all, err := io.ReadAll(f)
	must.Be(t, err == nil && string(all) == "http://a.example/\n", "Read = %q, %v", all, err)
	must.Do(t, f.Close())
	_, err = r.Stat()
	must.Be(t, err == nil, "Close has closed stdin: %v", err)
}

func TestOpenRedirectedStdin(t *testing.T) {
	name := filepath.Join(t.TempDir(), "urls.txt")
	must.WriteFile(t, name, "first\nsecond\n")
	file := must.Get(os.Open(name))(t)
	defer file.Close()
	withStdin(t, file)
	f := must.Get(Open(t.Context(), Stdio))(t)
	size, regular := f.Size()
	must.Be(t, size == 13 && regular, "Size = %d, %v", size, regular)
	must.Get(io.ReadFull(f, make([]byte, 6)))(t)
	f = must.Get(Open(t.Context(), Stdio))(t)
	_, regular = f.Size()
	must.Be(t, !regular, "a file that was read in part is no stream")
}

func TestCreateStdout(t *testing.T) {
	before := os.Stdout
	defer func() { os.Stdout = before }()
	for _, name := range []string{Stdio, "/dev/stdout", "/dev/fd/1"} {
		r, w, err := os.Pipe()
		must.Do(t, err)
		os.Stdout = w
		out := create(t, name)
		write(t, out, "text")
		must.Do(t, out.Close())
		out.Abort()
		write(t, w, " and more") // still open
		w.Close()
		got, err := io.ReadAll(r)
		must.Be(t, err == nil && string(got) == "text and more", "%s: %q, %v", name, got, err)
		r.Close()
	}
}

// Each name is looked up once for all outputs; links and objects are found as well.
func TestReplaced(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a", "b", "other"} {
		must.Do(t, os.WriteFile(name, []byte("1"), 0o600))
	}
	replaced := Replaced("a", "b", "s3://c/d", "-", "", "missing", ".")
	check := func(out, want string) {
		t.Helper()
		must.Equal(t, replaced(out), want, "output", out, "replaces")
	}
	check("missing", "")
	must.Do(t, os.Rename("b", "c")) // no output is there yet
	check("a", "a")
	check("./a", "a")
	check("c", "")
	check("other", "")
	check("-", "")
	check(".", "")
	check("s3://c/d", "s3://c/d")
	check("s3://c/e", "")
	must.Do(t, os.Link("a", "hard"))
	must.Do(t, os.Remove("a"))
	check("hard", "a")
}

// The folder of a process that was killed is removed by the next one; that of a process
// that runs, and what only has a similar name, stay.
func TestScratchOfKilledProcess(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	killed := must.Get(NewScratch())(t)
	must.Do(t, os.WriteFile(filepath.Join(killed.Path, "captures.rules"), []byte("half"), 0o600))
	must.Do(t, killed.lock.file.Close())
	running := must.Get(NewScratch())(t)
	for _, name := range []string{"robotsbatch-mine.lock", "robotsbatch-123456789.lock", "robotsbatch-12345678"} {
		must.Do(t, os.Mkdir(filepath.Join(temp, name), 0o700))
	}
	SweepScratch()
	_, err := os.Stat(killed.Path)
	must.Be(t, os.IsNotExist(err), "the folder of a killed process stays: %v", err)
	_, err = os.Stat(killed.Path + scratchLock)
	must.Be(t, os.IsNotExist(err), "its lock stays: %v", err)
	entries, err := os.ReadDir(temp)
	must.Be(t, err == nil && len(entries) == 5, "%d entries are left: %v", len(entries), err)
	must.Do(t, running.Remove())
	entries, err = os.ReadDir(temp)
	must.Be(t, err == nil && len(entries) == 3, "%d entries are left after Remove: %v", len(entries), err)
}

func TestTemporary(t *testing.T) {
	explained := func(err error) error { return URL{}.explain(t.Context(), err) }
	for _, test := range []struct {
		err  error
		want bool
	}{
		{fmt.Errorf("-out: out.csv: %w", errBusy), true},
		{fmt.Errorf("in.csv: %w", ErrChanged), true},
		{withName("out.csv", &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}), true},
		{withName("in.csv", &os.PathError{Op: "read", Path: "x", Err: syscall.EIO}), true},
		{withName("in.csv", &os.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}), false},
		{withName("in.csv", &os.PathError{Op: "open", Path: "x", Err: syscall.EACCES}), false},
		{fs.ErrNotExist, false},
		{syscall.EPIPE, false},
		{errors.New("damaged"), false},
		{io.ErrUnexpectedEOF, false}, // a cut input stays cut
		{explained(&ResponseError{Status: 503}), true},
		{explained(&ResponseError{Status: 429}), true},
		{explained(&ResponseError{Status: 404}), false},
		{explained(&ResponseError{Status: 403}), false},
		{explained(&ResponseError{Status: 400}), false},
		{explained(&stalledError{For: "an answer"}), true},
		{explained(&url.Error{Op: "Get", URL: "http://x", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}), true},
		{explained(errors.New("no credentials")), false},
		{&brokenError{err: syscall.ECONNRESET}, true},
	} {
		must.Equal(t, Temporary(test.err), test.want, test.err)
	}
}

func TestGlob(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a.txt", ".b.txt", "d/a.txt", "d/e/a.txt", "d/e/b.csv", "_tmp/a.txt", ".h/a.txt", "dt=1/p.arrow", "dt=2/p.arrow", "x[1].txt"} {
		must.WriteFile(t, name, "")
	}
	for _, test := range []struct{ pattern, root, want string }{
		{"*.txt", "", "a.txt x[1].txt"},
		{".*.txt", "", ".b.txt"},
		{"x[[]1].txt", "", "x[1].txt"},
		{"*/a.txt", "", "_tmp/a.txt d/a.txt"},
		{"d/*/*", "d/", "d/e/a.txt d/e/b.csv"},
		{"d/*", "d/", "d/a.txt d/e"},
		{"**/a.txt", "", "a.txt d/a.txt d/e/a.txt"},
		{"**/e/a.txt", "", "d/e/a.txt"},
		{"**/**/a.txt", "", "a.txt d/a.txt d/e/a.txt"},
		{"d/**", "d/", "d/a.txt d/e/a.txt d/e/b.csv"},
		{"./d/**/*.csv", "./d/", "d/e/b.csv"},
		{"dt=*/p.arrow", "", "dt=1/p.arrow dt=2/p.arrow"},
		{"dt=*/", "", "dt=1 dt=2"},
		{"*/p.arrow/x", "", ""},
		{"none/*", "none/", ""},
		{"a.txt/*", "a.txt/", ""},
	} {
		found, err := Glob(filepath.FromSlash(test.pattern))
		for i, name := range found {
			found[i] = filepath.ToSlash(filepath.Clean(name))
		}
		want := strings.Fields(test.want)
		must.Be(t, err == nil && slices.Equal(found, want), "%s: %q, %v; want %q", test.pattern, found, err, want)
		root := PatternRoot(test.pattern)
		must.Be(t, filepath.ToSlash(root) == test.root, "%s: root %q, want %q", test.pattern, root, test.root)
	}
	must.Fail(t, must.Err(Glob("d/[/x")), "for a bad pattern")
}
