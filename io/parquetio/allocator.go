package parquetio

import "github.com/apache/arrow/go/v15/arrow/memory"

// The library's Parquet writer asks for a few octets more at a time for the
// definition levels of a column with nulls, from its default allocator alone,
// whatever its options say: a column of 65,536 rows is copied thousands of
// times. So its default becomes an allocator that leaves room to grow.
func init() { memory.DefaultAllocator = growing{memory.DefaultAllocator} }

// growing is an allocator whose buffers double, so that growing them in small
// steps takes linear time. It allocates at most twice what was asked for.
type growing struct{ memory.Allocator }

// Reallocate implements memory.Allocator.
func (g growing) Reallocate(size int, b []byte) []byte {
	if size <= len(b) {
		return g.Allocator.Reallocate(size, b)
	}
	if size <= cap(b) {
		old := len(b)
		b = b[:size]
		clear(b[old:]) // as new memory would be
		return b
	}
	larger := g.Allocate(max(size, 2*len(b)))[:size]
	copy(larger, b)
	g.Free(b)
	return larger
}
