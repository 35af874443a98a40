package blob

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"

	"robotsbatch/io/store/must"
)

func TestTemporary(t *testing.T) {
	explained := func(err error) error { return URL{}.explain(t.Context(), err) }
	tests := []struct {
		err  error
		want bool
	}{
		{fmt.Errorf("-out: out.csv: %w", errBusy), true},
		{fmt.Errorf("in.csv: %w", ErrChanged), true},
		{named("out.csv", &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}), true},
		{named("in.csv", &os.PathError{Op: "read", Path: "x", Err: syscall.EIO}), true},
		{named("in.csv", &os.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}), false},
		{named("in.csv", &os.PathError{Op: "open", Path: "x", Err: syscall.EACCES}), false},
		{fs.ErrNotExist, false},
		{syscall.EPIPE, false},
		{errors.New("damaged"), false},
		{io.ErrUnexpectedEOF, false}, // a cut input stays cut
		{explained(&ResponseError{Status: 503}), true},
		{explained(&ResponseError{Status: 429}), true},
		{explained(&ResponseError{Status: 404}), false},
		{explained(&ResponseError{Status: 403}), false},
		{explained(&ResponseError{Status: 400}), false},
		{explained(&stalledError{For: "an answer"}), true},
		{explained(&url.Error{Op: "Get", URL: "http://x", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}), true},
		{explained(errors.New("no credentials")), false},
		{&brokenError{err: syscall.ECONNRESET}, true},
	}
	for _, test := range tests {
		must.Equal(t, Temporary(test.err), test.want, test.err)
	}
}
