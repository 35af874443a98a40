package blob

import (
	"os"
	"path/filepath"
	"testing"
)

// The folder of a process that was killed is removed by the next one; that of a process
// that runs, and what only has a similar name, stay.
func TestScratchOfKilledProcess(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	killed, err := NewScratch()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(killed.Path, "captures.rules"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := killed.lock.file.Close(); err != nil { // as the system does when a process ends
		t.Fatal(err)
	}
	running, err := NewScratch()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"robotsbatch-mine.lock", "robotsbatch-123456789.lock", "robotsbatch-12345678"} {
		if err := os.Mkdir(filepath.Join(temp, name), 0o700); err != nil {
			t.Fatal(err)
		}
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
	if err := running.Remove(); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(temp); err != nil || len(entries) != 3 {
		t.Errorf("%d entries are left after Remove: %v", len(entries), err)
	}
}
