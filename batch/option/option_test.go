package option

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
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

// A message is cut where options stand in it, whatever is quoted beside them.
func TestParts(t *testing.T) {
	for _, test := range []struct {
		err  error
		want []Part
	}{
		{errors.New("nothing of -memory"), nil},
		{Usagef("%s: want %s", AsOf.With("a b"), AsOf.With("column:NAME")), []Part{{Option: AsOf, Value: "a b"}, {Text: ": want "}, {Option: AsOf, Value: "column:NAME"}}},
		{fmt.Errorf("-memory: %w", Errorf("give %[1]s or %[1]s", Memory)), []Part{{Text: "-memory: give "}, {Option: Memory}, {Text: " or "}, {Option: Memory}}},
		{Errorf("%s: %q", Rules, mark+"agent"+mark), []Part{{Option: Rules}, {Text: `: "\ufdd0agent\ufdd0"`}}},
		{Errorf("%s: %s", Rules, mark+"agent"+mark), nil}, // to mislead
	} {
		got := Parts(Given.String, func(words Words) string { return Text(test.err, words) })
		if !slices.Equal(got, test.want) {
			t.Errorf("%v: got %q, want %q", test.err, got, test.want)
		}
		var b strings.Builder
		for _, part := range got {
			b.WriteString(part.Text + Given{part.Option, part.Value}.String())
		}
		if got != nil && b.String() != test.err.Error() {
			t.Errorf("%v: the parts say %s", test.err, &b)
		}
	}
}

// Where a value is given without its option's name, it is no option.
func TestPartsOfValues(t *testing.T) {
	value := func(g Given) string { return g.Value }
	message := Messagef("%s is empty", Rules.With("a"))
	if got := Parts(value, message.In); got != nil {
		t.Errorf("got %q, want none", got)
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
