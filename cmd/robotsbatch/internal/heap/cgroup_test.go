package heap

import (
	"testing"
	"testing/fstest"

	"robotsbatch/io/store/must"
)

// The limit is the least of the group's own and those of the groups that it lies in, in both
// versions of control groups.
func TestGroupLimit(t *testing.T) {
	const most = "9223372036854771712\n" // no limit, as version 1 writes it
	for name, test := range map[string]struct {
		files map[string]string
		want  int64 // 0 for none
	}{
		"no groups":         {nil, 0},
		"version 2":         {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1000\n"}, 1000},
		"version 2, above":  {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "500\n"}, 500},
		"version 2, none":   {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, 0},
		"a container":       {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "700\n"}, 700},
		"version 1":         {map[string]string{"proc/self/cgroup": "5:cpu:/x\n4:memory:/j\n0::/\n", "sys/fs/cgroup/memory/j/memory.limit_in_bytes": "800\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": most}, 800},
		"version 1, host's": {map[string]string{"proc/self/cgroup": "4:memory:/docker/1\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "900\n"}, 900},
		"version 1, none":   {map[string]string{"proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": most}, 0},
		"damaged":           {map[string]string{"proc/self/cgroup": "memory\n\n4:memory\n0::/\n", "sys/fs/cgroup/memory.max": "many\n"}, 0},
	} {
		root := make(fstest.MapFS)
		for file, text := range test.files {
			root[file] = &fstest.MapFile{Data: []byte(text)}
		}
		got, limited := groupLimit(root)
		must.Be(t, limited == (test.want > 0) && (!limited || got == test.want), "%s: %d, %v, want %d", name, got, limited, test.want)
	}
}
