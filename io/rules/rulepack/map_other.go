//go:build !unix

package rulepack

import "os"

// mapFile reads a file into memory on systems without mapping.
func mapFile(name string) (mapping, error) {
	data, err := os.ReadFile(name)
	return mapping{data: data}, err
}

func (m *mapping) close() error { return nil }

// diskUsage is nothing, for no file is mapped.
func diskUsage() (faults, read int64) { return 0, 0 }

// advise does nothing on systems without mapping.
func advise([]byte, reading) {}
