//go:build !unix

package console

import (
	"os"
	"syscall"
)

// failedWrites are the signals that a failed write sends.
var failedWrites = []os.Signal{syscall.SIGPIPE}
