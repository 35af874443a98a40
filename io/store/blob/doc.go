// Package blob opens inputs and creates outputs by name, in local files and in
// object stores.
//
// Outputs are whole or absent: they appear under their name only when complete, and
// until then an older file or object remains. Names are those of local files, URLs, and
// "-" for the standard streams.
//
// # Object stores
//
// A [URL] names an object, a folder or a pattern. The program chooses the stores by
// linking drivers, which call [Register]. The drivers find credentials in the
// environment and in the files of the store's own tools. Names and errors never contain
// credentials.
//
//	Open     size and version
//	Read     the head, then blocks that are fetched ahead
//	ReadAt   head, tail and announced ranges; blocks where it reads in order
//	Expect   which ranges will be read: each is one request
//	Create   parts, as they are full; Close makes an object of them
//
// The store's own library retries requests. A body that breaks off is requested again
// from that point on, if the object is unchanged.
package blob

import (
	"errors"
	"io"
	"io/fs"
)

// Writer is an output that exists only when it is complete. Its errors name
// the output; one that came from a pipe without a reader is syscall.EPIPE.
type Writer interface {
	// Write adds bytes. It does not retain p. After an error all later calls fail.
	io.Writer
	// Close completes the output: once it returns nil, the whole output exists. After
	// an error, Abort is not needed.
	Close() error
	// Abort discards the output; an older one remains. It does nothing after Close.
	Abort()
}

// Stdio is the name that means stdin to Open and stdout to Create.
const Stdio = "-"

// resolveName tells names of objects from those of files. It returns the URL of an object, or the
// path of a local file, of which name may be the file:// URL; object is nil then.
func resolveName(name string) (path string, object *URL, err error) {
	if name == "" {
		return "", nil, errors.New("the name is empty")
	}
	path, err = LocalName(name)
	if err != nil || !IsURL(path) {
		return path, nil, err
	}
	u, err := ParseURL(path)
	return "", &u, err
}

// withName prefixes err with the name of the input or output. It drops the path in an
// fs.PathError, which may be a temporary file's.
func withName(name string, err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	return &namedError{name, err}
}

// namedError says what is wrong with the input or output of that name. Its text begins with the
// name: callers must not put it there again.
type namedError struct {
	Name string
	Err  error
}

func (e *namedError) Error() string { return e.Name + ": " + e.Err.Error() }

// Unwrap returns what is wrong.
func (e *namedError) Unwrap() error { return e.Err }

// Named is for [option.PartsOf], which names nothing twice.
func (e *namedError) Named() (name string, err error) { return e.Name, e.Err }
