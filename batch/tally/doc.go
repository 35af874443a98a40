// Package tally counts what a report shows of a job, in memory that does not grow with
// the job: which authorities and rules deny most, how many rows authorities have, for what
// reasons rows are allowed or denied, and how old the rules were.
//
// Each worker has a [Tally] of its own, through an evaluator that [Wrap] makes of another;
// they are merged in the end.
//
// # Sketches
//
// A list may name more authorities than memory holds, so two sketches count them.
//
// [Top] has the keys with the largest counts (filtered Space-Saving: Homem and Carvalho,
// 2010). A key that is listed has a counter; one that is not shares a cell with others, and
// takes the place of the key with the smallest counter when its cell may exceed that. So a
// counter starts with what the cell held of others, which is its error:
//
//	count − error ≤ true count ≤ count
//
// and no key that is not listed has more than its cell. As long as there are no more keys
// than counters, all counts are exact.
//
// [Sample] keeps exact counts of the authorities whose hash begins with a number of zeros
// (Gibbons, 2001). When there are too many, it asks for one zero more, and drops half. What
// remains is a random sample of the authorities, with all their rows, of which the numbers
// for all are estimated: times 2 for each zero.
package tally
