//go:build linux

package main

import "slices"

// layout says what the bytes of a file are part of.
type layout struct {
	spans  []span
	copied [][2]int // from, to: what is only copied where columns pass through
}

type span struct {
	end  int
	part part
}

// to makes the bytes up to end, from where the last call ended, a part of p.
func (l *layout) to(end int, p part) {
	if len(l.spans) == 0 || end > l.spans[len(l.spans)-1].end {
		l.spans = append(l.spans, span{end, p})
	}
}

// isCopied reports whether a byte is only copied where columns pass through.
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
