package batch

import (
	"fmt"

	"robotsbatch/batch/option"
	"robotsbatch/io/store/budget"
	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
)

// MemoryError says that a part of an input is larger than the memory that it may take.
// Who set Options.Memory knows by what factor to raise it: Need / Limit.
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

// Enough is the least memory that would do where so many bytes do not.
func (e *MemoryError) Enough(memory int64) int64 {
	if e.Limit <= 0 {
		return memory
	}
	return int64(float64(memory)*float64(e.Need)/float64(e.Limit)) + 1
}

// smallBody is the size of bodies whose compiling takes too little memory to count.
const smallBody = 2048

// Compiling takes from a budget what parsing and compiling a robots.txt takes, until done is
// called. Its error wraps a MemoryError. No robots.txt that RFC 9309 asks for is refused, of
// robotstxt.DefaultLimit bytes.
func Compiling(b *budget.Budget, body []byte) (done func(), err error) {
	if len(body) <= smallBody {
		return func() {}, nil
	}
	need := matcher.CompileMemory(body)
	if most := b.Lendable(); need > most && len(body) > robotstxt.DefaultLimit {
		large := &MemoryError{What: fmt.Sprintf("compiling a robots.txt of %d bytes", len(body)), Need: need, Limit: most}
		return nil, option.Errorf("%w (without %s and %s, %d bytes count)", large, option.RobotsLimit, option.Profile.With("google"), robotstxt.DefaultLimit)
	}
	return b.Lend(need), nil
}
