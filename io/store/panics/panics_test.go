package panics

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

func guarded(explain func(any) error) (err error) {
	defer Recover(&err, explain)
	breaks()
	return nil
}

func breaks() { panic("broken") }

func TestRecover(t *testing.T) {
	err := guarded(As(Bug))
	must.Be(t, err != nil && err.Error() == Bug+": broken", "error %v", err)
	stack := StackOf(fmt.Errorf("batch 3: %w", err))
	must.Be(t, bytes.Contains(stack, []byte("panics.breaks")), "the stack does not have the function that panicked: %s", stack)
	err = guarded(As("damaged"))
	must.Be(t, err != nil && err.Error() == "damaged: broken" && StackOf(err) == nil, "error %v", err)
	must.Be(t, StackOf(errors.New("other")) == nil, "a stack of an error that is no panic")
}

// A panic that nobody explains goes on, and whoever recovers it later has its stack.
func TestRecoverNothing(t *testing.T) {
	outer := func() (err error) {
		defer Recover(&err, As(Bug))
		return guarded(func(any) error { return nil })
	}
	err := outer()
	must.Be(t, strings.Contains(string(StackOf(err)), "panics.breaks"), "error %v, stack %s", err, StackOf(err))
}
