//go:build unix

package rulepack

import (
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a file into memory; unmap undoes that.
func mapFile(name string) (data []byte, unmap func() error, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() // a mapping stays
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	switch size := info.Size(); {
	case !info.Mode().IsRegular():
		return nil, nil, fmt.Errorf("%w: not a regular file", ErrNotPack)
	case size == 0: // cannot be mapped
		return nil, func() error { return nil }, nil
	case size > math.MaxInt:
		return nil, nil, fmt.Errorf("it has %d octets, more than this machine can address", size)
	}
	data, err = unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("mmap: %w", err)
	}
	return data, func() error { return unix.Munmap(data) }, nil
}

// advise tells the system how a mapping will be read. It is only advice, and may
// be refused.
func advise(data []byte, how reading) {
	if len(data) > 0 {
		_ = unix.Madvise(data, [...]int{
			manyPlaces: unix.MADV_NORMAL, fewPlaces: unix.MADV_RANDOM, inOrder: unix.MADV_SEQUENTIAL,
		}[how])
	}
}
