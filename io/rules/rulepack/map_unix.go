//go:build unix

package rulepack

import (
	"errors"
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a file into memory.
func mapFile(name string) (m mapping, err error) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe is refused below, and not waited for
	if err != nil {
		return m, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return m, err
	}
	m = mapping{file: f, mapped: info}
	switch size := info.Size(); {
	case !info.Mode().IsRegular():
		return m, fmt.Errorf("%w: not a regular file", errNotPack)
	case size == 0: // cannot be mapped
		return m, nil
	case size > math.MaxInt:
		return m, fmt.Errorf("it has %d bytes, more than this machine can address", size)
	}
	m.data, err = unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return m, fmt.Errorf("mmap: %w", err)
	}
	return m, nil
}

// close undoes mapFile.
func (m *mapping) close() error {
	if m.file == nil {
		return nil
	}
	var err error
	if len(m.data) > 0 {
		err = unix.Munmap(m.data)
	}
	return errors.Join(err, m.file.Close())
}

// diskUsage is how often the process has waited for a page of a mapped file, and how many
// bytes it has read from disks; too few where the system counts reads and not their blocks.
func diskUsage() (faults, read int64) {
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &used) != nil {
		return 0, 0
	}
	const block = 512
	return int64(used.Majflt), int64(used.Inblock) * block
}

// advise tells the system how a mapping will be read. The system may ignore it.
func advise(data []byte, how reading) {
	if len(data) > 0 {
		_ = unix.Madvise(data, [...]int{
			manyPlaces: unix.MADV_NORMAL, fewPlaces: unix.MADV_RANDOM, inOrder: unix.MADV_SEQUENTIAL, notAgain: unix.MADV_DONTNEED,
		}[how])
	}
}
