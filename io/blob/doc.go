// Package blob opens inputs and creates outputs by name, in local files and in
// object stores.
//
// Outputs are whole or absent: they appear under their name only when they are
// complete, and until then what was there before remains. Names are those of
// local files, URLs, and "-" for the standard streams.
//
// # Object stores
//
// A [URL] names an object, a folder or a pattern. Which stores there are is up to
// the program: it links drivers, which call [Register]. Credentials are found
// by the drivers, in the environment and the files that the store's own tools
// use; they are in no name, and no error has any.
//
//	Open     size and version
//	Read     the head, then blocks that are fetched ahead
//	ReadAt   head, tail and announced ranges; blocks where it reads in order
//	Expect   which ranges will be read: each is one request
//	Create   parts, as they are full; Close makes an object of them
//
// Requests are tried again by the store's own library. A body that breaks off is
// asked for again from there on, if the object is still the same.
package blob

import (
	"errors"
	"io"
	"io/fs"
)

// Writer is an output that exists only when it is complete. Its errors name
// the output; one that came from a pipe without a reader is syscall.EPIPE.
type Writer interface {
	// Write adds bytes. It keeps nothing of p. An error stays: nothing that
	// is written later can repair the output.
	io.Writer
	// Close completes the output: after it returns nil the output is there,
	// whole. After an error Abort is not needed any more.
	Close() error
	// Abort gives the output up; what was there before remains. It does nothing
	// after Close.
	Abort()
}

// Stdio is the name that means stdin to Open and stdout to Create.
const Stdio = "-"

// checkName tells the names of local files, which it returns, from those of
// objects.
func checkName(name string) (local string, isObject bool, err error) {
	if name == "" {
		return "", false, errors.New("the name is empty")
	}
	local, err = LocalName(name)
	return local, IsURL(local), err
}

// named puts the name of the input or output in front of err, and drops the one
// that the operating system's error has, which may be that of a temporary file.
func named(name string, err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	return &NamedError{name, err}
}

// NamedError says what is wrong with the input or output of that name. Who names it in
// front of the error, such as the reader of a format, names it twice.
type NamedError struct {
	Name string
	Err  error
}

func (e *NamedError) Error() string { return e.Name + ": " + e.Err.Error() }

// Unwrap returns what is wrong.
func (e *NamedError) Unwrap() error { return e.Err }
