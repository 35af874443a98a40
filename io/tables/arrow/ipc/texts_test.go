package ipc

import (
	"io"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

// Texts that end before an offset says are damaged: io.EOF would be the end of the input.
func TestTextsThatEndTooEarly(t *testing.T) {
	short := texts{stream: io.NopCloser(strings.NewReader("ab")), size: 5}
	must.Is(t, short.skip(5), errShort)
}
