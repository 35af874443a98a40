package spelling

import "strings"

// Nearest returns the one of names that name was most likely meant to be: in
// other case, or with a letter missing, added, changed or swapped with its
// neighbour, a longer name with two of these. It is empty where none is that
// near.
func Nearest(name string, names []string) string {
	const longest = 64 // of names that people mistype; more cost too much time
	if name == "" || len(name) > longest {
		return ""
	}
	lower := strings.ToLower(name)
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

// Distance counts the bytes to insert, delete, replace or swap with their
// neighbour in a to get b (optimal string alignment).
func Distance(a, b string) int {
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
