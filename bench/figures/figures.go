// Package figures has what measurements and their records share.
package figures

import (
	"fmt"
	"slices"
)

// Median returns the middle number, or the mean of the two middle ones. It sorts the
// numbers, of which there must be one.
func Median(numbers []float64) float64 {
	slices.Sort(numbers)
	n := len(numbers)
	return (numbers[(n-1)/2] + numbers[n/2]) / 2
}

// Thousands formats a non-negative integer, such as 1,234,567.
func Thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", Thousands(n/1000), n%1000)
}
