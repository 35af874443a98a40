//go:build unix

package console

import (
	"os"
	"syscall"
)

// failedWrites are the signals that a failed write sends: SIGPIPE where nobody
// reads any more, SIGXFSZ where a file would become larger than a limit allows.
var failedWrites = []os.Signal{syscall.SIGPIPE, syscall.SIGXFSZ}
