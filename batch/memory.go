package batch

import (
	"fmt"

	"robotsbatch/batch/option"
	"robotsbatch/io/store/budget"
	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
)

// smallBody is the size of bodies whose compiling takes too little memory to count.
const smallBody = 2048

// Compiling takes from a budget the memory for parsing and compiling a robots.txt, until done is
// called. It waits until the budget can lend it. Its error wraps a [budget.MemoryError]: it is
// more than the budget ever lends. A robots.txt of at most robotstxt.DefaultLimit bytes, which
// RFC 9309 requires to be read, is not refused for its size.
func Compiling(b *budget.Budget, body []byte) (done func(), err error) {
	if len(body) <= smallBody {
		return func() {}, nil
	}
	need := matcher.CompileMemory(body)
	if most := b.Lendable(); need > most && len(body) > robotstxt.DefaultLimit {
		large := &budget.MemoryError{What: fmt.Sprintf("compiling a robots.txt of %d bytes", len(body)), Need: need, Limit: most}
		return nil, option.Errorf("%w (without %s and %s, %d bytes count)", large, option.RobotsLimit, option.Profile.With("google"), robotstxt.DefaultLimit)
	}
	if err := budget.InjectedFault(); err != nil {
		return nil, err
	}
	return b.Lend(need), nil
}
