package stats

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
	"robotsbatch/matcher/domains"
	"robotsbatch/matcher/urls"
)

// Ranks are the ranks of sites by a list. The zero value has none.
type Ranks struct {
	rank map[string]int // by what Site.of returns
	// top has the ranks up to which sites are counted: powers of ten from a hundred on, and the
	// highest rank of the list. many has the number of the list's sites up to each.
	top  []int
	many []int64
}

// OpenRanks reads a list of sites from a file or an object, which may be compressed. The form of the
// list is that of readRanks.
func OpenRanks(ctx context.Context, name string, site Site) (*Ranks, error) {
	f, err := blob.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := compress.OpenText(f)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return readRanks(r, site)
}

// readRanks reads a list of sites, one a line in the order of their ranks, or lines with a
// rank, a comma and a site, as in Tranco's lists. An entry is a host or an origin, such as
// https://www.example.com, and counts for the site it belongs to: its registered domain, its
// host or its authority (https if it has no scheme). If a site has several entries, the best
// rank counts. Empty lines, lines that begin with "#", and a header of two words are ignored.
func readRanks(r io.Reader, site Site) (*Ranks, error) {
	ranks := &Ranks{rank: make(map[string]int)}
	var scratch urls.Scratch
	scanner := bufio.NewScanner(r)
	lineNumber, entries, highest := 0, 0, 0
	for scanner.Scan() {
		lineNumber++
		line := strings.TrimSpace(scanner.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		entries++
		rank, entry := entries, line // of a line without a rank
		if first, second, ok := strings.Cut(line, ","); ok {
			n, err := strconv.Atoi(strings.TrimSpace(first))
			switch {
			case err != nil && entries == 1: // a header, which is no entry
				entries--
				continue
			case err != nil || n < 1:
				return nil, fmt.Errorf("line %d: %q is not a rank: write a domain a line, or RANK,DOMAIN", lineNumber, first)
			}
			rank, entry = n, strings.TrimSpace(second)
		}
		name, err := site.siteOf(entry, &scratch)
		if err != nil {
			return nil, fmt.Errorf("line %d: %q is not a host: write a domain a line, or RANK,DOMAIN", lineNumber, entry)
		}
		if known := ranks.rank[name]; known == 0 || rank < known {
			ranks.rank[name] = rank
		}
		highest = max(highest, rank)
	}
	switch err := scanner.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("line %d is too long for a domain", lineNumber+1)
	case err != nil:
		return nil, err
	case len(ranks.rank) == 0:
		return nil, errors.New("it has no domains")
	}
	ranks.setTops(highest)
	return ranks, nil
}

// setTops sets r.top and r.many. highest is the highest rank of the list.
func (r *Ranks) setTops(highest int) {
	for top := 100; top < highest && top <= math.MaxInt/10; top *= 10 { // so that 10*top fits
		r.top = append(r.top, top)
	}
	r.top = append(r.top, highest)
	r.many = make([]int64, len(r.top))
	for _, rank := range r.rank {
		for i, top := range r.top {
			r.many[i] += bit(rank <= top)
		}
	}
}

// siteOf returns the site that an entry of a list belongs to.
func (s Site) siteOf(entry string, scratch *urls.Scratch) (string, error) {
	if !strings.Contains(entry, "://") {
		entry = "https://" + entry
	}
	authority, _, err := scratch.Split([]byte(entry))
	if err != nil {
		return "", err
	}
	return s.of(string(authority), domains.Registered(domains.Host(authority))), nil
}

// of returns the rank of a site; 0 for none. An http authority that has none gets the rank of the
// https authority of its host, unless that is among sites, the sites that are counted.
func (r *Ranks) of(site string, sites map[string]int) int {
	if host, ok := strings.CutPrefix(site, "http://"); ok && r.rank[site] == 0 {
		if _, known := sites["https://"+host]; !known {
			return r.rank["https://"+host]
		}
	}
	return r.rank[site]
}

// listed returns the number of sites that the list has up to a rank of r.top; 0 for another rank.
func (r *Ranks) listed(top int) int64 {
	if n := slices.Index(r.top, top); n >= 0 {
		return r.many[n]
	}
	return 0
}
