//go:build !unix

package rulepack

import "os"

// mapFile reads a file into memory, where files are not mapped.
func mapFile(name string) (mapping, error) {
	data, err := os.ReadFile(name)
	return mapping{data: data}, err
}

func (m *mapping) close() error { return nil }

// advise is for systems where files are mapped.
func advise([]byte, reading) {}
