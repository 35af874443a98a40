//go:build !unix

package console

import (
	"os"
	"syscall"
)

// CloseMissing has nothing to do: a stream that is missing fails when it is used.
func CloseMissing() {}

// failedWrites are the signals that a failed write sends.
var failedWrites = []os.Signal{syscall.SIGPIPE}
