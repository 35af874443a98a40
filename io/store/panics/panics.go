// Package panics turns recovered panics into errors that keep the stack.
package panics

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// Bug says what a panic is that no input explains.
const Bug = "internal error, please report it"

// panicked is a panic as an error.
type panicked struct {
	what  string // what it means, such as Bug
	value any
	stack []byte
}

// Error implements error. It leaves out the stack.
func (e *panicked) Error() string { return fmt.Sprintf("%s: %v", e.what, e.value) }

// As returns a function for Recover that makes an error of any panic, with its stack. what
// says what the panic means, such as Bug.
func As(what string) func(value any) error {
	return func(value any) error { return &panicked{what, value, debug.Stack()} }
}

// Recover, deferred, ends a panic and sets *err to the error that explain makes of it. If
// explain returns nil, the panic goes on.
func Recover(err *error, explain func(value any) error) {
	value := recover()
	if value == nil {
		return
	}
	explained := explain(value)
	if explained == nil {
		panic(value)
	}
	*err = explained
}

// StackOf returns the stack of the bug that err reports; nil if it reports none.
func StackOf(err error) []byte {
	var e *panicked
	if errors.As(err, &e) && e.what == Bug {
		return e.stack
	}
	return nil
}
