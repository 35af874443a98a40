package blob

import (
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"syscall"
)

// passing are errors of the system that another attempt, a little later or on another
// machine, may not meet.
var passing = []syscall.Errno{
	syscall.EIO, syscall.ENOSPC, syscall.EDQUOT, syscall.ESTALE, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ETIMEDOUT, syscall.EHOSTDOWN,
}

// Temporary reports whether an operation that failed with err may succeed if it is repeated
// later or on another machine: another process writes the output or an input, a store is
// overloaded or not reached, a disk is full or broken. It is false for what is missing,
// refused or damaged.
func Temporary(err error) bool {
	var errno syscall.Errno
	var failed *storeError
	var broken *brokenError
	var stalled *stalledError
	switch {
	case errors.Is(err, errBusy), errors.Is(err, ErrChanged), errors.Is(err, errNoLength), errors.As(err, &broken), errors.As(err, &stalled):
		return true
	case errors.As(err, &failed):
		return failed.temporary
	}
	return errors.As(err, &errno) && slices.Contains(passing, errno)
}

// storeError is what a store answered, or why it did not. It wraps nothing: a
// connection that broke may be an EPIPE, which is not that of the output's reader.
type storeError struct {
	text      string
	temporary bool
}

func newStoreError(u URL, begin string, err error) *storeError {
	return &storeError{text: begin + u.hide(publicText(err)), temporary: mayPass(err)}
}

func (e *storeError) Error() string { return e.text }

// mayPass reports whether a store may accept later what it refused with err.
func mayPass(err error) bool {
	var refused *ResponseError
	if errors.As(err, &refused) {
		switch refused.Status {
		case http.StatusTooManyRequests, http.StatusRequestTimeout:
			return true
		case http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect:
			return refused.Region == ""
		}
		return refused.Status >= http.StatusInternalServerError
	}
	var network net.Error // a stalledError is one
	isNetwork := errors.As(err, &network)
	return isNetwork || slices.ContainsFunc([]error{io.ErrUnexpectedEOF, ErrNoListing, ErrNoObject, ErrUnconfirmed}, func(e error) bool { return errors.Is(err, e) })
}
