package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"robotsbatch/batch/option"
	"robotsbatch/io/store/blob"
)

func TestMessage(t *testing.T) {
	missing := &fs.PathError{Op: "lstat", Path: "a.txt", Err: syscall.ENOENT}
	for _, test := range []struct {
		err  error
		want string
	}{
		{missing, "a.txt: no such file or directory"},
		{fmt.Errorf("-in a.txt: %w", missing), "-in a.txt: no such file or directory"},
		{fmt.Errorf("-out: %w", missing), "-out: a.txt: no such file or directory"},
		{fmt.Errorf("x: a.txt: %w", errors.New("line 1")), "x: a.txt: line 1"},
		{errors.New("urls: no such file"), "urls: no such file"},
		{&os.LinkError{Op: "rename", Old: "t", New: "b", Err: syscall.EACCES}, "b: permission denied"},
		{os.NewSyscallError("flock", syscall.EIO), "input/output error"},
		{errors.Join(errors.New("one"), fmt.Errorf("two: %w", missing)), "one; two: a.txt: no such file or directory"},
		{fmt.Errorf("a.txt: %w", option.Errorf("%s: %w: raise %s", option.Rules.With("r"), missing, option.Memory)), "a.txt: -rules r: no such file or directory: raise -memory"},
		{fmt.Errorf("a.txt: row 3: %w", &blob.NamedError{Name: "a.txt", Err: syscall.EIO}), "a.txt: row 3: input/output error"},
		{fmt.Errorf("-files-from: %w", &blob.NamedError{Name: "f", Err: syscall.EIO}), "-files-from: f: input/output error"},
		{fmt.Errorf("-agents: %w", &blob.NamedError{Name: "a.txt", Err: syscall.EIO}), "-agents: a.txt: input/output error"},
		{errors.New("\x1b[31m\n\u202ered\x9b é"), "%1B[31m%0A%E2%80%AEred%9B é"},
	} {
		if got := Message(test.err, flags); got != test.want {
			t.Errorf("%q: %q, want %q", test.err, got, test.want)
		}
	}
}

// flags are the words of a command line.
func flags(o option.Given) string { return "-" + o.String() }
