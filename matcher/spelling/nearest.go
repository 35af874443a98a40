package spelling

import "strings"

// Nearest returns the one of names that name was most likely meant to be. They may differ
// in case, or by one letter that is missing, added, changed or swapped with its neighbour;
// longer names by two of these. It returns "" if none is that near.
func Nearest(name string, names []string) string {
	const longest = 64 // longer names would take too long
	if name == "" || len(name) > longest {
		return ""
	}
	lower := strings.ToLower(name)
	// best is the least number of edits that is too many: 1 for a letter, 3 from five letters on.
	best, nearest := 1+min(2, (len(name)-1)/2), ""
	for _, candidate := range names {
		if len(candidate) > longest || candidate == name {
			continue
		}
		if d := Distance(lower, strings.ToLower(candidate)); d < best {
			best, nearest = d, candidate
		}
	}
	return nearest
}

// Distance returns the least number of edits that turn a into b: to insert, delete or
// replace a byte, or to swap two neighbours (optimal string alignment).
func Distance(a, b string) int {
	// The distances of the starts of b from the last three starts of a; row is that of the newest.
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
