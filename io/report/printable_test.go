package report

import "testing"

func TestPrintable(t *testing.T) {
	if got, want := Printable("\x1b[31m\n\u202ered\x9b é"), "%1B[31m%0A%E2%80%AEred%9B é"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
