// Package must says in a line what has to be so in a test. Do and Get end the test at an
// error that it has no use for, and Need where it cannot go on; the others report what is
// wrong, and let it go on.
package must

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Do ends the test if err is not nil.
func Do(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// Get returns a function that returns value, or ends the test if err is not nil:
//
//	data := must.Get(os.ReadFile(name))(t)
func Get[T any](value T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
		return value
	}
}

// Err returns the error of a function that also returns a value:
//
//	must.Is(t, must.Err(os.ReadFile(name)), fs.ErrNotExist)
func Err[T any](_ T, err error) error { return err }

// Be reports what a format says if what must be so is not.
func Be(t testing.TB, so bool, format string, args ...any) {
	if !so {
		t.Helper()
		t.Errorf(format, args...)
	}
}

// Need is Be that ends the test.
func Need(t testing.TB, so bool, format string, args ...any) {
	if !so {
		t.Helper()
		t.Fatalf(format, args...)
	}
}

// Short returns short in a run of short tests, and full in any other.
func Short[T any](short, full T) T {
	if testing.Short() {
		return short
	}
	return full
}

// Flipped returns a copy of data in which the bits of mask differ in a byte.
func Flipped[I int | int64](data []byte, at I, mask byte) []byte {
	flipped := bytes.Clone(data)
	flipped[at] ^= mask
	return flipped
}

// WriteFile writes a file, and makes the folders that it lies in.
func WriteFile[D string | []byte](t testing.TB, name string, data D) {
	t.Helper()
	Do(t, os.MkdirAll(filepath.Dir(name), 0o777))
	Do(t, os.WriteFile(name, []byte(data), 0o666))
}

// Allocated returns the number of bytes that f allocates.
func Allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Equal reports it if got is not want. of names the case where the line does not.
func Equal[T comparable](t testing.TB, got, want T, of ...any) {
	if got != want {
		t.Helper()
		t.Error(differ(got, want, of))
	}
}

// EqualSlices is Equal for slices; a nil one equals an empty one.
func EqualSlices[T comparable](t testing.TB, got, want []T, of ...any) {
	if !slices.Equal(got, want) {
		t.Helper()
		t.Error(differ(got, want, of))
	}
}

// DeepEqual is Equal for values that only reflect can compare.
func DeepEqual(t testing.TB, got, want any, of ...any) {
	if !reflect.DeepEqual(got, want) {
		t.Helper()
		t.Error(differ(got, want, of))
	}
}

// Fail reports it if err is nil.
func Fail(t testing.TB, err error, of ...any) {
	if err == nil {
		t.Helper()
		t.Error(words(of) + "no error")
	}
}

// Say reports it if err is nil or does not say text.
func Say(t testing.TB, err error, text string, of ...any) {
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Helper()
		t.Errorf("%serror %v, want one that says %q", words(of), err, text)
	}
}

// Mention is Say for several texts.
func Mention(t testing.TB, err error, texts ...string) {
	t.Helper()
	for _, text := range texts {
		Say(t, err, text)
	}
}

// Is reports it if err is not target, as errors.Is defines it.
func Is(t testing.TB, err, target error, of ...any) {
	if !errors.Is(err, target) {
		t.Helper()
		t.Errorf("%serror %v, want %v", words(of), err, target)
	}
}

// differ says what got is and what it must be, texts of several lines below each other.
func differ(got, want any, of []any) string {
	form := "%s%+v, want %+v"
	switch text := got.(type) {
	case []string:
		form = "%s%q, want %q"
	case string:
		if form = "%s%q, want %q"; strings.Contains(text+fmt.Sprint(want), "\n") {
			form = "%sgot\n%s\nwant\n%s"
		}
	}
	return fmt.Sprintf(form, words(of), got, want)
}

// words joins what names a case, with a colon at the end.
func words(of []any) string {
	if len(of) == 0 {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprintln(of...), "\n") + ": "
}
