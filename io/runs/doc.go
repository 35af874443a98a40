// Package runs puts records in order that are more than memory has room for.
//
// A [Sorter] takes records, which are bytes of any form, and gives them back in
// order. They wait in memory; when there is no more room they are sorted and
// written to a temporary file, as a run, and in the end the runs, of which the
// last stays in memory, are merged. A [Spill] is such a temporary file, for
// others to use as well.
package runs
