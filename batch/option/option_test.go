package option

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"robotsbatch/io/store/must"
)

// flags are the words of a command line.
func flags(g Given) string { return "-" + g.String() }

func TestTextPutsOptionsIntoWords(t *testing.T) {
	inner := Errorf("%d rows take too much: raise %s, or lower %s", 3, Memory, BatchRows)
	for _, test := range []struct {
		err         error
		plain, want string
	}{
		{errors.New("nothing of -memory"), "nothing of -memory", "nothing of -memory"},
		{inner, "3 rows take too much: raise memory, or lower batch-rows", "3 rows take too much: raise -memory, or lower -batch-rows"},
		{fmt.Errorf("memory.csv: %w", inner), "memory.csv: 3 rows take too much: raise memory, or lower batch-rows", "memory.csv: 3 rows take too much: raise -memory, or lower -batch-rows"},
		{errors.Join(inner, fs.ErrClosed), "3 rows take too much: raise memory, or lower batch-rows\nfile already closed", "3 rows take too much: raise -memory, or lower -batch-rows; file already closed"},
		{Errorf("100%% of %[2]s and %[1]s, %[3]d", Rules, For, 3), "100% of for and rules, 3", "100% of -for and -rules, 3"},
		{Errorf("%s: %w", Rules.With("a 50% %s"), inner), "rules a 50% %s: 3 rows take too much: raise memory, or lower batch-rows", "-rules a 50% %s: 3 rows take too much: raise -memory, or lower -batch-rows"},
		{Usagef("leave out %s", Weight), "leave out weight", "leave out -weight"},
		{
			Errorf("none: %s", Join([]Message{Messagef("%s is empty", Rules.With("x")), Messagef("say %s", For)}, "; ")),
			"none: rules x is empty; say for", "none: -rules x is empty; say -for",
		},
	} {
		must.Equal(t, test.err.Error(), test.plain, "plain")
		must.Equal(t, PartsOf(test.err).In(flags), test.want)
	}
}

// A message is cut where options stand in it, whatever is quoted beside them.
func TestParts(t *testing.T) {
	for _, test := range []struct {
		err  error
		want Parts
	}{
		{errors.New("nothing of -memory"), Parts{{Text: "nothing of -memory"}}},
		{Usagef("%s: want %s", AsOf.With("a b"), AsOf.With("column:NAME")), Parts{{Option: AsOf, Value: "a b"}, {Text: ": want "}, {Option: AsOf, Value: "column:NAME"}}},
		{fmt.Errorf("-memory: %w", Errorf("give %[1]s or %[1]s", Memory)), Parts{{Text: "-memory: give "}, {Option: Memory}, {Text: " or "}, {Option: Memory}}},
		{Errorf("%s: %q", Rules, "agent"), Parts{{Option: Rules}, {Text: `: "agent"`}}},
	} {
		got := PartsOf(test.err)
		must.EqualSlices(t, got, test.want, test.err)
		must.Equal(t, got.In(Given.String), test.err.Error(), test.err, "parts")
	}
}

// namedError is an error like that of package blob.
type namedError struct {
	name string
	err  error
}

func (e *namedError) Error() string          { return e.name + ": " + e.err.Error() }
func (e *namedError) Named() (string, error) { return e.name, e.err }

// No message has the name of a system call, or that of a file twice.
func TestCallsAndNames(t *testing.T) {
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
		{fmt.Errorf("a.txt: %w", Errorf("%s: %w: raise %s", Rules.With("r"), missing, Memory)), "a.txt: -rules r: no such file or directory: raise -memory"},
		{fmt.Errorf("a.txt: row 3: %w", &namedError{"a.txt", syscall.EIO}), "a.txt: row 3: input/output error"},
		{fmt.Errorf("-files-from: %w", &namedError{"f", syscall.EIO}), "-files-from: f: input/output error"},
		{fmt.Errorf("-agents: %w", &namedError{"a.txt", missing}), "-agents: a.txt: no such file or directory"},
	} {
		must.Equal(t, PartsOf(test.err).In(flags), test.want, test.err)
	}
}

func TestErrorsUnwrap(t *testing.T) {
	err := fmt.Errorf("outer: %w", Usagef("%s: %w", Rules.With("x"), fs.ErrNotExist))
	must.Be(t, errors.Is(err, fs.ErrNotExist) && errors.As(err, new(*UsageError)), "%v hides what it wraps", err)
	both := Errorf("%w, and %w", fs.ErrNotExist, fs.ErrClosed)
	must.Be(t, errors.Is(both, fs.ErrNotExist) && errors.Is(both, fs.ErrClosed), "%v hides one of two", both)
}
