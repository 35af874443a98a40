//go:build unix

package console

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// CloseSubstitutes closes the null devices that Go's runtime opens in the place of stdin and
// stdout if the program was started without them, as by <&- and >&-. Otherwise an input would
// be read as empty, and rows would be lost, without an error.
func CloseSubstitutes() {
	for _, f := range []*os.File{os.Stdin, os.Stdout} {
		if isSubstitute(int(f.Fd())) {
			f.Close() // each use of it fails from now on
		}
	}
}

// isSubstitute reports whether a descriptor is a null device that Go's runtime opened. It is
// not if it shares its open file with another standard stream, because then somebody else opened
// it. O_APPEND belongs to the open file: if it is set for this descriptor, it shows in the other.
func isSubstitute(fd int) bool {
	if !isNull(fd) {
		return false
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR || flags&unix.O_APPEND != 0 {
		return false // the runtime opens it to read and write
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags|unix.O_APPEND); err != nil {
		return false
	}
	defer unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags)
	for other := range 3 { // stdin, stdout and stderr
		if other != fd && isNull(other) {
			if shared, err := unix.FcntlInt(uintptr(other), unix.F_GETFL, 0); err == nil && shared&unix.O_APPEND != 0 {
				return false
			}
		}
	}
	return true
}

// isNull reports whether a descriptor is a null device.
func isNull(fd int) bool {
	var is, null unix.Stat_t
	return unix.Fstat(fd, &is) == nil && unix.Stat(os.DevNull, &null) == nil && is.Rdev == null.Rdev && is.Mode&unix.S_IFMT == unix.S_IFCHR
}

// failedWrites are the signals that a failed write sends: SIGPIPE where nobody
// reads any more, SIGXFSZ where a file would become larger than a limit allows.
var failedWrites = []os.Signal{syscall.SIGPIPE, syscall.SIGXFSZ}
