// Package blob opens inputs and creates outputs by name. Outputs are whole or
// absent: they appear under their name only when they are complete.
package blob

import "io"

// Writer is an output that exists only when it is complete.
type Writer interface {
	io.Writer
	// Close completes the output.
	Close() error
	// Abort gives it up; what was there before remains. It does nothing after
	// a successful Close.
	Abort()
}

// Create starts the output of that name. It appears when Close succeeds.
func Create(name string) (Writer, error) { panic("todo") }
