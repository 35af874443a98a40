// Package explain says of single URLs why they may be fetched or not: which rule of which
// line decides, in which group, what else matched, and how the URL and the rules were read.
//
// The verdict is that of package evaluate, which decides a job's rows; all that is told
// beside it is found in slower and clearer ways.
package explain
