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
		if d := distance(lower, strings.ToLower(candidate)); d < best {
			best, nearest = d, candidate
		}
	}
	return nearest
}

// distance returns the least number of edits that turn a into b: to insert, delete or
// replace a byte, or to swap two neighbours (optimal string alignment).
func distance(a, b string) int {
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

// MostEdits is the most edits by which a name is a slip for another, as IsSlip says.
const MostEdits = 2

// IsSlip reports whether one name is likely a slip for the other: one edit apart, or two
// when they are long. In a short name another letter makes another name (devin and devil,
// wpbot and npbot), unless the two look alike. Nearest is less strict.
func IsSlip(a, b string) bool {
	const short, long = 4, 9
	switch n := min(len(a), len(b)); {
	case n < short, max(len(a), len(b)) > n+MostEdits:
		return false
	case n < long:
		return distance(a, b) == 1 && (len(a) != len(b) || slippedLetters(a, b))
	}
	return distance(a, b) <= MostEdits
}

// lookAlike replaces letters by others that look like them.
var lookAlike = strings.NewReplacer("0", "o", "i", "l", "1", "l", "5", "s", "_", "-", "8", "b", "2", "z")

// slippedLetters reports whether two names that are one edit apart and of one length differ
// by neighbours that were swapped, or by a letter that looks like the other.
func slippedLetters(a, b string) bool {
	different := 0 // 2 for neighbours that were swapped, else 1
	for i := range len(a) {
		if a[i] != b[i] {
			different++
		}
	}
	return different == 2 || lookAlike.Replace(a) == lookAlike.Replace(b)
}
