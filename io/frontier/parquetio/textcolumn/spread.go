package textcolumn

import "robotsbatch/batch"

// spreadEnds moves the ends of the present values, which are the first ones, to
// the rows that have them. A null row ends where the one before it does, the
// first at before. The rows are those of the column from at on.
func spreadEnds(ends []int32, present int, c *batch.Column, at int, before int32) {
	for row := len(ends) - 1; row >= 0 && present <= row; row-- {
		end := before
		if present > 0 {
			end = ends[present-1]
		}
		if ends[row] = end; !c.Null(at + row) {
			present--
		}
	}
}
