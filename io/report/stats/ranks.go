package stats

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
	"robotsbatch/matcher/domains"
)

// Ranks are the ranks of domains.
type Ranks struct {
	rank map[string]int
	// top holds the ranks up to which sites are counted: powers of ten from a hundred
	// on. The last one covers the whole list.
	top []int
}

// OpenRanks reads a list, as readRanks does, from a file or an object, which may be
// compressed.
func OpenRanks(ctx context.Context, name string) (ranks *Ranks, err error) {
	err = readText(ctx, name, nil, func(r io.Reader) (err error) {
		ranks, err = readRanks(r)
		return err
	})
	return ranks, err
}

// readText calls read with the decompressed content of a file or an object; for the name
// "-" with stdin, without decompressing.
func readText(ctx context.Context, name string, stdin io.Reader, read func(io.Reader) error) error {
	if name == blob.Stdio && stdin != nil {
		return read(stdin)
	}
	f, err := blob.Open(ctx, name)
	if err != nil {
		return err
	}
	defer f.Close()
	codec, _ := compress.ByName(blob.Shown(name))
	r, err := compress.NewReader(f, codec)
	if err != nil {
		return err
	}
	defer r.Close()
	return read(r)
}

// readRanks reads a list of domains in the order of their ranks, one a line, or lines
// with a rank, a comma and a domain, as in Tranco's lists. A domain may be an origin,
// such as https://www.example.com. Empty lines, lines that begin with "#", and a header
// of two words are ignored. For a repeated domain, the first line counts.
func readRanks(r io.Reader) (*Ranks, error) {
	ranks := &Ranks{rank: make(map[string]int)}
	scanner := bufio.NewScanner(r)
	number, count := 0, 0
	for scanner.Scan() {
		number++
		line := strings.TrimSpace(scanner.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		count++
		rank, domain := count, line
		if first, second, ok := strings.Cut(line, ","); ok {
			n, err := strconv.Atoi(strings.TrimSpace(first))
			switch {
			case err != nil && count == 1: // a header
				count--
				continue
			case err != nil || n < 1:
				return nil, fmt.Errorf("line %d: %q is not a rank: write a domain a line, or RANK,DOMAIN", number, first)
			}
			rank, domain = n, strings.TrimSpace(second)
		}
		if strings.Contains(domain, "://") {
			domain = string(domains.Host([]byte(domain)))
		}
		if domain = strings.ToLower(strings.TrimSuffix(domain, ".")); ranks.rank[domain] == 0 {
			ranks.rank[domain] = rank
		}
	}
	switch err := scanner.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("line %d is too long for a domain", number+1)
	case err != nil:
		return nil, err
	case len(ranks.rank) == 0:
		return nil, errors.New("it has no domains")
	}
	last := 0
	for _, rank := range ranks.rank {
		last = max(last, rank)
	}
	ranks.top = []int{100}
	for top := 100; top < last; {
		top *= 10
		ranks.top = append(ranks.top, top)
	}
	return ranks, nil
}

// of returns the better of the ranks of a registered domain and of a host; 0 for none.
func (r *Ranks) of(domain, host string) int {
	if r == nil {
		return 0
	}
	rank, other := r.rank[domain], r.rank[host]
	if rank == 0 || other > 0 && other < rank {
		return other
	}
	return rank
}

// tops returns the ranks up to which sites are counted.
func (r *Ranks) tops() []int {
	if r == nil {
		return nil
	}
	return r.top
}
