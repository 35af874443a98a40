package blob

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// writebackSize is the number of bytes that are written before the system is asked to bring
// them to the disk.
const writebackSize = 8 << 20

// writeback writes to a file that goes to the disk meanwhile, so that there is
// little left for its Sync to wait for.
type writeback struct {
	file           *os.File
	written, asked int64 // bytes
}

func writesBack(f *os.File) io.Writer { return &writeback{file: f} }

// Write writes, and asks the system to bring what was written to the disk, without waiting for
// it.
func (w *writeback) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	w.written += int64(n)
	if waiting := w.written - w.asked; waiting >= writebackSize {
		// It waits for nothing, and may be refused; what goes wrong, Sync tells.
		_ = unix.SyncFileRange(int(w.file.Fd()), w.asked, waiting, unix.SYNC_FILE_RANGE_WRITE)
		w.asked = w.written
	}
	return n, err
}
