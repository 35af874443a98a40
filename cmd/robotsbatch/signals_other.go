//go:build !unix

package main

import (
	"os"
	"syscall"
)

// failedWrites are the signals that a failed write sends.
var failedWrites = []os.Signal{syscall.SIGPIPE}
