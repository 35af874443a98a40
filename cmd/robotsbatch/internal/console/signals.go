package console

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// stopped is the cause of the end of the program's context: a signal.
type stopped struct{ signal syscall.Signal }

func (s stopped) Error() string { return s.signal.String() }

// Status is the exit status that shells give a program that a signal ended: 128 and the
// signal's number.
func (s stopped) Status() int { return 128 + int(s.signal) }

// IgnoreFailedWrites makes a write fail that the system would answer with a signal: one to
// a closed pipe, or beyond a limit of size. The signal would kill the program before it
// could remove a temporary file.
func IgnoreFailedWrites() { signal.Ignore(failedWrites...) }

// Context returns a context that a signal to stop ends. A second one kills at once.
// Signals that the program was started to ignore, as nohup does, stay ignored.
func Context() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	go func() {
		s := <-signals
		signal.Reset(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
		cancel(stopped{s.(syscall.Signal)})
	}()
	return ctx
}
