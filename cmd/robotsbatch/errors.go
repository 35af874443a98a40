package main

import (
	"errors"
	"fmt"
)

// usageError is a mistake on the command line itself: exit status 2. What the
// files on the disk are to blame for is any other error: exit status 1.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usageErrorf(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// unavailable is the error for what a later version brings.
func unavailable(what string) error {
	return usageErrorf("%s is not available in this version", what)
}

func isUsage(err error) bool {
	var usage usageError
	return errors.As(err, &usage)
}
