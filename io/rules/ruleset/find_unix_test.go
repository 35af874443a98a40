//go:build unix

package ruleset

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Folders in folders are not open all at once while it is found out what they hold.
func TestFoldersAreClosedBeforeTheNext(t *testing.T) {
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, strings.Repeat("d/", 100)), 0o777); err != nil {
		t.Fatal(err)
	}
	var usual syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &usual); err != nil {
		t.Fatal(err)
	}
	few := usual
	few.Cur = 64
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	is, err := isCaptureFolder(t.Context(), folder)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &usual); err != nil {
		t.Error(err)
	}
	if is || err != nil {
		t.Errorf("captures: %v, error %v", is, err)
	}
}
