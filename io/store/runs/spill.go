package runs

import (
	"fmt"
	"io"
	"os"
)

// Spill is a temporary file for what does not fit in memory. The first write creates it. If
// the system permits, its name is removed at once, so that nothing is left of it even if the
// program is killed.
type Spill struct {
	// Folder is where the file is made; "" for the system's folder of temporary files.
	Folder string

	file  *os.File // nil before the first write and after Close
	named bool     // the file still has its name, which Close must remove
	size  int64
}

// Write appends to the file.
func (s *Spill) Write(data []byte) (int, error) {
	if err := s.WriteAt(data, s.size); err != nil {
		return 0, err
	}
	return len(data), nil
}

// fileError says in an error that the temporary file has failed; it returns nil for nil.
func fileError(err error) error {
	if err != nil {
		err = fmt.Errorf("temporary file: %w", err)
	}
	return err
}

// WriteAt writes at an offset, which may be after the end.
func (s *Spill) WriteAt(data []byte, offset int64) error {
	if s.file == nil {
		file, err := os.CreateTemp(s.Folder, ".robotsbatch-*.tmp")
		if err != nil {
			return fileError(err)
		}
		s.file = file
		s.named = os.Remove(file.Name()) != nil
	}
	if _, err := s.file.WriteAt(data, offset); err != nil {
		return fileError(err)
	}
	s.size = max(s.size, offset+int64(len(data)))
	return nil
}

// Size returns the length of the file.
func (s *Spill) Size() int64 { return s.size }

// Truncate removes what was written from an offset on.
func (s *Spill) Truncate(size int64) error {
	if s.file == nil {
		return nil
	}
	if err := s.file.Truncate(size); err != nil {
		return fileError(err)
	}
	s.size = size
	return nil
}

// Extent is a part of a Spill, in bytes.
type Extent struct{ Start, Length int64 }

// Reader returns a reader of an extent. It is valid until Close.
func (s *Spill) Reader(e Extent) io.Reader {
	return io.NewSectionReader(s.file, e.Start, e.Length)
}

// ReadAt fills data with the bytes from an offset on.
func (s *Spill) ReadAt(data []byte, offset int64) error {
	_, err := s.file.ReadAt(data, offset)
	return fileError(err)
}

// All returns a reader of the whole file, which is empty before the first write. It is valid until Close.
func (s *Spill) All() io.Reader { return s.Reader(Extent{0, s.size}) }

// Close removes the file. What it had is lost; Write and WriteAt then begin a new file.
func (s *Spill) Close() {
	if s.file == nil {
		return
	}
	_ = s.file.Close() // nobody needs what it failed to write
	if s.named {
		_ = os.Remove(s.file.Name())
	}
	s.file, s.size = nil, 0
}
