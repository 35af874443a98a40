//go:build !unix

package rulepack

import "os"

// mapFile reads a file into memory, where files are not mapped.
func mapFile(name string) (data []byte, unmap func() error, err error) {
	data, err = os.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	return data, func() error { return nil }, nil
}

// advise is for systems where files are mapped.
func advise([]byte, reading) {}
