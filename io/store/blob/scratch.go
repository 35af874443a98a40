package blob

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

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
		l, err := lock(s.Path, s.Path+scratchLock)
		if err == nil {
			if err = os.Mkdir(s.Path, 0o700); err == nil {
				s.lock = l
				return s, nil
			}
			l.Unlock()
		}
		if attempts == 0 || !errors.Is(err, errBusy) && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("a temporary folder: %w", named(s.Path, err))
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

// SweepScratch removes the temporary folders whose owners were killed. What cannot be
// removed, or has no lock that proves it, stays.
func SweepScratch() {
	entries, err := os.ReadDir(os.TempDir())
	if err != nil {
		return
	}
	for _, entry := range entries {
		name, ok := strings.CutSuffix(entry.Name(), scratchLock)
		number, is := strings.CutPrefix(name, scratchMark)
		if ok && is && len(number) == 8 && strings.Trim(number, "0123456789abcdef") == "" && entry.Type().IsRegular() {
			sweepScratch(filepath.Join(os.TempDir(), name))
		}
	}
}

// sweepScratch removes a temporary folder and its lock file if nobody holds the lock.
// Where files cannot be locked, as on some networks, a second lock also succeeds.
func sweepScratch(path string) {
	f, err := os.Open(path + scratchLock)
	if err != nil {
		return
	}
	defer f.Close()
	if ok, err := tryLock(f); !ok || err != nil || !isAt(f, path+scratchLock) {
		return
	}
	again, err := os.Open(path + scratchLock)
	if err != nil {
		return
	}
	ok, err := tryLock(again)
	again.Close()
	if ok || err != nil {
		return
	}
	if info, err := os.Lstat(path); err == nil && !info.IsDir() || os.RemoveAll(path) != nil {
		return
	}
	removeLocked(f, path+scratchLock)
}
