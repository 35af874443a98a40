package corpus

import (
	"bytes"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/klauspost/compress/zstd"

	surt "robotsbatch/matcher/domains"
)

// NewFlat returns a corpus in which each origin has the same number of URLs and a body that
// no other origin has: a job over it costs what hosts cost.
func NewFlat(origins, urls int) *Corpus {
	return New(Options{
		Origins: origins, URLs: int64(origins) * int64(urls), LargestOrigin: int64(urls),
		Distinct: 1, Missing: -1, Invalid: -1,
	})
}

// BySURT yields all URLs as crawls list them: grouped by origin, and origins in the order of
// their reversed hosts.
func (c *Corpus) BySURT() iter.Seq[[]byte] {
	type origin struct {
		key   []byte
		index int
	}
	order := make([]origin, c.options.Origins)
	for i := range order {
		o := c.Origin(i)
		order[i] = origin{surt.AppendSURT(nil, []byte(o.Host)), i}
	}
	slices.SortFunc(order, func(a, b origin) int { return bytes.Compare(a.key, b.key) })
	return func(yield func([]byte) bool) {
		for _, o := range order {
			for _, url := range c.URLsOf(o.index, o.index+1) {
				if !yield(url) {
					return
				}
			}
		}
	}
}

// ReadList reads a list that may be compressed with zstd.
func ReadList(name string) ([]byte, error) {
	packed, err := os.ReadFile(name)
	if err != nil || !bytes.HasPrefix(packed, []byte("\x28\xB5\x2F\xFD")) {
		return packed, err
	}
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	list, err := decoder.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list, nil
}

// Shuffle puts URLs into an order that depends on their number alone.
func Shuffle(urls [][]byte) {
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(urls), func(i, j int) { urls[i], urls[j] = urls[j], urls[i] })
}
