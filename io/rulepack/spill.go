package rulepack

import (
	"fmt"
	"io"
	"os"
)

// spill is a temporary file for what does not fit in memory. It is made when
// something is first written, and where the system can do that it has no name
// from then on: nothing is left of it, whatever happens.
type spill struct {
	folder string
	file   *os.File
	named  bool
	size   int64
}

// Write appends to the file.
func (s *spill) Write(data []byte) (int, error) {
	if s.file == nil {
		file, err := os.CreateTemp(s.folder, ".robotsbatch-*.tmp")
		if err != nil {
			return 0, fmt.Errorf("temporary file: %w", err)
		}
		s.file = file
		s.named = os.Remove(file.Name()) != nil
	}
	n, err := s.file.Write(data)
	s.size += int64(n)
	if err != nil {
		return n, fmt.Errorf("temporary file: %w", err)
	}
	return n, nil
}

// extent is a part of a spill.
type extent struct{ start, length int64 }

// reader reads an extent.
func (s *spill) reader(e extent) io.Reader {
	return io.NewSectionReader(s.file, e.start, e.length)
}

// all reads everything.
func (s *spill) all() io.Reader {
	if s.file == nil {
		return eof{}
	}
	return s.reader(extent{0, s.size})
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// close removes the file.
func (s *spill) close() {
	if s.file == nil {
		return
	}
	_ = s.file.Close() // nobody needs what it failed to write
	if s.named {
		_ = os.Remove(s.file.Name())
	}
	s.file = nil
}
