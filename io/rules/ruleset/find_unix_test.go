//go:build unix

package ruleset

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"robotsbatch/batch/manifest"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
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

// Captures whose names are not UTF-8 are the same in the next run, which reads their names in JSON.
func TestIdentifyNameThatIsNotUTF8(t *testing.T) {
	files(t, map[string]string{"crawl/1.warc": warcOf(rules, 0, "a.example")})
	if err := os.Rename("crawl/1.warc", "crawl/caf\xe9.warc"); err != nil {
		t.Skip(err) // a file system whose names are UTF-8
	}
	found := must.Get(Find(t.Context(), Options{Sources: []string{"crawl"}, Memory: 1 << 26, Workers: 1, Chains: []matcher.Chain{{matcher.Everyone}}}))(t)
	versions := found.Versions(t.Context())
	set := must.Get(found.Open(t.Context()))(t)
	defer set.Close()
	job := manifest.Job{Manifest: manifest.Version, Rules: must.Get(versions.Identify(set))(t)}
	before := must.Get(manifest.ReadBytes(manifest.AppendJob(nil, &job)))(t)
	must.Equal(t, before.Job.Difference(&job).String(), "", "what changed")
}

// A pipe in a folder of captures is an error at once, and not waited for.
func TestPipeAmongCaptures(t *testing.T) {
	files(t, map[string]string{"crawl/1.warc": warcOf(rules, 0, "a.example")})
	must.Do(t, syscall.Mkfifo("crawl/2.warc", 0o666))
	_, err := Find(t.Context(), Options{Sources: []string{"crawl"}, Memory: 1 << 26, Workers: 1})
	must.Say(t, err, "2.warc is no regular file")
}

// A pack that is a pipe is an error, and not waited for: nothing would end the wait.
func TestPackIsPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	must.Do(t, syscall.Mkfifo(pipe, 0o666))
	opened := make(chan error, 1)
	go func() { opened <- must.Err(rulepack.Open(pipe, rulepack.Options{})) }()
	select {
	case err := <-opened:
		must.Say(t, err, "not a regular file")
	case <-time.After(time.Minute):
		t.Error("it waits")
	}
}
