package heap

import (
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// GroupLimit returns the most memory that the program's control groups permit, and whether
// there is a limit.
func GroupLimit() (bytes int64, limited bool) { return groupLimit(os.DirFS("/")) }

// groupLimit returns the least memory limit of the process's control group and of the groups
// above it, in a file system like that of Linux. Each line of proc/self/cgroup is
// NUMBER:CONTROLLERS:PATH; CONTROLLERS is empty in version 2. In a container, PATH may be the
// host's, and what is mounted is the group.
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
	const none = 1 << 60 // version 1 writes about the largest number for no limit
	return bytes, bytes < none
}
