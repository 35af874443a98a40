// Package heap keeps the program within the memory that it may use.
package heap

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/store/budget"
)

// ownMemory is what the program takes beside what -memory bounds: its tables and those of
// compressors, stacks, and what the garbage collector needs.
const ownMemory = 16 << 20

// Limit makes the garbage collector keep the program within memory bytes, the value of -memory, and
// ownMemory. Without it garbage may take as much as what is in use. A GOMEMLIMIT in the environment
// takes precedence.
func Limit(memory int64) {
	if os.Getenv("GOMEMLIMIT") == "" && memory < math.MaxInt64/2 {
		debug.SetMemoryLimit(memory + ownMemory)
	}
}

// leastHeap is what the heap may always take: with less the program would do nothing but collect
// garbage.
const leastHeap = 64 << 20

// Hold limits the heap to seven eighths of memory, the value of -memory, while a rule pack is made. end
// puts the former limit back.
func Hold(memory int64) (end func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetMemoryLimit(max(memory-memory/8, leastHeap))
	return func() { debug.SetMemoryLimit(before) }
}

// WithMemory adds to an error for lack of memory the -memory that would be enough, in whole MiB. memory
// is its present value. It returns other errors as they are.
func WithMemory(err error, memory int64) error {
	if large := (*budget.MemoryError)(nil); errors.As(err, &large) {
		enough := (large.Enough(memory) + 1<<20 - 1) &^ (1<<20 - 1)
		return option.Errorf("%w: use %s", err, option.Memory.With(cli.SizeText(enough)))
	}
	return err
}

// GroupLimit returns the most memory that the program's control groups permit, and whether
// there is a limit.
func GroupLimit() (bytes int64, limited bool) { return groupLimit(os.DirFS("/")) }

// groupLimit returns the least memory limit of the process's control group and of the groups
// above it, in a file system like that of Linux. Each line of proc/self/cgroup is
// NUMBER:CONTROLLERS:PATH; CONTROLLERS is empty in version 2. In a container PATH may be that on the
// host, while the root of what is mounted is the group.
func groupLimit(root fs.FS) (bytes int64, limited bool) {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	bytes = math.MaxInt64
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		mounted, file := "sys/fs/cgroup", "memory.max"
		switch fields[1] {
		case "":
		case "memory":
			mounted, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for group := path.Clean("/" + fields[2]); ; group = path.Dir(group) {
			text, err := fs.ReadFile(root, path.Join(mounted, group, file))
			if n, isNumber := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && isNumber == nil && n > 0 {
				bytes = min(bytes, n)
			}
			if group == "/" {
				break
			}
		}
	}
	const none = 1 << 60 // version 1 writes a number near the largest int64 for no limit
	return bytes, bytes < none
}
