package tables

// Run is a run of rows, or of values: Low to High-1.
type Run struct{ Low, High int }

// Rows are some rows of a part, such as those that are kept, as a list of runs. The runs rise
// and do not overlap, unless a function says that it takes rows in any order.
type Rows []Run

// Add appends the rows from low to high-1, or extends the last run by them if it ends at low.
func (r Rows) Add(low, high int) Rows {
	if low == high {
		return r
	}
	if last := len(r) - 1; last >= 0 && r[last].High == low {
		r[last].High = high
		return r
	}
	return append(r, Run{low, high})
}

// Count returns the number of rows.
func (r Rows) Count() (n int) {
	for _, run := range r {
		n += run.High - run.Low
	}
	return n
}

// moved returns rows whose numbers are higher by n; r itself if n is 0.
func (r Rows) moved(n int) Rows {
	if n == 0 {
		return r
	}
	moved := make(Rows, len(r))
	for i, run := range r {
		moved[i] = Run{run.Low + n, run.High + n}
	}
	return moved
}
