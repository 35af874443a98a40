package config

import (
	"testing"

	"robotsbatch/io/store/must"
)

// The default of -memory is half of what packs leave of a control group, and never more than
// without one; a value that somebody gave stays.
func TestMemoryFitsTheGroup(t *testing.T) {
	const mib = 1 << 20
	for _, test := range []struct{ group, packs, want int64 }{
		{4 << 30, 0, 512},
		{1 << 30, 0, 512},
		{1<<30 - 1, 0, 511},
		{100 * mib, 0, 50},
		{100 * mib, 40 * mib, 30},
		{100 * mib, 99 * mib, 16},
		{1 << 30, 64 << 30, 128},
		{mib, 0, 16},
	} {
		c := NewRunning()
		fits := c.FitMemory(test.group, test.packs)
		must.Be(t, c.Memory == test.want*mib && fits == (test.want < 512), "%d MiB with %d MiB of packs: %d MiB", test.group/mib, test.packs/mib, c.Memory/mib)
	}
	c := NewRunning()
	for _, f := range c.Flags() {
		if f.Name == "memory" {
			must.Do(t, f.Value.(func(string) error)("600MiB"))
		}
	}
	must.Be(t, !c.FitMemory(100*mib, 0) && c.Memory == 600*mib, "600 MiB became %d", c.Memory/mib)
}
