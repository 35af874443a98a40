// Package heap keeps the program within the memory that it may use.
package heap

import (
	"errors"
	"math"
	"os"
	"runtime/debug"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/store/budget"
)

// ownMemory is what the program takes besides what -memory bounds: tables of
// its own and of compressors, stacks, and what the garbage collector needs.
const ownMemory = 16 << 20

// Limit makes the garbage collector keep the program within -memory; by default
// garbage may take as much as what is in use. A GOMEMLIMIT in the environment goes
// first.
func Limit(memory int64) {
	if os.Getenv("GOMEMLIMIT") == "" && memory < math.MaxInt64/2 {
		debug.SetMemoryLimit(memory + ownMemory)
	}
}

// leastHeap is what the heap may always take: with less there would be nothing
// but garbage collection.
const leastHeap = 64 << 20

// Hold keeps the heap within seven eighths of -memory while a rule pack is made,
// and returns what ends that. The builder spills to temporary files long before.
func Hold(memory int64) (end func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetMemoryLimit(max(memory-memory/8, leastHeap))
	return func() { debug.SetMemoryLimit(before) }
}

// WithMemory adds to an error for lack of memory which -memory would do.
func WithMemory(err error, memory int64) error {
	if large := (*budget.MemoryError)(nil); errors.As(err, &large) {
		enough := (large.Enough(memory) + 1<<20 - 1) &^ (1<<20 - 1)
		return option.Errorf("%w: use %s", err, option.Memory.With(cli.SizeText(enough)))
	}
	return err
}
