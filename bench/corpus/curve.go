package corpus

// curve is the distribution of a number over real files: its values at some quantiles, in
// millionths of the files, with linear interpolation.
type curve []struct{ files, number int64 }

// at returns the number at a quantile, which is below a million. It is scaled by times/by before it is
// rounded down.
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
