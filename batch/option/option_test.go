package option

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
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
		{errors.Join(inner, fs.ErrClosed), "3 rows take too much: raise memory, or lower batch-rows\nfile already closed", "3 rows take too much: raise -memory, or lower -batch-rows\nfile already closed"},
		{Errorf("%s: %w", Rules.With("a 50% %s"), inner), "rules a 50% %s: 3 rows take too much: raise memory, or lower batch-rows", "-rules a 50% %s: 3 rows take too much: raise -memory, or lower -batch-rows"},
		{Usagef("leave out %s", Recode), "leave out recode", "leave out -recode"},
		{
			Errorf("none: %s", Join([]Message{Messagef("%s is empty", Rules.With("x")), Messagef("say %s", For)}, "; ")),
			"none: rules x is empty; say for", "none: -rules x is empty; say -for",
		},
	} {
		if got := test.err.Error(); got != test.plain {
			t.Errorf("plain %q, want %q", got, test.plain)
		}
		if got := Text(test.err, flags); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestErrorsUnwrap(t *testing.T) {
	err := fmt.Errorf("outer: %w", Usagef("%s: %w", Rules.With("x"), fs.ErrNotExist))
	if !errors.Is(err, fs.ErrNotExist) || !errors.As(err, new(*UsageError)) {
		t.Errorf("%v hides what it wraps", err)
	}
	both := Errorf("%w, and %w", fs.ErrNotExist, fs.ErrClosed)
	if !errors.Is(both, fs.ErrNotExist) || !errors.Is(both, fs.ErrClosed) {
		t.Errorf("%v hides one of two", both)
	}
}
