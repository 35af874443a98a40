// Package bench has the benchmarks, the generator of their data, and the records of past
// runs.
package bench
