package blob

import (
	"os"
	"path/filepath"
	"testing"

	"robotsbatch/io/store/must"
)

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
	if _, err := os.Stat(killed.Path); !os.IsNotExist(err) {
		t.Errorf("the folder of a killed process stays: %v", err)
	}
	if _, err := os.Stat(killed.Path + scratchLock); !os.IsNotExist(err) {
		t.Errorf("its lock stays: %v", err)
	}
	if entries, err := os.ReadDir(temp); err != nil || len(entries) != 5 {
		t.Errorf("%d entries are left: %v", len(entries), err)
	}
	must.Do(t, running.Remove())
	if entries, err := os.ReadDir(temp); err != nil || len(entries) != 3 {
		t.Errorf("%d entries are left after Remove: %v", len(entries), err)
	}
}
