package blob

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// errBusy says that another process holds the lock.
var errBusy = errors.New("another run is writing it: wait until it has ended, or choose another name")

// lockEnd ends the names of lock files: .NAME.robotsbatch.lock next to an output,
// .robotsbatch.lock in a folder of outputs.
const lockEnd = ".robotsbatch.lock"

// Lock is the exclusive right of this process to write an output. The system releases
// it when the process ends in any way; the empty file that a killed process leaves does
// not lock anybody out.
type Lock struct {
	file *os.File
	path string
}

// LockFile locks the output of that name, which need not exist; the error is errBusy
// if another run has it. The lock is nil for a pipe or other special file, and for an
// object: if two runs write the same object, the last to complete it wins. On a file
// system without locks, LockFile succeeds for every run.
func LockFile(name string) (*Lock, error) {
	if name == Stdio || isStdout(name) {
		return nil, nil
	}
	name, object, err := resolveName(name)
	if err != nil || object != nil {
		return nil, err
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	target, err := followLinks(name) // all links to a file share its lock
	if err != nil {
		return nil, withName(name, err)
	}
	folder, base := filepath.Split(target)
	return lockPath(name, folder+"."+shortBase(base)+lockEnd)
}

// LockFolder locks an existing folder of outputs. The lock is nil for a folder of objects; the error is errBusy
// if another run has it.
func LockFolder(name string) (*Lock, error) {
	name, object, err := resolveName(name)
	if err != nil || object != nil {
		return nil, err
	}
	return lockPath(name, filepath.Join(name, lockEnd))
}

// lockPath creates and locks the file at path. name is the output that errors name. The error
// is errBusy if another process holds the lock.
func lockPath(name, path string) (*Lock, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o666)
		if err != nil {
			return nil, withName(name, err)
		}
		ok, err := tryLock(f)
		if ok && isAt(f, path) {
			return &Lock{f, path}, nil
		}
		f.Close()
		switch {
		case err != nil:
			return nil, withName(name, err)
		case !ok:
			return nil, fmt.Errorf("%s: %w", name, errBusy)
		}
		// It is locked but no more at path: its last holder removed it just now. Try again.
	}
}

// Unlock releases the lock. It does nothing for nil.
func (l *Lock) Unlock() {
	if l != nil {
		removeLocked(l.file, l.path)
	}
}

// isAt reports whether the open file f is the one at path now.
func isAt(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(mine, there)
}

// shortBase returns base, an output's file name, for use in names of other files, which must be
// valid UTF-8 and below 255 bytes. If base is not, or too long for additions, the result has
// what is valid of its first bytes and a hash of the whole.
func shortBase(base string) string {
	const most = 200
	short := strings.ToValidUTF8(base[:min(len(base), most)], "")
	if short == base {
		return base
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, base) // never an error
	return fmt.Sprintf("%s-%016x", short, h.Sum64())
}

// Sweep removes what killed processes left in and below a folder: temporary files and
// locks that nobody holds. It returns their number.
func Sweep(folder string) (removed int, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && (isTemporary(entry.Name()) || strings.HasSuffix(entry.Name(), lockEnd)) && removeAbandoned(path) {
			removed++
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		return removed, withName(folder, err)
	}
	return removed, nil
}

// SweepFile removes the temporary files that killed processes left next to an output.
func SweepFile(name string) error {
	target, err := followLinks(name)
	if err != nil {
		return withName(name, err)
	}
	folder, base := filepath.Split(target)
	entries, err := os.ReadDir(filepath.Dir(target))
	if err != nil {
		return withName(name, err)
	}
	begin := "." + shortBase(base) + temporaryMark
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), begin) && entry.Type().IsRegular() && isTemporary(entry.Name()) {
			removeAbandoned(folder + entry.Name())
		}
	}
	return nil
}

// isTemporary reports whether a file name is one that createTemporary makes:
// .NAME.robotsbatch-XXXXXXXX.tmp.
func isTemporary(name string) bool {
	rest, ok := strings.CutSuffix(name, temporaryEnd)
	at := strings.LastIndex(rest, temporaryMark)
	return ok && at >= 1 && rest[0] == '.' && isRandom(rest[at+len(temporaryMark):])
}

// isRandom reports whether text is eight hexadecimal digits, as temporary names have.
func isRandom(text string) bool {
	return len(text) == 8 && strings.Trim(text, "0123456789abcdef") == ""
}

// lockAbandoned opens the file at path and locks it. It returns nil if that fails, as when a process
// has locked the file.
func lockAbandoned(path string) *os.File {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	if ok, err := tryLock(f); !ok || err != nil || !isAt(f, path) {
		f.Close()
		return nil
	}
	return f
}

// removeAbandoned removes a file that no process has locked, and reports whether it did.
func removeAbandoned(path string) bool {
	f := lockAbandoned(path)
	if f != nil {
		removeLocked(f, path)
	}
	return f != nil
}

// Names of temporary folders are scratchMark and eight digits; their lock files have
// scratchLock after that.
const (
	scratchMark = "robotsbatch-"
	scratchLock = ".lock"
)

// Scratch is a folder for temporary files, in the system's folder for these. A locked
// file beside it says that its owner runs: what a killed owner left is removed by
// [SweepScratch].
type Scratch struct {
	// Path is the folder's name.
	Path string
	lock *Lock // nil once the folder is removed
}

// NewScratch makes a temporary folder. The caller must call Remove.
func NewScratch() (*Scratch, error) {
	for attempts := 100; ; attempts-- {
		s := &Scratch{Path: filepath.Join(os.TempDir(), fmt.Sprintf("%s%08x", scratchMark, rand.Uint32()))}
		l, err := lockPath(s.Path, s.Path+scratchLock)
		if err == nil {
			if err = os.Mkdir(s.Path, 0o700); err == nil {
				s.lock = l
				return s, nil
			}
			l.Unlock()
		}
		if attempts == 0 || !errors.Is(err, errBusy) && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("a temporary folder: %w", withName(s.Path, err))
		}
	}
}

// Remove removes the folder with all that is in it. After an error, such as that a file
// is open, it may be called again.
func (s *Scratch) Remove() error {
	err := os.RemoveAll(s.Path)
	if err == nil {
		s.lock.Unlock()
		s.lock = nil
	}
	return err
}

// SweepScratch removes the temporary folders whose owners were killed. It leaves those that
// cannot be removed, or that have no lock file to show that the owner is gone.
func SweepScratch() {
	entries, err := os.ReadDir(os.TempDir())
	if err != nil {
		return
	}
	for _, entry := range entries {
		name, isLock := strings.CutSuffix(entry.Name(), scratchLock)
		number, isOurs := strings.CutPrefix(name, scratchMark)
		if isLock && isOurs && isRandom(number) && entry.Type().IsRegular() {
			removeScratch(filepath.Join(os.TempDir(), name))
		}
	}
}

// removeScratch removes a temporary folder and its lock file if nobody holds the lock. It leaves
// both where locks exclude nobody, as on some networks, because the owner may be alive: this shows
// when a second lock also succeeds.
func removeScratch(path string) {
	f := lockAbandoned(path + scratchLock)
	if f == nil {
		return
	}
	defer f.Close()
	again, err := os.Open(path + scratchLock)
	if err != nil {
		return
	}
	ok, err := tryLock(again)
	again.Close()
	if ok || err != nil {
		return
	}
	// A file or link of that name is not this program's.
	if info, err := os.Lstat(path); err == nil && !info.IsDir() || os.RemoveAll(path) != nil {
		return
	}
	removeLocked(f, path+scratchLock)
}
