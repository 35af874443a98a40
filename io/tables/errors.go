package tables

import "fmt"

// Help says what may help against a [LimitError]: a set of the constants below. A program words it for its users.
type Help uint8

const (
	MoreMemory Help = 1 << iota // a larger budget
	FewerRows                   // parts of fewer rows
	Recode                      // encoding all columns instead of copying them
	LeaveOut                    // leaving the column out
	CopyAll                     // copying all rows and columns, which needs the same format
)

// LimitError says that an input is intact, but cannot be read or copied as it is: it is larger than a limit, or
// has something unusual that the caller may not need.
type LimitError struct {
	What string // what is wrong, as a clause
	Help Help
}

// Error implements error.
func (e *LimitError) Error() string { return e.What }

// TooLarge returns a [LimitError] that a larger budget would help.
func TooLarge(format string, args ...any) error {
	return &LimitError{What: fmt.Sprintf(format, args...), Help: MoreMemory}
}
