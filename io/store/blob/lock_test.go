package blob

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"robotsbatch/io/store/must"
)

// needLocks skips where tryLock does nothing.
func needLocks(t *testing.T) {
	t.Helper()
	switch runtime.GOOS {
	case "darwin", "dragonfly", "freebsd", "linux", "netbsd", "openbsd", "windows":
	default:
		t.Skip("no locks on " + runtime.GOOS)
	}
}

func TestLock(t *testing.T) {
	needLocks(t)
	folder := t.TempDir()
	file := filepath.Join(folder, "out.csv")
	for _, test := range []struct {
		name string
		lock func() (*Lock, error)
	}{
		{file, func() (*Lock, error) { return LockFile(file) }},
		{folder, func() (*Lock, error) { return LockFolder(folder) }},
	} {
		first := must.Get(test.lock())(t)
		_, err := test.lock()
		must.Be(t, errors.Is(err, errBusy) && strings.Contains(err.Error(), test.name+":"), "%s is locked: %v", test.name, err)
		first.Unlock()
		wantFiles(t, folder, nil)
		second := must.Get(test.lock())(t)
		second.Unlock()
	}
}

// TestLockOfKilledRun has a lock file that nobody holds.
func TestLockOfKilledRun(t *testing.T) {
	folder := t.TempDir()
	must.WriteFile(t, filepath.Join(folder, ".out.csv.robotsbatch.lock"), "")
	lock := must.Get(LockFile(filepath.Join(folder, "out.csv")))(t)
	lock.Unlock()
	if runtime.GOOS != "solaris" {
		wantFiles(t, folder, nil)
	}
}

func TestLockFileRefuses(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing", "out.csv")
	err := must.Err(LockFile(missing))
	must.Be(t, errors.Is(err, fs.ErrNotExist) && strings.Contains(err.Error(), missing), "folder missing: %v", err)
	for _, name := range []string{Stdio, "/dev/stdout", os.DevNull} {
		lock, err := LockFile(name)
		must.Be(t, lock == nil && err == nil, "%s: %v, %v", name, lock, err)
	}
	var none *Lock
	none.Unlock()
}

// TestLockOfEachName: names that are cut, or not UTF-8, have locks of their own.
func TestLockOfEachName(t *testing.T) {
	needLocks(t)
	folder, long := t.TempDir(), strings.Repeat("p", 205)
	for _, name := range []string{long + "1.txt", long + "2.txt", "\xfe.txt", "\xff.txt", "\xfe\xff.txt"} {
		lock, err := LockFile(filepath.Join(folder, name))
		must.Need(t, err == nil, "%q: %v", name, err)
		defer lock.Unlock()
	}
}

func TestSweep(t *testing.T) {
	needLocks(t)
	folder := t.TempDir()
	deep := filepath.Join(folder, "deep")
	must.Do(t, os.Mkdir(deep, 0o777))
	kept := []string{"out.csv", ".out.csv.robotsbatch-1234567.tmp", ".out.csv.robotsbatch-1234567g.tmp", "out.csv.robotsbatch-12345678.tmp"}
	for _, name := range kept {
		must.WriteFile(t, filepath.Join(folder, name), "")
	}
	left := []string{".out.csv.robotsbatch-12345678.tmp", ".out.csv.robotsbatch.lock", "deep/.b.robotsbatch-abcdef01.tmp"}
	for _, name := range left {
		must.WriteFile(t, filepath.Join(folder, name), "")
	}
	lock := must.Get(LockFolder(folder))(t)
	defer lock.Unlock()
	w := create(t, filepath.Join(deep, "b"))
	write(t, w, "text")
	removed, err := Sweep(folder)
	must.Be(t, removed == len(left) && err == nil, "Sweep = %d, %v", removed, err)
	for _, name := range left {
		must.Fail(t, must.Err(os.Lstat(filepath.Join(folder, name))), name, "still there")
	}
	for _, name := range kept {
		must.Get(os.Lstat(filepath.Join(folder, name)))(t)
	}
	must.Do(t, w.Close())
	wantFiles(t, deep, map[string]string{"b": "text"})
}

func TestSweepFile(t *testing.T) {
	needLocks(t)
	folder := t.TempDir()
	for _, name := range []string{".a.robotsbatch-12345678.tmp", ".b.robotsbatch-12345678.tmp"} {
		must.WriteFile(t, filepath.Join(folder, name), "")
	}
	w := create(t, filepath.Join(folder, "a"))
	must.Do(t, SweepFile(filepath.Join(folder, "a")))
	must.Do(t, w.Close())
	wantFiles(t, folder, map[string]string{"a": "", ".b.robotsbatch-12345678.tmp": ""})
}

func TestInfo(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "urls.txt")
	must.WriteFile(t, name, "text")
	before, err := Stat(t.Context(), name)
	must.Need(t, err == nil && before.Size == 4 && before.Known() && before.Same(before), "Stat = %+v, %v", before, err)
	must.Do(t, before.Unchanged(name))
	later := before.Modified.Add(time.Second)
	must.Do(t, os.Chtimes(name, later, later))
	err = before.Unchanged(name)
	must.Be(t, errors.Is(err, ErrChanged) && strings.Contains(err.Error(), name), "another time: %v", err)
	must.WriteFile(t, name, "tex")
	err = before.Unchanged(name)
	must.Be(t, errors.Is(err, ErrChanged) && strings.Contains(err.Error(), "it had 4 bytes and has 3"), "shorter: %v", err)
	now, err := Stat(t.Context(), name)
	must.Be(t, err == nil && !now.Same(before), "Stat = %+v, %v", now, err)
	other := filepath.Join(folder, "other")
	must.WriteFile(t, other, "another text")
	must.Do(t, os.Rename(other, name))
	err = before.Unchanged(name)
	must.Be(t, err == nil, "replaced: %v", err)
	os.Remove(name)
	must.Do(t, before.Unchanged(name))
	must.Is(t, must.Err(Stat(t.Context(), name)), fs.ErrNotExist, "Stat")
	for _, name := range []string{Stdio, folder} {
		info, err := Stat(t.Context(), name)
		must.Be(t, err == nil && !info.Known() && !info.Same(info), "Stat(%s) = %+v, %v", name, info, err)
	}
}
