// Package runs sorts more records than memory has room for (external merge sort).
//
// A [Sorter] takes records, which are bytes of any form, and gives them back in order.
// When they fill the memory they are sorted and written to a temporary file, as a run; in
// the end the runs, of which the last stays in memory, are merged. A [Spill] is such a
// temporary file, for other rooms as well.
package runs
