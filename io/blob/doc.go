// Package blob opens inputs and creates outputs by name.
//
// Outputs are whole or absent: they appear under their name only when they are
// complete, and until then what was there before remains. Names are those of
// local files, and "-" for the standard streams.
package blob

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// Writer is an output that exists only when it is complete. Its errors name
// the output; one that came from a pipe without a reader is syscall.EPIPE.
type Writer interface {
	// Write adds octets. It keeps nothing of p. An error stays: nothing that
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

// checkName refuses what cannot be the name of a local file.
func checkName(name string) error {
	if name == "" {
		return errors.New("blob: the name is empty")
	}
	if scheme, _, ok := strings.Cut(name, "://"); ok {
		return fmt.Errorf("blob: %s: %s:// cannot be opened, only local files can", name, scheme)
	}
	return nil
}

// named puts the name of the input or output in front of err, and drops the one
// that the operating system's error has, which may be that of a temporary file.
func named(name string, err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return fmt.Errorf("blob: %s: %s: %w", name, pathError.Op, pathError.Err)
	}
	return fmt.Errorf("blob: %s: %w", name, err)
}
