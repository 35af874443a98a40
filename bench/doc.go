// Package bench holds the benchmarks, and beside them the generator of the data
// that they run on and the records of past runs.
package bench
