//go:build !unix

package console

import (
	"os"
	"syscall"
)

// CloseSubstitutes has nothing to do: a stream that is missing fails when it is used.
func CloseSubstitutes() {}

// failedWrites are the signals that a failed write sends.
var failedWrites = []os.Signal{syscall.SIGPIPE}
