package budget

import "fmt"

// MemoryError says that a part of an input is larger than the memory that it may take.
// Who set the limits knows by what factor to raise them: Need / Limit.
type MemoryError struct {
	// What is too large, such as "a page".
	What string
	// Need is how many bytes it takes, and Limit how many it may take.
	Need, Limit int64
}

// Error implements error.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("%s takes %d bytes of memory, and may take %d", e.What, e.Need, e.Limit)
}

// Enough returns the least number of bytes that would be enough, where memory bytes are not.
func (e *MemoryError) Enough(memory int64) int64 {
	if e.Limit <= 0 {
		return memory
	}
	return int64(float64(memory)*float64(e.Need)/float64(e.Limit)) + 1
}
