package outputs

import (
	"errors"
	"testing"

	"robotsbatch/io/store/must"
)

// Outputs are entered in the order in which they were started, whichever appears
// first.
func TestPublisherOrder(t *testing.T) {
	var p Publisher
	var entered []int
	first := make(chan struct{})
	nothing := func() error { return nil }
	for i := range 10 {
		appear := func() error {
			if i == 0 {
				<-first
			} else if i == 9 {
				close(first)
			}
			return nil
		}
		enter := func() error { entered = append(entered, i); return nil }
		must.Do(t, p.Start(appear, enter, nothing))
	}
	must.Do(t, p.Wait())
	must.EqualSlices(t, entered, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
}

// An output that does not appear is neither entered nor saved, and its error stays.
func TestPublisherFailure(t *testing.T) {
	var p Publisher
	broken := errors.New("broken")
	touched := func() error { t.Error("entered or saved"); return nil }
	_ = p.Start(func() error { return broken }, touched, touched) // the error may come later
	for range 2 {
		must.Is(t, p.Wait(), broken)
	}
}
