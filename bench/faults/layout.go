//go:build linux

package main

import "slices"

// layout tells which part each byte of a file belongs to.
type layout struct {
	spans  []span
	copied [][2]int // ranges that are only copied if columns pass through
}

type span struct {
	end  int
	part part
}

// to assigns the bytes from the end of the last call up to end to part p.
func (l *layout) to(end int, p part) {
	if len(l.spans) == 0 || end > l.spans[len(l.spans)-1].end {
		l.spans = append(l.spans, span{end, p})
	}
}

// isCopied reports whether a byte is only copied if columns pass through.
func (l *layout) isCopied(offset int) bool {
	return slices.ContainsFunc(l.copied, func(r [2]int) bool { return r[0] <= offset && offset < r[1] })
}

func (l *layout) at(offset int) part {
	i, _ := slices.BinarySearchFunc(l.spans, offset, func(s span, offset int) int {
		if s.end <= offset {
			return -1
		}
		return 1
	})
	return l.spans[i].part
}
