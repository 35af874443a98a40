//go:build unix

package ruleset

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"robotsbatch/io/store/must"
)

// Folders in folders are not open all at once while it is found out what they hold.
func TestFoldersAreClosedBeforeTheNext(t *testing.T) {
	folder := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(folder, strings.Repeat("d/", 100)), 0o777))
	var usual syscall.Rlimit
	must.Do(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &usual))
	few := usual
	few.Cur = 64
	must.Do(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few))
	is, err := isCaptureFolder(t.Context(), folder)
	must.Do(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &usual))
	must.Be(t, !is && err == nil, "captures: %v, error %v", is, err)
}

// A pipe in a folder of captures is an error at once, and not waited for.
func TestPipeAmongCaptures(t *testing.T) {
	files(t, map[string]string{"crawl/1.warc": warcOf(rules, 0, "a.example")})
	must.Do(t, syscall.Mkfifo("crawl/2.warc", 0o666))
	_, err := Find(t.Context(), Options{Sources: []string{"crawl"}, Memory: 1 << 26, Workers: 1})
	must.Say(t, err, "2.warc is no regular file")
}
