package corpus

// curve is how a number is distributed over real files: what it is at some
// quantiles, by millionths of the files, with straight lines between them.
type curve []struct{ files, number int64 }

// at returns the number at a quantile, in millionths and below a million, times
// times and divided by by.
func (c curve) at(quantile int, times, by int64) int {
	at, i := int64(quantile), 1
	for at >= c[i].files {
		i++
	}
	low, high := c[i-1], c[i]
	width := high.files - low.files
	return int((low.number*width + (high.number-low.number)*(at-low.files)) * times / (by * width))
}

// draw returns the number of a file drawn at random.
func (c curve) draw(r *random) int { return c.at(r.below(1_000_000), 1, 1) }
