package batch

import (
	"context"
	"errors"
	"testing"
)

// TestMemoryOfSharingPieces: memory that pieces share is held until the last of them is
// written.
func TestMemoryOfSharingPieces(t *testing.T) {
	l, stop := newLedger(t.Context(), 100)
	defer stop()
	first, err := l.admit(80)
	if err != nil {
		t.Fatal(err)
	}
	first.end(70)
	second, err := l.admit(5)
	if err != nil || l.used != 75 {
		t.Fatalf("%d bytes in use, %v", l.used, err)
	}
	second.end(-70)
	if l.used != 0 {
		t.Errorf("in the end %d bytes are in use", l.used)
	}
}

// TestMemoryOfCancelledJob: a goroutine that waits for memory learns when the job ends.
func TestMemoryOfCancelledJob(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	l, stop := newLedger(ctx, 100)
	defer stop()
	for range 2 {
		if _, err := l.admit(10); err != nil {
			t.Fatal(err)
		}
	}
	over := errors.New("over")
	waited := make(chan error)
	go func() {
		_, err := l.admit(90)
		waited <- err
	}()
	go func() { waited <- (&Grant{ledger: l, number: 1}).Take(90) }()
	cancel(over)
	for range 2 {
		if err := <-waited; !errors.Is(err, over) {
			t.Errorf("error %v", err)
		}
	}
	if err := (*Grant)(nil).Take(1 << 60); err != nil {
		t.Errorf("without a ledger: %v", err)
	}
}
