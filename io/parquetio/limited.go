package parquetio

import "github.com/apache/arrow/go/v15/arrow/memory"

// tooLarge is what a limited allocator panics with.
type tooLarge int64

func tooLargeError(n int64) error {
	return guard(func() error { panic(tooLarge(n)) })
}

// limited is an allocator that refuses buffers of more than limit octets, with
// a panic of tooLarge, for an allocator has no errors.
type limited struct {
	memory.Allocator
	limit int64
}

// Allocate implements memory.Allocator.
func (l limited) Allocate(size int) []byte {
	if int64(size) > l.limit || size < 0 {
		panic(tooLarge(size))
	}
	return l.Allocator.Allocate(size)
}

// Reallocate implements memory.Allocator.
func (l limited) Reallocate(size int, b []byte) []byte {
	if int64(size) > l.limit || size < 0 {
		panic(tooLarge(size))
	}
	return l.Allocator.Reallocate(size, b)
}
